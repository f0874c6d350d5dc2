package lander

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/attest"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Attested is a note that says by which check a landing was verified.
type Attested struct {
	Ref     string // of the notes
	Commit  git.Hash
	Commits []git.Hash // that have the note
	Signed  bool
}

// Attest writes the check of the last merge onto a branch as a note on its commits. The
// commit of the notes is signed if the user signs commits. It replaces an existing note
// by the same text. It returns a [*refusal.Error] if the branch has no merge with a
// check.
func (ld *Lander) Attest(ctx context.Context, ref string) (_ *Attested, err error) {
	v := ld.Owner.View()
	l := v.LastLanding()
	switch {
	case l == nil || l.Verb != landing.VerbMerge || l.Ref != ref:
		return nil, refusal.New("no attestation: the last landing of run %s is not a merge onto %s", ld.Run.ID, BranchName(ref))
	case l.Verified == nil || !*l.Verified || l.Command == "":
		return nil, refusal.New("no attestation: the last merge of run %s had no check", ld.Run.ID)
	}
	tree, err := ld.Repo.TreeOf(ctx, git.Hash(l.New))
	if err != nil {
		return nil, err
	}
	commits, err := ld.commitsOf(ctx, v, l)
	if err != nil {
		return nil, err
	}
	config, err := engine.RecordedConfig(v)
	if err != nil {
		return nil, err
	}
	note, err := attest.NewStatement(attest.Landing{
		Commits: commits, Tree: tree, Command: l.Command, Setup: config.Setup, Output: outputOn(v, tree, l.Command),
	}).Encode()
	if err != nil {
		return nil, err
	}
	signing, err := ld.Repo.Signing(ctx)
	if err != nil {
		return nil, err
	}
	q, err := ld.Frozen.Quarantine(filepath.Join(ld.Run.Dir, "landings", "attest", "objects"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	commit, err := q.WriteNotes(ctx, git.NoteRequest{
		Ref: attest.Ref, Commits: commits, Text: note, By: ld.committer(ctx), Signing: signing, Have: commits,
		Message: fmt.Sprintf("Attest a merge of run %s\n", ld.Run.ID),
	})
	return &Attested{Ref: attest.Ref, Commit: commit, Commits: commits, Signed: signing != nil}, err
}

// commitsOf are the commits of a landing, the oldest first.
func (ld *Lander) commitsOf(ctx context.Context, v *store.View, l *store.Landing) ([]git.Hash, error) {
	old := git.Hash(l.Old)
	if old == "" {
		old = BaseOf(v.Identity.Base)
	}
	return ld.Repo.Between(ctx, old, git.Hash(l.New))
}

// outputOn is the output of the run of a check that passed on a tree; empty: not known.
func outputOn(v *store.View, tree git.Hash, command string) string {
	for _, e := range slices.Backward(v.Verdicts) {
		if e.Passed && e.Tree == string(tree) && e.Command == command {
			return e.Output
		}
	}
	return ""
}
