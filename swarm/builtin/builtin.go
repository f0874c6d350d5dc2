// Package builtin is the agent that swarm brings along: a program that asks a
// language model for the next step and carries it out. It serves where no other
// agent is installed.
//
// It owns the layout of the prompt, the conversation and its files, turns,
// compaction, structured answers, and the protocol on stdin and stdout. Package
// model asks models, and package tool carries out their calls. It decides
// nothing about risk: it asks.
package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/builtin/tool"
	"agentswarm/swarm/event"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/task"
	"agentswarm/variants"
)

// Options are the settings of the agent.
type Options struct {
	Root string // required: the top of the workspace, absolute
	Dir  string // required: the working directory, absolute
	// Environ is the environment of commands, keys of models left out by us.
	Environ []string
	// Binary and Args start a supervisor.
	Binary  string // required
	Args    []string
	Sandbox json.RawMessage // the sandbox around a command, in the supervisor's own form
	Run     string          // the run it belongs to; empty: none

	Endpoint *model.Endpoint // required
	Gate     tool.Gate       // required

	Tools    []string // empty: all
	ReadOnly bool
	Contract string // how actions are judged; may be empty
	Role     string // the end of the system prompt; may be empty
	// Opening is the run's part of how the prompt opens; nil: there is no run.
	Opening *prompt.Parts
	// Variants are the possible texts against failure modes if there is no run.
	Variants []variants.Variant

	Session   string // the folder to keep the conversation in; empty: it is not kept
	Artifacts string // the folder for long outputs; empty: beside the conversation
	Fork      string // the folder of a conversation to go on with
	Cold      bool   // even where its prefix is another

	MaxTurns int             // 0: any number
	Schema   json.RawMessage // of the answer; empty: any text
	Window   int64           // tokens that fit; 0: as is known of the model

	// JSONL has it speak the protocol. Else it answers Prompt, as for a person.
	JSONL  bool
	Prompt string
	Stdin  io.Reader // with JSONL
	Stdout io.Writer // required
	Stderr io.Writer // required: progress for a person

	Patience time.Duration // how long a request may wait in all; 0: a default
}

// Failure is why there is no answer.
type Failure struct {
	Kind  task.ErrorKind
	Text  string
	After time.Duration // when it is worth trying again; 0: not known
	Quota *event.Quota  // the window that is used up; nil: none is known
}

func (f *Failure) Error() string { return f.Text }

// failed is an error as the protocol has it; nil where it is not the agent's.
func failed(err error) *Failure {
	var own *Failure
	var asked *model.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &asked):
		return &Failure{Kind: asked.Kind, Text: asked.Text, After: asked.After, Quota: asked.Quota}
	}
	return nil
}

// InvalidError is an option that cannot be.
type InvalidError struct{ Text string }

func (e *InvalidError) Error() string { return e.Text }

// Run runs the agent. Its errors are *InvalidError, before anything was done,
// *Failure, and the cause of ctx.
func Run(ctx context.Context, o Options) (err error) {
	var out face = &plain{out: o.Stdout, progress: o.Stderr, form: len(o.Schema) > 0}
	if o.JSONL {
		out = &jsonl{w: o.Stdout}
	}
	a, err := newAgent(o, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if o.JSONL {
		err = a.serve(ctx, listen(ctx, o.Stdin))
	} else {
		err = a.answer(ctx, order{Type: "prompt", Text: withSchema(o.Prompt, o.Schema), Schema: o.Schema})
	}
	f := failed(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case f != nil:
		a.face.erred(f)
		err = f
	}
	return errors.Join(err, a.face.broken())
}

// withSchema is a prompt that describes the answer in words. Some servers take
// no schema, and some not at once. A run adds these words itself.
func withSchema(prompt string, schema json.RawMessage) string {
	if len(schema) == 0 {
		return prompt
	}
	return fmt.Sprintf("%s\n\nAnswer with one JSON object that matches this schema, and nothing else:\n%s", prompt, schema)
}

// newAgent puts an agent together. Nothing has been asked or written then.
func newAgent(o Options, out face) (*agent, error) {
	tools, err := tool.Pick(o.Tools, o.ReadOnly)
	if err != nil {
		return nil, &InvalidError{err.Error()}
	}
	if len(o.Schema) > 0 {
		if _, err := schema.Compile(o.Schema); err != nil {
			return nil, &InvalidError{err.Error()}
		}
	}
	a := &agent{o: o, tools: tools, face: out, window: o.Window, head: newHeader(o, tools)}
	if a.window == 0 {
		a.window = o.Endpoint.Facts.ContextWindow
	}
	a.model = &model.Patient{Model: model.New(o.Endpoint), Most: o.Patience, Told: func(e *model.Error, wait time.Duration) {
		a.face.retry(&Failure{Kind: e.Kind, Text: e.Text, After: wait, Quota: e.Quota})
	}}
	if o.Fork != "" {
		if err := a.fork(); err != nil {
			return nil, err
		}
	}
	keep, err := a.keep()
	if err != nil {
		return nil, err
	}
	a.bench = &tool.Bench{
		Root: o.Root, Dir: o.Dir, Keep: keep, Gate: o.Gate, Run: o.Run, Binary: o.Binary, Args: o.Args, Sandbox: o.Sandbox,
		Env: without(o.Environ, o.Endpoint.Secrets),
	}
	return a, nil
}

// keep is the folder for long outputs.
func (a *agent) keep() (string, error) {
	switch {
	case a.o.Artifacts != "":
		return filepath.Join(a.o.Artifacts, "output"), nil
	case a.o.Session != "":
		return filepath.Join(a.o.Session, "output"), nil
	}
	dir, err := os.MkdirTemp("", "swarm-builtin-")
	if err != nil {
		return "", fmt.Errorf("make a folder for outputs: %w", err)
	}
	a.temporary = dir
	return dir, nil
}

// close closes the agent's files and connections.
func (a *agent) close() error {
	model.Close()
	var errs []error
	if a.log != nil {
		errs = append(errs, a.log.close())
	}
	if a.temporary != "" {
		errs = append(errs, os.RemoveAll(a.temporary))
	}
	return errors.Join(errs...)
}

// without is an environment less some variables.
func without(environ, names []string) []string {
	drop := map[string]bool{}
	for _, name := range names {
		drop[name] = true
	}
	var all []string
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); !drop[name] {
			all = append(all, pair)
		}
	}
	return all
}
