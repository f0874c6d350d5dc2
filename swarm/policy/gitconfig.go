package policy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/privatehome"
	"agentswarm/worktree"
)

// misled reports whether the git of an agent may use another configuration than the
// user's had at the start of the run. The target of a push is not known then.
func (j *Judge) misled(law *runLaw, r engine.JudgeRequest) bool {
	private := engine.BoxOf(j.Run.Attempt(r.Agent, r.Attempt))
	homes := []string{box.HomeOf(private), box.HomeOf(filepath.Join(private, j.SetupLayers))}
	apart := j.apart(r)
	if apart {
		homes = []string{box.HomeOf(j.scratch(r))}
	}
	seen := gitFiles{user: j.Getenv("HOME"), plain: privatehome.PlainGit(j.Getenv("HOME"), j.Getenv), copied: apart}
	for _, home := range homes {
		if seen.changed(home, j.userGit()) {
			return true
		}
	}
	if law.config != "" && law.config != j.gitConfig() {
		return true
	}
	if w := r.Workspace; w.Private() {
		return j.Trees.Reconfigured(r.Workspace) || w.Shell != "" && divertedShell(w)
	}
	return divertedLink(r.Workspace)
}

// gitFiles are the files of the user's configuration of git as agents see them.
type gitFiles struct {
	user  string            // HOME of the user
	plain map[string][]byte // texts without credentials, by paths without links
	// copied is set where a private HOME has a copy of each file. Otherwise the layer
	// of a HOME has only the plain texts and the files that an agent wrote.
	copied bool
}

// changed reports whether an agent changed any of some files and folders, or a
// plain text, in its HOME or in the layer of it.
func (g gitFiles) changed(home string, files []string) bool {
	for _, file := range slices.Concat(files, slices.Collect(maps.Keys(g.plain))) {
		rel, ok := fspath.Below(g.user, file)
		if own := filepath.Join(home, rel); ok && fspath.Exists(own) && !g.same(own, file) {
			return true
		}
	}
	return false
}

// same reports whether an agent's file or folder is as it was made from the
// user's. A link from either to the other counts as the same.
func (g gitFiles) same(own, file string) bool {
	at, err := os.Stat(own)
	if err != nil {
		return fspath.Missing(err) && !fspath.Exists(file)
	}
	if at.IsDir() {
		return g.sameFolder(own, file)
	}
	want, plain := g.plain[fspath.Real(file)]
	// An agent may have put a pipe there, or a file without an end.
	if !at.Mode().IsRegular() || !plain && !g.copied {
		return false
	}
	if !plain {
		of, err := os.Stat(file)
		if err != nil || !of.Mode().IsRegular() || at.Size() != of.Size() {
			return false
		}
		if want, err = os.ReadFile(file); err != nil {
			return false
		}
	}
	if at.Size() != int64(len(want)) {
		return false
	}
	text, err := os.ReadFile(own)
	return err == nil && bytes.Equal(text, want)
}

func (g gitFiles) sameFolder(own, folder string) bool {
	names := map[string]bool{}
	dirs := []string{own}
	if g.copied {
		dirs = append(dirs, folder)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return false
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for file := range g.plain {
		if filepath.Dir(file) == folder {
			names[filepath.Base(file)] = true
		}
	}
	for name := range names {
		// Credentials are in no copy, and do not change the target of a push.
		if name != "credentials" && !g.same(filepath.Join(own, name), filepath.Join(folder, name)) {
			return false
		}
	}
	return true
}

// divertedShell reports whether the git dir in an overlay was replaced, or takes its
// configuration from another folder.
func divertedShell(w worktree.Workspace) bool {
	info, err := os.Lstat(w.Admin)
	if err != nil {
		return !fspath.Missing(err) // without a layer it is unchanged
	}
	return !info.IsDir() || fspath.Exists(filepath.Join(w.Admin, "commondir"))
}

// divertedLink reports whether the .git file of a linked work tree does not lead to
// its registration, or the registration has a configuration of its own.
func divertedLink(w worktree.Workspace) bool {
	file := filepath.Join(w.Dir, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return true
	}
	text, err := os.ReadFile(file)
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	return err != nil || !ok || fspath.Real(to) != fspath.Real(w.Admin) || fspath.Exists(filepath.Join(w.Admin, "config.worktree"))
}

// userGit returns the files and folders of the user's git configuration. They need
// not exist.
func (j *Judge) userGit() []string {
	home := j.Getenv("HOME")
	all := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git")}
	if dir := j.Getenv("XDG_CONFIG_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "git"))
	}
	return all
}

// gitConfig returns a digest of git's configuration, of the repository and of the
// user.
func (j *Judge) gitConfig() string {
	files := []string{filepath.Join(j.Repo.CommonDir, "config"), filepath.Join(j.Repo.CommonDir, "config.worktree")}
	for _, file := range j.userGit() {
		files = append(files, file, filepath.Join(file, "config"))
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		fmt.Fprintf(sum, "%s\x00%t\x00%d\x00%s", file, fspath.Missing(err), len(text), text)
	}
	return string(sum.Sum(nil))
}
