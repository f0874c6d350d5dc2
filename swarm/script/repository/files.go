package repository

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/nearest"
	"agentswarm/swarm/scope"
	"agentswarm/swarm/script"
	"agentswarm/worktree/git"
)

// The limits of an answer.
const (
	maxFiles   = 100_000 // paths
	maxText    = 1 << 20 // bytes of a file
	maxMatches = 10_000  // lines
	maxLine    = 500     // bytes of such a line
	maxPattern = 10_000  // bytes of a regular expression
	maxCommits = 1000
	maxLog     = 8 << 20 // bytes
	someLog    = 50      // commits, where a script does not say
)

// Files lists the files of the base that a glob matches, which is read as the
// globs of paths are; all of them where it is empty.
func (r *Reader) Files(ctx context.Context, glob string) ([]string, error) {
	entries, err := r.matching(ctx, "files", glob)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxFiles {
		return nil, script.Refuse(script.CodeLimit, "repo.files: %q matches %d files, more than the %d that are told at once",
			script.Clip(glob), len(entries), maxFiles)
	}
	return paths(entries), nil
}

// matching are the entries of the base that a glob matches, without
// submodules, which are empty in every workspace.
func (r *Reader) matching(ctx context.Context, verb, glob string) ([]git.Entry, error) {
	entries, err := r.tree(ctx)
	if err != nil {
		return nil, err
	}
	outside := map[string]bool{}
	if glob != "" {
		if err := scope.Validate(glob); err != nil {
			message := err.Error()
			var bad *scope.PatternError
			if errors.As(err, &bad) && bad.Tip != "" {
				message += "; " + bad.Tip
			}
			return nil, script.Refuse(script.CodeOption, "repo.%s: the glob %s", verb, message)
		}
		for _, p := range scope.Outside([]string{glob}, paths(entries)) {
			outside[p] = true
		}
	}
	var found []git.Entry
	for _, e := range entries {
		if e.Mode != moduleMode && !outside[e.Path] {
			found = append(found, e)
		}
	}
	return found, nil
}

// Modes of entries that are no files to be read.
const (
	linkMode   = "120000"
	moduleMode = "160000"
)

// Read is the text of a file of the base.
func (r *Reader) Read(ctx context.Context, name string) (string, error) {
	clean, err := cleanPath("read", name)
	if err != nil {
		return "", err
	}
	entries, err := r.tree(ctx)
	if err != nil {
		return "", err
	}
	at, there := slices.BinarySearchFunc(entries, clean, func(e git.Entry, p string) int {
		return strings.Compare(e.Path, p)
	})
	if !there {
		return "", notThere(entries, clean)
	}
	switch e := entries[at]; e.Mode {
	case linkMode:
		return "", script.Refuse(script.CodeOption, "repo.read: %q is a symbolic link; read what it leads to", e.Path)
	case moduleMode:
		return "", script.Refuse(script.CodeOption, "repo.read: %q is a submodule, which is empty in every workspace", e.Path)
	}
	text, err := r.blob(ctx, entries[at].ID)
	var large *git.SizeError
	switch {
	case errors.As(err, &large):
		return "", script.Refuse(script.CodeLimit, "repo.read: %q has %d bytes, more than the %d that are read",
			clean, large.Size, maxText)
	case err != nil:
		return "", err
	case binary(text):
		return "", script.Refuse(script.CodeOption, "repo.read: %q is binary", clean)
	case !utf8.Valid(text):
		return "", script.Refuse(script.CodeOption, "repo.read: %q is not UTF-8 text", clean)
	}
	return string(text), nil
}

// cleanPath is a path from the top of the repository, in its shortest form. It is "."
// for the top itself.
func cleanPath(verb, name string) (string, error) {
	bad := func(why string) (string, error) {
		return "", script.Refuse(script.CodeOption, "repo.%s: the path %q %s", verb, script.Clip(name), why)
	}
	switch {
	case name == "":
		return "", script.Refuse(script.CodeOption, "repo.%s: needs a path, from the top of the repository", verb)
	case strings.HasPrefix(name, "/"):
		return bad("is absolute: paths are read from the top of the repository")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return bad("has a .. in it: paths are read from the top of the repository")
	case strings.ContainsRune(name, 0):
		return bad("holds a NUL byte")
	}
	return path.Clean(name), nil
}

// notThere says why a path is no file of the base, and names the nearest file.
func notThere(entries []git.Entry, name string) error {
	within := func(e git.Entry) bool { return name == "." || strings.HasPrefix(e.Path, name+"/") }
	if slices.ContainsFunc(entries, within) {
		return script.Refuse(script.CodeOption, "repo.read: %q is a folder; repo.files lists what is in one", name)
	}
	// Comparing takes its time, and only names of about that length are near.
	const most = 5000
	var near []string
	for _, e := range entries {
		if path.Base(e.Path) == path.Base(name) {
			near = append(near, e.Path)
		}
	}
	if len(near) == 1 {
		return script.Refuse(script.CodeUnknown, "repo.read: there is no file %q in the base; did you mean %q?",
			script.Clip(name), near[0])
	}
	for _, e := range entries {
		if slip := 1 + len(name)/4; len(near) < most && len(e.Path) >= len(name)-slip && len(e.Path) <= len(name)+slip {
			near = append(near, e.Path)
		}
	}
	return script.Refuse(script.CodeUnknown, "repo.read: there is no file %q in the base%s",
		script.Clip(name), nearest.DidYouMean(name, near))
}

// binary reports whether a file is no text, by the rule of git.
func binary(text []byte) bool {
	const looked = 8000
	return bytes.IndexByte(text[:min(len(text), looked)], 0) >= 0
}

// paths are the paths of entries, without submodules, which are empty in every workspace.
func paths(entries []git.Entry) []string {
	files := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Mode != moduleMode {
			files = append(files, e.Path)
		}
	}
	return files
}
