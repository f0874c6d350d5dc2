package landcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// goOn lands the result of the person. A process that dies on the way leaves the
// workspace: the next --continue finds by the journal whether it landed.
func (r *resolution) goOn(c *cli.Context) error {
	owner, err := session.Own(c.Context, r.Visit.Place, r.Run)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	report, got, err := r.land(c.Context, owner)
	err = errors.Join(err, owner.Close())
	env := r.Visit.Env
	if err == nil && report != nil {
		if c.Bool("json") {
			err = cmdline.PrintJSON(env.Stdout, view.NewMergeObject(report))
		} else {
			view.PrintMerge(r.Visit.Place, env.Stdout, report)
		}
	}
	done, kept := report == nil || report.Moved() || len(report.Outcome.Empty) > 0, false
	if report != nil && len(report.Outcome.Conflicts) > 0 {
		// The branch moved on. The result is kept under its address.
		done, kept = true, true
	}
	if err != nil || !done {
		if report != nil {
			err = errors.Join(err, codeError(MergeCodes(report)))
		}
		return errors.Join(err, r.stay(c.Context, env.Stdout, got))
	}
	if err := r.clear(c.Context, got); err != nil {
		return err
	}
	switch {
	case report == nil:
		fmt.Fprintf(env.Stdout, "%s has landed already; its workspace is removed\n", r.Agent)
		return nil
	case kept:
		fmt.Fprintf(env.Stdout, "%s has changed since, and what you did conflicts with it; resolve that with: %s merge --resolve %s/%s\n",
			termtext.Line(lander.BranchName(r.record.Ref)), env.Calls, r.Run.ID, r.Name())
	case len(report.Outcome.Empty) > 0:
		fmt.Fprintf(env.Stdout, "nothing of %s was left to land; to have merges leave it out: %s reject %s\n", r.Agent, env.Calls, r.Address())
	}
	return codeError(MergeCodes(report))
}

// codeError is the exit code of a merge as an error; nil where all went well.
func codeError(codes []exit.Code) error {
	if code := exit.First(codes...); code != exit.OK {
		return &exit.Error{Code: code}
	}
	return nil
}

// stay keeps the resolution open, without a capture that did not land.
func (r *resolution) stay(ctx context.Context, w io.Writer, got *worktree.Capture) error {
	var err error
	if got != nil {
		err = r.forgetResult(ctx, got)
	}
	fmt.Fprintf(w, "the conflict of %s stays open in %s\n", r.Agent, termtext.Line(r.Record.Workspace.Dir))
	return errors.Join(err, r.Close())
}

// forgetResult removes the refs of a capture.
func (r *resolution) forgetResult(ctx context.Context, got *worktree.Capture) error {
	var gone []git.RefUpdate
	if got.Ref != "" {
		gone = append(gone, git.RefUpdate{Ref: got.Ref, Old: got.Commit})
	}
	if got.Head != "" && got.HeadRef != "" {
		gone = append(gone, git.RefUpdate{Ref: got.HeadRef, Old: got.Head})
	}
	if len(gone) == 0 {
		return nil
	}
	return r.Visit.Repo.UpdateRefs(ctx, "swarm "+r.Name(), gone...)
}

// clear removes the workspace of a resolution that has ended.
func (r *resolution) clear(ctx context.Context, got *worktree.Capture) error {
	w := r.Record.Workspace
	if got == nil { // it landed before this process
		if _, err := r.End(ctx); err != nil {
			return err
		}
		return r.dropHold(ctx)
	}
	out, err := r.Trees.Release(ctx, w, got)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	if out.Trashed != "" {
		fmt.Fprintf(r.Visit.Env.Stderr, "%s: files that git ignores are in the trash: %s\n", cmdline.Program, termtext.Line(out.Trashed))
	}
	return errors.Join(r.dropHold(ctx), r.Remove())
}

// land captures the workspace and merges the result. The report is nil
// where an earlier process has landed it.
func (r *resolution) land(ctx context.Context, owner *store.Owner) (*lander.Report, *worktree.Capture, error) {
	b, err := session.Open(ctx, r.Visit.Place, r.Run, owner)
	if err != nil {
		return nil, nil, err
	}
	v := owner.View()
	if err := b.Lander().Settle(ctx, v); err != nil {
		return nil, nil, err
	}
	if patch.LandedCopies(owner.View())[r.Name()] {
		return nil, nil, nil
	}
	if !fspath.Exists(r.Record.Workspace.Dir) {
		return nil, nil, &exit.UsageError{
			Text:   fmt.Sprintf("merge: the workspace of the conflict of %s was removed: %s", r.Agent, r.Record.Workspace.Dir),
			Advice: fmt.Sprintf("give it up with `%s merge --abort %s`", r.Visit.Env.Calls, r.Address()),
		}
	}
	got, err := r.captureResult(ctx)
	if err != nil {
		return nil, nil, err
	}
	report, err := r.landResult(ctx, b, got)
	return report, got, err
}

