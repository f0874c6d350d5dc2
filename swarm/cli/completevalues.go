package cli

import (
	"context"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/configcmd"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// value offers values of a flag. prefix is the flag if both are a single word.
func (c *completer) value(ctx context.Context, f cli.Flag, prefix string) {
	kind := argv.Placeholder(f)
	switch name := f.Names()[0]; {
	case name == "agent" && kind == "NAME":
		c.agentNames(ctx)
	case name == "role":
		c.roleNames(ctx, "")
	case name == "agent-model":
		c.roleNames(ctx, "=")
	case name == "workflow":
		c.workflowNames(ctx)
	case name == "provider":
		c.providerNames()
	default:
		c.kinds(ctx, append(strings.Split(kind, "|"), listedWords(f)...))
	}
	for i := range c.offer.candidates {
		c.offer.candidates[i].word = prefix + c.offer.candidates[i].word
	}
}

// listing finds the words of a usage such as "`MODE` is warn or refuse".
var listing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[A-Z]+` is ((?:[a-z]+, )*[a-z]+ or [a-z]+)") })

// listedWords are the values that the usage of a flag lists.
func listedWords(f cli.Flag) []string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return nil
	}
	m := listing().FindStringSubmatch(doc.GetUsage())
	if m == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(m[1], " or ", ", "), ", ")
}

// kinds offers the values that words of a usage line stand for. A word in small
// letters stands for itself.
func (c *completer) kinds(ctx context.Context, kinds []string) {
	runs, agents := false, false
	for _, kind := range kinds {
		switch kind {
		case "NAME":
			c.workflowNames(ctx)
		case "RUN":
			runs = true
		case "AGENT", "RUN/AGENT":
			agents = true
		case "ADDR", "ADDRESS":
			runs, agents = true, true
		case "ID":
			c.questions(ctx)
		case "BRANCH":
			c.refs(ctx, "branch")
		case "REF", "COMMIT":
			c.refs(ctx, "branch", "tag", "remote branch")
		case "FILE", "PATH", "GLOB", "PROMPT", "TASKS", "SCRIPT", "PATCH":
			c.offer.shell = shellFiles
		case "DIR", "FOLDER":
			c.offer.shell = shellFolders
		default:
			if kind != "" && kind == strings.ToLower(kind) && kind != "-" {
				c.fitting(kind, "")
			}
		}
	}
	if runs || agents {
		c.addresses(ctx, runs, agents)
	}
}

// repositories offers the repositories of this machine that have runs, where the
// flag is -C.
func (c *completer) repositories(f cli.Flag) {
	if !slices.Contains(f.Names(), "C") {
		return
	}
	root, err := store.Root(c.env.Getenv)
	if err != nil {
		return
	}
	all, _ := store.Repositories(root) // without them the shell offers folders
	for _, r := range all {
		if !r.Gone {
			c.fitting(r.Dir, termtext.Count(len(r.Runs), "run", "runs"))
		}
	}
}

// place opens the repository that the command line means; nil where there is
// none.
func (c *completer) place(ctx context.Context) *cmdline.Place {
	inv := *c.at.Invocation()
	// The shell has not read the word yet.
	if rest, ok := strings.CutPrefix(inv.Dir, "~/"); ok {
		inv.Dir = filepath.Join(c.env.Getenv("HOME"), rest)
	}
	dir, err := startDir(c.env.Dir, &inv)
	if err != nil {
		return nil
	}
	p, err := cmdline.OpenAt(ctx, c.env, dir)
	if err != nil {
		return nil
	}
	return p
}

func (c *completer) agentNames(ctx context.Context) {
	p := c.place(ctx)
	if p == nil {
		return
	}
	var base git.Hash
	if p.Repo.Bare() {
		base, _ = p.Repo.Commit(ctx, "HEAD") // without a commit the project has no file
	}
	config, err := p.LoadConfig(ctx, base)
	if err != nil {
		return
	}
	for _, name := range config.AgentNames() {
		note := ""
		if a, err := config.Agent(name); err == nil {
			note = strings.Join(a.Command, " ")
		}
		c.fitting(name, note)
	}
}

// workflowNames offers the saved workflows.
func (c *completer) workflowNames(ctx context.Context) {
	p := c.place(ctx)
	if p == nil {
		return
	}
	for _, w := range plan.OpenLibrary(p).Saved() {
		c.fitting(w.Name, w.Folder)
	}
}

// providerNames offers whom models can be asked of.
func (c *completer) providerNames() {
	conf, err := cmdline.UserConfig(c.env)
	if err != nil {
		return
	}
	k, err := configcmd.NewCatalog(c.env, conf)
	if err != nil {
		return
	}
	all, err := k.Sources("")
	if err != nil {
		return
	}
	for _, s := range all {
		c.fitting(s.Name, s.URL())
	}
}

// roleNames offers roles, each before end, with their models.
func (c *completer) roleNames(ctx context.Context, end string) {
	table := roles.Table{}
	if p := c.place(ctx); p != nil {
		base, _ := p.Repo.Commit(ctx, "HEAD") // without a commit the project has no file
		if config, err := p.LoadConfig(ctx, base); err == nil {
			table = config.Roles()
		}
	}
	for _, name := range table.Names() {
		c.fitting(name+end, table[name].Spec.String())
	}
}

// refs offers the short names of refs of some kinds.
func (c *completer) refs(ctx context.Context, kinds ...string) {
	p := c.place(ctx)
	if p == nil {
		return
	}
	for _, kind := range kinds {
		prefix := map[string]string{
			"branch": "refs/heads/", "tag": "refs/tags/", "remote branch": "refs/remotes/",
		}[kind]
		all, err := p.Repo.RefsUnder(ctx, prefix)
		if err != nil {
			return
		}
		for _, ref := range slices.Sorted(maps.Keys(all)) {
			c.fitting(strings.TrimPrefix(ref, prefix), kind+" "+all[ref].Short())
		}
	}
}

// readTime limits the time in which the completer reads journals for notes and
// agents. After it, runs are offered without a note, the newest first.
const readTime = 60 * time.Millisecond

// addressBook offers runs and agents.
type addressBook struct {
	c        *completer
	entries  []store.Entry // the newest first
	views    map[string]*store.View
	deadline time.Time
	given    []string // the addresses that are in the command line already
}

// book opens the runs of the repository; nil where there is none.
func (c *completer) book(ctx context.Context) *addressBook {
	p := c.place(ctx)
	if p == nil {
		return nil
	}
	entries, err := p.State.Runs()
	if err != nil || len(entries) == 0 {
		return nil
	}
	slices.Reverse(entries)
	return &addressBook{
		c: c, entries: entries, views: map[string]*store.View{},
		deadline: time.Now().Add(readTime), given: c.at.Arguments(),
	}
}

// questions offers the open questions of all runs.
func (c *completer) questions(ctx context.Context) {
	b := c.book(ctx)
	if b == nil {
		return
	}
	for _, e := range b.entries {
		v := b.view(e)
		if v == nil {
			continue
		}
		for _, q := range v.Waiting() {
			b.offer(q.ID, string(q.Agent)+" asks: "+string(q.Action))
		}
	}
}

func (c *completer) addresses(ctx context.Context, runs, agents bool) {
	b := c.book(ctx)
	if b == nil {
		return
	}
	entries := b.entries
	head, _, deep := strings.Cut(c.word, "/")
	if agents {
		b.agents(entries[0], "")
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Run.ID, head) || len(c.offer.candidates) > mostCandidates {
			continue
		}
		switch {
		case runs && !deep:
			b.run(e)
		case agents && c.word == "" && e.Run.ID != entries[0].Run.ID:
			// Its agents follow once its name is typed.
			b.offer(e.Run.ID+"/", b.about(e))
		}
		if agents && c.word != "" {
			b.agents(e, e.Run.ID+"/")
		}
	}
}

// view is the state of a run now; nil if there is no time left to read it.
func (b *addressBook) view(e store.Entry) *store.View {
	if v, ok := b.views[e.Run.ID]; ok {
		return v
	}
	late := !b.c.env.Unhurried && time.Now().After(b.deadline)
	if e.Damage != nil || len(b.views) > 0 && late {
		return nil
	}
	v, err := e.Run.View()
	if err != nil {
		v = nil
	}
	b.views[e.Run.ID] = v
	return v
}

func (b *addressBook) run(e store.Entry) { b.offer(e.Run.ID, b.about(e)) }

// about describes a run: its status, its age and its command.
func (b *addressBook) about(e store.Entry) string {
	parts := []string{termtext.Ago(time.Now(), e.Identity.Created), strings.Join(e.Identity.Args, " ")}
	if v := b.view(e); v != nil {
		parts = slices.Insert(parts, 0, string(v.Status))
	} else if e.Damage != nil {
		parts = slices.Insert(parts, 0, "damaged")
	}
	return strings.Join(parts, ", ")
}

// roomForRuns is how many candidates are kept free of agents.
const roomForRuns = 100

// agents offers the ids of a run's agents, then their labels, behind prefix.
func (b *addressBook) agents(e store.Entry, prefix string) {
	v := b.view(e)
	if v == nil {
		return
	}
	labels := map[string]int{}
	most := mostCandidates - roomForRuns
	for _, a := range v.Agents {
		if len(b.c.offer.candidates) == most {
			break
		}
		b.offer(prefix+string(a.ID), task.Word(a.Status)+", "+engine.Title(a.ID, a.Call))
		b.modules(a, prefix)
	}
	for _, a := range v.Agents {
		labels[a.Call.Label]++
	}
	for _, a := range v.Agents {
		if len(b.c.offer.candidates) == most {
			break
		}
		if labels[a.Call.Label] == 1 { // else it would name several
			b.offer(prefix+a.Call.Label, task.Word(a.Status)+", "+string(a.ID))
		}
	}
}

// modules offers the submodules that an agent changed, to the commands that take them.
func (b *addressBook) modules(a *store.Agent, prefix string) {
	cmd := b.c.at.Command()
	if cmd == nil || cmd.Name != "diff" && cmd.Name != "show" || a.Patch() == nil {
		return
	}
	for _, m := range a.Patch().Modules {
		b.offer(prefix+string(a.ID)+"/"+m.Path, "submodule, "+termtext.Count(m.Files, "file", "files"))
	}
}

// offer adds an address, unless the command line has it or would read it as a
// flag.
func (b *addressBook) offer(word, note string) {
	if strings.HasPrefix(word, "-") && !b.c.dashed || slices.Contains(b.given, word) {
		return
	}
	b.c.fitting(word, note)
}
