package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentswarm/swarm/config"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/scope"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// maxReviewed bounds the patch of an agent that is reviewed, in bytes.
const maxReviewed = 32 << 20

// runReview is the review of a run, and the patches that it leaves out.
type runReview struct {
	*verdict.Review
	agents map[string]*store.Agent
	// left are the places that still have removed words; nil: they were not looked
	// for. With leftMore there are more.
	left     *review.Leftovers
	leftMore bool
	// Skipped are the agents whose patches cannot be read, with the reasons.
	skipped []skippedObject
}

// reviewOfRun reads the patches of all agents of a run: the names of classes do
// not depend on the agents that a command is about.
func (p *place) reviewOfRun(ctx context.Context, s *selection) (*runReview, error) {
	rules, err := p.markRules(ctx, s.view)
	if err != nil {
		return nil, err
	}
	r := &runReview{agents: map[string]*store.Agent{}, skipped: []skippedObject{}}
	in := verdict.Input{Rules: rules}
	for _, a := range landing.Workers(s.view) {
		if done, ok := a.Status.(*task.Completed); ok && done.Patch == nil && task.Prompt(a.Call.Input) != "" {
			in.Idle = append(in.Idle, a.ID)
		}
	}
	for _, a := range s.view.Agents {
		if patchOf(a) == nil {
			continue
		}
		files, err := p.patchFiles(ctx, a, patchOf(a))
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			r.skipped = append(r.skipped, skippedObject{ID: string(a.ID), Reason: err.Error()})
			continue
		}
		r.agents[string(a.ID)] = a
		w := p.reviewWork(ctx, a, files)
		w.OtherBase = patchOf(a).Base != s.view.Identity.Base.Commit
		if before := a.ReviewedBefore(); before != nil {
			// Where it cannot be read any more, all edits count as seen.
			if then, err := p.patchFiles(ctx, a, before.Patch); err == nil {
				w.Before, w.Since = then, before.Attempt
			}
		}
		in.Works = append(in.Works, w)
	}
	r.Review = verdict.New(in)
	return r, nil
}

// mostLeftover bounds the lines that are looked at for removed words.
const mostLeftover = 200_000

// findLeftovers looks for the words that classes remove in the base of a run.
func (p *place) findLeftovers(ctx context.Context, s *selection, r *runReview) error {
	left := r.Leftovers()
	base := git.Hash(s.view.Identity.Base.Commit)
	if base == "" {
		return nil
	}
	more, err := p.repo.Grep(ctx, git.GrepRequest{
		Commit: base, Words: left.Words(), Most: mostLeftover,
		Take: func(path string, line int, text string) { left.Put(review.Place{Path: path, Line: line}, text) },
	})
	if err != nil {
		return err
	}
	r.left, r.leftMore = left, more
	return nil
}

// patchFiles reads a patch of an agent by what its commit holds: agents could
// write to its file.
func (p *place) patchFiles(ctx context.Context, a *store.Agent, patch *task.Patch) ([]review.File, error) {
	text := &boundedBuffer{most: maxReviewed}
	err := p.repo.WritePatch(ctx, text, git.Hash(patch.Base), git.Hash(patch.Commit))
	for _, m := range patch.Modules {
		if err == nil {
			err = p.writeModule(ctx, text, m, m.Path)
		}
	}
	if text.full {
		return nil, fmt.Errorf("the patch of %s is longer than %s", a.ID, Bytes(maxReviewed))
	}
	if err != nil {
		if gone, ok := errors.AsType[*goneError](p.gone(ctx, a)); ok {
			return nil, gone
		}
		return nil, err
	}
	return review.Read(text.String())
}

// boundedBuffer is a buffer that takes no more than a number of bytes.
type boundedBuffer struct {
	bytes.Buffer
	most int
	full bool
}

func (b *boundedBuffer) Write(text []byte) (int, error) {
	if b.Len()+len(text) > b.most {
		b.full = true
		return 0, errors.New("the text is too long")
	}
	return b.Buffer.Write(text)
}

// reviewWork is the patch of an agent with what the run knows of it.
func (p *place) reviewWork(ctx context.Context, a *store.Agent, files []review.File) verdict.Work {
	patch := patchOf(a)
	w := verdict.Work{
		ID: a.ID, Attempt: a.Attempt, Files: files, Made: a.Edits, Remarks: a.OnEdits, Landed: a.Landed(),
		PassedOver: a.Choice().Of == task.PassedOver,
	}
	if a.Review != nil {
		w.Verdict = a.Review.Verdict
	}
	done, _ := a.Status.(*task.Completed)
	checked := done != nil && done.Verified != nil
	w.Verified = checked && *done.Verified
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	w.Facts = mark.Facts{
		OutOfPaths: scope.Outside(a.Call.Paths, paths), Replaced: patch.Replaced,
		CheckFailed: checked && !w.Verified, ReviewerNo: a.Appraisal != nil && !a.Appraisal.Pass,
		Text: func(path string, after bool) ([]byte, bool) {
			repo, base, commit := p.repo, patch.Base, patch.Commit
			if m, below := patch.ModuleOf(path); m != nil {
				repo, path, base, commit = p.repo.Store(m.Store), below, m.Base, m.Commit
			}
			if !after {
				commit = base
			}
			text, err := repo.File(ctx, git.Hash(commit), path)
			return text, err == nil && text != nil
		},
	}
	return w
}

// repositoryMarks is the file of a repository's own marks, below its top.
const repositoryMarks = ".swarm/review.toml"

// markRules are the built-in marks, those of the user's review.toml, and those
// that the base of the run has. No file takes a mark away.
func (p *place) markRules(ctx context.Context, v *store.View) (*mark.Rules, error) {
	base := git.Hash(v.Identity.Base.Commit)
	var files [][]byte
	var names []string
	if user := config.UserFile(p.lookup); user != "" {
		name := filepath.Join(filepath.Dir(user), filepath.Base(repositoryMarks))
		source, err := config.ReadFile(config.User, name)
		if err != nil {
			return nil, refused(err)
		}
		if len(source.Text) > config.MaxSize {
			return nil, usagef("%s: is longer than %d bytes", name, config.MaxSize)
		}
		files, names = append(files, source.Text), append(names, name)
	}
	text, err := p.committedFile(ctx, base, repositoryMarks)
	if err != nil {
		return nil, err
	}
	files, names = append(files, text), append(names, base.Short()+":"+repositoryMarks)
	rules, err := mark.Load(files...)
	if wrong, ok := errors.AsType[*mark.RuleError](err); ok && wrong.File > 0 {
		return nil, usagef("%s: %v", names[wrong.File-1], wrong)
	}
	return rules, err
}
