package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fleet"
	"agentswarm/swarm/script"
)

func newWorkflowTestCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "test scripts with scripted agents",
		ArgsUsage: "[FILE | NAME…]",
		Flags:     []cli.Flag{jsonFlag()},
		Description: `Runs each case of the .test.toml beside a script: its agents, checks and people
answer as the case says, and nothing is started. Prints a line for each case, what
is not as expected, how many agents it started, and how many the script can start
at most. Without a name it tests all saved workflows that have such a file and the
project's own functions in .swarm/lib, whose cases say which of them is called:
args = { call = "name", with = [1, "two"] }.

Ends with exit code 7 if a case fails, and with 2 if there is no test.

Examples:
  swarm workflow test plan.js
  swarm workflow test
  swarm workflow test .swarm/lib/sorting.js --json`,
		Action: func(c *cli.Context) error { return workflowTestAction(c, env) },
	}
}

// testedObject is swarm.tested/1, described in docs/json.md.
type testedObject struct {
	Schema  string         `json:"schema"`
	OK      bool           `json:"ok"`
	Scripts []testedScript `json:"scripts"`
}

type testedScript struct {
	File  string       `json:"file"`
	Test  string       `json:"test,omitempty"`
	OK    bool         `json:"ok"`
	Cases []testedCase `json:"cases,omitempty"`
	Worst *fleet.Worst `json:"worst,omitempty"`
	Error *faultObject `json:"error,omitempty"`

	report *fleet.Report
	fault  error
}

type testedCase struct {
	Name   string   `json:"name"`
	Line   int      `json:"line"`
	OK     bool     `json:"ok"`
	Agents int      `json:"agents"`
	Wrong  []string `json:"wrong,omitempty"`
	Unused []string `json:"unused,omitempty"`
}

func workflowTestAction(c *cli.Context, env Env) error {
	p, words, err := workflowArguments(c, env, 0, -1)
	if err != nil {
		return err
	}
	const verb = "workflow test"
	named, err := p.testedNames(verb, words)
	if err != nil {
		return err
	}
	t, err := p.tester(c.Context)
	if err != nil {
		return err
	}
	o := testedObject{Schema: "swarm.tested/1", OK: true, Scripts: []testedScript{}}
	var codes []Code
	for _, n := range named {
		done, err := t.testFile(c.Context, n)
		if err != nil {
			return err
		}
		var none *noTestError
		if len(words) == 0 && errors.As(done.fault, &none) {
			continue
		}
		switch {
		case done.fault != nil:
			codes = append(codes, CodeUsage)
		case !done.OK:
			codes = append(codes, CodeVerify)
		}
		o.OK = o.OK && done.OK
		o.Scripts = append(o.Scripts, done)
	}
	if len(o.Scripts) == 0 {
		return usagef("%s: there is nothing to test: no saved workflow and no file of %s has a .test.toml beside it", verb, libFolder)
	}
	if c.Bool("json") {
		err = printJSON(env.Stdout, o)
	} else {
		err = p.printTested(o.Scripts)
	}
	if err == nil && len(codes) > 0 {
		return &ExitError{Code: First(codes...)}
	}
	return err
}

// testedNames are the scripts that words mean; all that could have a test where
// there are none.
func (p *place) testedNames(verb string, words []string) ([]namedScript, error) {
	named, err := p.scriptsNamed(verb, words)
	if err != nil || len(words) > 0 {
		return named, err
	}
	var lib scripted
	if err := p.gatherLib(&lib); err != nil {
		return nil, err
	}
	for _, f := range lib.Lib {
		named = append(named, namedScript{f.Name, filepath.Join(p.rootDir(), filepath.FromSlash(f.Name)), f.Name})
	}
	return named, nil
}

// tester tests scripts of one checkout.
type tester struct {
	*place
	lib       []event.ScriptFile
	maxAgents int
}

