package event

import (
	"encoding/json"

	"agentswarm/swarm/task"
)

// Scripted is the script of this owner of the run, with its args.
type Scripted struct {
	Name string          `json:"name"` // how messages call it
	Text string          `json:"text"`
	Args json.RawMessage `json:"args,omitempty"` // absent: none were given
	// Lib are the project's own functions.
	Lib []ScriptFile `json:"lib,omitempty"`
	// Config is the configuration of this owner and later owners; absent while
	// it is the configuration of the run's start.
	Config json.RawMessage `json:"config,omitempty"`
}

// ScriptFile is a file of a script.
type ScriptFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Entered is something other than the end of an agent that entered the
// script: a timer that fired, the outcome of a check, a merge, a landing, an
// answer, a word that was sent, or the text of a nested workflow.
type Entered struct {
	// Verb is the word for the script's request; Key tells requests apart by
	// their content.
	Verb  string          `json:"verb"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *ScriptError    `json:"error,omitempty"`
}

// ScriptError is an error that entered a script or left it.
type ScriptError struct {
	Name    string `json:"name,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Where   string `json:"where,omitempty"` // file:line:column
	Line    string `json:"line,omitempty"`  // its text
}

// Logged is a line that the script has for people.
type Logged struct {
	Text  string `json:"text"`
	Phase string `json:"phase,omitempty"`
}

// Phased is a group that the script began.
type Phased struct {
	Title string `json:"title"`
}

// Returned is the end of a script: its value, which is absent if it returned
// nothing, or the error that it threw.
type Returned struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *ScriptError    `json:"error,omitempty"`
	// Unasked are agents of earlier owners that no call asked for this time.
	Unasked []task.ID `json:"unasked,omitempty"`
}

// Chosen is the outcome of a race: the agents of the branches that it took,
// and those of the branches that it did not take. A later record wins.
type Chosen struct {
	Won  []task.ID `json:"won,omitempty"`
	Lost []task.ID `json:"lost,omitempty"`
}

func (*Chosen) kind() string { return "chosen" }
