package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// plan is all that is decided before a run starts. Making one writes nothing.
type plan struct {
	workflow fanout.Workflow
	config   engine.Config
	calls    []*task.Call

	head        git.Hash // the commit, or what a snapshot is taken from
	tree        git.Hash
	base        store.Base
	files       []string
	branch      string // checked out here; empty when detached
	runTimeout  time.Duration
	merge       bool
	into        string
	dirt        git.Dirt
	needs       []config.Item // texts from the repository nobody has approved
	withChanges bool
	snapshot    *git.Quarantine // holds a base of uncommitted changes
	discard     func()          // of the snapshot
}

// newPlan checks arguments, configuration, base and items.
func (p *place) newPlan(c *cli.Context) (*plan, error) {
	pl := &plan{
		merge: c.Bool("merge"), into: c.String("into"),
		withChanges: c.Bool("with-changes"), discard: func() {},
	}
	if err := pl.words(c, p); err != nil {
		return nil, err
	}
	if err := p.findBase(c, pl); err != nil {
		return nil, err
	}
	conf, err := p.config(c.Context, pl.head)
	if err != nil {
		return nil, err
	}
	if err := p.configure(c, pl, conf); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *plan) error{p.target, p.room, p.makeCalls, p.findPrograms} {
		if err := step(c.Context, pl); err != nil {
			pl.discard()
			return nil, err
		}
	}
	return pl, nil
}

// words reads what is to be done: the prompt, or the command after --.
func (pl *plan) words(c *cli.Context, p *place) error {
	args, err := arguments(c, 0, 1)
	if err != nil {
		return usagef("run: takes one prompt; quote it, or put a command after --")
	}
	inv := invoked(c)
	switch {
	case inv.hasAfter && len(args) > 0:
		return usagef("run: takes a prompt or a command after --, not both")
	case inv.hasAfter && len(inv.after) == 0:
		return usagef("run: there is no command after --")
	case inv.hasAfter:
		pl.workflow.Command = inv.after
	case len(args) == 0:
		return usagef("run: needs a prompt, or a command after --")
	default:
		prompt := args[0]
		if err := checkFile(p.dir, prompt); err != nil {
			return err
		}
		switch {
		case strings.TrimSpace(prompt) == "":
			return usagef("run: the prompt is empty")
		case !utf8.ValidString(prompt):
			return usagef("run: the prompt is not UTF-8")
		}
		pl.workflow.Prompt = prompt
	}
	pl.workflow.Each, pl.workflow.Prefix = c.StringSlice("each"), p.repo.Prefix
	if c.IsSet("count") {
		if pl.workflow.Count = c.Int("count"); pl.workflow.Count < 1 {
			return usagef("run: --count %d: want 1 or more", pl.workflow.Count)
		}
	}
	return nil
}

// checkFile refuses a word that is a script or a task file: what it names
// must exist, and this version does not run them yet.
func checkFile(dir, word string) error {
	ext := filepath.Ext(word)
	if ext != ".js" && ext != ".jsonl" && ext != ".toml" {
		return nil
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, word)
	}
	stat, err := os.Stat(path)
	isFile := err == nil && stat.Mode().IsRegular()
	switch blanks := strings.ContainsAny(word, " \t\n"); {
	case isFile && ext == ".js":
		return usagef("run: %s: this version does not run scripts", word)
	case isFile:
		return usagef("run: %s: this version does not run task files", word)
	case blanks:
		return nil
	default:
		return usagef("run: %s: there is no such file; a prompt that ends in %s needs a blank in it", word, ext)
	}
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
			return usagef("run: --base and --with-changes exclude each other: changes are changes from HEAD")
		case p.repo.Bare():
			return usagef("run: --with-changes: a bare repository has no working tree")
		}
		kind = store.BaseWithChanges
	}
	head, err := p.repo.Commit(ctx, rev)
	var bad *git.RevError
	if errors.As(err, &bad) && kind != store.BaseRef {
		return usagef("%s has no commit yet: agents need one to start from; commit something first", p.repo.Name())
	}
	if errors.As(err, &bad) {
		return usagef("run: --base %v", bad)
	}
	if err != nil {
		return err
	}
	if pl.tree, err = p.repo.TreeOf(ctx, head); err != nil {
		return err
	}
	pl.head = head
	pl.base = store.Base{Commit: string(head), Tree: string(pl.tree), Kind: kind}
	if pl.branch, err = p.repo.Branch(ctx); err != nil {
		return err
	}
	if kind != store.BaseRef {
		if pl.dirt, err = p.repo.Dirt(ctx); err != nil {
			return err
		}
		if pl.withChanges && pl.dirt.Unmerged > 0 {
			return refused(&git.UnmergedError{Files: pl.dirt.Unmerged})
		}
	}
	hazards, err := worktree.Hazards(ctx, p.repo)
	if err != nil {
		return err
	}
	for _, h := range hazards {
		if h.Refused {
			return usagef("%s is not supported: %s", h.Name, h.Detail)
		}
	}
	return nil
}

