package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/config"
	"agentswarm/worktree/git"
)

func newRiskCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "risk",
		Usage: "explain and list decisions about actions of agents",
		Description: `Every action of an agent has a tier: SAFE proceeds in silence; VISIBLE and
HARD_TO_REVERSE proceed by a grant or ask; DESTRUCTIVE, and what cannot be read,
always asks. What reaches other work trees of the repository is denied.

Grants are items under "## Pre-Authorized Actions" in AGENTS.md, as it is
committed. Rules of your own are read from risk.toml beside your configuration
for all repositories: they may add rules and raise tiers. Those of a repository,
in .swarm/risk.toml as it is committed, only raise tiers.

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

// riskGround is where actions are judged outside of a run, and by what.
type riskGround struct {
	rules     *risk.Rules
	place     *risk.Place
	authority *risk.Authority
	dir       string   // the folder of the command
	base      git.Hash // whose AGENTS.md counts; empty: there is no commit
	nowhere   bool     // in no repository
}

// openRiskGround finds out where a command stands. Outside of any repository
// nothing is granted, and nothing is shared.
func openRiskGround(c *cli.Context, env Env) (*riskGround, error) {
	g := &riskGround{authority: &risk.Authority{}, dir: invoked(c).dir}
	request := riskPlaceRequest{worktree: c.Bool("worktree")}
	p, err := openPlace(c, env)
	var none *git.NotRepoError
	switch {
	case errors.As(err, &none) && !c.IsSet("base"):
		g.place, g.nowhere = barePlace(env, request), true
		g.rules, err = (&place{env: env}).riskRules(c.Context, "")
		return g, err
	case err != nil:
		return nil, err
	}
	if g.place, err = p.riskPlace(c.Context, request); err != nil {
		return nil, err
	}
	if g.base, err = p.riskBase(c); err != nil {
		return nil, err
	}
	if g.rules, err = p.riskRules(c.Context, g.base); err != nil || g.base == "" {
		return g, err
	}
	g.authority, err = p.authority(c.Context, g.base)
	return g, err
}

// riskBase is the commit whose AGENTS.md counts; empty where the repository
// has none yet.
func (p *place) riskBase(c *cli.Context) (git.Hash, error) {
	ref := "HEAD"
	if c.IsSet("base") {
		ref = c.String("base")
	}
	base, err := p.repo.Commit(c.Context, ref)
	var not *git.RevError
	switch {
	case errors.As(err, &not) && c.IsSet("base"):
		return "", usagef("%s: --base %v", commandPath(invoked(c).path), not)
	case errors.As(err, &not):
		return "", nil
	}
	return base, err
}

// barePlace is a place in no repository.
func barePlace(env Env, r riskPlaceRequest) *risk.Place {
	unknown := func(string) (bool, error) { return false, errors.New("there is no repository") }
	return &risk.Place{
		Home: env.Getenv("HOME"), Tmp: temporary(env.Getenv("TMPDIR")), Shared: r.worktree,
		Facts: &placeFacts{
			published: unknown, leads: unknown,
			tracked: func() ([]string, bool) { return nil, true },
			refs:    func() (map[string]bool, bool) { return nil, true },
			answers: map[gitQuestion]gitAnswer{},
		},
	}
}

// userRules is the file of the user's own rules; empty where there can be none.
func (env Env) userRules() string {
	file := config.UserFile((&place{env: env}).lookup)
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "risk.toml")
}

// repositoryRules is the file of a repository's own rules, below its top.
const repositoryRules = ".swarm/risk.toml"

// riskRules are the built-in rules with those of the user, and with those that
// a commit of the repository has, which only raise tiers. Without a commit there
// are none such.
func (p *place) riskRules(ctx context.Context, base git.Hash) (*risk.Rules, error) {
	var text []byte
	file := p.env.userRules()
	if file != "" {
		source, err := config.ReadFile(config.User, file)
		if err != nil {
			return nil, refused(err)
		}
		text = source.Text
	}
	if len(text) > config.MaxSize {
		return nil, usagef("%s: is longer than %d bytes", file, config.MaxSize)
	}
	theirs, err := p.committedFile(ctx, base, repositoryRules)
	if err != nil {
		return nil, err
	}
	rules, err := risk.LoadWith(text, theirs)
	if of := (*risk.RepositoryError)(nil); errors.As(err, &of) {
		file = base.Short() + ":" + repositoryRules
	}
	if err != nil {
		return nil, refused(&riskFileError{file: file, err: err})
	}
	return rules, nil
}

// committedFile is a file of rules that a commit has; nil for none. Its path
// is below the top of the repository.
func (p *place) committedFile(ctx context.Context, base git.Hash, file string) ([]byte, error) {
	if base == "" {
		return nil, nil
	}
	files, err := p.repo.Named(ctx, git.NamedRequest{
		Commit: base, Name: filepath.Base(file), Max: maxAgentFiles, Limit: maxAgentText,
	})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(files, func(f git.NamedFile) bool { return f.Path == file })
	if at < 0 {
		return nil, nil
	}
	text := files[at].Text
	if text == nil {
		return nil, usagef("%s:%s: is no file of its own, but a link to something else", base.Short(), file)
	}
	if len(text) > config.MaxSize {
		return nil, usagef("%s:%s: is longer than %d bytes", base.Short(), file, config.MaxSize)
	}
	return text, nil
}

// riskFileError is a file of rules that cannot be used.
type riskFileError struct {
	file string
	err  error
}

func (e *riskFileError) Error() string {
	var rule *risk.RuleError
	if !errors.As(e.err, &rule) {
		return fmt.Sprintf("%s: %v", e.file, e.err)
	}
	where := config.Origin{File: e.file, Line: rule.Line}.String()
	return fmt.Sprintf("%s: %v", where, &risk.RuleError{ID: rule.ID, Why: rule.Why})
}

func (e *riskFileError) Unwrap() error { return e.err }

// riskRuling is what an action is and what becomes of it.
type riskRuling struct {
	*risk.Finding
	*risk.Decision
	cwd string
}

// judge says what becomes of an action outside of a run.
func (g *riskGround) judge(a *ask.Action) riskRuling {
	r := riskRuling{cwd: g.folder(a.Cwd)}
	r.Finding = g.rules.Classify(riskAction(a, r.cwd), *g.place)
	r.Decision = g.authority.Decide(r.Finding, g.place)
	return r
}

// riskAction is an action as the rules know it.
func riskAction(a *ask.Action, cwd string) risk.Action {
	switch {
	case a.Write != "":
		return &risk.FileWrite{Path: a.Write, Cwd: cwd, Removes: a.Removes}
	case len(a.Git) > 0:
		return &risk.Git{Args: a.Git, Cwd: cwd}
	case a.Tool != "":
		return &risk.Outward{Tool: a.Tool, Method: a.Method, Target: a.Target}
	default:
		return &risk.Shell{Text: a.Command, Cwd: cwd}
	}
}

// folder is a folder named from that of the command, by its real name. Of one
// that is not there, what is there of its path counts.
func (g *riskGround) folder(cwd string) string {
	// A ".." behind a symlink leads elsewhere than cleaning the path would.
	path := cwd
	if !filepath.IsAbs(cwd) {
		path = g.dir + "/" + cwd
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	path, rest := filepath.Clean(path), ""
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
	return path
}

// ruleIDs are the rules that parts were found by, each once.
func ruleIDs(parts []risk.Part) []string {
	ids := []string{}
	seen := map[string]bool{}
	for _, part := range parts {
		if !seen[part.Rule] {
			ids = append(ids, part.Rule)
		}
		seen[part.Rule] = true
	}
	return ids
}
