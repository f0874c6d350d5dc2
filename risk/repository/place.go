// Package repository reads the facts about a Git repository that package risk
// needs to judge an action: work trees, remotes, refs, files, locked versions and
// grants. It judges nothing and changes nothing.
package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/worktree/git"
)

// Request names the place where actions are judged.
type Request struct {
	Repo    *git.Repo // nil: the place is in no repository
	Home    string    // home folder of the user
	TempDir string    // value of TMPDIR
	Linked  bool      // judge as in a linked work tree, even in the main work tree
}

// Place returns the place of a repository. Its facts about commits, files and refs
// are read from git on first use, and kept. ctx also bounds these later reads. The
// error is that of a git command which failed.
func Place(ctx context.Context, r Request) (*risk.Place, error) {
	if r.Repo == nil {
		return outside(r), nil
	}
	settings, err := r.Repo.SettingsOnce(ctx)
	if err != nil {
		return nil, err
	}
	checkouts, err := r.Repo.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := r.Repo.Branch(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the branch: %w", err)
	}
	others, registered := otherTrees(r.Repo, checkouts)
	place := &risk.Place{
		Root: r.Repo.TopLevel, Home: r.Home, Tmp: temporary(r.TempDir),
		GitDir: r.Repo.GitDir, CommonDir: r.Repo.CommonDir,
		// A folder name proves nothing, and an agent can write a .git file. So the
		// registrations in the common git dir count too.
		Shared: r.Linked || r.Repo.GitDir != r.Repo.CommonDir || registered,
		Others: others,
		Facts:  newFacts(ctx, r.Repo),
	}
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if isBranch {
		place.Branch = branch
	}
	pushes := readPushes(settings, place.Branch)
	place.Upstream, place.PushDefault = pushes.upstream, pushes.remote
	own := append([]string{place.Root, place.GitDir, place.CommonDir}, others...)
	place.Remotes = pushes.remotes(top(r.Repo), own)
	if !pushes.plain(hasSubmodules(r.Repo)) {
		for i := range place.Remotes {
			place.Remotes[i].Plain = false
		}
	}
	return place, nil
}

// outside returns a place in no repository.
func outside(r Request) *risk.Place {
	unknown := func(string) (bool, error) { return false, errors.New("there is no repository") }
	return &risk.Place{
		Home: r.Home, Tmp: temporary(r.TempDir), Shared: r.Linked,
		Facts: &facts{
			published: unknown, leads: unknown,
			tracked: func() ([]string, bool) { return nil, true },
			refs:    func() (map[string]bool, bool) { return nil, true },
			answers: map[gitQuestion]gitAnswer{},
		},
	}
}

// top returns the work tree, or the folder of a bare repository.
func top(repo *git.Repo) string {
	if repo.Bare() {
		return repo.CommonDir
	}
	return repo.TopLevel
}

// otherTrees returns the tops of the other work trees of the repository.
// registered reports whether the common git dir has the current work tree as a
// linked work tree.
func otherTrees(repo *git.Repo, all []git.Checkout) (others []string, registered bool) {
	for i, c := range all {
		dir, err := filepath.EvalSymlinks(c.Dir)
		switch {
		case err != nil || c.Bare || dir == repo.CommonDir:
			// An action cannot reach a folder that is gone. A submodule has its
			// git dir in the place of its main work tree.
		case dir == repo.TopLevel:
			registered = registered || i > 0 // the main work tree is first
		case !slices.Contains(others, dir):
			others = append(others, dir)
		}
	}
	return others, registered
}

// hasSubmodules reports whether a push could also push other repositories.
func hasSubmodules(repo *git.Repo) bool {
	return fspath.Exists(filepath.Join(repo.GitDir, "modules")) || fspath.Exists(filepath.Join(top(repo), ".gitmodules"))
}

// temporary returns the folders for temporary files, with and without symbolic
// links.
func temporary(dir string) []string {
	var all []string
	for _, dir := range []string{"/tmp", dir} {
		for _, name := range []string{dir, fspath.Real(dir)} {
			if name = filepath.Clean(name); filepath.IsAbs(name) && name != "/" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// LinkTarget reads the symbolic link in file and returns its target as an absolute
// path, seen from path, where an agent finds the file. It returns "" if the link
// cannot be read.
func LinkTarget(file, path string) string {
	to, err := os.Readlink(file)
	switch {
	case err != nil || to == "":
		return ""
	case filepath.IsAbs(to):
		return filepath.Clean(to)
	}
	return filepath.Join(filepath.Dir(path), to)
}

// PathKind returns the kind of file at path, without following a link.
func PathKind(path string) risk.PathKind {
	info, err := os.Lstat(path)
	switch {
	case fspath.Missing(err):
		return risk.PathMissing
	case err != nil:
		return risk.PathUnknown
	case info.Mode()&os.ModeSymlink != 0:
		return risk.PathLink
	case info.IsDir():
		return risk.PathFolder
	}
	return risk.PathFile
}
