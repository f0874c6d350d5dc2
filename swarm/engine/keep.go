package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/scope"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// maxPaths bounds the paths a result carries; the patch has all of them.
const maxPaths = 100

// maxOutOfScope bounds the paths outside its scope that a result names, and
// those that are marked.
const maxOutOfScope = 20

// maxIgnored bounds the ignored files a result lists.
const maxIgnored = 50

// capture turns all files that the attempt left into a commit, a ref and a
// patch file. It also runs for a cancelled attempt.
func (t *attempt) capture(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), captureTime)
	defer cancel()
	e := t.engine
	if err := takeBrief(t.call, *t.space); err != nil {
		return err
	}
	var kept *worktree.Capture
	err := e.withReserve(func() (err error) {
		kept, err = e.deps.Workspaces.Capture(ctx, captureRequest(e.deps, t.id, t.n, t.call, *t.space))
		return err
	})
	if err != nil {
		var gone *worktree.GoneError
		t.gone = errors.As(err, &gone)
		return err
	}
	t.captured = kept
	record := capturedEvent(t.id, t.n, *t.space, kept)
	holdToScope(record.Patch, t.call, kept)
	applyCapture(&t.work, record)
	return t.journal(record)
}

// captureRequest says where the capture of an attempt goes.
func captureRequest(d Deps, id task.ID, n int, call *task.Call, w worktree.Workspace) worktree.CaptureRequest {
	dir := d.Run.Attempt(id, n)
	ref := captureref.Attempt(d.Run.ID, id, n)
	who := git.Swarm(d.Now())
	return worktree.CaptureRequest{
		Workspace: w,
		Objects:   filepath.Join(dir, "objects"),
		Ref:       ref, HeadRef: captureref.Head(ref),
		PatchFile: filepath.Join(dir, "patch"),
		Modules:   d.Run.Modules(),
		Message:   fmt.Sprintf("%s, attempt %d of run %s\n", Title(id, call), n, d.Run.ID),
		Author:    who, Committer: who,
	}
}

// Title is the name of an agent for people: its label, else the title of its
// call, else the first line of its prompt, else its command, else its id.
func Title(id task.ID, call *task.Call) string {
	if title := cmp.Or(call.Label, call.Title, task.FirstLine(task.Prompt(call.Input))); title != "" {
		return title
	}
	if len(call.Command) > 0 {
		return strings.Join(call.Command, " ")
	}
	return string(id)
}

// capturedEvent is a capture as the journal has it.
func capturedEvent(id task.ID, n int, w worktree.Workspace, kept *worktree.Capture) *event.Captured {
	record := &event.Captured{
		Agent: id, Attempt: n, Complete: kept.Complete, Head: string(kept.Head),
	}
	for _, note := range kept.Notes {
		record.Notes = append(record.Notes, note.String())
	}
	for i, file := range kept.Ignored {
		if i == maxIgnored {
			record.More = len(kept.Ignored) - i
			break
		}
		record.Ignored = append(record.Ignored, task.Ignored{Path: file.Path, Bytes: file.Size})
	}
	record.More += kept.IgnoredMore
	for _, file := range kept.Large {
		record.Large = append(record.Large, task.Ignored{Path: file.Path, Bytes: file.Size})
	}
	record.LargeMore = kept.LargeMore
	if !kept.Changed {
		return record
	}
	record.Patch = &task.Patch{
		Ref: kept.Ref, Commit: string(kept.Commit), Base: string(cmp.Or(kept.Base, w.Base)),
		File:  kept.Patch,
		Files: kept.Stat.Files, Added: kept.Stat.Added, Deleted: kept.Stat.Deleted,
	}
	for _, c := range kept.Files[:min(len(kept.Files), maxPaths)] {
		record.Patch.Paths = append(record.Patch.Paths, c.Path)
	}
	for _, path := range changedPaths(kept) {
		if len(record.Patch.Marked) < maxOutOfScope && risk.Marked(path) {
			record.Patch.Marked = append(record.Patch.Marked, path)
		}
	}
	record.Patch.Replaced = replaced(kept.Files)
	for _, note := range kept.Notes {
		if note.Kind == worktree.SubmoduleAdded && len(record.Patch.Replaced) < maxOutOfScope {
			record.Patch.Replaced = append(record.Patch.Replaced, note.Path)
		}
	}
	for _, m := range kept.Modules {
		record.Patch.Modules = append(record.Patch.Modules, modulePatch(m))
	}
	return record
}

// changedPaths are the paths of a capture, with those in captured submodules. Where
// the files of a submodule are known, its own path is left out.
func changedPaths(kept *worktree.Capture) []string {
	captured := map[string]bool{}
	for _, m := range kept.Modules {
		captured[m.Path] = true
	}
	var paths []string
	add := func(above string, files []git.Change) {
		for _, c := range files {
			if at := above + c.Path; !captured[at] {
				paths = append(paths, at)
			}
		}
	}
	add("", kept.Files)
	for _, m := range kept.Modules {
		add(m.Path+"/", m.Files)
	}
	return paths
}

