package workflowcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fleet"
	"agentswarm/swarm/workflow/library"
)

func newTestCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "test scripts with scripted agents",
		ArgsUsage: "[FILE | NAME…]",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `Runs each case of the .test.toml beside a script. Agents, checks and people answer as
the case says; no agent starts. It prints a line for each case, with its differences,
how many agents it started, and how many the script can start at most. Without a
name it tests all saved workflows with such a file, and the project's functions in
.swarm/lib. Their cases name the function: args = { call = "name", with = [1, "two"] }.

The exit code is 7 if a case fails, and 2 if there is no test.

Examples:
  swarm workflow test plan.js
  swarm workflow test
  swarm workflow test .swarm/lib/sorting.js --json`,
		Action: func(c *cli.Context) error { return testAction(c, env) },
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
}

type testedCase struct {
	Name   string   `json:"name"`
	Line   int      `json:"line"`
	OK     bool     `json:"ok"`
	Agents int      `json:"agents"`
	Wrong  []string `json:"wrong,omitempty"`
	Unused []string `json:"unused,omitempty"`
}

func testAction(c *cli.Context, env cmdline.Env) error {
	p, words, err := openWithScripts(c, env, 0, -1)
	if err != nil {
		return err
	}
	const verb = "workflow test"
	named, err := plan.OpenLibrary(p).FindTested(verb, words)
	if err != nil {
		return err
	}
	t, err := tester(c.Context, p)
	if err != nil {
		return err
	}
	o := testedObject{Schema: "swarm.tested/1", OK: true, Scripts: []testedScript{}}
	var all []library.Tested
	var codes []exit.Code
	for _, n := range named {
		done, err := t.Test(c.Context, n)
		if err != nil {
			return err
		}
		var none *library.NoTestError
		if len(words) == 0 && errors.As(done.Fault, &none) {
			continue
		}
		switch {
		case done.Fault != nil:
			codes = append(codes, exit.Usage)
		case !done.Passed():
			codes = append(codes, exit.Verify)
		}
		o.OK = o.OK && done.Passed()
		o.Scripts, all = append(o.Scripts, newTestedScript(&done)), append(all, done)
	}
	if len(o.Scripts) == 0 {
		return exit.Usagef("%s: there is nothing to test: no saved workflow and no file of %s has a .test.toml beside it", verb, library.FunctionsFolder)
	}
	if c.Bool("json") {
		err = cmdline.PrintJSON(env.Stdout, o)
	} else {
		err = printTested(env.Stdout, all)
	}
	if err == nil && len(codes) > 0 {
		return &exit.Error{Code: exit.First(codes...)}
	}
	return err
}

// tester tests scripts with the limit of agents that is configured here.
func tester(ctx context.Context, p *cmdline.Place) (*library.Tester, error) {
	conf, err := p.LoadConfig(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	most := config.DefaultMaxAgents
	if conf.MaxAgents > 0 {
		most = conf.MaxAgents
	}
	return plan.OpenLibrary(p).NewTester(most)
}

func newTestedScript(t *library.Tested) testedScript {
	s := testedScript{File: t.File, Test: t.Test, OK: t.Passed(), Error: newFaultObject(t.Fault)}
	if r := t.Report; r != nil {
		s.Worst = &r.Worst
		for _, c := range r.Cases {
			s.Cases = append(s.Cases, testedCase{c.Name, c.Line, len(c.Wrong) == 0, c.Agents, c.Wrong, c.Unused})
		}
	}
	return s
}

func printTested(w io.Writer, all []library.Tested) error {
	for _, s := range all {
		var b strings.Builder
		if s.Fault != nil {
			b.WriteString(faultText(s.Fault) + "\n")
		} else if _, err := s.Report.WriteTo(&b); err != nil {
			return err
		}
		if _, err := fmt.Fprint(w, termtext.Text(b.String())); err != nil {
			return err
		}
	}
	return nil
}
