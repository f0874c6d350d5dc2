// Package hook owns the input and output of agents' own hooks: the effect of
// each of their tools, and the form in which each reads a refusal. It decides
// nothing. It asks on the socket that the agent was given (swarm/ask), and
// every fault on the way is a refusal.
package hook

import (
	"fmt"
	"slices"
	"strings"
)

// Dialect is the form in which a kind of agent talks to a hook. The zero value
// is the plain form: an action as swarm risk check takes it.
type Dialect string

// The dialects.
const (
	Plain  Dialect = ""
	Claude Dialect = "claude"
	Codex  Dialect = "codex"
	Gemini Dialect = "gemini"
	Qwen   Dialect = "qwen"
	// Copilot has no names of events: its hook has a single event.
	Copilot Dialect = "copilot"
)

// UnmarshalText refuses a word that is none.
func (d *Dialect) UnmarshalText(text []byte) error {
	word := Dialect(text)
	if word == "plain" {
		word = Plain
	}
	if !slices.Contains([]Dialect{Plain, Claude, Codex, Copilot, Gemini, Qwen}, word) {
		return fmt.Errorf("%q is not a dialect of hooks; want claude, codex, copilot, gemini, qwen or plain", text)
	}
	*d = word
	return nil
}

// does is the effect of a tool on some of its inputs.
type does int

const (
	nothing does = iota // reads, plans, or talks to its user
	shell               // runs text
	types               // types into a program that runs
	writes              // changes a file
	patches             // changes files that a patch names
	fetches             // asks another machine
)

// tool returns the effect of a tool by its name, and the inputs that matter. A
// name that is in no table reaches out: its effect is not known.
func (d Dialect) tool(name string) (does, []string) {
	files := []string{"file_path", "filePath", "path", "notebook_path", "absolute_path"}
	switch name {
	case "Bash", "bash", "shell", "local_shell", "run_shell_command", "exec_command", "unified_exec", "Shell", "terminal", "Monitor", "monitor", "PowerShell":
		return shell, []string{"command", "cmd", "script", "text"}
	case "Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "write_file", "replace", "edit_file", "create_file", "multiedit", "notebook_edit", "create":
		return writes, files
	case "apply_patch", "patch", "ApplyPatch":
		return patches, []string{"command", "patch", "input", "patchText", "text"}
	case "write_stdin", "write_bash":
		return types, []string{"chars", "input", "text"}
	case "WebFetch", "webfetch", "web_fetch":
		return fetches, []string{"url", "prompt"}
	case "Read", "Grep", "Glob", "LS", "TodoWrite", "TodoRead", "Task", "Agent", "ExitPlanMode", "EnterPlanMode", "BashOutput", "NotebookRead",
		"AskUserQuestion", "request_user_input", "Skill", "StructuredOutput", "WebSearch", "ToolSearch", "KillShell", "TaskOutput", "TaskStop",
		"read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search", "google_web_search", "web_search",
		"save_memory", "todo_write", "write_todos", "task", "exit_plan_mode", "structured_output", "update_plan", "view_image", "read", "grep", "find", "ls", "list",
		"update_topic", "list_background_processes", "read_background_output", "get_internal_docs", "invoke_agent", "agent", "list_agents", "tool_search",
		"get_goal", "update_goal", "report_findings", "zoom_image", "task_stop", "websearch", "codesearch", "lsp",
		"view", "rg", "read_bash", "stop_bash", "list_bash", "sql", "update_todo", "report_intent", "tool_search_tool",
		"todowrite", "todoread", "list_mcp_resources", "read_mcp_resource", "activate_skill", "complete_task", "skill":
		return nothing, nil
	}
	return fetches, []string{"url"}
}

// denial is the form of a refusal: the text for agents that read JSON, the text for
// agents that read the standard error, and the exit code. Exit code 2 ends the tool
// for all of them; the JSON adds the reason that they show.
func (d Dialect) denial(reason string) (stdout string, stderr string, code int) {
	switch d {
	case Claude, Qwen:
		stdout = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` + quote(reason) + `}}`
	case Gemini:
		stdout = `{"decision":"deny","reason":` + quote(reason) + `}`
	case Copilot:
		stdout = `{"permissionDecision":"deny","permissionDecisionReason":` + quote(reason) + `}`
	case Plain:
		stdout = `{"allow":false,"reason":` + quote(reason) + `}`
	case Codex: // to Codex, unknown text on the standard output is an error
	default:
		panic("unhandled dialect " + string(d))
	}
	return stdout, strings.TrimRight(reason, "\n"), 2
}
