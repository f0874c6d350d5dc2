package cli

import (
	"bytes"
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentswarm/swarm/scope"
	"agentswarm/swarm/script"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// What a script may read at once.
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
func (t *scriptTools) Files(ctx context.Context, glob string) ([]string, error) {
	entries, err := t.matching(ctx, "files", glob)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxFiles {
		return nil, scriptError(script.CodeLimit, "repo.files: %q matches %d files, more than the %d that are told at once",
			clipped(glob), len(entries), maxFiles)
	}
	return paths(entries), nil
}

// matching are the entries of the base that a glob matches, without
// submodules, which are empty in every workspace.
func (t *scriptTools) matching(ctx context.Context, verb, glob string) ([]git.Entry, error) {
	entries, err := t.tree(ctx)
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
			return nil, scriptError(script.CodeOption, "repo.%s: the glob %s", verb, message)
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
func (t *scriptTools) Read(ctx context.Context, name string) (string, error) {
	clean, err := cleanPath("read", name)
	if err != nil {
		return "", err
	}
	entries, err := t.tree(ctx)
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
		return "", scriptError(script.CodeOption, "repo.read: %q is a symbolic link; read what it leads to", e.Path)
	case moduleMode:
		return "", scriptError(script.CodeOption, "repo.read: %q is a submodule, which is empty in every workspace", e.Path)
	}
	text, err := t.blob(ctx, entries[at].ID)
	var large *git.SizeError
	switch {
	case errors.As(err, &large):
		return "", scriptError(script.CodeLimit, "repo.read: %q has %d bytes, more than the %d that are read",
			clean, large.Size, maxText)
	case err != nil:
		return "", err
	case binary(text):
		return "", scriptError(script.CodeOption, "repo.read: %q is binary", clean)
	case !utf8.Valid(text):
		return "", scriptError(script.CodeOption, "repo.read: %q is not UTF-8 text", clean)
	}
	return string(text), nil
}

// cleanPath is a path from the top of the repository, in one form. It is "."
// for the top itself.
func cleanPath(verb, name string) (string, error) {
	bad := func(why string) (string, error) {
		return "", scriptError(script.CodeOption, "repo.%s: the path %q %s", verb, clipped(name), why)
	}
	switch {
	case name == "":
		return "", scriptError(script.CodeOption, "repo.%s: needs a path, from the top of the repository", verb)
	case strings.HasPrefix(name, "/"):
		return bad("is absolute: paths are read from the top of the repository")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return bad("has a .. in it: paths are read from the top of the repository")
	case strings.ContainsRune(name, 0):
		return bad("holds a NUL byte")
	}
	return path.Clean(name), nil
}

// notThere says why a path is no file of the base, and which one was meant.
func notThere(entries []git.Entry, name string) error {
	within := func(e git.Entry) bool { return name == "." || strings.HasPrefix(e.Path, name+"/") }
	if slices.ContainsFunc(entries, within) {
		return scriptError(script.CodeOption, "repo.read: %q is a folder; repo.files lists what is in one", name)
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
		return scriptError(script.CodeUnknown, "repo.read: there is no file %q in the base; did you mean %q?",
			clipped(name), near[0])
	}
	for _, e := range entries {
		if slip := 1 + len(name)/4; len(near) < most && len(e.Path) >= len(name)-slip && len(e.Path) <= len(name)+slip {
			near = append(near, e.Path)
		}
	}
	return scriptError(script.CodeUnknown, "repo.read: there is no file %q in the base%s",
		clipped(name), didYouMean(name, near))
}

// binary reports whether a file is no text, by what git goes by.
func binary(text []byte) bool {
	const looked = 8000
	return bytes.IndexByte(text[:min(len(text), looked)], 0) >= 0
}

// Grep finds the lines of the base that a regular expression of Go's (RE2)
// matches, line by line, by path. Files that are binary or longer than Read
// reads are passed over, and so are symbolic links.
func (t *scriptTools) Grep(ctx context.Context, r *script.Repo) ([]workflow.Match, error) {
	most := r.Max
	switch {
	case r.Pattern == "":
		return nil, scriptError(script.CodeOption, "repo.grep: the pattern is empty")
	case len(r.Pattern) > maxPattern:
		return nil, scriptError(script.CodeOption, "repo.grep: the pattern is longer than %d bytes", maxPattern)
	case most < 0 || most > maxMatches:
		return nil, scriptError(script.CodeOption, "repo.grep: max is %d; want 1 to %d", most, maxMatches)
	}
	re, err := regexp.Compile(r.Pattern)
	if err != nil {
		return nil, scriptError(script.CodeOption, "repo.grep: %v (patterns are RE2, as in Go: without backreferences and lookaround)", err)
	}
	entries, err := t.matching(ctx, "grep", r.Glob)
	if err != nil {
		return nil, err
	}
	var found []workflow.Match
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if e.Mode == linkMode {
			continue
		}
		text, err := t.blob(ctx, e.ID)
		if large := (*git.SizeError)(nil); errors.As(err, &large) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = search(found, re, e.Path, text)
		switch {
		case most > 0 && len(found) >= most:
			return found[:most], nil
		case len(found) > maxMatches:
			return nil, scriptError(script.CodeLimit, "repo.grep: more than %d lines match; narrow the pattern or the glob, or give max",
				maxMatches)
		}
	}
	return found, nil
}

// search adds the lines of a text that match, and stops where there are too
// many.
func search(found []workflow.Match, re *regexp.Regexp, name string, text []byte) []workflow.Match {
	// Where the expression begins with plain letters, most files are done with
	// at a glance.
	if plain, _ := re.LiteralPrefix(); binary(text) || plain != "" && !bytes.Contains(text, []byte(plain)) {
		return found
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !re.Match(line) {
			continue
		}
		found = append(found, workflow.Match{Path: name, Line: n, Text: firstBytes(line, maxLine)})
		if len(found) > maxMatches {
			break
		}
	}
	return found
}

// firstBytes is the start of a line as text, cut between characters.
func firstBytes(line []byte, limit int) string {
	if len(line) > limit {
		end := limit
		for end > limit-utf8.UTFMax && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[:end]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

// Log lists the latest commits of the base's past, or those of a path. The
// base of a run with uncommitted changes is the first of them.
func (t *scriptTools) Log(ctx context.Context, r *script.Repo) ([]workflow.Commit, error) {
	most := r.Max
	switch {
	case most == 0:
		most = someLog
	case most < 0 || most > maxCommits:
		return nil, scriptError(script.CodeOption, "repo.log: max is %d; want 1 to %d", most, maxCommits)
	}
	request := git.LogRequest{From: git.Hash(t.base.Commit), Max: most, Limit: maxLog}
	if r.Path != "" {
		name, err := cleanPath("log", r.Path)
		if err != nil {
			return nil, err
		}
		if name != "." {
			request.Path = name
		}
	}
	entries, err := t.store.Log(ctx, request)
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return nil, scriptError(script.CodeLimit, "repo.log: these commits change more files than are told at once; give a path or a smaller max")
	}
	if err != nil {
		return nil, err
	}
	var commits []workflow.Commit
	for _, e := range entries {
		commits = append(commits, workflow.Commit{
			Commit: string(e.Commit), Author: readable(e.Author), Date: e.Date.Format(time.RFC3339),
			Subject: readable(e.Subject), Files: readables(e.Files),
		})
	}
	return commits, nil
}

func readables(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = readable(name)
	}
	return out
}
