package landcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/enter"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

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

func resolveAction(c *cli.Context, env cmdline.Env, mode string) error {
	if mode != "resolve" {
		return resumeResolve(c, env, mode)
	}
	v, err := enter.OpenVisit(c, env, 0)
	if err != nil {
		return err
	}
	if v.Visited.Patch() == nil {
		return exit.Usagef("merge: %s", lander.NoPatch(v.Visited))
	}
	if err := v.Personal("resolving a conflict"); err != nil {
		return err
	}
	r, err := reopen(v, c)
	if err != nil {
		return err
	}
	if r == nil {
		if r, err = openResolve(v, c); err != nil {
			return err
		}
	}
	return r.work(c)
}

// resolution is the workspace of a conflict that a person resolves.
type resolution struct {
	*enter.Visit
	*copies.Copy
	record *copies.Resolution
}

// reopen is the resolution of the agent that is open already; nil: there is
// none.
func reopen(v *enter.Visit, c *cli.Context) (*resolution, error) {
	open, err := copies.Resolutions(v.Run, v.Visited.ID)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	r, err := takeResolution(v, open[0])
	if err == nil && (c.IsSet("into") || c.IsSet("verify")) {
		err = errors.Join(&exit.UsageError{
			Text:   fmt.Sprintf("merge: a conflict of %s is being resolved already, in %s", v.Visited.ID, r.Record.Workspace.Dir),
			Advice: copies.ResolveCommands(v.Env.Calls, v.Address()),
		}, r.Close())
	}
	return r, err
}

// takeResolution locks the copy of a resolution.
func takeResolution(v *enter.Visit, c *store.Copy) (*resolution, error) {
	k, err := enter.CopyManager(v.Place).Take(c, v.Run, v.View)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, exit.Usagef("merge: another process has the conflict of %s open: %s", c.Agent, c.Dir)
	}
	return &resolution{Visit: v, Copy: k, record: k.Record.Resolve}, nil
}

// openResolve makes the workspace: the branch with the patch on it, conflict
// markers included.
func openResolve(v *enter.Visit, c *cli.Context) (*resolution, error) {
	if v.View.Status == store.RunRunning {
		return nil, &exit.UsageError{
			Text:   fmt.Sprintf("merge: run %s is still running", v.Run.ID),
			Advice: fmt.Sprintf("wait for it with `%s wait %s`", v.Env.Calls, v.Run.ID),
		}
	}
	ref, err := lander.TargetRef(c.Context, v.Repo, c.String("into"))
	if err != nil {
		return nil, err
	}
	tip, err := v.Repo.Ref(c.Context, ref)
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, exit.Usagef("merge: there is no branch %s yet, so nothing conflicts with it", lander.BranchName(ref))
	}
	record := &copies.Resolution{Ref: ref, Tip: tip, Label: engine.Title(v.Visited.ID, v.Visited.Call), Verify: c.String("verify"), Partial: v.Visited.Partial}
	if record.Style, err = styleFlags(c); err != nil {
		return nil, err
	}
	record.Labels = MarkLabels(v.Visited, tip, lander.BranchName(ref))
	marked, err := markConflicts(v, c.Context, lander.MarkRequest{Agent: v.Visited, Tip: tip, Labels: record.Labels})
	if err != nil {
		return nil, err
	}
	if record.Hold = marked.Hold; marked.Conflict == nil {
		if err := (&resolution{Visit: v, record: record}).dropHold(c.Context); err != nil {
			return nil, err
		}
		return nil, &exit.UsageError{
			Text:   fmt.Sprintf("merge: %s has no conflict with %s to resolve", v.Visited.ID, lander.BranchName(ref)),
			Advice: fmt.Sprintf("merge it with `%s merge %s`", v.Env.Calls, patch.Address(v.Run.ID, v.Visited)),
		}
	}
	if modules := marked.Conflict.Modules; len(modules) > 0 {
		at := view.ConflictAt{Run: v.Run.ID, Agent: v.Visited, Ref: ref, Modules: true}
		return nil, errors.Join(&view.ModuleConflictError{
			Agent: v.Visited, Branch: lander.BranchName(ref), Modules: modules, Ways: strings.Join(at.Ways(v.Env.Calls), view.OrWay),
		}, (&resolution{Visit: v, record: record}).dropHold(c.Context))
	}
	record.Paths, record.Marks = marked.Conflict.Paths, marked.Marks
	if met := v.Visited.Conflict; met != nil && met.Ref == ref {
		record.With = met.With
	}
	k, err := enter.CopyManager(v.Place).Make(c.Context, copies.Request{
		Run: v.Run, View: v.View, Agent: v.Visited.ID,
		From: copies.Source{Attempt: v.Visited.Attempt, Base: tip, Commit: marked.Commit, Resolve: record},
	})
	if err != nil {
		return nil, err
	}
	return &resolution{Visit: v, Copy: k, record: record}, nil
}

