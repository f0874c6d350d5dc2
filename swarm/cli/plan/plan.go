package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"agentswarm/swarm/assign"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/models/catalog"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/project"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/precheck"
)

// Plan holds all decisions before a run starts. Making a plan writes nothing.
type Plan struct {
	Verb     string // the command; empty: run
	workflow fanout.Workflow
	Config   engine.Config
	Calls    []*task.Call
	Assigned *assign.Assigner   // found the models of Calls
	known    *catalog.Providers // the providers there are
	chosen   chosen             // the agent of calls that name none
	Script   *library.Script    // nil: the workflow makes the calls
	meta     *script.Meta       // of the script; nil where it says nothing of itself
	exports  []string           // the project's own functions that it may call
	uses     []script.Use       // the tools that it spells out for its agents

	head        git.Hash // the commit, or the origin of a snapshot
	tree        git.Hash
	Base        store.Base
	Files       []string
	branch      string // checked out here; empty when detached
	RunTimeout  time.Duration
	Contact     session.Contact
	Isolation   isolation.Settings
	Policy      policy.Policy
	notes       []config.Error // notes for the user on the repository's files
	fewer       string         // a note on agents at once that do not fit; empty: none
	Merge       bool
	Into        string
	handBack    bool
	attest      bool
	dirt        git.Dirt
	size        int64         // of a checkout of the head, in bytes
	Wants       []config.Item // texts from the repository that would be run
	Needs       []config.Item // those of them that nobody has approved
	Input       []byte        // the text of standard input
	lies        []string      // where in the repository the list of tasks may lie
	nested      bool          // it lies in a repository within that
	withChanges bool
	snapshot    *git.Quarantine // holds a base of uncommitted changes
	Discard     func()          // of the snapshot
}

// New checks arguments, configuration, base and items.
func New(p *cmdline.Place, c *cli.Context) (*Plan, error) {
	pl := &Plan{
		Merge: c.Bool("merge"), Into: c.String("into"), handBack: c.Bool("hand-back"), attest: c.Bool("attest"),
		withChanges: c.Bool("with-changes"), Discard: func() {},
	}
	if c.IsSet("into") && pl.Into == "" {
		return nil, exit.Usagef("run: --into is empty: give the name of a branch, or leave it out")
	}
	if err := pl.words(c, p); err != nil {
		return nil, err
	}
	if err := findBase(p, c, pl); err != nil {
		return nil, err
	}
	conf, err := p.LoadConfig(c.Context, pl.head)
	if err != nil {
		return nil, err
	}
	if err := Configure(p, c, pl, conf); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *cmdline.Place, *Plan) error{
		checkScript, findTarget, checkRoom, makeCalls, FindPrograms, pending,
	} {
		if err := step(c.Context, p, pl); err != nil {
			pl.Discard()
			return nil, err
		}
	}
	if err := CheckTurns(p.Env, c, pl.Config, pl.Calls); err != nil {
		pl.Discard()
		return nil, err
	}
	return pl, nil
}

// findBase resolves the base of the workspaces.
func findBase(p *cmdline.Place, c *cli.Context, pl *Plan) error {
	ctx := c.Context
	rev, kind := "HEAD", store.BaseHead
	if c.IsSet("base") {
		rev, kind = c.String("base"), store.BaseRef
	}
	if pl.withChanges {
		switch {
		case kind == store.BaseRef:
			return exit.Usagef("run: --base and --with-changes exclude each other: changes are changes from HEAD")
		case p.Repo.Bare():
			return exit.Usagef("run: --with-changes: a bare repository has no working tree")
		}
		kind = store.BaseWithChanges
	}
	head, tree, err := p.Repo.CommitTree(ctx, rev)
	var bad *git.RevError
	if errors.As(err, &bad) && kind != store.BaseRef {
		return exit.Usagef("%s has no commit yet: agents need one to start from; commit something first", p.Repo.Name())
	}
	if errors.As(err, &bad) {
		return exit.Usagef("run: --base %v", bad)
	}
	if err != nil {
		return err
	}
	pl.head, pl.tree = head, tree
	pl.Base = store.Base{Commit: string(head), Tree: string(pl.tree), Kind: kind}
	return look(ctx, p, pl)
}

