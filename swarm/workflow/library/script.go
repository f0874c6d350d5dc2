package library

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
)

// Script is a workflow script as a run records it.
type Script struct {
	Name    string                   `json:"name"` // how messages call it
	Text    string                   `json:"text"`
	Path    string                   `json:"path,omitempty"` // absolute; empty where it was typed
	Args    json.RawMessage          `json:"args,omitempty"`
	Lib     []event.ScriptFile       `json:"lib,omitempty"`
	Agent   string                   `json:"agent,omitempty"`   // for calls that name none
	Options *task.Options            `json:"options,omitempty"` // for calls that say nothing of it
	Form    script.Form              `json:"form,omitempty"`
	Shared  bool                     `json:"shared,omitempty"` // of runs of older versions: FormClaude
	Types   map[string]workflow.Type `json:"types,omitempty"`
	// Dispatched is set where a model of another harness handed the script in.
	Dispatched bool `json:"dispatched,omitempty"`

	// Warned are the warnings about its tools that a person has read.
	Warned []string `json:"-"`
	// Config is the configuration of the owner of the run if it differs from
	// that of the start.
	Config json.RawMessage `json:"-"`
}

// Source is the script for the process that runs it.
func (s *Script) Source() script.Source {
	return script.Source{Name: s.Name, Text: s.Text, Form: s.Form}
}

// Record is the script for the journal.
func (s *Script) Record() *event.Scripted {
	return &event.Scripted{Name: s.Name, Text: s.Text, Args: s.Args, Lib: s.Lib, Config: s.Config}
}

// Calling is the configuration of the calls that the script makes.
func (s *Script) Calling(c engine.Config, base store.Base, assign func(engine.AssignRequest) (*roles.Resolved, error), check func(*task.Call) error) workflow.Config {
	var options task.Options
	if s.Options != nil {
		options = *s.Options
	}
	return workflow.Config{
		Options: options,
		Agent:   s.Agent, Agents: slices.Sorted(maps.Keys(c.Agents)),
		Base: base.Commit, BaseTree: base.Tree, MaxAgents: c.MaxAgents,
		Form: s.Form, Types: s.Types, Assign: assign, Check: check, BudgetTokens: c.Budget.Tokens,
		Checks: orNone(slices.Sorted(maps.Keys(c.Checks))),
	}
}

// orNone is a list that is there also where nothing is in it.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// Quotes reports whether a word stands in quotes in the script, its args or its functions.
func (s *Script) Quotes(word string) bool {
	texts := []string{s.Text, string(s.Args)}
	for _, f := range s.Lib {
		texts = append(texts, f.Text)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc([]string{"'", `"`, "`"}, func(quote string) bool {
			return strings.Contains(text, quote+word+quote)
		})
	})
}

// MaxScript bounds a script, in bytes, as other runtimes do.
const MaxScript = 512 << 10

// File is a script that was read from a file.
type File struct {
	Script *Script
	// Paths are the paths of the file in the checkout; see [project.Project.PathsOf].
	Paths []string
	// Nested is set for a file of a repository within the checkout, such as a submodule.
	Nested bool
}

// ReadFile reads the script of a file. verb and name are for messages.
func (l *Library) ReadFile(verb, name, path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, refusal.Of(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxScript+1))
	if err != nil {
		return nil, refusal.Of(err)
	}
	file := &File{Nested: l.Project.InNested(path)}
	if file.Paths, err = l.Project.PathsOf(path); err != nil {
		return nil, refusal.Of(err)
	}
	if file.Script, err = New(verb, filepath.ToSlash(name), string(text)); err != nil {
		return file, err
	}
	if file.Script.Path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	file.Script.Form = formOf(file.Script.Path, file.Paths)
	return file, nil
}

// formOf returns the form of a script by the path in its name, and by its
// places in the checkout: links lead from a folder to another.
func formOf(path string, lies []string) script.Form {
	for _, at := range append([]string{path}, lies...) {
		if form := script.FormOf(at); form != script.FormOwn {
			return form
		}
	}
	return script.FormOwn
}

// New makes a script of a text. It refuses a text that is too long, is not UTF-8 or is
// empty. verb and name are for messages.
func New(verb, name, text string) (*Script, error) {
	switch {
	case len(text) > MaxScript:
		return nil, refusal.New("%s: %s: a script may be %s long", verb, termtext.Line(name), termtext.Bytes(MaxScript))
	case !utf8.ValidString(text):
		return nil, refusal.New("%s: %s is not UTF-8", verb, termtext.Line(name))
	case strings.TrimSpace(text) == "":
		return nil, refusal.New("%s: %s: the script is empty", verb, termtext.Line(name))
	}
	return &Script{Name: name, Text: text}, nil
}

// Setting is the part of a script's record that has no place of its own in the journal. It
// lies beside the configuration of an owner.
type Setting struct {
	Path   string                   `json:"path,omitempty"`
	Agent  string                   `json:"agent,omitempty"`
	Form   script.Form              `json:"form,omitempty"`
	Shared bool                     `json:"shared,omitempty"` // of runs of older versions: FormClaude
	Types  map[string]workflow.Type `json:"types,omitempty"`
}

// Latest returns the script of the latest owner of a run; nil for a run without
// a script. It returns an error if the record cannot be read.
func Latest(v *store.View) (*Script, error) {
	if v.Identity.Workflow.Kind != store.WorkflowScript {
		return nil, nil // a run without a script is no error
	}
	s := &Script{}
	if err := json.Unmarshal([]byte(v.Identity.Workflow.Text), s); err != nil {
		return nil, fmt.Errorf("read the workflow of run %s: %w", v.Identity.Run, err)
	}
	s.Form = recordedForm(s.Form, s.Shared)
	last := v.Script
	if last == nil {
		return s, nil
	}
	s.Name, s.Text, s.Args, s.Lib, s.Config = last.Name, last.Text, last.Args, last.Lib, last.Config
	if last.Config == nil {
		return s, nil
	}
	var r struct {
		Script Setting `json:"script"`
	}
	if err := json.Unmarshal(last.Config, &r); err != nil {
		return nil, fmt.Errorf("read the configuration of run %s: %w", v.Identity.Run, err)
	}
	s.Path, s.Agent, s.Types = r.Script.Path, r.Script.Agent, r.Script.Types
	s.Form = recordedForm(r.Script.Form, r.Script.Shared)
	return s, nil
}

// recordedForm is the form of a recorded script. Older versions knew of it only
// that its calls share a workspace.
func recordedForm(form script.Form, shared bool) script.Form {
	if shared {
		return script.FormClaude
	}
	return form
}
