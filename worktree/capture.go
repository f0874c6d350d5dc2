package worktree

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/step"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// CaptureRequest asks for a commit of all that an attempt left.
type CaptureRequest struct {
	Workspace workspace.Workspace // required
	Objects   string              // required; folder for the quarantine, made anew
	Ref       string              // required; the capture is published under it
	HeadRef   string              // required; the agent's own HEAD is published under it
	PatchFile string              // required

	// On is an earlier capture of the same workspace; this capture is a change
	// from it. Empty: the base.
	On git.Hash
	// With is a change in On that becomes part of this capture, since the same
	// worker made it; nil for none.
	With *Span
	// Live is set if others work in the workspace meanwhile. A file is taken
	// with its content at that time, and a file that vanishes first is omitted.
	Live bool
	// Aside is left where it is and is no part of the capture; nil: nothing was
	// put aside, or that was taken away again.
	Aside *workspace.Aside

	// Modules is the folder of the run that keeps what agents commit in
	// submodules: see [git.Repo.ModuleStore]. If it is empty, submodules are not
	// captured, and a note says so.
	Modules string

	Message   string
	Author    git.Person
	Committer git.Person

	// user is the user's repository, and within the path from there to the
	// submodule that is captured, with a slash; empty: the workspace itself.
	user   *git.Repo
	within string
}

// Span is the change between two commits.
type Span struct{ Base, Commit git.Hash }

// Capture is the result of an attempt, as it is journaled.
type Capture struct {
	Commit  git.Hash `json:"commit,omitempty"` // on Base; empty without a change
	Base    git.Hash `json:"base"`             // the commit that it is a change from
	Tree    git.Hash `json:"tree"`
	Head    git.Hash `json:"head,omitempty"` // the agent's own HEAD, where it moved
	Changed bool     `json:"changed"`

	// Names of the results. They differ from the requested names if an earlier
	// capture of another tree has that name: a capture never overwrites
	// another.
	Ref     string `json:"ref,omitempty"`
	HeadRef string `json:"head_ref,omitempty"`
	Patch   string `json:"patch,omitempty"`

	Files []git.Change  `json:"files,omitempty"`
	Stat  git.Stat      `json:"stat"`
	Notes []survey.Note `json:"notes,omitempty"`

	Ignored      []survey.IgnoredFile `json:"ignored,omitempty"`
	IgnoredMore  int                  `json:"ignored_more,omitempty"` // entries left out of the list
	IgnoredFiles int                  `json:"ignored_files,omitempty"`
	IgnoredSize  int64                `json:"ignored_size,omitempty"` // of all, in bytes

	// Large are new or changed files above [Config.MaxFile], which are not in
	// the commit. The workspace in the trash has them.
	Large     []survey.LargeFile `json:"large,omitempty"`
	LargeMore int                `json:"large_more,omitempty"` // files left out of the list

	// Modules are the patches of submodules whose commits the patch records.
	Modules []ModuleCapture `json:"modules,omitempty"`

	// Complete says that whatever the workspace holds is in the base, in the
	// commit or ignored.
	Complete bool `json:"complete"`
	// Seal is the state that Release compares the workspace with before it
	// removes it.
	Seal string `json:"seal"`
}

// tries is how often a capture begins anew when objects went away under it.
const tries = 3

// lostError says that an object which git had seen is gone: the repository
// was pruned. The files are still there, so that they can be read again.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Capture turns all changes of an attempt, committed or not, into a single
// commit on its base, a ref and a patch file. If several agents work in a
// workspace, each capture is a change from the capture before.
//
// Another process may call it again after a crash at any point. Capture reuses
// an existing ref with the same tree. It leaves a ref with another tree alone
// and uses REF.2, REF.3, …, for the patch file likewise. If Capture returns an
// error the workspace is as before, and the caller must keep it. It returns a
// [*DamagedError] for a configuration that an agent damaged.
func (t *Trees) Capture(ctx context.Context, r CaptureRequest) (*Capture, error) {
	if err := t.own(r.Workspace); err != nil {
		return nil, fmt.Errorf("capture %s: %w", r.Workspace.Name, err)
	}
	if r.On == "" {
		r.On = r.Workspace.Base
	}
	r.user = t.Repo
	defer t.fills.Ending()()
	for try := 1; ; try++ {
		got, err := t.capture(ctx, r)
		if err != nil && try < tries && (passing(err) || r.Live && ctx.Err() == nil && !final(err)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("capture %s: %w", r.Workspace.Name, t.blame(ctx, err))
		}
		return got, nil
	}
}

