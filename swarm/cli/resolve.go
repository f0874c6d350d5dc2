package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// resolveRecord holds all that a later process needs to go on with a resolution.
type resolveRecord struct {
	Ref    string               `json:"ref"` // the branch
	Tip    git.Hash             `json:"tip"` // where it was
	Label  string               `json:"label"`
	With   []task.ID            `json:"with,omitempty"`
	Paths  []string             `json:"paths"`
	Marks  []merge.MarkedFile   `json:"marks,omitempty"`
	Labels merge.Labels         `json:"labels"`
	Verify string               `json:"verify,omitempty"` // run before it lands
	Style  landing.StyleRequest `json:"style,omitzero"`
	Hold   string               `json:"hold"` // our ref on the commit with markers
	// Partial is set if a part of the agent's patch is in conflict.
	Partial bool `json:"partial,omitempty"`
}

// resolveObject is swarm.resolve/1, described in docs/json.md.
type resolveObject struct {
	Schema string    `json:"schema"`
	Run    string    `json:"run"`
	Agent  task.ID   `json:"agent"`
	Dir    string    `json:"dir"`
	Ref    string    `json:"ref"`
	Tip    string    `json:"tip"`
	With   []task.ID `json:"with,omitempty"`
	Paths  []string  `json:"paths"`
	// Marked are those of the paths that hold conflict markers.
	Marked []string `json:"marked"`
}

// abortObject is swarm.abort/1, described in docs/json.md.
type abortObject struct {
	Schema string    `json:"schema"`
	Run    string    `json:"run"`
	Ref    string    `json:"ref"`
	Agents []task.ID `json:"agents"`
}

// resolveWays names the two commands that end a resolution.
func resolveWays(calls, address string) string {
	return fmt.Sprintf("`%s merge --continue %s` lands what is there, `%s merge --abort %s` gives it up", calls, address, calls, address)
}

func resolveAction(c *cli.Context, env Env, mode string) error {
	if mode != "resolve" {
		return resumeResolve(c, env, mode)
	}
	v, err := openVisit(c, env, 0)
	if err != nil {
		return err
	}
	if patchOf(v.agent) == nil {
		return usagef("merge: %s", lander.NoPatch(v.agent))
	}
	if err := v.personal("resolving a conflict"); err != nil {
		return err
	}
	r, err := v.reopen(c)
	if err != nil {
		return err
	}
	if r == nil {
		if r, err = v.openResolve(c); err != nil {
			return err
		}
	}
	return r.work(c)
}

// resolution is the workspace of a conflict that a person resolves.
type resolution struct {
	*visit
	*copied
	record *resolveRecord
}

// reopen is the resolution of the agent that is open already; nil: there is
// none.
func (v *visit) reopen(c *cli.Context) (*resolution, error) {
	open, err := v.resolutions(v.run, v.agent.ID)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	r, err := v.take(open[0])
	if err == nil && (c.IsSet("into") || c.IsSet("verify")) {
		err = errors.Join(&UsageError{
			Text:   fmt.Sprintf("merge: a conflict of %s is being resolved already, in %s", v.agent.ID, r.copied.record.Workspace.Dir),
			Advice: resolveWays(v.env.Calls, v.address()),
		}, r.Close())
	}
	return r, err
}

// resolutions are the copies of a run in which conflicts are resolved: those of
// the agent or, where that is empty, of all. They are not locked.
func (p *place) resolutions(run *store.Run, agent task.ID) ([]*store.Copy, error) {
	all, err := run.Copies()
	return slices.DeleteFunc(all, func(c *store.Copy) bool {
		var record copyRecord
		return agent != "" && c.Agent != agent || c.Read(&record) != nil || record.Resolve == nil || record.Mark == ""
	}), err
}

