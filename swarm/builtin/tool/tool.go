// Package tool owns the tools of the built-in agent: read, grep, find and ls,
// and edit, write and bash. It defines their names and inputs, carries calls
// out, and bounds their results.
//
// It decides nothing about permissions: before a change or a command it asks a
// [Gate]. It talks to no model.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"agentswarm/swarm/ask"
)

// Gate decides whether an action may be.
type Gate interface {
	// Pass returns nil where it may, and else why not, in words for the model.
	Pass(ctx context.Context, a ask.Action) error
}

// Bench is where tools work.
type Bench struct {
	Root string // required: the workspace, absolute; nothing outside is written
	Dir  string // required: where relative paths begin, absolute
	Keep string // required: a folder for outputs that are too long to be shown
	Gate Gate   // required

	Env []string // of commands
	Run string   // the run that commands belong to
	// Binary and Args start a supervisor: of each command, which ends with all
	// that it has started.
	Binary  string // required
	Args    []string
	Sandbox json.RawMessage // the sandbox around the command, in the supervisor's own form

	count  atomic.Int64 // of the files below Keep
	bounds bounds       // of searches; zero: the usual ones
}

// Tool is a tool of the agent.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Reads says that it changes nothing: several may go on at once.
	Reads bool

	use func(context.Context, *Bench, json.RawMessage) (string, error)
}

// Outcome is the result of a call.
type Outcome struct {
	Text string
	Bad  bool
}

// Use carries a call out. An error is an outcome, for the model to read.
func (t *Tool) Use(ctx context.Context, b *Bench, input json.RawMessage) Outcome {
	text, err := t.use(ctx, b, input)
	if err != nil {
		if text != "" {
			text += "\n"
		}
		return Outcome{Text: textOf(text + err.Error()), Bad: true}
	}
	return Outcome{Text: textOf(text)}
}

// textOf is the part of a text that can be sent. Some servers take no zero byte
// in a text.
func textOf(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// All are the tools, in the order in which they are offered.
func All() []*Tool {
	return []*Tool{readTool(), grepTool(), findTool(), lsTool(), editTool(), writeTool(), bashTool()}
}

// Pick picks from all tools those that are named, or all where none is.
// readOnly leaves only those that change nothing.
func Pick(names []string, readOnly bool) ([]*Tool, error) {
	all := All()
	var known []string
	for _, t := range all {
		known = append(known, t.Name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("unknown tool %q: want some of %s", name, strings.Join(known, ", "))
		}
		if readOnly && !all[i].Reads {
			return nil, fmt.Errorf("the tool %s changes things, which a read-only agent does not", name)
		}
	}
	return slices.DeleteFunc(all, func(t *Tool) bool {
		return readOnly && !t.Reads || len(names) > 0 && !slices.Contains(names, t.Name)
	}), nil
}

// decode reads the input of a tool.
func decode(input json.RawMessage, to any) error {
	err := json.Unmarshal(input, to)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: want %s, but got a %s", strings.ToLower(wrong.Field), wrong.Type, wrong.Value)
	case err != nil:
		return fmt.Errorf("the input is not a JSON object: %w", err)
	}
	return nil
}

// required says which member of an input is missing.
func required(name, value string) error {
	if value == "" {
		return fmt.Errorf("%s: is missing", name)
	}
	return nil
}
