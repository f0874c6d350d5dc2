package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/worktree/git"
)

// riskPlaceRequest says what a place is to be judged as.
type riskPlaceRequest struct {
	// worktree: as the linked work tree of an agent, whatever it is.
	worktree bool
}

// riskPlace is where a command stands, outside of a run. What it says of
// commits, files and refs is as it was when it was first asked for.
func (p *place) riskPlace(ctx context.Context, r riskPlaceRequest) (*risk.Place, error) {
	settings, err := p.repo.Settings(ctx)
	if err != nil {
		return nil, err
	}
	checkouts, err := p.repo.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := p.repo.Branch(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the branch: %w", err)
	}
	others, registered := p.otherTrees(checkouts)
	place := &risk.Place{
		Root: p.repo.TopLevel, Home: p.env.Getenv("HOME"), Tmp: temporary(p.env.Getenv("TMPDIR")),
		GitDir: p.repo.GitDir, CommonDir: p.repo.CommonDir,
		// By what is shared, whatever the folders are called, and from the
		// side of the common git dir as well: a .git file may say anything.
		Shared: r.worktree || p.repo.GitDir != p.repo.CommonDir || registered,
		Others: others,
		Facts:  p.facts(ctx),
	}
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if isBranch {
		place.Branch = branch
	}
	pushes := readPushes(settings, place.Branch)
	place.Upstream, place.PushDefault = pushes.upstream, pushes.remote
	own := append([]string{place.Root, place.GitDir, place.CommonDir}, others...)
	place.Remotes = pushes.remotes(p.rootDir(), own)
	if !pushes.plain(p.hasSubmodules()) {
		for i := range place.Remotes {
			place.Remotes[i].Plain = false
		}
	}
	return place, nil
}

// otherTrees are the tops of the other work trees of the repository.
// registered says that the one we stand in is a linked one by the
// repository's own account, which leads back to its .git file.
func (p *place) otherTrees(all []git.Checkout) (others []string, registered bool) {
	for i, c := range all {
		dir, err := filepath.EvalSymlinks(c.Dir)
		switch {
		case err != nil || c.Bare || dir == p.repo.CommonDir:
			// A folder that is gone has nothing to be reached. A submodule has
			// its git dir in the place of its main work tree.
		case dir == p.repo.TopLevel:
			registered = registered || i > 0 // the main one is first
		case !slices.Contains(others, dir):
			others = append(others, dir)
		}
	}
	return others, registered
}

// hasSubmodules reports whether a push could be one of other repositories too.
func (p *place) hasSubmodules() bool {
	return exists(filepath.Join(p.repo.GitDir, "modules")) || exists(filepath.Join(p.rootDir(), ".gitmodules"))
}

// temporary are the folders for temporary files, also by their real names.
func temporary(dir string) []string {
	var all []string
	for _, dir := range []string{"/tmp", dir} {
		for _, name := range []string{dir, resolved(dir)} {
			if name = filepath.Clean(name); filepath.IsAbs(name) && name != "/" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// resolved is a path without symlinks; itself where there is none.
func resolved(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// linkTo reads the symbolic link of a file and returns where it leads, seen from
// a path that the file has elsewhere. It is empty if that cannot be read.
func linkTo(file, path string) string {
	to, err := os.Readlink(file)
	switch {
	case err != nil || to == "":
		return ""
	case filepath.IsAbs(to):
		return filepath.Clean(to)
	}
	return filepath.Join(filepath.Dir(path), to)
}

// pathKind is what stands at a path.
func pathKind(path string) risk.PathKind {
	info, err := os.Lstat(path)
	switch {
	case missing(err):
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
