package riskcmd

import (
	"errors"

	"github.com/urfave/cli/v2"

	"agentswarm/risk/repository"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/policy"
	"agentswarm/worktree/git"
)

// New makes the command `swarm risk`.
func New(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "risk",
		Usage: "explain and list decisions about actions of agents",
		Description: `Every action of an agent has a tier: SAFE proceeds in silence; VISIBLE and
HARD_TO_REVERSE proceed by a grant or ask; DESTRUCTIVE, and what cannot be read,
always asks. An action that reaches other work trees of the repository is denied.

Grants are items under "## Pre-Authorized Actions" in the committed AGENTS.md. Your
own rules, in risk.toml beside your configuration for all repositories, can add rules
and raise tiers. Those of a repository, in the committed .swarm/risk.toml, only raise
tiers.

Examples:
  swarm risk explain 'git push --force'
  swarm risk grants
  swarm risk log`,
		Subcommands: []*cli.Command{
			newRiskExplainCommand(env), newRiskCheckCommand(env), newRiskGrantsCommand(env), newRiskLogCommand(env),
		},
	}
}

// riskBaseFlag makes the flag that says whose AGENTS.md counts.
func riskBaseFlag() cli.Flag {
	return &cli.StringFlag{Name: "base", Usage: "use AGENTS.md of the commit `REF` (default: HEAD)"}
}

func riskWorktreeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "worktree", Usage: "judge as in an agent's linked work tree"}
}

// Surroundings is the place and the law by which actions are judged outside of a run.
type Surroundings struct {
	*policy.Law
	dir     string   // the folder of the command
	base    git.Hash // whose AGENTS.md counts; empty: there is no commit
	nowhere bool     // in no repository
}

// OpenSurroundings finds out where a command stands. Outside of any repository
// nothing is granted, and nothing is shared.
func OpenSurroundings(c *cli.Context, env cmdline.Env) (*Surroundings, error) {
	g := &Surroundings{dir: cmdline.Invoked(c).Dir}
	request := policy.LawRequest{
		Place:     repository.Request{Home: env.Getenv("HOME"), TempDir: env.Getenv("TMPDIR"), Linked: c.Bool("worktree")},
		UserRules: UserRules(env),
	}
	p, err := cmdline.Open(c, env)
	var none *git.NotRepoError
	switch {
	case errors.As(err, &none) && !c.IsSet("base"):
		g.nowhere = true
	case err != nil:
		return nil, err
	default:
		request.Place.Repo = p.Repo
		if g.base, err = Base(p, c); err != nil {
			return nil, err
		}
	}
	request.Commit = g.base
	g.Law, err = policy.NewLaw(c.Context, request)
	return g, RefusedRules(err)
}

// RefusedRules is refused for a file of rules that cannot be used.
func RefusedRules(err error) error {
	if of := (*policy.RulesError)(nil); errors.As(err, &of) {
		return cmdline.Refused(err)
	}
	return err
}

// UserRules is the file of the user's own rules; empty where there can be none.
func UserRules(env cmdline.Env) string { return policy.UserRules(config.Lookup(env.Getenv)) }

// Base is the commit whose AGENTS.md counts; empty where the repository
// has none yet.
func Base(p *cmdline.Place, c *cli.Context) (git.Hash, error) {
	ref := "HEAD"
	if c.IsSet("base") {
		ref = c.String("base")
	}
	base, err := p.Repo.Commit(c.Context, ref)
	var not *git.RevError
	switch {
	case errors.As(err, &not) && c.IsSet("base"):
		return "", exit.Usagef("%s: --base %v", cmdline.Path(cmdline.Invoked(c).Path), not)
	case errors.As(err, &not):
		return "", nil
	}
	return base, err
}

// JudgeAction judges an action outside of a run.
func (g *Surroundings) JudgeAction(a *ask.Action) policy.Ruling {
	return g.Law.Judge(a, policy.RealFolder(g.dir, a.Cwd))
}
