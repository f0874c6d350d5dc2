package pullrequest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/review/part"
	"agentswarm/worktree/git"
)

// State is the outcome of building a part.
type State string

// The states of a part.
const (
	Ready    State = "ready"    // its branch can be pushed
	Contains State = "merged"   // the base has its changes already
	Conflict State = "conflict" // it does not fit onto its base
)

// Branch is a part with its commits.
type Branch struct {
	*Part
	Name  string // without refs/heads/
	Base  string // the branch that the pull request is against, without refs/heads/
	State State
	// Onto is the commit that it stands on, and Commit its last; empty unless it is
	// [Ready].
	Onto, Commit git.Hash
	// Conflicts say where it does not fit.
	Conflicts []merge.Conflict
}

// BuildRequest asks for the commits of parts.
type BuildRequest struct {
	Quarantine *git.Quarantine // required; has the commits afterwards
	Onto       git.Hash        // the tip of the base at the remote; required
	Base       string          // the name of the base, without refs/heads/; required
	Prefix     string          // of the names of branches; required
	Parts      []*Part
	// Stacked puts each branch onto the previous branch.
	Stacked   bool
	Committer git.Person // its time is not used
}

// Build makes the commits of parts in memory. The same request makes the same
// commits. An error means that git failed; a part that does not fit has the state
// [Conflict].
func Build(ctx context.Context, r BuildRequest) ([]*Branch, error) {
	var all []*Branch
	onto, base := r.Onto, r.Base
	for _, p := range r.Parts {
		b := &Branch{Part: p, Name: r.Prefix + p.Name, Base: base, Onto: onto}
		if err := r.build(ctx, b); err != nil {
			return nil, fmt.Errorf("make the commits of %s: %w", b.Name, err)
		}
		all = append(all, b)
		if r.Stacked && b.State == Ready {
			onto, base = b.Commit, b.Name
		}
	}
	return all, nil
}

func (r BuildRequest) build(ctx context.Context, b *Branch) error {
	if b.asLanded() {
		b.State, b.Commit = Ready, b.Pieces[len(b.Pieces)-1].Change.Commit
		return nil
	}
	req := merge.Request{Onto: b.Onto, Committer: r.Committer}
	req.Committer.When = time.Time{}
	for i, piece := range b.Pieces {
		commit := piece.Change.Commit
		if piece.Paths != nil {
			var err error
			if commit, err = r.some(ctx, piece); err != nil {
				return err
			}
		}
		subject, body, lines := splitMessage(piece.Change.Message)
		req.Patches = append(req.Patches, merge.Patch{
			ID: fmt.Sprintf("%d", i+1), Label: string(piece.Change.Commit.Short()), Base: piece.Change.Parent, Commit: commit,
			Subject: subject, Body: body, Author: piece.Change.Author, Trailers: lines,
		})
		if req.Committer.When.Before(piece.Change.Author.When) {
			req.Committer.When = piece.Change.Author.When
		}
	}
	out, err := merge.Merge(ctx, r.Quarantine, req)
	switch {
	case err != nil:
		return err
	case len(out.Conflicts) > 0:
		b.State, b.Conflicts, b.Onto = Conflict, out.Conflicts, ""
	case out.Commit == b.Onto:
		b.State, b.Onto = Contains, ""
	default:
		b.State, b.Commit = Ready, out.Commit
	}
	return nil
}

// asLanded reports whether the commits as they landed are those of the branch.
func (b *Branch) asLanded() bool {
	at := b.Onto
	for _, piece := range b.Pieces {
		if piece.Paths != nil || piece.Change.Parent != at {
			return false
		}
		at = piece.Change.Commit
	}
	return len(b.Pieces) > 0
}

// some is a commit with some files of a piece, on the same parent.
func (r BuildRequest) some(ctx context.Context, piece Piece) (git.Hash, error) {
	c := piece.Change
	return part.Files(ctx, part.FilesRequest{
		Quarantine: r.Quarantine, Base: c.Parent, Commit: c.Commit, Paths: piece.Paths, Message: c.Message, Person: c.Author,
	})
}

// splitMessage takes a message apart into its subject, its body and its trailers.
func splitMessage(message string) (subject, body string, lines []string) {
	subject, rest, _ := strings.Cut(strings.TrimRight(message, "\n"), "\n")
	rest = strings.Trim(rest, "\n")
	at := strings.LastIndex("\n\n"+rest, "\n\n")
	last := rest[at:]
	for line := range strings.SplitSeq(last, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || key == "" || value == "" || strings.Contains(key, " ") {
			return subject, rest, nil
		}
		lines = append(lines, line)
	}
	return subject, strings.Trim(rest[:at], "\n"), lines
}

// Publish makes local branches of the commits. A branch that is elsewhere already is
// an error.
func Publish(ctx context.Context, q *git.Quarantine, branches []*Branch) error {
	var refs []git.RefUpdate
	for _, b := range branches {
		if b.State != Ready {
			continue
		}
		ref := "refs/heads/" + b.Name
		have, err := q.Repo().Ref(ctx, ref)
		if err != nil {
			return err
		}
		switch have {
		case b.Commit:
		case "":
			refs = append(refs, git.RefUpdate{Ref: ref, New: b.Commit})
		default:
			return &TakenError{Branch: b.Name}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	err := q.Publish(ctx, git.PublishRequest{Refs: refs, Message: "swarm pr"})
	if clash, ok := errors.AsType[*git.RefClashError](err); ok {
		return clash
	}
	return err
}

// TakenError names a branch with other commits.
type TakenError struct {
	Branch string
	Remote string // empty: a local branch
}

func (e *TakenError) Error() string {
	if e.Remote != "" {
		return fmt.Sprintf("branch %s of %s has other commits", e.Branch, e.Remote)
	}
	return fmt.Sprintf("branch %s has other commits", e.Branch)
}

// Hint is the way out.
func (e *TakenError) Hint() string { return "delete it, or choose other names with --prefix" }