// markConflicts puts a patch onto a commit, in a run that is owned meanwhile.
func markConflicts(v *enter.Visit, ctx context.Context, m lander.MarkRequest) (_ *lander.Marked, err error) {
	owner, err := session.Own(ctx, v.Place, v.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := session.Open(ctx, v.Place, v.Run, owner)
	if err != nil {
		return nil, err
	}
	return b.Lander().Mark(ctx, m)
}

// maxMarkLabel bounds the name of a side in a conflict marker, in characters.
const maxMarkLabel = 60

// MarkLabels returns the labels of conflict markers between a patch and a commit with a name.
func MarkLabels(a *store.Agent, tip git.Hash, name string) merge.Labels {
	return merge.Labels{
		Ours: name + " " + tip.Short(), Base: "before both",
		Theirs: terminal.ShortenEnd(termtext.Line(fmt.Sprintf("%s (%s)", a.ID, engine.Title(a.ID, a.Call))), maxMarkLabel),
	}
}

// work has the person resolve the conflict: in a shell where there is a
// terminal, else in their own time.
func (r *resolution) work(c *cli.Context) error {
	w := r.Record.Workspace
	if c.Bool("json") {
		o := resolveObject{
			Schema: "swarm.resolve/1", Run: r.Run.ID, Agent: r.Agent, Dir: w.Dir, Ref: r.record.Ref,
			Tip: string(r.record.Tip), With: r.record.With, Paths: r.record.Paths, Marked: []string{},
		}
		for _, f := range r.record.Marks {
			o.Marked = append(o.Marked, f.Path)
		}
		return errors.Join(cmdline.PrintJSON(r.Visit.Env.Stdout, o), r.Close())
	}
	r.print(r.Visit.Env.Stdout)
	env := r.Visit.Env
	if !terminal.Detect(enter.AsWriter{Reader: env.Stdin}, env.Getenv).TTY || !terminal.Detect(env.Stdout, env.Getenv).TTY {
		fmt.Fprintf(env.Stdout, "then: %s merge --continue %s\n  or: %s merge --abort %s\n",
			env.Calls, r.Address(), env.Calls, r.Address())
		return r.Close()
	}
	fmt.Fprintln(env.Stdout, "This is a shell there. Leave it with `exit` to land the result, or with `exit 1` to go on later.")
	r.Argv = enter.OwnShell(env)
	code, err := r.Inside(w.Dir, string(w.Base), r.Begun)
	if err != nil || code != 0 {
		fmt.Fprintf(env.Stdout, "the conflict of %s stays open: %s\n", r.Agent, copies.ResolveCommands(env.Calls, r.Address()))
		return errors.Join(err, r.Close())
	}
	return r.goOn(c)
}

// print names the workspace and the files to edit there.
func (r *resolution) print(w io.Writer) {
	fmt.Fprintf(w, "%s (%s) on %s: %s\n", r.Agent, termtext.Line(r.record.Label), termtext.Line(lander.BranchName(r.record.Ref)),
		termtext.Line(r.Record.Workspace.Dir))
	marked := map[string]bool{}
	for _, f := range r.record.Marks {
		marked[f.Path] = true
		fmt.Fprintf(w, "  edit %s: keep the right lines and remove the conflict markers\n", termtext.Line(f.Path))
	}
	for _, path := range r.record.Paths {
		if !marked[path] {
			fmt.Fprintf(w, "  look at %s: it cannot hold markers; leave there what is to land\n", termtext.Line(path))
		}
	}
}

// abort gives a resolution up. The changes in it are kept as a copy.
func (r *resolution) abort(c *cli.Context) error {
	kept, err := r.End(c.Context)
	if err != nil {
		return err
	}
	env := r.Visit.Env
	for _, k := range kept {
		text := k.Text
		if k.Where != "" {
			text += ": " + k.Where
		}
		fmt.Fprintln(env.Stderr, cmdline.Program+": "+termtext.Line(text))
	}
	err = r.dropHold(c.Context)
	if c.Bool("json") {
		return errors.Join(err, cmdline.PrintJSON(env.Stdout, abortObject{
			Schema: "swarm.abort/1", Run: r.Run.ID, Ref: r.record.Ref, Agents: []task.ID{r.Agent},
		}))
	}
	fmt.Fprintf(env.Stdout, "given up: the conflict of %s with %s; its patch is as it was\n", r.Agent, termtext.Line(lander.BranchName(r.record.Ref)))
	return err
}

// dropHold removes the ref that held the commit with the markers.
func (r *resolution) dropHold(ctx context.Context) error {
	if r.record.Hold == "" {
		return nil
	}
	at, err := r.Visit.Repo.Ref(ctx, r.record.Hold)
	if err != nil || at == "" {
		return err
	}
	return r.Visit.Repo.UpdateRefs(ctx, "swarm "+r.Run.ID, git.RefUpdate{Ref: r.record.Hold, Old: at})
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
func (e *markersError) ExitCode() int { return int(exit.Conflict) }