// look asks git the slow questions, all at once.
func look(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	var hazards []precheck.Hazard
	asking, asked := errgroup.WithContext(ctx)
	asking.Go(func() (err error) {
		pl.branch, err = p.Repo.Branch(asked)
		return err
	})
	asking.Go(func() (err error) {
		hazards, err = precheck.Hazards(asked, p.Repo, pl.head)
		return err
	})
	asking.Go(func() (err error) {
		pl.size, err = worktree.CheckoutSize(asked, p.Repo, pl.head)
		return err
	})
	if pl.Base.Kind != store.BaseRef {
		asking.Go(func() (err error) {
			pl.dirt, err = p.Repo.Dirt(asked)
			return err
		})
	}
	if !pl.withChanges {
		asking.Go(func() error {
			entries, err := p.Repo.Tree(asked, pl.tree)
			pl.Files = project.Files(entries)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if pl.withChanges && pl.dirt.Unmerged > 0 {
		return cmdline.Refused(&git.UnmergedError{Files: pl.dirt.Unmerged})
	}
	for _, h := range hazards {
		if h.Refused {
			return exit.Usagef("%s is not supported: %s", h.Name, h.Detail)
		}
	}
	return nil
}

// times lays the flags over the time limits.
func (pl *Plan) times(c *cli.Context, conf *config.Config) error {
	for _, limit := range []struct {
		flag       string
		configured time.Duration
		into       *time.Duration
	}{
		{"timeout", conf.Timeout, &pl.Config.Timeout},
		{"idle-timeout", conf.IdleTimeout, &pl.Config.IdleTimeout},
		{"run-timeout", conf.RunTimeout, &pl.RunTimeout},
	} {
		if *limit.into = limit.configured; c.IsSet(limit.flag) {
			*limit.into = c.Duration(limit.flag)
		}
		if *limit.into < 0 {
			return exit.Usagef("run: --%s %s: want a duration such as 30m, or 0s for none", limit.flag, *limit.into)
		}
	}
	return nil
}

// pending finds the texts that would be run and are not approved.
func pending(ctx context.Context, p *cmdline.Place, pl *Plan) (err error) {
	brought := pl.Files
	if pl.Base.Kind == store.BaseRef && len(pl.lies) > 0 {
		// A file here may have come with HEAD, whatever the base has.
		here, err := p.FilesAt(ctx, "HEAD")
		if err != nil {
			return err
		}
		brought = append(slices.Clone(brought), here...)
	}
	pl.trustTasks(brought)
	pl.TrustScript(brought)
	pl.Needs, err = p.Trust().Pending(pl.Wants)
	return err
}

func intSetting(c *cli.Context, flag string, configured, otherwise int) (int, error) {
	switch {
	case c.IsSet(flag):
		return c.Int(flag), nil
	case configured != 0:
		return configured, nil
	default:
		return otherwise, nil
	}
}

// makeCalls turns the workflow into calls.
func makeCalls(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	if pl.withChanges {
		if err := takeSnapshot(ctx, p, pl); err != nil {
			return err
		}
	}
	if pl.Script != nil {
		pl.announcePhases()
		return checkCalls(p, pl)
	}
	calls, err := pl.workflow.Calls(fanout.Base{
		Commit: pl.Base.Commit, Tree: pl.Base.Tree, Files: pl.Files,
	})
	if err != nil {
		return cmdline.Refused(err)
	}
	if len(calls) > pl.Config.MaxAgents {
		return exit.Usagef("run: %d agents are more than the %d that a run may start; raise --max-agents to allow them",
			len(calls), pl.Config.MaxAgents)
	}
	pl.Calls, pl.Assigned = calls, &assign.Assigner{Config: pl.Config, Kinds: cmdline.Kinds(p.Env).ByName()}
	if pl.known != nil {
		pl.Assigned.CheckModels = pl.known.Check
	}
	if err := pl.Assigned.Calls(pl.workflow, calls); err != nil {
		return RefusedRole(err)
	}
	return checkCalls(p, pl)
}

// recorded is the workflow as run.json has it.
func (pl *Plan) recorded() (store.Workflow, error) {
	if pl.Script != nil {
		text, err := json.Marshal(pl.Script)
		return store.Workflow{Kind: store.WorkflowScript, Text: string(text)}, err
	}
	text, err := json.Marshal(pl.workflow)
	if err != nil {
		return store.Workflow{}, fmt.Errorf("record the workflow: %w", err)
	}
	kind := store.WorkflowPrompt
	switch {
	case len(pl.workflow.Tasks) > 0:
		kind = store.WorkflowTasks
	case len(pl.workflow.Each) > 0:
		kind = store.WorkflowEach
	case pl.workflow.Count > 0:
		kind = store.WorkflowCount
	}
	return store.Workflow{Kind: kind, Text: string(text)}, nil
}

// checkRoom refuses a run whose state could not be written, or whose first
// workspace would not fit on the disk.
func checkRoom(_ context.Context, p *cmdline.Place, pl *Plan) error { return p.CheckSpace(pl.size) }
