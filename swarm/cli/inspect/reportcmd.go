package inspect

import (
	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	runreport "agentswarm/swarm/report"
)

// NewReportCommand returns the command `swarm report`.
func NewReportCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a run as an HTML page",
		ArgsUsage: "[RUN]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "md", Usage: "write Markdown, for a pull request"}},
		Description: `Writes a page with a timeline, the agents and their costs, the classes of equal edits
with an example of each, verdicts, landings, and refused patches with the outputs of
their checks. It is a single file without script.

Examples:
  swarm report > run.html
  swarm report k3x9q2 --md | gh pr create --title Codemod --body-file -`,
		Action: func(c *cli.Context) error { return reportAction(c, env) },
	}
}

func reportAction(c *cli.Context, env cmdline.Env) error {
	p, s, err := selection.Open(c, env, 0, 1)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 {
		return exit.Usagef("report: name a run; %s is an agent", s.Named[0].ID)
	}
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	in := runreport.Input{View: s.View, Review: r.Report, Marks: r.Marks, Verdict: r.Verdict, Skipped: map[string]string{}, Tail: view.ReadTail}
	for _, skipped := range r.Skipped {
		in.Skipped[skipped.ID] = skipped.Reason
	}
	if c.Bool("md") {
		return runreport.New(in).Markdown(env.Stdout)
	}
	return runreport.New(in).HTML(env.Stdout)
}
