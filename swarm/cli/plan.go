package cli

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

// plan is all that is decided before a run starts. Making one writes nothing.
type plan struct {
	verb     string // the command; empty: run
	workflow fanout.Workflow
	config   engine.Config
	calls    []*task.Call
	assigned *assign.Assigner   // what the models of those were found by
	known    *catalog.Providers // the providers there are
	chosen   chosen             // the agent of calls that name none
	script   *library.Script    // nil: the workflow makes the calls
	meta     *script.Meta       // of the script; nil where it says nothing of itself
	exports  []string           // the project's own functions that it may call
	uses     []script.Use       // the tools that it spells out for its agents

	head        git.Hash // the commit, or what a snapshot is taken from
	tree        git.Hash
	base        store.Base
	files       []string
	branch      string // checked out here; empty when detached
	runTimeout  time.Duration
	contact     session.Contact
	isolation   isolation.Settings
	policy      policy.Policy
	notes       []config.Error // what the user is to know of the repository's files
	merge       bool
	into        string
	handBack    bool
	dirt        git.Dirt
	size        int64         // of a checkout of the head, in bytes
	wants       []config.Item // texts from the repository that would be run
	needs       []config.Item // those of them that nobody has approved
	input       []byte        // what was read from standard input
	lies        []string      // where in the repository the list of tasks may lie
	nested      bool          // it lies in a repository within that
	withChanges bool
	snapshot    *git.Quarantine // holds a base of uncommitted changes
	discard     func()          // of the snapshot
}

// newPlan checks arguments, configuration, base and items.
func (p *place) newPlan(c *cli.Context) (*plan, error) {
	pl := &plan{
		merge: c.Bool("merge"), into: c.String("into"), handBack: c.Bool("hand-back"),
		withChanges: c.Bool("with-changes"), discard: func() {},
	}
	if c.IsSet("into") && pl.into == "" {
		return nil, exit.Usagef("run: --into is empty: give the name of a branch, or leave it out")
	}
	if err := pl.words(c, p); err != nil {
		return nil, err
	}
	if err := p.findBase(c, pl); err != nil {
		return nil, err
	}
	conf, err := p.LoadConfig(c.Context, pl.head)
	if err != nil {
		return nil, err
	}
	if err := p.configure(c, pl, conf); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *plan) error{
		p.checkScript, p.target, p.room, p.makeCalls, p.findPrograms, p.pending,
	} {
		if err := step(c.Context, pl); err != nil {
			pl.discard()
			return nil, err
		}
	}
	if err := checkTurns(p.Env, c, pl.config, pl.calls); err != nil {
		pl.discard()
		return nil, err
	}
	return pl, nil
}

// findBase resolves what the workspaces start from.
func (p *place) findBase(c *cli.Context, pl *plan) error {
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
	pl.base = store.Base{Commit: string(head), Tree: string(pl.tree), Kind: kind}
	return p.look(ctx, pl)
}

// look asks git what it takes long to tell, all at once.
func (p *place) look(ctx context.Context, pl *plan) error {
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
	if pl.base.Kind != store.BaseRef {
		asking.Go(func() (err error) {
			pl.dirt, err = p.Repo.Dirt(asked)
			return err
		})
	}
	if !pl.withChanges {
		asking.Go(func() error {
			entries, err := p.Repo.Tree(asked, pl.tree)
			pl.files = project.Files(entries)
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
func (pl *plan) times(c *cli.Context, conf *config.Config) error {
	for _, limit := range []struct {
		flag       string
		configured time.Duration
		into       *time.Duration
	}{
		{"timeout", conf.Timeout, &pl.config.Timeout},
		{"idle-timeout", conf.IdleTimeout, &pl.config.IdleTimeout},
		{"run-timeout", conf.RunTimeout, &pl.runTimeout},
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

// pending finds out which of the texts that would be run nobody has approved.
func (p *place) pending(ctx context.Context, pl *plan) (err error) {
	brought := pl.files
	if pl.base.Kind == store.BaseRef && len(pl.lies) > 0 {
		// A file here may have come with HEAD, whatever the base has.
		here, err := p.FilesAt(ctx, "HEAD")
		if err != nil {
			return err
		}
		brought = append(slices.Clone(brought), here...)
	}
	pl.trustTasks(brought)
	pl.trustScript(brought)
	pl.needs, err = p.Trust().Pending(pl.wants)
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
func (p *place) makeCalls(ctx context.Context, pl *plan) error {
	if pl.withChanges {
		if err := p.takeSnapshot(ctx, pl); err != nil {
			return err
		}
	}
	if pl.script != nil {
		pl.announcePhases()
		return p.checkCalls(pl)
	}
	calls, err := pl.workflow.Calls(fanout.Base{
		Commit: pl.base.Commit, Tree: pl.base.Tree, Files: pl.files,
	})
	if err != nil {
		return cmdline.Refused(err)
	}
	if len(calls) > pl.config.MaxAgents {
		return exit.Usagef("run: %d agents are more than the %d that a run may start; raise --max-agents to allow them",
			len(calls), pl.config.MaxAgents)
	}
	pl.calls, pl.assigned = calls, &assign.Assigner{Config: pl.config, Kinds: cmdline.Kinds(p.Env).ByName()}
	if pl.known != nil {
		pl.assigned.CheckModels = pl.known.Check
	}
	if err := pl.assigned.Calls(pl.workflow, calls); err != nil {
		return refusedRole(err)
	}
	return p.checkCalls(pl)
}

// recorded is the workflow as run.json has it.
func (pl *plan) recorded() (store.Workflow, error) {
	if pl.script != nil {
		text, err := json.Marshal(pl.script)
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
