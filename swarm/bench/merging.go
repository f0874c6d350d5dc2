package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentswarm/merge"
	"agentswarm/worktree/git"
)

const (
	againstAm   = "git am -3"
	againstLoop = "git merge-tree loop"
)

// merge measures how patches of a file each become commits.
func (b *bench) merge(ctx context.Context) error {
	mails, err := b.mails(ctx)
	if err != nil {
		return err
	}
	b.progress("merges")
	var am, loop, spliced rounds
	for i := range b.Sample + 1 {
		if i == 1 { // the first of each was to warm up
			am, loop, spliced = nil, nil, nil
		}
		err := am.time(func() error {
			_, err := b.plain.Run(ctx, git.Cmd{Args: []string{"am", "-3", "-q"}, Stdin: bytes.NewReader(mails), Writes: true})
			return err
		})
		if err := errors.Join(err, b.reset(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		var want, got git.Hash
		err = loop.time(func() (err error) {
			want, err = b.mergeLoop(ctx)
			return err
		})
		if err != nil {
			return err
		}
		objects := filepath.Join(b.dir, fmt.Sprint("objects-", i))
		err = spliced.time(func() (err error) {
			got, err = b.mergeOnce(ctx, objects)
			return err
		})
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("merging made the tree %s, and %s %s", got.Short(), againstLoop, want.Short())
		}
	}
	n := b.Agents
	row := Row{Step: StepMerge, Against: againstAm, Baseline: am.figure(b.Sample, n), Swarm: spliced.figure(n, n)}
	b.add(row)
	row.Against, row.Baseline = againstLoop, loop.figure(n, n)
	b.add(row)
	return nil
}

// mails are the first patches as `git am` takes them.
func (b *bench) mails(ctx context.Context) ([]byte, error) {
	var all bytes.Buffer
	for _, p := range b.patches[:b.Sample] {
		_, err := b.repo.Run(ctx, git.Cmd{Args: []string{"format-patch", "--stdout", "--binary", "-1", string(p)}, Stdout: &all})
		if err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// mergeLoop merges as a shell would without a checkout.
func (b *bench) mergeLoop(ctx context.Context) (tree git.Hash, err error) {
	tip := b.base
	for _, p := range b.patches {
		out, err := b.repo.Run(ctx, git.Cmd{Args: []string{"merge-tree", "--write-tree", string(tip), string(p)}, Writes: true})
		if err != nil {
			return "", err
		}
		tree = hash(out)
		out, err = b.repo.Run(ctx, git.Cmd{
			Args: []string{"commit-tree", string(tree), "-p", string(tip)}, Stdin: strings.NewReader("patch\n"), Writes: true,
		})
		if err != nil {
			return "", err
		}
		tip = hash(out)
	}
	return tree, nil
}

// mergeOnce merges as swarm does.
func (b *bench) mergeOnce(ctx context.Context, objects string) (tree git.Hash, err error) {
	q, err := b.repo.Quarantine(objects)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	req := merge.Request{Onto: b.base, Committer: git.Person{Name: "bench", Email: "bench@localhost"}}
	for i, p := range b.patches {
		req.Patches = append(req.Patches, merge.Patch{ID: name(i), Base: b.base, Commit: p, Author: req.Committer})
	}
	out, err := merge.Merge(ctx, q, req)
	if err != nil {
		return "", err
	}
	if len(out.Landed) != len(b.patches) {
		return "", fmt.Errorf("%d of %d patches landed", len(out.Landed), len(b.patches))
	}
	return out.Tree, nil
}
