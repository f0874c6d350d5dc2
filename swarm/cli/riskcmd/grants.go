package riskcmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk/repository"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/policy"
	"agentswarm/worktree/git"
)

func newRiskGrantsCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "grants",
		Usage: "list grants of AGENTS.md, and items that grant nothing",
		Flags: []cli.Flag{riskBaseFlag(), cmdline.JSONFlag()},
		Description: `Lists the items under "## Pre-Authorized Actions" in AGENTS.md of the commit that
a run here would start from, each with its effect. The effects are granted, forbidden,
void (it is not understood and grants nothing), suspended (an item that forbids is not
understood, so nothing is granted) and ignored (an AGENTS.md below the top can only
forbid). Uncommitted items do not count yet.

Examples:
  swarm risk grants
  swarm risk grants --base main --json`,
		Action: func(c *cli.Context) error { return riskGrantsAction(c, env) },
	}
}

// riskGrantsObject is swarm.riskgrants/1, described in docs/json.md.
type riskGrantsObject struct {
	Schema string `json:"schema"`
	Base   string `json:"base,omitempty"`
	*policy.GrantList
}

func riskGrantsAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	base, err := Base(p, c)
	if err != nil {
		return err
	}
	list, err := policy.ListGrants(c.Context, p.Repo, base)
	if err != nil {
		return err
	}
	o := &riskGrantsObject{Schema: "swarm.riskgrants/1", Base: string(base), GrantList: list}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return o.print(env)
}

func (o *riskGrantsObject) print(env cmdline.Env) error {
	if len(o.Items) > 0 {
		t := &terminal.Table{Columns: []terminal.Column{{Title: "WHERE", Flex: true}, {Title: "ITEM", Flex: true}, {Title: "STATUS"}, {Title: "WHY", Flex: true}}}
		for _, item := range o.Items {
			t.Row(item.Where, item.Text, string(item.Status), item.Why)
		}
		width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
		if err := t.Print(env.Stdout, width); err != nil {
			return err
		}
	}
	base := git.Hash(o.Base).Short()
	switch {
	case o.Base == "":
		fmt.Fprintln(env.Stderr, "no grants: there is no commit yet")
	case len(o.Items) == 0 && len(o.Suspended) == 0:
		fmt.Fprintf(env.Stderr, "no grants: commit %s has no item under \"## Pre-Authorized Actions\"\n", base)
	case o.Uncommitted:
		fmt.Fprintf(env.Stderr, "%s of the work tree says other things than that of commit %s, which counts\n", repository.AgentsFile, base)
	}
	for _, s := range o.Suspended {
		fmt.Fprintf(env.Stderr, "no grants: %s: %s\n", termtext.Line(s.File), termtext.Line(s.Why))
	}
	return nil
}