// take locks the copy of a resolution.
func (v *visit) take(c *store.Copy) (*resolution, error) {
	mine, err := v.run.TakeCopy(c.Agent, c.N)
	if err != nil {
		return nil, err
	}
	if mine == nil {
		return nil, usagef("merge: another process has the conflict of %s open: %s", c.Agent, c.Dir)
	}
	k := &copied{place: v.place, Copy: mine}
	err = mine.Read(&k.record)
	if err == nil {
		k.trees, err = v.copyTrees(mine, v.repo.Thaw(v.run.Frozen()))
	}
	if err == nil {
		err = k.wall(v.view)
	}
	if err != nil {
		return nil, errors.Join(err, mine.Close())
	}
	return &resolution{visit: v, copied: k, record: k.record.Resolve}, nil
}

// openResolve makes the workspace: the branch with the patch on it, conflict
// markers included.
func (v *visit) openResolve(c *cli.Context) (*resolution, error) {
	if v.view.Status == store.RunRunning {
		return nil, &UsageError{
			Text:   fmt.Sprintf("merge: run %s is still running", v.run.ID),
			Advice: fmt.Sprintf("wait for it with `%s wait %s`", v.env.Calls, v.run.ID),
		}
	}
	ref, err := lander.TargetRef(c.Context, v.repo, c.String("into"))
	if err != nil {
		return nil, err
	}
	tip, err := v.repo.Ref(c.Context, ref)
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, usagef("merge: there is no branch %s yet, so nothing conflicts with it", lander.BranchName(ref))
	}
	record := &resolveRecord{Ref: ref, Tip: tip, Label: engine.Title(v.agent.ID, v.agent.Call), Verify: c.String("verify"), Partial: v.agent.Partial}
	if record.Style, err = styleFlags(c); err != nil {
		return nil, err
	}
	record.Labels = markLabels(v.agent, tip, lander.BranchName(ref))
	marked, err := v.mark(c.Context, lander.MarkRequest{Agent: v.agent, Tip: tip, Labels: record.Labels})
	if err != nil {
		return nil, err
	}
	if record.Hold = marked.Hold; marked.Conflict == nil {
		if err := (&resolution{visit: v, record: record}).dropHold(c.Context); err != nil {
			return nil, err
		}
		return nil, &UsageError{
			Text:   fmt.Sprintf("merge: %s fits %s as it is; there is no conflict to resolve", v.agent.ID, lander.BranchName(ref)),
			Advice: fmt.Sprintf("merge it with `%s merge %s`", v.env.Calls, patch.Address(v.run.ID, v.agent)),
		}
	}
	if modules := marked.Conflict.Modules; len(modules) > 0 {
		at := conflictAt{run: v.run.ID, agent: v.agent, ref: ref, modules: true}
		return nil, errors.Join(&moduleConflictError{
			agent: v.agent, branch: lander.BranchName(ref), modules: modules, ways: strings.Join(at.ways(v.env.Calls), orWay),
		}, (&resolution{visit: v, record: record}).dropHold(c.Context))
	}
	record.Paths, record.Marks = marked.Conflict.Paths, marked.Marks
	if met := v.agent.Conflict; met != nil && met.Ref == ref {
		record.With = met.With
	}
	k, err := v.openCopy(c.Context, leftover{attempt: v.agent.Attempt, base: tip, commit: marked.Commit, resolve: record})
	if err != nil {
		return nil, err
	}
	return &resolution{visit: v, copied: k, record: record}, nil
}

