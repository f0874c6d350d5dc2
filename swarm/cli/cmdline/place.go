package cmdline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/project"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// Place is the repository a command works on, and the state kept for it.
type Place struct {
	project.Project
	Env Env
	// Reads is set for a command that only reads.
	Reads bool
	// ToldPending are the runs of which was said that their recovery is pending.
	ToldPending *[]string
	// Given lays the isolation flags of the command line over the recorded
	// settings.
	Given func(*isolation.Settings) error
	// Cautious lays the policy flags of the command line over the recorded
	// policy.
	Cautious func(*policy.Policy) error
}

// Open finds the repository. It writes nothing, unless a command that
// changed a checkout was cut off: then it completes or undoes that change.
func Open(c *cli.Context, env Env) (*Place, error) {
	inv := Invoked(c)
	if inv.HasDir {
		env.Calls = CalledIn(env.Calls, inv.TypedDir)
	}
	p, err := OpenAt(c.Context, env, inv.Dir)
	if err == nil {
		p.Reads = ReadsOnly(c.Context)
		p.recoverCheckouts(c.Context)
		p.Given = func(i *isolation.Settings) error { return p.readIsolationFlags(c, i) }
		p.Cautious = func(into *policy.Policy) error { return p.layCaution(c, into) }
	}
	return p, err
}

// OpenAt is open for a folder.
func OpenAt(ctx context.Context, env Env, dir string) (*Place, error) {
	p := &Place{
		Env: env, ToldPending: new([]string),
		Given:    func(*isolation.Settings) error { return nil },
		Cautious: func(*policy.Policy) error { return nil },
	}
	opened, err := project.Open(ctx, project.Request{Dir: dir, Environ: env.Environ, Getenv: env.Getenv, Step: env.Step})
	if err != nil {
		return nil, Refused(err)
	}
	p.Project = *opened
	return p, nil
}

// Without is a place for commands that need no repository.
func Without(env Env) *Place {
	return &Place{Env: env, Project: project.Project{Getenv: env.Getenv}}
}

// Keep has every git from now on end with this process, whatever ends it.
// Commands that only read do without: it costs them a process.
func (p *Place) Keep() {
	if p.Env.Keeper != nil {
		p.Repo.Keep(p.Env.Keeper)
	}
}

// Refused gives an error the exit code of a refusal if the user's input or
// place kept a command from running.
func Refused(err error) error {
	if err == nil {
		return nil
	}
	var missing *git.MissingError
	if errors.As(err, &missing) || exit.CodeOf(err) == exit.Failed {
		return &exit.Error{Code: exit.Usage, Err: err}
	}
	return err
}

// recoverCheckouts ends the changes of checkouts whose process died, and says
// how. Where that fails a reading command goes on; merge, apply and undo try
// again, and fail.
func (p *Place) recoverCheckouts(ctx context.Context) {
	ended, err := checkouts.Recover(ctx, checkouts.RecoverRequest{
		Records: p.State.Checkouts(), Repo: p.Repo, Step: p.Env.Step,
	})
	for _, o := range ended {
		fmt.Fprintln(p.Env.Stderr, Program+": "+termtext.Line(recoveredText(&o)))
		for _, k := range o.Kept {
			fmt.Fprintln(p.Env.Stderr, Program+": "+termtext.Line(fmt.Sprintf(
				"not overwritten, as it changed meanwhile: %s in %s", termtext.List(k.Paths, 5), k.Dir)))
		}
	}
	if err != nil {
		PrintError(p.Env, err)
	}
}

// recoveredText says on which side a transaction ended.
func recoveredText(o *checkouts.Outcome) string {
	run, _, _ := strings.Cut(o.ID, ".")
	what := fmt.Sprintf("%s of run %s was cut off", o.Verb, run)
	var where []string
	if o.Ref != "" {
		where = append(where, lander.BranchName(o.Ref))
	}
	for _, dir := range o.Dirs {
		where = append(where, "the files of "+dir)
	}
	switch on := strings.Join(where, " and "); {
	case !o.Begun:
		return what + " before it changed anything"
	case o.Happened:
		return fmt.Sprintf("%s; it is completed: %s have all of it", what, on)
	default:
		return fmt.Sprintf("%s; it is rolled back: %s have nothing of it", what, on)
	}
}

// CalledIn is how swarm is called for a folder, as a person can type it.
func CalledIn(calls, dir string) string { return calls + " -C " + shellWord(dir) }

// shellWord is a word as a shell reads it back.
func shellWord(word string) string {
	if NeedsNoQuotes(word) && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// NeedsNoQuotes tells whether a word means itself to every shell, also within
// quotes of either kind.
func NeedsNoQuotes(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return false
		default:
			return !strings.ContainsRune("_./:,@%+=-", r)
		}
	})
}

// Personal is the same for an agent of a run of this repository only. In no
// repository it holds for the agents of all.
func (p *Place) Personal(what string) error {
	why, err := p.fromAgent()
	if why != "" {
		return &AgentError{What: what, Why: why}
	}
	return err
}

func (p *Place) fromAgent() (why string, err error) {
	if p.State != nil {
		return policy.FromAgent(p.State, p.Env.Getenv)
	}
	root, err := store.Root(p.Env.Getenv)
	if err != nil {
		return "", err
	}
	return policy.FromAnyAgent(root, p.Env.Getenv)
}

// AgentError says that a decision was asked for from within an agent.
type AgentError struct {
	What string // the decision
	Why  string // the evidence for an agent
}

func (e *AgentError) Error() string { return e.What + " is for people: " + e.Why }

// Hint names the right way.
func (e *AgentError) Hint() string {
	return "an agent asks by the `ask` of its protocol, and a person answers from a terminal of their own"
}

// ExitCode is the code of a missing approval: only a person can give it.
func (e *AgentError) ExitCode() int { return int(exit.Approval) }

// LoadConfig reads all configuration files, and the variables of the
// environment over them. In a bare repository the project's file comes from the
// base commit. It returns a refusal if a file cannot be read or is invalid.
func (p *Place) LoadConfig(ctx context.Context, base git.Hash) (*config.Config, error) {
	c, err := p.Config(ctx, base)
	return c, Refused(err)
}

// OwnConfig is the user's own configuration; the default configuration if an
// agent asks. It returns an error if the file cannot be read or is invalid.
func (p *Place) OwnConfig() (*config.Config, error) {
	if p.Personal("reading the user's own configuration") != nil {
		return config.Load()
	}
	return UserConfig(p.Env)
}