func (p *place) tester(ctx context.Context) (*tester, error) {
	var lib scripted
	if err := p.gatherLib(&lib); err != nil {
		return nil, err
	}
	conf, err := p.config(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	t := &tester{place: p, lib: lib.Lib, maxAgents: defaultMaxAgents}
	if conf.MaxAgents > 0 {
		t.maxAgents = conf.MaxAgents
	}
	return t, nil
}

// noTestError is a script without a test.
type noTestError struct{ Script, Test string }

func (e *noTestError) Error() string { return e.Script + ": has no test: " + e.Test + " is missing" }

// testPath is where the test of a script lies.
func testPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".test.toml"
}

// testFile tests the script of a file. An error is swarm's own.
func (t *tester) testFile(ctx context.Context, n namedScript) (testedScript, error) {
	done := testedScript{File: n.file}
	text, err := readText(n.path, maxScript)
	if err == nil {
		done, err = t.test(ctx, testRequest{script: scripted{Name: done.File, Text: text, Path: n.path}, test: testPath(n.path), shown: testPath(n.file)})
	}
	if err != nil {
		return testedScript{}, refused(err)
	}
	return done, nil
}

// testRequest is a script and the file of its cases.
type testRequest struct {
	script scripted
	test   string // its path
	shown  string // how messages call that
}

// test runs the cases of a script. What is wrong with the script or with its
// test is in the result; an error is swarm's own.
func (t *tester) test(ctx context.Context, r testRequest) (testedScript, error) {
	done := testedScript{File: r.script.Name}
	text, err := readText(r.test, fleet.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return done.failed(&noTestError{done.File, r.shown}), nil
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
	// A script may be anything: what reads it here was read elsewhere first.
	loaded, err := t.load(ctx, []script.Source{source}, t.lib)
	if err != nil {
		return done, err
	}
	if e := loaded[0].Error; e != nil {
		return done.failed(&ScriptError{Err: e}), nil
	}
	report, err := fleet.Test(ctx, fleet.Request{
		Source: source, Meta: loaded[0].Meta, Lib: libSources(t.lib), Suite: suite,
		Options: fleet.Options{MaxAgents: t.maxAgents, Nested: func(n *script.Nested) (script.Source, error) {
			_, found, err := t.findNested(&r.script, n)
			if err != nil {
				return script.Source{}, err
			}
			return *found, nil
		}},
		Run: machineOf(t.env.Self),
	})
	var refusal *script.Error
	if errors.As(err, &refusal) {
		return done.failed(&ScriptError{Err: refusal}), nil
	}
	if err != nil {
		return done, err
	}
	done.take(report)
	return done, nil
}

// source is what is run in a test: the script itself, or the call of a function
// that a file of the project's own exports.
func (t *tester) source(s scripted) script.Source {
	for _, f := range t.lib {
		if filepath.Join(t.rootDir(), filepath.FromSlash(f.Name)) == s.Path {
			return script.Source{Name: s.Name, Text: libCall}
		}
	}
	return script.Source{Name: s.Name, Text: s.Text, Form: script.FormOf(s.Path)}
}

// libCall calls one of the project's own functions, as a case says.
const libCall = `if (typeof args?.call !== 'string' || typeof lib[args.call] !== 'function') {
  throw new TypeError('a case of a file of functions has args = { call = "name", with = […] }, and lib has: ' + Object.keys(lib).join(', '))
}
return await lib[args.call](...(args.with ?? []))
`

func (s testedScript) failed(err error) testedScript {
	s.OK, s.fault, s.Error = false, err, newFaultObject(err)
	return s
}

func (s *testedScript) take(r *fleet.Report) {
	s.report, s.OK, s.Worst = r, r.Passed(), &r.Worst
	for _, c := range r.Cases {
		s.Cases = append(s.Cases, testedCase{c.Name, c.Line, len(c.Wrong) == 0, c.Agents, c.Wrong, c.Unused})
	}
}

func (p *place) printTested(all []testedScript) error {
	for _, s := range all {
		var b strings.Builder
		if s.fault != nil {
			b.WriteString(faultText(s.fault) + "\n")
		} else if _, err := s.report.WriteTo(&b); err != nil {
			return err
		}
		if _, err := fmt.Fprint(p.env.Stdout, PrintableText(b.String())); err != nil {
			return err
		}
	}
	return nil
}
