package workflowcmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/workflow/library"
)

func newSaveCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "save",
		Usage:     "save a script as a workflow of this repository",
		ArgsUsage: "NAME FILE|-",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace the script of that name, and its test"},
			&cli.BoolFlag{Name: "untested", Usage: "save it without a test that passes"},
			cmdline.JSONFlag(),
		},
		Description: `Writes the script, and the .test.toml beside it, to .swarm/workflows. From there,
run --workflow NAME starts it. The test must pass. If FILE has no test, or is - for
standard input, the test of the workflow that is replaced counts. The saved script is
approved by this command; agents cannot save workflows.

Examples:
  swarm workflow save review plan.js
  swarm workflow save review plan.js --force
  swarm workflow save draft - --untested < plan.js`,
		Action: func(c *cli.Context) error { return saveAction(c, env) },
	}
}

// savedObject is swarm.saved/1, described in docs/json.md.
type savedObject struct {
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	File     string `json:"file"`
	Test     string `json:"test,omitempty"`
	Tested   bool   `json:"tested"`
	Replaced bool   `json:"replaced"`
}

func saveAction(c *cli.Context, env cmdline.Env) error {
	p, words, err := openWithScripts(c, env, 2, 2)
	if err != nil {
		return err
	}
	if p.Repo.Bare() {
		return exit.Usagef("workflow save: a bare repository has no checkout to save in")
	}
	if err := p.Personal("saving a workflow"); err != nil {
		return err
	}
	r := library.SaveRequest{Name: words[0], Word: words[1]}
	if r.Word == "-" {
		r.Typed = cmdline.Input(env)
	}
	s, err := plan.OpenLibrary(p).PrepareSave(r)
	if err != nil {
		return err
	}
	if err := s.Check(c.Context); err != nil {
		return err
	}
	if !c.Bool("untested") {
		if err := testSaved(c.Context, p, s); err != nil {
			return err
		}
	}
	written, err := s.Write(c.Bool("force"))
	if err != nil {
		return err
	}
	if err := p.Trust().Approve([]config.Item{library.Item(s.File(), s.Script.Text)}); err != nil {
		return fmt.Errorf("workflow save: %s is written, but not approved: %w", s.File(), err)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, savedObject{
			Schema: "swarm.saved/1", Name: s.Name, File: s.File(), Test: written.Test, Tested: !c.Bool("untested"), Replaced: written.Replaced,
		})
	}
	fmt.Fprintf(env.Stderr, "saved; `%s run --workflow %s` runs it\n", env.Calls, s.Name)
	_, err = fmt.Fprintln(env.Stdout, filepath.Join(p.Repo.TopLevel, filepath.FromSlash(s.File())))
	return err
}

// testSaved refuses a script whose test does not pass, and tells the cases that failed.
func testSaved(ctx context.Context, p *cmdline.Place, s *library.Saving) error {
	if s.Test == "" {
		return &exit.UsageError{
			Text:   fmt.Sprintf("workflow save: %s has no test", termtext.Line(s.Script.Name)),
			Advice: "write a .test.toml beside it, or save it with --untested",
		}
	}
	t, err := tester(ctx, p)
	if err != nil {
		return err
	}
	done, err := s.RunTest(ctx, t)
	switch {
	case err != nil:
		return cmdline.Refused(err)
	case done.Fault != nil:
		return cmdline.Refused(done.Fault)
	case done.Passed():
		return nil
	}
	// The result of save on standard output is a file.
	var b strings.Builder
	if _, err := done.Report.WriteTo(&b); err != nil {
		return err
	}
	if _, err := io.WriteString(p.Env.Stderr, termtext.Text(b.String())); err != nil {
		return err
	}
	return &exit.Error{Code: exit.Verify, Err: fmt.Errorf("workflow save: %s: its test fails; the script was not saved", termtext.Line(s.Script.Name))}
}
