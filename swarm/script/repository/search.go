package repository

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"agentswarm/swarm/script"
	"agentswarm/worktree/git"
)

// Match is a line in which a pattern was found.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
}

// Commit is a commit of the past of the base.
type Commit struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"`
	Date    string `json:"date"` // RFC 3339
	Subject string `json:"subject"`
	// Files are those that it changes, below the path of the request.
	Files []string `json:"files"`
}

// Grep finds the lines of the base that a regular expression of Go's (RE2)
// matches, line by line, by path. Files that are binary or longer than Read
// reads are passed over, and so are symbolic links.
func (r *Reader) Grep(ctx context.Context, q *script.Repo) ([]Match, error) {
	most := q.Max
	switch {
	case q.Pattern == "":
		return nil, script.Refuse(script.CodeOption, "repo.grep: the pattern is empty")
	case len(q.Pattern) > maxPattern:
		return nil, script.Refuse(script.CodeOption, "repo.grep: the pattern is longer than %d bytes", maxPattern)
	case most < 0 || most > maxMatches:
		return nil, script.Refuse(script.CodeOption, "repo.grep: max is %d; want 1 to %d", most, maxMatches)
	}
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return nil, script.Refuse(script.CodeOption, "repo.grep: %v (patterns are RE2, as in Go: without backreferences and lookaround)", err)
	}
	entries, err := r.matching(ctx, "grep", q.Glob)
	if err != nil {
		return nil, err
	}
	var found []Match
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if e.Mode == linkMode {
			continue
		}
		text, err := r.blob(ctx, e.ID)
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
			return nil, script.Refuse(script.CodeLimit, "repo.grep: more than %d lines match; narrow the pattern or the glob, or give max",
				maxMatches)
		}
	}
	return found, nil
}

// search adds the lines of a text that match, and stops where there are too
// many.
func search(found []Match, re *regexp.Regexp, name string, text []byte) []Match {
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
		found = append(found, Match{Path: name, Line: n, Text: firstBytes(line, maxLine)})
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
func (r *Reader) Log(ctx context.Context, q *script.Repo) ([]Commit, error) {
	most := q.Max
	switch {
	case most == 0:
		most = someLog
	case most < 0 || most > maxCommits:
		return nil, script.Refuse(script.CodeOption, "repo.log: max is %d; want 1 to %d", most, maxCommits)
	}
	request := git.LogRequest{From: git.Hash(r.Base), Max: most, Limit: maxLog}
	if q.Path != "" {
		name, err := cleanPath("log", q.Path)
		if err != nil {
			return nil, err
		}
		if name != "." {
			request.Path = name
		}
	}
	entries, err := r.Store.Log(ctx, request)
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return nil, script.Refuse(script.CodeLimit, "repo.log: these commits change more files than are told at once; give a path or a smaller max")
	}
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for _, e := range entries {
		commits = append(commits, Commit{
			Commit: string(e.Commit), Author: valid(e.Author), Date: e.Date.Format(time.RFC3339),
			Subject: valid(e.Subject), Files: ValidAll(e.Files),
		})
	}
	return commits, nil
}

// ValidAll makes names of Git text for a script.
func ValidAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = valid(name)
	}
	return out
}

// valid is a text of Git for a script: bytes that are not UTF-8 are replaced.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
