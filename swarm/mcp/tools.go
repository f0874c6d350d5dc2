package mcp

import (
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The names of the tools.
const (
	nameDispatch = "dispatch"
	nameWait     = "dispatch_wait"
	nameStatus   = "dispatch_status"
	nameCancel   = "dispatch_cancel"
)

const instructions = "dispatch runs a JavaScript program that starts many coding agents on this repository, " +
	"each in its own worktree, and returns only the program's value. " +
	"If a call of dispatch ends without an answer, its run continues: call dispatch_wait, and do not dispatch again."

// object is a JSON Schema, or a part of one.
type object = map[string]any

// tools lists the tools in the order in which clients see them.
//
// Input schemas keep to what every client takes: each property has one type, and
// there is no anyOf, oneOf, allOf, $ref or list of types.
func tools() []*sdk.Tool {
	no, yes := false, true
	return []*sdk.Tool{
		{
			Name: nameDispatch, Description: dispatchText(),
			// The agents of a script run commands and reach the network, and a script
			// can land work on a branch.
			Annotations: &sdk.ToolAnnotations{Title: "Run a workflow script", DestructiveHint: &yes, OpenWorldHint: &yes},
			InputSchema: input([]string{"code"}, object{
				"code": object{"type": "string", "description": "the workflow script: an async JavaScript body, which may stand in one Markdown code fence"},
				"args": object{"type": "object", "additionalProperties": true, "description": "what the script sees as args; a list or a text may be sent, too"},
				"wait_s": wait(fmt.Sprintf("seconds to wait for the value; then the answer is the id of the run, for dispatch_wait. "+
					"Default: as long as the run takes, or %d where the client asks for no progress", silentWait/time.Second)),
			}),
			OutputSchema: output(),
		},
		{
			Name: nameWait,
			Description: "Wait for a dispatched run and get its value, as dispatch returns it. Use it when dispatch answered with a running run, " +
				"or ended without an answer. A run that stopped because its client left is resumed; agents that completed are not paid for again.",
			Annotations: &sdk.ToolAnnotations{Title: "Wait for a run", DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &yes},
			InputSchema: input(nil, object{
				"run": object{"type": "string", "description": "the id of the run; without it the latest one that was dispatched"},
				"wait_s": wait(fmt.Sprintf("seconds to wait; then the answer says that the run goes on. "+
					"Default: as long as the run takes, or %d where the client asks for no progress", silentWait/time.Second)),
			}),
			OutputSchema: output(),
		},
		{
			Name:        nameStatus,
			Description: "Get the state of a dispatched run at once, with its value once it has ended.",
			Annotations: &sdk.ToolAnnotations{Title: "Show a run", ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
			InputSchema: input(nil, object{
				"run": object{"type": "string", "description": "the id of the run; without it the latest one that was dispatched"},
			}),
			OutputSchema: output(),
		},
		{
			Name: nameCancel,
			Description: "Stop a dispatched run, and get its state. The work that its agents did so far is kept. " +
				"dispatch_wait does not resume a run that was stopped so.",
			Annotations: &sdk.ToolAnnotations{Title: "Stop a run", DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
			InputSchema: input([]string{"run"}, object{
				"run":    object{"type": "string", "description": "the id of the run"},
				"wait_s": wait(fmt.Sprintf("seconds to wait for the agents to end; 0 does not wait. Default %d", cancelWait/time.Second)),
			}),
			OutputSchema: output(),
		},
	}
}

// dispatchText describes dispatch to a model.
func dispatchText() string {
	return "Run a workflow script that orchestrates coding agents, and get its return value. " +
		"The script is plain JavaScript with top-level await: agent(prompt, options), parallel(thunks), " +
		"pipeline(items, ...stages), race(thunks), sa.run/join/cancel, check(name), merge(patches), args. " +
		"Return a small JSON value: the text of the agents does not come back. " +
		"A text is returned as it is, any other value as JSON; null is null, no return value is undefined, and NaN and Infinity are null, as in JSON. " +
		fmt.Sprintf("If the client gives up the call, the run goes on for %d minutes; if the client leaves, the run stops and keeps its work. ", linger/time.Minute) +
		"In both cases dispatch_wait gets the value. dispatch_cancel stops a run at once."
}

// input is the schema of the input of a tool.
func input(required []string, properties object) object {
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// wait is the schema of a time to wait.
func wait(description string) object {
	return object{"type": "integer", "minimum": 0, "maximum": maxWait, "description": description}
}

// output is the schema of a [Status].
func output() object {
	return object{
		"type": "object", "required": []string{"run", "status", "ended", "agents"}, "additionalProperties": false,
		"properties": object{
			"run":    object{"type": "string", "description": "the id of the run"},
			"status": object{"type": "string", "enum": []string{"running", "waiting", "paused", "completed", "degraded", "failed", "stopped"}},
			"ended":  object{"type": "integer", "description": "agents that have ended"},
			"agents": object{"type": "integer", "description": "agents that were started"},
			"value":  object{"description": "the return value of the script; absent while there is none, and for undefined"},
			"error":  object{"type": "string", "description": "the error that the script threw"},
			"reason": object{"type": "string", "description": "why the run stopped or paused"},
		},
	}
}
