package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/worktree"
)

// misled reports whether the git of an agent may go by another configuration
// than the user's did when the run began. Nobody knows then where a push goes.
func (j *judge) misled(law *jurisdiction, r engine.JudgeRequest) bool {
	private := engine.BoxOf(j.bench.run.Attempt(r.Agent, r.Attempt))
	homes, copied := []string{box.HomeOf(private), box.HomeOf(filepath.Join(private, setupLayers))}, false
	if j.bench.rung == box.Landlock {
		homes, copied = []string{box.HomeOf(j.bench.run.Scratch(private))}, true
	}
	for _, file := range j.bench.userGit() {
		rel, ok := below(j.bench.env.Getenv("HOME"), file)
		for _, home := range homes {
			own := filepath.Join(home, rel)
			// With mounts a layer has its own file only after a write. Without,
			// all of them are copies.
			if ok && exists(own) && !(copied && sameText(own, file)) {
				return true
			}
		}
	}
	if law.config != "" && law.config != j.bench.gitConfig() {
		return true
	}
	if w := r.Workspace; w.Private() {
		return j.reconfigured(r) || w.Shell != "" && divertedShell(w)
	}
	return divertedLink(r.Workspace)
}

// sameText reports whether two files have the same text, or two folders the
// same files. A link of one into the other counts as the same.
func sameText(a, b string) bool {
	at, err := os.Stat(a)
	if err != nil {
		return missing(err) && !exists(b)
	}
	if !at.IsDir() {
		// An agent may have put a pipe there, or a file without an end.
		if of, err := os.Stat(b); err != nil || !at.Mode().IsRegular() || !of.Mode().IsRegular() || at.Size() != of.Size() {
			return false
		}
		x, xerr := os.ReadFile(a)
		y, yerr := os.ReadFile(b)
		return xerr == nil && yerr == nil && bytes.Equal(x, y)
	}
	names := map[string]bool{}
	for _, dir := range []string{a, b} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return false
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for name := range names {
		// Credentials are in no copy, and say nothing of where a push goes.
		if name != "credentials" && !sameText(filepath.Join(a, name), filepath.Join(b, name)) {
			return false
		}
	}
	return true
}

// divertedShell reports whether the git dir in an overlay was replaced, or leads
// to another one for its configuration.
func divertedShell(w worktree.Workspace) bool {
	info, err := os.Lstat(w.Admin)
	if err != nil {
		return !missing(err) // it is as it was
	}
	return !info.IsDir() || exists(filepath.Join(w.Admin, "commondir"))
}

// divertedLink reports whether the .git of a linked work tree leads elsewhere
// than to its registration, or that has a configuration of its own.
func divertedLink(w worktree.Workspace) bool {
	file := filepath.Join(w.Dir, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return true
	}
	text, err := os.ReadFile(file)
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	return err != nil || !ok || resolved(to) != resolved(w.Admin) || exists(filepath.Join(w.Admin, "config.worktree"))
}

// userGit are the files that a user's git is configured by, whether they are
// there or not.
func (b *bench) userGit() []string {
	home := b.env.Getenv("HOME")
	all := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git")}
	if dir := b.env.Getenv("XDG_CONFIG_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "git"))
	}
	return all
}

// gitConfig is a digest of what git is configured by, the repository's own
// configuration and the user's.
func (b *bench) gitConfig() string {
	files := []string{filepath.Join(b.repo.CommonDir, "config"), filepath.Join(b.repo.CommonDir, "config.worktree")}
	for _, file := range b.userGit() {
		files = append(files, file, filepath.Join(file, "config"))
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		fmt.Fprintf(sum, "%s\x00%t\x00%d\x00%s", file, missing(err), len(text), text)
	}
	return string(sum.Sum(nil))
}