// passing reports whether a capture failed in a way that another try mends.
func passing(err error) bool {
	var lost *lostError
	return errors.As(err, &lost)
}

// final reports whether a capture failed in a way that no try mends.
func final(err error) bool {
	var gone *survey.GoneError
	return step.Died(err) || errors.As(err, &gone)
}

// capturing is the state of a capture.
type capturing struct {
	*Trees
	CaptureRequest
	quarantine *git.Quarantine
	base       *baseline.Index
	index      []git.IndexEntry // of the base, as it was filled
	found      *survey.Survey
	filters    *filters
	tools      map[string]bool // files of the base that filters run
	ruled      bool            // the folder of rules is there
	asked      *given          // attributes of the changed files; nil: git was not asked

	pack    *git.Pack    // objects made in process; nil: git made them
	changes []git.Change // to the workspace's base, where they are known without git
	modules []ModuleCapture
}

func (t *Trees) capture(ctx context.Context, r CaptureRequest) (_ *Capture, err error) {
	// A crash may have left a quarantine here; the workspace still has all that
	// was not published from it.
	if err := disk.RemoveAll(r.Objects); err != nil {
		return nil, err
	}
	if err := t.bases.Restore(ctx, r.Workspace); err != nil {
		return nil, err
	}
	q := t.Frozen.Lazy(r.Objects)
	c := &capturing{Trees: t, CaptureRequest: r, quarantine: q}
	defer func() {
		if !step.Died(err) {
			err = errors.Join(err, c.dropPack(), q.Discard())
		}
	}()
	if c.base, err = t.readBase(ctx, r.Workspace); err != nil {
		return nil, err
	}
	c.index = c.base.Entries
	if err := c.survey(ctx); err != nil {
		return nil, err
	}
	out, err := c.record(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.publish(ctx, out); err != nil {
		return nil, err
	}
	out.Large, out.LargeMore = c.found.ListLarge()
	out.Notes = append(survey.LargeNotes(out.Large, out.LargeMore), c.found.Notes...)
	out.Modules = c.changedModules(out.Files)
	out.Complete = !c.found.Partial && len(c.found.Large) == 0
	out.Ignored, out.IgnoredMore = c.found.Ignored.List, c.found.Ignored.More
	out.IgnoredFiles, out.IgnoredSize = c.found.Ignored.Files, c.found.Ignored.Size
	out.Seal = c.found.Seal.String()
	return out, t.step("published")
}

// survey walks over the workspace. Git is asked about ignored files only
// where there are new ones.
func (c *capturing) survey(ctx context.Context) (err error) {
	if err := c.findTools(ctx); err != nil {
		return err
	}
	var asked *ignorer
	defer func() {
		if asked != nil {
			err = errors.Join(err, asked.close())
		}
	}()
	more, err := baseline.ReadPlaced(c.Workspace.PlacedFile())
	if err != nil {
		return err
	}
	ignores := func(ctx context.Context, paths []string) ([]bool, error) {
		if answers, ok, err := c.ignoredShared(ctx, paths); ok || err != nil {
			return answers, err
		}
		if asked == nil {
			dir, err := c.rules(ctx)
			if err == nil {
				asked, err = newIgnorer(ctx, c.quarantine, dir)
			}
			if err != nil {
				return nil, err
			}
		}
		return asked.ignored(paths)
	}
	c.found, err = survey.Take(ctx, survey.Request{
		Workspace: c.Workspace, Base: c.base, Placed: more, MaxFile: c.maxFile(), Ignored: ignores,
	})
	if err != nil {
		return err
	}
	if err := c.readmit(ctx); err != nil {
		return err
	}
	if err := c.passOver(); err != nil {
		return err
	}
	if err := c.step("surveyed"); err != nil {
		return err
	}
	return c.submodules(ctx)
}

// record makes the tree and, where it is not that of the base, the commit.
func (c *capturing) record(ctx context.Context) (*Capture, error) {
	base, err := c.Repo.TreeOnce(ctx, c.Workspace.Base)
	if err != nil {
		return nil, err
	}
	out := &Capture{Tree: base, Base: c.On}
	if c.found.Any() {
		if out.Tree, err = c.make(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.step("staged"); err != nil {
		return nil, err
	}
	on, err := c.Repo.TreeOnce(ctx, c.On)
	if err != nil {
		return nil, err
	}
	if out.Changed = out.Tree != on; !out.Changed {
		return out, c.dropPack()
	}
	if c.pack != nil && c.With == nil && len(c.found.Restored) == 0 {
		return out, c.commitHere(ctx, out)
	}
	if err := c.endPack(); err != nil {
		return nil, err
	}
	return out, c.commit(ctx, out)
}

// make makes the tree: in process if it is certain how git would store each
// file, else with git.
func (c *capturing) make(ctx context.Context) (git.Hash, error) {
	tree, ok, err := c.direct(ctx)
	if err != nil || ok {
		return tree, err
	}
	return c.stage(ctx)
}

// endPack makes the objects made in process visible to git.
func (c *capturing) endPack() error {
	if c.pack == nil {
		return nil
	}
	err := c.pack.Close()
	if err == nil {
		err = c.pack.Show(c.quarantine)
	}
	return errors.Join(err, c.dropPack())
}

// dropPack discards the unneeded objects that were made in process.
func (c *capturing) dropPack() error {
	if c.pack == nil {
		return nil
	}
	defer func() { c.pack = nil }()
	return c.pack.Discard()
}

// commitHere makes the commit in process. Its pack holds all that the base has
// not, whatever else the repository holds: no `git gc` takes any of it away.
func (c *capturing) commitHere(ctx context.Context, out *Capture) (err error) {
	out.Commit, err = c.pack.Commit(git.CommitRequest{
		Tree: out.Tree, Parents: []git.Hash{out.Base}, Message: c.Message,
		Author: c.person(c.Author), Committer: c.person(c.Committer),
	})
	if err != nil {
		return err
	}
	if err := c.step("committed"); err != nil {
		return err
	}
	if err := c.pack.Close(); err != nil {
		return err
	}
	if c.changes != nil && c.On == c.Workspace.Base {
		out.Files = c.changes
		return c.step("gathered")
	}
	on, err := c.Repo.TreeOnce(ctx, c.On)
	if err != nil {
		return err
	}
	if out.Files, err = c.seen().Changes(ctx, on, out.Tree); err != nil {
		return err
	}
	return c.step("gathered")
}

// seen is where git sees all that was made.
func (c *capturing) seen() *git.Quarantine {
	if c.pack != nil {
		return c.shared
	}
	return c.quarantine
}

// commit makes the commit with git.
func (c *capturing) commit(ctx context.Context, out *Capture) error {
	from, err := c.origin(ctx, out.Tree)
	if err != nil {
		return err
	}
	out.Base = from.commit
	q := c.quarantine
	out.Commit, err = q.CommitTree(ctx, git.CommitRequest{
		Tree: out.Tree, Parents: []git.Hash{out.Base}, Message: c.Message,
		Author: c.person(c.Author), Committer: c.person(c.Committer),
	})
	if err != nil {
		return err
	}
	if err := c.step("committed"); err != nil {
		return err
	}
	if err := q.Gather(ctx, out.Commit, c.have()...); err != nil {
		return &lostError{err: err}
	}
	if out.Files, err = q.Changes(ctx, from.tree, out.Tree); err != nil {
		return err
	}
	return c.step("gathered")
}

// person is swarm if the caller names no person.
func (c *capturing) person(p git.Person) git.Person {
	if p.Name == "" {
		return git.Swarm(time.Now())
	}
	return p
}