// captureResult captures the workspace under the address of its copy.
func (r *resolution) captureResult(ctx context.Context) (*worktree.Capture, error) {
	who := git.Swarm(time.Now())
	ref := captureref.Copies(r.Run.ID) + r.Name()
	return r.Trees.Capture(ctx, worktree.CaptureRequest{
		Workspace: r.Record.Workspace, Objects: filepath.Join(r.Dir, "objects"),
		Ref: ref, HeadRef: captureref.Head(ref), PatchFile: filepath.Join(r.Dir, "patch"), Modules: r.Run.Modules(),
		Message: fmt.Sprintf("the conflict of %s of run %s, as a person resolved it\n", r.Agent, r.Run.ID),
		Author:  who, Committer: who,
	})
}

// landResult merges a captured result.
func (r *resolution) landResult(ctx context.Context, b *session.Session, got *worktree.Capture) (*lander.Report, error) {
	if !got.Changed {
		return &lander.Report{
			Run: r.Run.ID, View: b.Owner.View(), Ref: r.record.Ref,
			Outcome: &merge.Outcome{Commit: r.record.Tip, Empty: []string{string(r.Agent)}},
		}, nil
	}
	q, err := b.Frozen.Quarantine(filepath.Join(r.Dir, "look"))
	if err != nil {
		return nil, err
	}
	left, err := merge.Unresolved(ctx, q, merge.UnresolvedRequest{
		From: r.record.Tip, To: got.Commit, Labels: r.record.Labels, Marks: r.record.Marks,
	})
	if err = errors.Join(err, q.Discard()); err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, &markersError{paths: left, ways: copies.ResolveCommands(r.Visit.Env.Calls, r.Address())}
	}
	r.printUntouched(ctx, got)
	result, err := session.Patches(r.Visit.Place).Between(ctx, task.Patch{
		Ref: got.Ref, Base: string(r.record.Tip), Commit: string(got.Commit), File: got.Patch,
	})
	if err != nil {
		return nil, err
	}
	a := b.Owner.View().Agent(r.Agent)
	if a == nil {
		return nil, fmt.Errorf("run %s has no agent %s", r.Run.ID, r.Agent)
	}
	then := a.AtCopy(r.N, result)
	if then.Partial = r.record.Partial; then.Partial {
		if err := patch.MarkPart(patch.CopyFolder(r.Run, &store.Copy{Agent: r.Agent, N: r.N})); err != nil {
			return nil, err
		}
	}
	author, err := session.CommitAuthor(&b.Place, r.record.Style)
	if err != nil {
		return nil, err
	}
	return b.Lander().Merge(ctx, lander.MergeRequest{
		Works: []*store.Agent{then}, Into: lander.BranchName(r.record.Ref), Verify: r.record.Verify, Style: r.record.Style, Author: author,
		Resolved: "text with " + r.met(),
	})
}

// met names the other side of the conflict.
func (r *resolution) met() string {
	if len(r.record.With) == 0 {
		return lander.BranchName(r.record.Ref)
	}
	names := make([]string, len(r.record.With))
	for i, id := range r.record.With {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}

// printUntouched names files in conflict that cannot hold markers and are as
// they were handed out: the other side of them is given up.
func (r *resolution) printUntouched(ctx context.Context, got *worktree.Capture) {
	changes, err := r.Visit.Repo.Changes(ctx, r.Record.Commit, got.Commit)
	if err != nil {
		return // a hint less
	}
	var same []string
	for _, path := range r.record.Paths {
		marked := slices.ContainsFunc(r.record.Marks, func(f merge.MarkedFile) bool { return f.Path == path })
		if !marked && !slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == path }) {
			same = append(same, path)
		}
	}
	if len(same) > 0 {
		fmt.Fprintf(r.Visit.Env.Stderr, "%s: landed as it was handed out: %s\n", cmdline.Program, termtext.Line(termtext.List(same, 5)))
	}
}
