package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/worktree/git"
)

// AgentsFile is the name of the files with grants.
const AgentsFile = "AGENTS.md"

const (
	maxAgentFiles = 1000
	maxAgentText  = 16 << 20 // bytes, of all files together
)

// Authority returns the grants of a commit. It reads no file of the work tree: an
// agent could have written that. If not all files can be read, the grants are
// suspended, since a file that was left out may forbid an action. The error is that
// of a git command which failed.
func Authority(ctx context.Context, repo *git.Repo, base git.Hash) (*risk.Authority, error) {
	files, err := repo.Named(ctx, git.NamedRequest{
		Commit: base, Name: AgentsFile, Max: maxAgentFiles, Limit: maxAgentText,
	})
	var many *git.ManyError
	var long *git.LongError
	if errors.As(err, &many) || errors.As(err, &long) {
		return &risk.Authority{Root: &risk.Grants{
			Path: AgentsFile, Suspended: "not all that is said could be read: " + err.Error(),
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	a := &risk.Authority{}
	for _, f := range files {
		g := committedGrants(f)
		if f.Path == AgentsFile {
			a.Root = g
		} else {
			a.Nested = append(a.Nested, g)
		}
	}
	return a, nil
}

// committedGrants reads a file of a commit. A symbolic link grants nothing and
// forbids nothing: an agent may be free to change its target.
func committedGrants(f git.NamedFile) *risk.Grants {
	if f.Text != nil {
		return risk.ReadGrants(f.Text, f.Path)
	}
	return &risk.Grants{Path: f.Path, Void: []risk.VoidItem{{Why: "it is a link, not a file"}}}
}

// GrantsDiffer reports whether AGENTS.md at the top of the work tree has other
// grants than that of the commit base, whose grants count. Files below the top
// grant nothing. The error says which of the two could not be read.
func GrantsDiffer(ctx context.Context, repo *git.Repo, base git.Hash) (bool, error) {
	if repo.Bare() {
		return false, nil
	}
	a, err := Authority(ctx, repo, base)
	if err != nil {
		return false, err
	}
	here, err := WorkTreeGrants(repo)
	if err != nil {
		return false, err
	}
	there := a.Root
	if there == nil {
		there = &risk.Grants{}
	}
	return !slices.EqualFunc(here.Items, there.Items, SameGrant) ||
		(here.Suspended != "") != (there.Suspended != ""), nil
}

// SameGrant reports whether two grants have the same effect. Their places in files
// may differ.
func SameGrant(a, b risk.Grant) bool {
	return a.Never == b.Never && reflect.DeepEqual(a.Covers, b.Covers)
}

// WorkTreeGrants returns the grants of AGENTS.md at the top of the work tree; none
// without such a file. The error says that the work tree cannot be read.
func WorkTreeGrants(repo *git.Repo) (*risk.Grants, error) {
	root, err := os.OpenRoot(repo.TopLevel)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	if info, err := root.Lstat(AgentsFile); err != nil || !info.Mode().IsRegular() {
		if fspath.Missing(err) {
			err = nil
		}
		return &risk.Grants{}, err
	}
	text, _ := fspath.ReadRegular(root, AgentsFile, maxAgentText)
	return risk.ReadGrants(text, AgentsFile), nil
}

// FileError is a committed file that cannot be used.
type FileError struct {
	Commit git.Hash
	Path   string // from the top of the repository
	Why    string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%s: %s", e.Commit.Short(), e.Path, e.Why)
}

// File returns the text of a regular file of a commit; nil if the commit has none,
// and without a commit. path is relative to the top of the repository, and most
// bounds the text in bytes. A link or a longer file is a [*FileError].
func File(ctx context.Context, repo *git.Repo, r FileRequest) ([]byte, error) {
	if r.Commit == "" {
		return nil, nil
	}
	files, err := repo.Under(ctx, git.UnderRequest{Commit: r.Commit, Paths: []string{r.Path}, Max: 1, Limit: maxAgentText})
	var many *git.ManyError
	if errors.As(err, &many) {
		return nil, nil // a folder
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(files, func(f git.NamedFile) bool { return f.Path == r.Path })
	if at < 0 {
		return nil, nil
	}
	text := files[at].Text
	switch {
	case text == nil:
		return nil, &FileError{r.Commit, r.Path, "is a link, not a file"}
	case len(text) > r.Most:
		return nil, &FileError{r.Commit, r.Path, fmt.Sprintf("is longer than %d bytes", r.Most)}
	}
	return text, nil
}

// FileRequest names a file of a commit.
type FileRequest struct {
	Commit git.Hash // empty: none
	Path   string   // from the top of the repository, with slashes
	Most   int      // bytes
}
