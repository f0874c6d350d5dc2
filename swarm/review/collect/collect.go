// Package collect reads the patches of a run and makes the review of them: it loads
// the rules of marks, searches for leftovers, and keeps parts of patches. It records
// no verdict.
package collect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"agentswarm/risk/repository"
	"agentswarm/swarm/config"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/scope"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Request names a run whose patches are reviewed.
type Request struct {
	Repo *git.Repo   // required
	View *store.View // required
	// Lookup reads the environment, which says where the user's rules of marks are.
	Lookup func(string) (string, bool)
}

// Review is the review of a run.
type Review struct {
	*verdict.Review
	Agents map[string]*store.Agent
	// Left are the places that still have removed words; nil: not searched. LeftMore
	// says that there are more than the search reads.
	Left     *review.Leftovers
	LeftMore bool
	Skipped  []Skipped

	in verdict.Input // of the review
}

// Record makes the review anew with verdicts that were journaled at a time.
func (r *Review) Record(spread *verdict.Spread, at time.Time) {
	for i := range r.in.Works {
		w := &r.in.Works[i]
		for k := range spread.Edits {
			if spread.Edits[k].Agent == w.ID {
				w.Made = append(slices.Clip(w.Made), store.EditVerdict{EditsReviewed: &spread.Edits[k], Time: at})
			}
		}
		for _, whole := range spread.Patches {
			if whole.Agent == w.ID {
				w.Verdict = whole.Verdict
			}
		}
	}
	r.Review = verdict.New(r.in)
}

// Skipped is an agent whose patch cannot be read.
type Skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Run reads the patches of all agents of a run: the numbers of classes must not depend
// on the agents that a command names. The error is a [*RulesError], that of git, or the
// cause of the end of ctx.
func Run(ctx context.Context, q Request) (*Review, error) {
	rules, err := markRules(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &Review{Agents: map[string]*store.Agent{}, Skipped: []Skipped{}}
	in := verdict.Input{Rules: rules}
	for _, a := range landing.Workers(q.View) {
		if done, ok := a.Status.(*task.Completed); ok && done.Patch == nil && task.Prompt(a.Call.Input) != "" {
			in.Idle = append(in.Idle, a.ID)
		}
	}
	patches := patch.Reader{Repo: q.Repo}
	for _, a := range q.View.Agents {
		if a.Patch() == nil {
			continue
		}
		files, err := patches.Files(ctx, a, a.Patch())
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			r.Skipped = append(r.Skipped, Skipped{ID: string(a.ID), Reason: err.Error()})
			continue
		}
		r.Agents[string(a.ID)] = a
		w := newWork(ctx, q.Repo, a, files)
		w.OtherBase = a.Patch().Base != q.View.Identity.Base.Commit
		if before := a.ReviewedBefore(); before != nil {
			// Without the earlier patch, all edits count as seen.
			if then, err := patches.Files(ctx, a, before.Patch); err == nil {
				w.Before, w.Since = then, before.Attempt
			}
		}
		in.Works = append(in.Works, w)
	}
	r.Review, r.in = verdict.New(in), in
	return r, nil
}

// newWork returns the patch of an agent with the facts of its run.
func newWork(ctx context.Context, repo *git.Repo, a *store.Agent, files []review.File) verdict.Work {
	p := a.Patch()
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
		OutOfPaths: scope.Outside(a.Call.Paths, paths), Replaced: p.Replaced,
		CheckFailed: checked && !w.Verified, ReviewerNo: a.Appraisal != nil && !a.Appraisal.Pass,
		Text: func(path string, after bool) ([]byte, bool) {
			from, base, commit := repo, p.Base, p.Commit
			if m, below := p.ModuleOf(path); m != nil {
				from, path, base, commit = repo.Store(m.Store), below, m.Base, m.Commit
			}
			if !after {
				commit = base
			}
			text, err := from.File(ctx, git.Hash(commit), path)
			return text, err == nil && text != nil
		},
	}
	return w
}

// maxLeftover bounds the lines that are searched for removed words.
const maxLeftover = 200_000

// FindLeftovers searches the base of a run for the words that classes remove. The error
// is that of git.
func (r *Review) FindLeftovers(ctx context.Context, q Request) error {
	left := r.Leftovers()
	base := git.Hash(q.View.Identity.Base.Commit)
	if base == "" {
		return nil
	}
	more, err := q.Repo.Grep(ctx, git.GrepRequest{
		Commit: base, Words: left.Words(), Most: maxLeftover,
		Take: func(path string, line int, text string) { left.Put(review.Place{Path: path, Line: line}, text) },
	})
	if err != nil {
		return err
	}
	r.Left, r.LeftMore = left, more
	return nil
}

// repositoryMarks is the file of a repository's own marks, from its top.
const repositoryMarks = ".swarm/review.toml"

// RulesError is a file with rules of marks that cannot be used.
type RulesError struct {
	File string // empty: Err names it
	Err  error
}

func (e *RulesError) Error() string {
	if e.File == "" {
		return e.Err.Error()
	}
	return e.File + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *RulesError) Unwrap() error { return e.Err }

// markRules returns the built-in marks, those of the user's review.toml, and those of
// the base of the run. A file cannot remove a mark.
func markRules(ctx context.Context, q Request) (*mark.Rules, error) {
	base := git.Hash(q.View.Identity.Base.Commit)
	var files [][]byte
	var names []string
	if user := config.UserFile(q.Lookup); user != "" {
		name := filepath.Join(filepath.Dir(user), filepath.Base(repositoryMarks))
		source, err := config.ReadFile(config.User, name)
		if err != nil {
			return nil, &RulesError{Err: err}
		}
		if len(source.Text) > config.MaxSize {
			return nil, &RulesError{File: name, Err: fmt.Errorf("is longer than %d bytes", config.MaxSize)}
		}
		files, names = append(files, source.Text), append(names, name)
	}
	text, err := repository.File(ctx, q.Repo, repository.FileRequest{Commit: base, Path: repositoryMarks, Most: config.MaxSize})
	if of := (*repository.FileError)(nil); errors.As(err, &of) {
		return nil, &RulesError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	files, names = append(files, text), append(names, base.Short()+":"+repositoryMarks)
	rules, err := mark.Load(files...)
	if wrong, ok := errors.AsType[*mark.RuleError](err); ok && wrong.File > 0 {
		return nil, &RulesError{File: names[wrong.File-1], Err: wrong}
	}
	return rules, err
}

// ClassesOf returns the classes with an edit of some agents.
func (r *Review) ClassesOf(agents []*store.Agent) []*review.Class {
	about := map[string]bool{}
	for _, a := range agents {
		about[string(a.ID)] = true
	}
	var all []*review.Class
	for _, class := range r.Classes {
		for _, e := range class.Members {
			if about[e.Patch] {
				all = append(all, class)
				break
			}
		}
	}
	return all
}

// Counts returns how many members of a class are accepted, and how many rejected.
func (r *Review) Counts(class *review.Class) (accepted, rejected int) {
	for _, m := range class.Members {
		switch r.Verdict(m) {
		case task.Accepted:
			accepted++
		case task.Rejected:
			rejected++
		}
	}
	return accepted, rejected
}
