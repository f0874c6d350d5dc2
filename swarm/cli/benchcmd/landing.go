package benchcmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/compare"
)

// defaultLandings is how many landings each row of the table has, and firstSeed the
// seed of the first.
const (
	defaultLandings = 20
	firstSeed       = 1
)

func newLandingCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "landing",
		Usage: "compare the landing queue with other ways to land patches",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "landings", Value: defaultLandings, Usage: "land `N` times in each row, 1 to 1000"},
		},
		Description: `Lands 100 patches with the queue of swarm merge --verify, and in other ways. Their
verdicts are scripted: some patches fail alone, two pairs fail only together, and 2 %
of the runs fail by chance. No check runs. The seeds are fixed, so that the figures
are the same each time.

CHECKS is the number of runs of the check for a landing, and ROUNDS how many of them
are in sequence. NAMED is the share of bad patches that an output names; only the
queue reads it. LANDED is the share of the patches that could land. REFUSED counts good
patches that were refused, which takes three flaky runs. BROKEN counts landings whose
result fails.

Examples:
  swarm bench landing
  swarm bench landing --landings 100`,
		Action: func(c *cli.Context) error { return landingAction(c, env) },
	}
}

func landingAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	n := c.Int("landings")
	if n < 1 || n > 1000 {
		return exit.Usagef("bench landing: --landings %d: want 1 to 1000", n)
	}
	rows, err := compare.Table(c.Context, compare.Request{
		Landings: n, Scenarios: compare.Standard(), Slots: []int{1, 4, 16}, Seed: firstSeed,
	})
	if err != nil {
		return err
	}
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "BAD", Right: true}, {Title: "SLOTS", Right: true}, {Title: "WAY"}, {Title: "NAMED", Right: true},
		{Title: "CHECKS", Right: true}, {Title: "ROUNDS", Right: true}, {Title: "LANDED", Right: true},
		{Title: "REFUSED", Right: true}, {Title: "BROKEN", Right: true},
	}}
	for _, r := range rows {
		mean := func(sum int) string { return fmt.Sprintf("%.1f", float64(sum)/float64(r.Landings)) }
		t.Row(fmt.Sprintf("%.0f %%", 100*r.Bad), fmt.Sprint(r.Slots), string(r.Way), fmt.Sprintf("%.0f %%", 100*r.Named),
			mean(r.Verifications), mean(r.Rounds), fmt.Sprintf("%.1f %%", 100*float64(r.Result.Landed)/float64(max(1, r.Good))),
			fmt.Sprint(r.Innocent), fmt.Sprint(r.Broken))
	}
	return t.Print(env.Stdout, 0)
}
