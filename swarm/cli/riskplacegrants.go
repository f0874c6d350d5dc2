package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"agentswarm/risk"
	"agentswarm/worktree/git"
)

const (
	agentsFile    = "AGENTS.md"
	maxAgentFiles = 1000
	// maxAgentText is how long they may be together, in bytes.
	maxAgentText = 16 << 20
)

// authority is what was granted in a commit. It is read from git: what a work
// tree has is an agent's as much as a person's. Where not all of it can be
// read nothing is granted, for what was left out may forbid something.
func (p *place) authority(ctx context.Context, base git.Hash) (*risk.Authority, error) {
	files, err := p.repo.Named(ctx, git.NamedRequest{
		Commit: base, Name: agentsFile, Max: maxAgentFiles, Limit: maxAgentText,
	})
	var many *git.ManyError
	var long *git.LongError
	if errors.As(err, &many) || errors.As(err, &long) {
		return &risk.Authority{Root: &risk.Grants{
			Path: agentsFile, Suspended: "not all that is said could be read: " + err.Error(),
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	a := &risk.Authority{}
	for _, f := range files {
		g := committedGrants(f)
		if f.Path == agentsFile {
			a.Root = g
		} else {
			a.Nested = append(a.Nested, g)
		}
	}
	return a, nil
}

// committedGrants reads one file of a commit. A symlink grants nothing, and
// forbids nothing either: who could move what it leads to need not be asked.
func committedGrants(f git.NamedFile) *risk.Grants {
	if f.Text != nil {
		return risk.ReadGrants(f.Text, f.Path)
	}
	return &risk.Grants{Path: f.Path, Void: []risk.VoidItem{{Why: "it is no file of its own, but a link to something else"}}}
}

// uncommittedGrants reports whether AGENTS.md at the top of the work tree
// grants other things than that of a commit, which is the one that counts.
// Others than that at the top grant nothing.
func (p *place) uncommittedGrants(ctx context.Context, base git.Hash) (differs bool, err error) {
	if p.repo.Bare() {
		return false, nil
	}
	a, err := p.authority(ctx, base)
	if err != nil {
		return false, err
	}
	here, err := p.grantsHere()
	if err != nil {
		return false, err
	}
	there := a.Root
	if there == nil {
		there = &risk.Grants{}
	}
	return !slices.EqualFunc(here.Items, there.Items, sameGrant) ||
		(here.Suspended != "") != (there.Suspended != ""), nil
}

// sameGrant reports whether two grants say the same, wherever they stand.
func sameGrant(a, b risk.Grant) bool {
	return a.Never == b.Never && reflect.DeepEqual(a.Covers, b.Covers)
}

// grantsHere are those of the work tree; none where it has no such file.
func (p *place) grantsHere() (*risk.Grants, error) {
	root, err := os.OpenRoot(p.repo.TopLevel)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	if info, err := root.Lstat(agentsFile); err != nil || !info.Mode().IsRegular() {
		if missing(err) {
			err = nil
		}
		return &risk.Grants{}, err
	}
	text, _ := checkout{root}.readUpTo(agentsFile, maxAgentText)
	return risk.ReadGrants(text, agentsFile), nil
}

// sayGrants points out that grants of the working tree count for nothing.
func (b *bench) sayGrants(ctx context.Context) error {
	if b.repo.Bare() || !exists(filepath.Join(b.repo.TopLevel, agentsFile)) {
		return nil
	}
	id, err := b.run.Identity()
	if err != nil {
		return err
	}
	differs, err := b.uncommittedGrants(ctx, grantingCommit(id.Base))
	if differs {
		fmt.Fprintf(b.env.Stderr, "grants: %s\n", uncommitted)
	}
	return err
}