// configure lays the flags over the configuration.
func (p *place) configure(c *cli.Context, pl *plan, conf *config.Config) error {
	var err error
	pl.config = engine.Config{Setup: conf.Setup, Verify: conf.Verify}
	use := config.Use{Setup: !c.IsSet("setup"), Verify: !c.IsSet("verify")}
	if c.IsSet("setup") {
		pl.config.Setup = c.String("setup")
	}
	if c.IsSet("verify") {
		pl.config.Verify = c.String("verify")
	}
	if pl.config.Jobs, err = intSetting(c, "j", conf.Jobs, limit.Jobs(limit.MemAvailable(), limit.CommandFootprint)); err != nil {
		return err
	}
	if pl.config.Jobs < 1 || pl.config.Jobs > limit.MaxJobs {
		return usagef("run: -j %d: want 1 to %d", pl.config.Jobs, limit.MaxJobs)
	}
	if pl.config.MaxAgents, err = intSetting(c, "max-agents", conf.MaxAgents, defaultMaxAgents); err != nil {
		return err
	}
	if pl.config.MaxAgents < 1 {
		return usagef("run: --max-agents %d: want 1 or more", pl.config.MaxAgents)
	}
	for flag, into := range map[string]*time.Duration{
		"timeout": &pl.config.Timeout, "idle-timeout": &pl.config.IdleTimeout, "run-timeout": &pl.runTimeout,
	} {
		configured := map[string]time.Duration{
			"timeout": conf.Timeout, "idle-timeout": conf.IdleTimeout, "run-timeout": conf.RunTimeout,
		}[flag]
		if *into = configured; c.IsSet(flag) {
			*into = c.Duration(flag)
		}
		if *into < 0 {
			return usagef("run: --%s %s: want a duration such as 30m, or 0s for none", flag, *into)
		}
	}
	if err := p.chooseAgent(c, pl, conf, &use); err != nil {
		return err
	}
	pl.needs, err = config.Trust{Dir: p.state.Trust()}.Pending(conf.Needs(use))
	return err
}

// defaultMaxAgents is how many agents a run may start in its life.
const defaultMaxAgents = 1000

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

// chooseAgent finds the agent that a prompt goes to.
func (p *place) chooseAgent(c *cli.Context, pl *plan, conf *config.Config, use *config.Use) error {
	if len(pl.workflow.Command) > 0 {
		if c.IsSet("agent") {
			return usagef("run: --agent and a command after -- exclude each other")
		}
		return nil
	}
	a, err := p.namedAgent(c, conf)
	if err != nil {
		return err
	}
	spec := &agent.Spec{
		Name: a.Name, Kind: a.Kind.String(), Command: a.Command,
		Input: agent.Input(a.Input.String()), Format: agent.Format(a.Format.String()),
		Success: agent.Success(a.Success.String()), Env: a.Env,
		Timeout: a.Timeout, IdleTimeout: a.IdleTimeout,
	}
	// A flag is meant for this run, so it wins over what the file says.
	if c.IsSet("timeout") {
		spec.Timeout = pl.config.Timeout
	}
	if c.IsSet("idle-timeout") {
		spec.IdleTimeout = pl.config.IdleTimeout
	}
	_, unset := a.Environ(func(name string) (string, bool) {
		for _, kv := range p.env.Environ {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value, true
			}
		}
		return "", false
	})
	if len(unset) > 0 {
		return usagef("agent %s takes $%s from the environment, where it is not set", a.Name, strings.Join(unset, ", $"))
	}
	pl.config.Agents = map[string]*agent.Spec{a.Name: spec}
	pl.workflow.Agent = a.Name
	use.Agents = []string{a.Name}
	return nil
}

// namedAgent is the agent that --agent names, or the default one.
func (p *place) namedAgent(c *cli.Context, conf *config.Config) (config.Agent, error) {
	name := c.String("agent")
	switch known := conf.AgentNames(); {
	case c.IsSet("agent") && name == "":
		return config.Agent{}, usagef("run: --agent needs the name of an agent")
	case name == "" && conf.DefaultAgent == "" && len(known) > 0:
		return config.Agent{}, &UsageError{
			Text:   "run: a prompt needs an agent: name one with --agent, or set default_agent in the configuration",
			Advice: "configured here: " + strings.Join(known, ", "),
		}
	case name == "" && conf.DefaultAgent == "":
		return config.Agent{}, &UsageError{
			Text:   "run: a prompt needs an agent, and none is configured",
			Advice: "describe one in a table [agents.NAME] of " + p.userFile() + ", or put a command after --",
		}
	}
	a, err := conf.Agent(name)
	return a, refused(err)
}

// makeCalls turns the workflow into calls.
func (p *place) makeCalls(ctx context.Context, pl *plan) error {
	if pl.withChanges {
		if err := p.takeSnapshot(ctx, pl); err != nil {
			return err
		}
	} else {
		entries, err := p.repo.Tree(ctx, pl.tree)
		if err != nil {
			return err
		}
		pl.files = paths(entries)
	}
	calls, err := pl.workflow.Calls(fanout.Base{
		Commit: pl.base.Commit, Tree: pl.base.Tree, Files: pl.files,
	})
	if err != nil {
		return refused(err)
	}
	if len(calls) > pl.config.MaxAgents {
		return usagef("run: %d agents are more than the %d that a run may start; raise --max-agents to allow them",
			len(calls), pl.config.MaxAgents)
	}
	pl.calls = calls
	return nil
}

func paths(entries []git.Entry) []string {
	files := make([]string, 0, len(entries))
	for _, e := range entries {
		// A submodule is a folder that is empty in every workspace.
		if e.Mode != "160000" {
			files = append(files, e.Path)
		}
	}
	return files
}

// recorded is the workflow as run.json has it.
func (pl *plan) recorded() (store.Workflow, error) {
	text, err := json.Marshal(pl.workflow)
	if err != nil {
		return store.Workflow{}, fmt.Errorf("record the workflow: %w", err)
	}
	kind := store.WorkflowPrompt
	switch {
	case len(pl.workflow.Each) > 0:
		kind = store.WorkflowEach
	case pl.workflow.Count > 0:
		kind = store.WorkflowCount
	}
	return store.Workflow{Kind: kind, Text: string(text)}, nil
}
