package cli

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
)

// TestReadOnly holds which commands leave a run whose owner died as it is. A
// subcommand is not read-only because of its name.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	probe := func() *cli.Command {
		return &cli.Command{Name: "ls", Action: func(c *cli.Context) error {
			if cmdline.ReadsOnly(c.Context) {
				return cli.Exit("reads", 7)
			}
			return nil
		}}
	}
	run := func(commands ...*cli.Command) bool {
		app := &cli.App{Name: "x", Commands: commands, ExitErrHandler: func(*cli.Context, error) {}}
		path := []string{"x", commands[0].Name}
		if sub := commands[0].Subcommands; len(sub) > 0 {
			path = append(path, sub[0].Name)
		}
		return app.RunContext(context.Background(), path) != nil
	}
	if !run(readOnly(probe())) || run(probe()) || run(&cli.Command{Name: "workflow", Subcommands: []*cli.Command{probe()}}) {
		t.Error("it is not the declaration that decides")
	}
	var got []string
	for _, c := range builtin(cmdline.Env{Getenv: func(string) string { return "" }}) {
		at := cli.NewContext(nil, flag.NewFlagSet("", flag.ContinueOnError), nil)
		if c.Before != nil && c.Before(at) == nil && cmdline.ReadsOnly(at.Context) {
			got = append(got, c.Name)
		}
	}
	want := []string{"status", "ls", "show", "logs", "usage", "wait", "watch", "review", "diff", "report", "inbox"}
	if !slices.Equal(got, want) {
		t.Errorf("commands that only read: %q, want %q", got, want)
	}
}
