// Package stage owns the instructions for the stages of a work: their words,
// the form of a reviewer's verdict, and the request to a reviewer. The request
// is short however long the task, the plan and the change are.
//
// It starts nothing and reads nothing. Scripts, reviews and the display of both
// use the same words, which stand here alone.
package stage

import (
	"encoding/json"
	"slices"
)

// Part is a stage of a work.
type Part struct {
	Name  string `json:"name"`
	Role  string `json:"role,omitempty"` // empty: the default role
	Words string `json:"words"`
	// Reads is set of a stage that only looks.
	Reads bool `json:"reads"`
}

// Names of the stages, in their order.
const (
	Planner     = "planner"
	Implementer = "implementer"
	Reviewer    = "reviewer"
)

// Parts are the stages, in their order.
func Parts() []Part {
	return []Part{
		{
			Name: Planner, Role: "plan", Reads: true,
			Words: "You plan and change nothing. Explore as far as the plan needs it. Your answer is the plan, and all that " +
				"the implementer gets of your work: short, with the files and places to change, what to keep, and how it shows " +
				"that it is done. No code.",
		},
		{
			Name: Implementer,
			Words: "You carry out the plan you are given. The harness captures your changes, sets up and runs the checks when you " +
				"are done, and a reviewer sees the outcome. End with one short paragraph on what you changed.",
		},
		{Name: Reviewer, Reads: true, Words: Reviewing},
	}
}

// Awaits reports whether another stage looks at the work of a stage before it
// counts.
func Awaits(name string, roster []string) bool {
	return name == Implementer && slices.Contains(roster, Reviewer)
}

// Reviewing is the instruction for a reviewer, for anyone's work.
const Reviewing = "You review the work of another agent and change nothing. You are shown which files changed and what the " +
	"harness ran; do not run or repeat any of it. Read with your tools the changed places that decide whether the work is " +
	"right. Report only problems that have to be mended; style is none. pass is true only if there are no problems."

// Verdict returns the JSON Schema of a reviewer's answer.
func Verdict() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` +
		`"pass":{"type":"boolean","description":"true if nothing has to be changed"},` +
		`"problems":{"type":"array","items":{"type":"object","properties":{` +
		`"path":{"type":"string"},"problem":{"type":"string","description":"what is wrong, and what shows it"}},` +
		`"required":["problem"],"additionalProperties":false}}},` +
		`"required":["pass","problems"],"additionalProperties":false}`)
}
