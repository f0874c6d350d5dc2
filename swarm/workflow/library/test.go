package library

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fleet"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
)

// FindTested finds the scripts that words mean; without a word all that could have a test.
// verb is for messages.
func (l *Library) FindTested(verb string, words []string) ([]Found, error) {
	named, err := l.FindAll(verb, words)
	if err != nil || len(words) > 0 {
		return named, err
	}
	var lib Script
	if err := l.gatherFunctions(&lib); err != nil {
		return nil, err
	}
	for _, f := range lib.Lib {
		named = append(named, Found{f.Name, filepath.Join(l.Project.Root(), filepath.FromSlash(f.Name)), f.Name})
	}
	return named, nil
}

// Tester tests scripts of a library.
type Tester struct {
	library   *Library
	functions []event.ScriptFile
	maxAgents int
}

// NewTester makes a tester. maxAgents is how many agents a run may start.
func (l *Library) NewTester(maxAgents int) (*Tester, error) {
	var lib Script
	if err := l.gatherFunctions(&lib); err != nil {
		return nil, err
	}
	return &Tester{library: l, functions: lib.Lib, maxAgents: maxAgents}, nil
}

// Tested is the outcome of the test of a script.
type Tested struct {
	File   string        // the script in messages
	Test   string        // its test in messages; empty: there is none
	Report *fleet.Report // nil with a fault
	Fault  error         // of the script or its test; a [*NoTestError] where there is none
}

// Passed reports whether all cases passed.
func (t *Tested) Passed() bool { return t.Fault == nil && t.Report.Passed() }

// NoTestError says that a script has no test.
type NoTestError struct{ Script, Test string }

func (e *NoTestError) Error() string { return e.Script + ": has no test: " + e.Test + " is missing" }

// TestPath is the path of the test of a script.
func TestPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".test.toml"
}

// Test runs the test of a script. A fault of the script or of the test is in the outcome.
func (t *Tester) Test(ctx context.Context, n Found) (Tested, error) {
	done := Tested{File: n.File}
	text, err := readText(n.Path, MaxScript)
	if err == nil {
		done, err = t.test(ctx, testRequest{script: Script{Name: done.File, Text: text, Path: n.Path}, test: TestPath(n.Path), shown: TestPath(n.File)})
	}
	if err != nil {
		return Tested{}, refusal.Of(err)
	}
	return done, nil
}

// testRequest is a script and the file of its cases.
type testRequest struct {
	script Script
	test   string // its path
	shown  string // how messages call that
}

// test runs the cases of a script. A fault of the script or of its test is in the outcome.
func (t *Tester) test(ctx context.Context, r testRequest) (Tested, error) {
	done := Tested{File: r.script.Name}
	text, err := readText(r.test, fleet.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return done.failed(&NoTestError{Script: done.File, Test: r.shown}), nil
	}
	if err != nil {
		return done, err
	}
	done.Test = r.shown
	suite, err := fleet.Read(done.Test, []byte(text))
	if err != nil {
		return done.failed(err), nil
	}
	source := t.source(r.script)
	// A script may be anything: another process reads it before this process
	// does.
	loaded, err := t.library.load(ctx, []script.Source{source}, t.functions)
	if err != nil {
		return done, err
	}
	if e := loaded[0].Error; e != nil {
		return done.failed(&Error{Err: e}), nil
	}
	report, err := fleet.Test(ctx, fleet.Request{
		Source: source, Meta: loaded[0].Meta, Lib: functionSources(t.functions), Suite: suite,
		Options: fleet.Options{MaxAgents: t.maxAgents, Nested: func(n *script.Nested) (script.Source, error) {
			_, found, err := t.library.findNested(&r.script, n)
			if err != nil {
				return script.Source{}, err
			}
			return *found, nil
		}},
		Run: process.Runner(t.library.Self),
	})
	var refusal *script.Error
	if errors.As(err, &refusal) {
		return done.failed(&Error{Err: refusal}), nil
	}
	if err != nil {
		return done, err
	}
	done.Report = report
	return done, nil
}

// failed is the outcome with a fault.
func (t Tested) failed(err error) Tested {
	t.Fault = err
	return t
}

// source is the text that a test runs: the script itself, or the call of a function of the
// project.
func (t *Tester) source(s Script) script.Source {
	for _, f := range t.functions {
		if filepath.Join(t.library.Project.Root(), filepath.FromSlash(f.Name)) == s.Path {
			return script.Source{Name: s.Name, Text: libCall}
		}
	}
	return script.Source{Name: s.Name, Text: s.Text, Form: script.FormOf(s.Path)}
}

// libCall calls a function of the project's own library for a test case.
const libCall = `if (typeof args?.call !== 'string' || typeof lib[args.call] !== 'function') {
  throw new TypeError('a case of a file of functions has args = { call = "name", with = […] }, and lib has: ' + Object.keys(lib).join(', '))
}
return await lib[args.call](...(args.with ?? []))
`
