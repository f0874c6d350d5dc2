package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LogRequest asks for the latest commits in the history of a commit.
type LogRequest struct {
	From  Hash   // required
	Path  string // only commits that change it or a path below it; empty: all
	Max   int    // required
	Limit int    // required; how many bytes the answer of git may have
}

// LogEntry is a commit of a history.
type LogEntry struct {
	Commit  Hash
	Author  string
	Date    time.Time // the author's, in UTC
	Subject string
	// Files are the paths that it changes, of those that were asked for; of a
	// merge there are none.
	Files []string
}

// Log lists the history of a commit, the commit itself first, in git's order.
// It returns a [*LongError] if the answer is longer than its limit.
//
// The repository's configuration of logs and replacements of commits have no
// effect.
func (q *Quarantine) Log(ctx context.Context, r LogRequest) ([]LogEntry, error) {
	args := []string{
		"log", "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--no-color", "--no-decorate",
		"--no-notes", "--no-mailmap", "--no-show-signature", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--encoding=UTF-8", "--max-count=" + strconv.Itoa(r.Max),
		"--format=tformat:" + logMark + "%H%x00%an%x00%at%x00%s", "--end-of-options", string(r.From), "--",
	}
	if r.Path != "" {
		args = append(args, r.Path)
	}
	out := Bounded{Limit: r.Limit}
	_, err := q.Run(ctx, Cmd{
		Args: args, Stdout: &out, Env: append(q.shallow(), "GIT_LITERAL_PATHSPECS=1"),
	})
	text, err := out.Bytes(err)
	if err != nil {
		return nil, fmt.Errorf("list the past of %s: %w", r.From.Short(), err)
	}
	return parseLog(text)
}

// logMark begins a commit in the answer of git log.
const logMark = "commit "

// shallow tells git where the history of the repository was cut off, which a
// git dir of our own does not know.
func (q *Quarantine) shallow() []string {
	file := filepath.Join(q.repo.CommonDir, "shallow")
	if _, err := os.Lstat(file); err != nil {
		return nil
	}
	return []string{"GIT_SHALLOW_FILE=" + file}
}

// parseLog reads commits of four fields each, "commit id\0author\0time\0
// subject\0", and the raw changes of each: ":modes ids S\0path\0", the first
// of which follows a line end.
func parseLog(out []byte) ([]LogEntry, error) {
	var entries []LogEntry
	next := func() (string, bool) {
		field, rest, ok := bytes.Cut(out, []byte{0})
		out = rest
		return string(field), ok
	}
	for len(out) > 0 {
		head, ok := next()
		id, isCommit := strings.CutPrefix(head, logMark)
		if isCommit {
			author, _ := next()
			at, _ := next()
			subject, ok := next()
			seconds, err := strconv.ParseInt(at, 10, 64)
			if !ok || err != nil {
				return nil, fmt.Errorf("list the past: unexpected record of %.60q", id)
			}
			entries = append(entries, LogEntry{
				Commit: Hash(id), Author: author, Date: time.Unix(seconds, 0).UTC(), Subject: subject,
			})
			continue
		}
		path, ok2 := next()
		if !ok || !ok2 || len(entries) == 0 || !strings.HasPrefix(strings.TrimPrefix(head, "\n"), ":") {
			return nil, fmt.Errorf("list the past: unexpected record %.60q", head)
		}
		last := &entries[len(entries)-1]
		last.Files = append(last.Files, path)
	}
	return entries, nil
}
