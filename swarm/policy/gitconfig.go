package policy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	homes, copied := []string{box.HomeOf(private), box.HomeOf(filepath.Join(private, j.SetupLayers))}, false
	if j.Rung == box.Landlock {
		homes, copied = []string{box.HomeOf(j.Run.Scratch(private))}, true
	}
	for _, file := range j.userGit() {
		rel, ok := fspath.Below(j.Getenv("HOME"), file)
		for _, home := range homes {
			own := filepath.Join(home, rel)
			// With mounts a layer has its own file after a write, and instead of one
			// with credentials. Without, all of them are copies.
			if ok && fspath.Exists(own) && !j.unchanged(own, file, copied) {
				return true
			}
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

// unchanged reports whether a file or folder of an agent's HOME is as the run gave
// it: as the user's, or without credentials. Where all was copied, a folder must
// have all files of the user's.
func (j *Judge) unchanged(own, file string, copied bool) bool {
	at, err := os.Stat(own)
	if err != nil {
		return fspath.Missing(err) && !fspath.Exists(file)
	}
	if !at.IsDir() {
		return at.Mode().IsRegular() && (copied && sameText(own, file) || j.isPlain(own, file))
	}
	names := map[string]bool{}
	for _, dir := range []string{own, file} {
		if dir == file && !copied {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return false
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for name := range names {
		// Credentials are in no copy, and do not change the target of a push.
		if name != "credentials" && !j.unchanged(filepath.Join(own, name), filepath.Join(file, name), copied) {
			return false
		}
	}
	return true
}

// sameText reports whether two files have the same text. A link of one to the other
// counts as the same.
func sameText(a, b string) bool {
	at, err := os.Stat(a)
	// An agent may have put a pipe there, or a file without an end.
	if of, oerr := os.Stat(b); err != nil || oerr != nil || !at.Mode().IsRegular() || !of.Mode().IsRegular() || at.Size() != of.Size() {
		return false
	}
	x, xerr := os.ReadFile(a)
	y, yerr := os.ReadFile(b)
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// isPlain reports whether a regular file has the text of the user's without
// credentials.
func (j *Judge) isPlain(own, file string) bool {
	want, ok := privatehome.PlainText(j.Getenv("HOME"), j.Getenv, file)
	if !ok {
		return false
	}
	f, err := os.Open(own)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	return err == nil && bytes.Equal(text, want)
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
	return append(all, privatehome.GitIncludes(home, j.Getenv)...)
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
