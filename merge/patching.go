package merge

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// patching is a patch on its way into the files of a checkout, or out of them.
// The patch is applied to entries of an index of ours; the new files are written
// from the tree that this gives.
type patching struct {
	repo       *git.Repo
	tx         *checkout.Tx
	quarantine *git.Quarantine
	entries    string // the index
	from, to   git.Hash
	changes    []git.Change
}

func beginPatching(ctx context.Context, verb string, repo *git.Repo, r Record) (*patching, error) {
	tx, err := checkout.Begin(ctx, checkout.Request{
		Records: r.Records, ID: r.ID, Verb: verb, Repo: repo, Step: r.Step,
	})
	if err != nil {
		return nil, err
	}
	p := &patching{repo: repo, tx: tx, entries: filepath.Join(tx.Scratch(), "patched")}
	// It is closed by the caller from here on.
	p.quarantine, err = repo.Quarantine(filepath.Join(tx.Scratch(), "objects"))
	if err != nil {
		return nil, errors.Join(err, tx.Close())
	}
	return p, nil
}

// run runs git on the index of ours.
func (p *patching) run(ctx context.Context, c git.Cmd) ([]byte, error) {
	c.Env = append(c.Env, "GIT_INDEX_FILE="+p.entries)
	return p.quarantine.Run(ctx, c)
}

// index fills the index of ours from a commit.
func (p *patching) index(ctx context.Context, commit git.Hash) error {
	_, err := p.run(ctx, git.Cmd{Args: []string{"read-tree", string(commit)}})
	return err
}

// snapshot fills it from the last commit and, for some paths, from the files of
// the checkout. It returns the tree.
func (p *patching) snapshot(ctx context.Context, paths []string) (git.Hash, error) {
	head, err := p.repo.Commit(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	if err := p.index(ctx, head); err != nil {
		return "", err
	}
	_, err = p.run(ctx, git.Cmd{
		Args:   []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"},
		Stdin:  strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
		Config: []string{"core.safecrlf=false"},
	})
	if err != nil {
		return "", err
	}
	return p.tree(ctx)
}

func (p *patching) tree(ctx context.Context) (git.Hash, error) {
	out, err := p.run(ctx, git.Cmd{Args: []string{"write-tree"}})
	return git.Hash(strings.TrimSpace(string(out))), err
}

// patch changes the entries by a patch.
func (p *patching) patch(ctx context.Context, from git.Hash, a git.ApplyRequest) (err error) {
	p.from, a.Index = from, p.entries
	if err := p.quarantine.ApplyPatch(ctx, a); err != nil {
		return err
	}
	if p.to, err = p.tree(ctx); err != nil {
		return err
	}
	p.changes, err = p.quarantine.Changes(ctx, p.from, p.to)
	return err
}

// commit changes the files.
func (p *patching) commit(ctx context.Context, s checkout.Side, journal func() error) error {
	s.Repo, s.From, s.To, s.Changes = p.repo, p.from, p.to, p.changes
	s.Env = []string{"GIT_OBJECT_DIRECTORY=" + p.quarantine.Dir}
	if err := p.tx.Add(ctx, s); err != nil {
		return err
	}
	if err := p.tx.Prepare(ctx); err != nil {
		return err
	}
	if err := journal(); err != nil {
		return err
	}
	return p.tx.Commit(ctx)
}

// seenFrom is the repository as seen from a checkout.
func seenFrom(ctx context.Context, repo *git.Repo, dir string) (*git.Repo, error) {
	if dir == repo.TopLevel {
		return repo, nil
	}
	return repo.Git.Discover(ctx, dir)
}

// appliedFiles are identities of files in the order of their paths.
func appliedFiles(files map[string]checkout.Identity) []AppliedFile {
	all := make([]AppliedFile, 0, len(files))
	for path, at := range files {
		all = append(all, AppliedFile{Path: path, Sum: string(at)})
	}
	slices.SortFunc(all, func(a, b AppliedFile) int { return strings.Compare(a.Path, b.Path) })
	return all
}