// modulePatch is the patch of a submodule as the journal has it.
func modulePatch(m worktree.ModuleCapture) task.ModulePatch {
	p := task.ModulePatch{
		Path: m.Path, Store: m.Store, Ref: m.Ref, Commit: string(m.Commit), Base: string(m.Base), File: m.Patch,
		Files: m.Stat.Files, Added: m.Stat.Added, Deleted: m.Stat.Deleted,
	}
	for _, c := range m.Files[:min(len(m.Files), maxPaths)] {
		p.Paths = append(p.Paths, c.Path)
	}
	return p
}

// replaced returns the removed submodules with plain files below their paths. A
// submodule that is only removed is not listed.
func replaced(changes []git.Change) (paths []string) {
	for _, link := range changes {
		if link.OldMode != git.Gitlink || link.Status != 'D' || len(paths) == maxOutOfScope {
			continue
		}
		if slices.ContainsFunc(changes, func(c git.Change) bool { return strings.HasPrefix(c.Path, link.Path+"/") }) {
			paths = append(paths, link.Path)
		}
	}
	return paths
}

// holdToScope notes the paths that a patch touches and its call does not
// allow.
func holdToScope(p *task.Patch, call *task.Call, kept *worktree.Capture) {
	if p == nil || len(call.Paths) == 0 {
		return
	}
	outside := scope.Outside(call.Paths, changedPaths(kept))
	p.OutOfScope = outside[:min(len(outside), maxOutOfScope)]
}

// applyCapture puts a capture into the work of a result.
func applyCapture(w *task.Work, c *event.Captured) {
	w.Patch, w.Notes, w.Ignored, w.IgnoredMore = c.Patch, c.Notes, c.Ignored, c.More
	w.Large, w.LargeMore = c.Large, c.LargeMore
}

// captureAfter captures after an attempt that ended before its agent could,
// since its setup may have changed things already.
func (t *attempt) captureAfter(ctx context.Context, end ending) ending {
	if t.space == nil || end.err != nil || end.retry || end.held {
		return end
	}
	if err := t.capture(ctx); err != nil {
		return t.captureFailed(err)
	}
	applyWork(end.result, t.work)
	return end
}

// applyWork copies the captured work into an earlier result.
func applyWork(r task.Result, w task.Work) {
	done := r.Done()
	done.Patch, done.Notes, done.Ignored, done.IgnoredMore = w.Patch, w.Notes, w.Ignored, w.IgnoredMore
	done.Large, done.LargeMore = w.Large, w.LargeMore
}

// captureFailed keeps the workspace and says so.
func (t *attempt) captureFailed(err error) ending {
	t.captured = nil
	t.work.Ended = t.engine.deps.Now()
	failed := notCaptured(err, t.space.Dir)
	failed.Work = t.work
	failed.SessionAttempt = 0 // its conversation speaks of changes that are gone
	return ending{result: failed}
}

// notCaptured is the result of an agent whose work could not be captured.
func notCaptured(err error, dir string) *task.Failed {
	failed := &task.Failed{Kind: task.CaptureFailed, Reason: err.Error()}
	var gone *worktree.GoneError
	if !errors.As(err, &gone) {
		failed.Reason += "; a resume tries again; its workspace is kept at " + dir
	}
	return failed
}

// release lets the workspace go, if all that was in it was captured. A
// workspace that cannot go is left for a resume, and the agent's result
// stands. It returns swarm's own failure.
func (t *attempt) release(ctx context.Context, end ending) error {
	defer t.freed()
	defer t.clearBox()
	for _, pid := range t.pids {
		t.engine.live.remove(pid)
	}
	if t.within && end.err == nil {
		return t.leave(ctx)
	}
	if t.space == nil || t.within {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), captureTime)
	defer cancel()
	d := t.engine.deps
	var left worktree.Released
	var err error
	switch {
	case t.owed != nil, t.unseen, OnlyChecks(t.space.Dir):
		err = d.Workspaces.Drop(ctx, *t.space)
	case end.err != nil, t.captured == nil && !end.retry && !end.held && !t.gone:
		return nil // the next owner captures it
	case t.survived:
		left, err = d.Workspaces.Release(ctx, *t.space, t.captured)
	default:
		left, err = d.Workspaces.Recycle(ctx, *t.space, t.captured)
	}
	if err != nil {
		d.Warn(fmt.Sprintf("%s: its workspace stays until gc: %v", t.id, err))
		return nil
	}
	return t.journal(&event.Released{Agent: t.id, Attempt: t.n, Trash: left.Trashed})
}