// mark puts a patch onto a commit, in a run that is owned meanwhile.
func (v *visit) mark(ctx context.Context, m lander.MarkRequest) (_ *lander.Marked, err error) {
	owner, err := v.own(ctx, v.run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := v.bench(ctx, v.run, owner)
	if err != nil {
		return nil, err
	}
	return b.lander().Mark(ctx, m)
}

// maxMarkLabel bounds the name of a side in a conflict marker, in characters.
const maxMarkLabel = 60

// markLabels are the labels of conflict markers between a patch and a commit. name is
// that of the commit.
func markLabels(a *store.Agent, tip git.Hash, name string) merge.Labels {
	return merge.Labels{
		Ours: name + " " + tip.Short(), Base: "before both",
		Theirs: shortenEnd(Printable(fmt.Sprintf("%s (%s)", a.ID, engine.Title(a.ID, a.Call))), maxMarkLabel),
	}
}

// work has the person resolve the conflict: in a shell where there is a
// terminal, else in their own time.
func (r *resolution) work(c *cli.Context) error {
	w := r.copied.record.Workspace
	if c.Bool("json") {
		o := resolveObject{
			Schema: "swarm.resolve/1", Run: r.run.ID, Agent: r.Agent, Dir: w.Dir, Ref: r.record.Ref,
			Tip: string(r.record.Tip), With: r.record.With, Paths: r.record.Paths, Marked: []string{},
		}
		for _, f := range r.record.Marks {
			o.Marked = append(o.Marked, f.Path)
		}
		return errors.Join(printJSON(r.visit.env.Stdout, o), r.Close())
	}
	r.tell(r.visit.env.Stdout)
	env := r.visit.env
	if !detect(asWriter{env.Stdin}, env.Getenv).TTY || !detect(env.Stdout, env.Getenv).TTY {
		fmt.Fprintf(env.Stdout, "then: %s merge --continue %s\n  or: %s merge --abort %s\n",
			env.Calls, r.address(), env.Calls, r.address())
		return r.Close()
	}
	fmt.Fprintln(env.Stdout, "This is a shell there. Leave it with `exit` to land the result, or with `exit 1` to go on later.")
	r.argv = ownShell(env)
	code, err := r.inside(w.Dir, string(w.Base), r.begun)
	if err != nil || code != 0 {
		fmt.Fprintf(env.Stdout, "the conflict of %s stays open: %s\n", r.Agent, resolveWays(env.Calls, r.address()))
		return errors.Join(err, r.Close())
	}
	return r.goOn(c)
}

// tell names the workspace and the files to edit there.
func (r *resolution) tell(w io.Writer) {
	fmt.Fprintf(w, "%s (%s) on %s: %s\n", r.Agent, Printable(r.record.Label), Printable(lander.BranchName(r.record.Ref)),
		Printable(r.copied.record.Workspace.Dir))
	marked := map[string]bool{}
	for _, f := range r.record.Marks {
		marked[f.Path] = true
		fmt.Fprintf(w, "  edit %s: keep the right lines and remove the conflict markers\n", Printable(f.Path))
	}
	for _, path := range r.record.Paths {
		if !marked[path] {
			fmt.Fprintf(w, "  look at %s: it cannot hold markers; leave there what is to land\n", Printable(path))
		}
	}
}

// abort gives a resolution up. The changes in it are kept as a copy.
func (r *resolution) abort(c *cli.Context) error {
	kept, err := r.end(c.Context)
	if err != nil {
		return err
	}
	env := r.visit.env
	for _, k := range kept {
		text := k.what
		if k.where != "" {
			text += ": " + k.where
		}
		fmt.Fprintln(env.Stderr, program+": "+Printable(text))
	}
	err = r.dropHold(c.Context)
	if c.Bool("json") {
		return errors.Join(err, printJSON(env.Stdout, abortObject{
			Schema: "swarm.abort/1", Run: r.run.ID, Ref: r.record.Ref, Agents: []task.ID{r.Agent},
		}))
	}
	fmt.Fprintf(env.Stdout, "given up: the conflict of %s with %s; its patch is as it was\n", r.Agent, Printable(lander.BranchName(r.record.Ref)))
	return err
}

// dropHold removes the ref that held the commit with the markers.
func (r *resolution) dropHold(ctx context.Context) error {
	if r.record.Hold == "" {
		return nil
	}
	at, err := r.visit.repo.Ref(ctx, r.record.Hold)
	if err != nil || at == "" {
		return err
	}
	return r.visit.repo.UpdateRefs(ctx, "swarm "+r.run.ID, git.RefUpdate{Ref: r.record.Hold, Old: at})
}

// markersError says that files still hold conflict markers.
type markersError struct {
	paths []string
	ways  string
}

func (e *markersError) Error() string {
	return "merge: conflict markers are left in " + strings.Join(e.paths, ", ")
}

// Hint names the commands that help.
func (e *markersError) Hint() string { return "remove them; " + e.ways }

// ExitCode is that of a conflict.
func (e *markersError) ExitCode() int { return int(CodeConflict) }
