package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/engine"
	"agentswarm/worktree"
)

// misled reports whether the git of an agent may go by another configuration
// than the user's did when the run began. Nobody knows then where a push goes.
func (j *judge) misled(law *jurisdiction, r engine.JudgeRequest) bool {
	home := filepath.Join(engine.BoxOf(j.bench.run.Attempt(r.Agent, r.Attempt)), "home")
	for _, file := range j.bench.userGit() {
		if rel, ok := below(j.bench.env.Getenv("HOME"), file); ok && exists(filepath.Join(home, rel)) {
			return true // its view of HOME has one of its own
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
