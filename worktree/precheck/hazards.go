// Package precheck finds obstacles before a run: hazards of a repository, reasons
// against a backend on this machine, and the cost of workspaces on a file system.
// It changes nothing.
package precheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// Hazard is a property of a repository that can break other tools, and swarm's
// answer to it.
type Hazard struct {
	Name    string // a single word
	Detail  string // swarm's answer, or the user's remedy
	Refused bool   // no workspace can be made here
}

// Hazards lists the hazards of a repository and of a commit. The commit is empty where
// there is none yet.
func Hazards(ctx context.Context, repo *git.Repo, commit git.Hash) ([]Hazard, error) {
	settings, err := repo.SettingsOnce(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for hazards: %w", err)
	}
	l := look{repo: repo, commit: commit, config: byKey(settings)}
	for _, find := range []func(context.Context) error{l.shape, l.content, l.settings} {
		if err := find(ctx); err != nil {
			return nil, fmt.Errorf("look for hazards: %w", err)
		}
	}
	return l.found, nil
}

// byKey returns the values of settings. The last value of a key counts, and a key
// without a value is true.
func byKey(settings []git.Setting) map[string]string {
	config := map[string]string{}
	for _, s := range settings {
		value := s.Value
		if s.Bare {
			value = "true"
		}
		config[s.Key()] = value
	}
	return config
}

type look struct {
	repo   *git.Repo
	commit git.Hash
	config map[string]string
	found  []Hazard
}

func (l *look) add(name, detail string) {
	l.found = append(l.found, Hazard{Name: name, Detail: detail})
}

// on reports whether a boolean key is true.
func (l *look) on(key string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(l.config[key]))
}

// shape is how the repository is laid out.
func (l *look) shape(context.Context) error {
	if l.repo.Bare() {
		l.add("bare", "there is no checkout: a branch to merge into must be named")
	} else if l.repo.GitDir != l.repo.CommonDir {
		l.add("linked", "this checkout is a linked worktree: workspaces belong to its repository")
	}
	if l.repo.ObjectFormat == "sha256" {
		l.add("sha256", "objects are read and written by git itself")
	}
	if l.config["extensions.refstorage"] == "reftable" {
		l.add("reftable", "refs are moved by git itself")
	}
	if l.on("core.sparsecheckout") {
		l.add("sparse", "workspaces are as sparse as this checkout; what is outside is kept as it is")
	}
	for key := range l.config {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") && l.on(key) {
			l.add("partial", "missing files are fetched when a workspace is filled")
			break
		}
	}
	if _, err := os.Stat(filepath.Join(l.repo.CommonDir, "shallow")); err == nil {
		l.add("shallow", "history ends early: only merges onto what is there are possible")
	}
	if _, err := os.Lstat(filepath.Join(l.repo.CommonDir, "objects", "info", "alternates")); err == nil {
		l.add("alternates", "objects are borrowed from another repository, which must stay")
	}
	return nil
}

// content checks the content of the commit.
func (l *look) content(ctx context.Context) error {
	if l.commit == "" {
		return nil
	}
	entries, err := l.repo.Tree(ctx, l.commit)
	if err != nil {
		return err
	}
	modules, attributes := false, false
	for _, e := range entries {
		modules = modules || e.Path == ".gitmodules"
		attributes = attributes || path.Base(e.Path) == ".gitattributes"
	}
	if modules {
		l.add("submodules", "they are empty in a workspace; a populated one is captured as its commit")
	}
	if !attributes {
		return nil
	}
	_, err = l.repo.Run(ctx, git.Cmd{Args: []string{
		"grep", "-q", "-F", "-e", "filter=lfs", string(l.commit), "--", ":(top,glob)**/.gitattributes",
	}})
	var none *git.Error
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.lfs(ctx)
}

func (l *look) lfs(ctx context.Context) error {
	if l.config["filter.lfs.clean"] == "" && l.config["filter.lfs.process"] == "" {
		l.add("lfs", "filter.lfs is not configured, so that workspaces hold pointers, as this checkout does")
		return nil
	}
	_, err := l.repo.Run(ctx, git.Cmd{Args: []string{"lfs", "version"}})
	var missing *git.Error
	switch {
	case errors.As(err, &missing):
		l.found = append(l.found, Hazard{
			Name: "lfs", Refused: true,
			Detail: "filter.lfs is configured but git-lfs does not run: install it, or run `git lfs uninstall`",
		})
	case err != nil:
		return err
	default:
		l.add("lfs", "git-lfs runs when a workspace is filled and captured; its store is shared")
	}
	return nil
}

// settings checks the keys that change git's behaviour.
func (l *look) settings(context.Context) error {
	drivers := map[string]bool{}
	for key := range l.config {
		if name, ok := strings.CutPrefix(key, "filter."); ok {
			if i := strings.LastIndexByte(name, '.'); i > 0 && name[:i] != "lfs" {
				drivers[name[:i]] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		l.add("filter", fmt.Sprintf("filter %q runs as configured when the run began", name))
	}
	if l.config["core.hookspath"] != "" {
		l.add("hooks", "core.hooksPath is set: swarm runs no hooks, agents do")
	}
	if v := strings.ToLower(l.config["core.autocrlf"]); v == "input" || l.on("core.autocrlf") {
		l.add("autocrlf", "line ends are converted as in this checkout")
	}
	if l.on("core.ignorecase") {
		l.add("ignorecase", "names that differ in case only are one file here")
	}
	if v, ok := l.config["core.filemode"]; ok && !l.on("core.filemode") {
		l.add("filemode", "core.fileMode is "+v+": the executable bit is not captured")
	}
	if v, ok := l.config["core.symlinks"]; ok && !l.on("core.symlinks") {
		l.add("symlinks", "core.symlinks is "+v+": symlinks are plain files here")
	}
	if l.on("commit.gpgsign") {
		l.add("gpgsign", "swarm's commits are not signed")
	}
	if l.on("diff.noprefix") || l.on("diff.mnemonicprefix") || l.config["diff.external"] != "" {
		l.add("diff", "patches are written in git's own form whatever diff.* says")
	}
	if l.config["user.name"] == "" || l.config["user.email"] == "" {
		l.add("user", "user.name or user.email is not set: swarm is the committer")
	}
	return nil
}
