package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
)

// GrepRequest asks for the lines of a commit that hold any of some words.
type GrepRequest struct {
	Commit Hash                                     // required
	Words  []string                                 // fixed strings without a line end; none: no line is found
	Most   int                                      // of lines; required
	Take   func(path string, line int, text string) // required; lines count from 1
}

// errEnough ends a search that has found enough.
var errEnough = errors.New("enough lines were found")

// Grep finds lines of text files. It fetches no missing object from a remote. It
// reports whether it found more than Most lines, and then stopped there.
func (r *Repo) Grep(ctx context.Context, q GrepRequest) (more bool, err error) {
	if len(q.Words) == 0 {
		return false, nil
	}
	args := []string{"grep", "-n", "-z", "-I", "-F", "--no-color", "--no-column", "--no-heading", "--no-break", "--full-name"}
	for _, w := range q.Words {
		args = append(args, "-e", w)
	}
	w := &grepWriter{prefix: string(q.Commit) + ":", left: q.Most, take: q.Take}
	_, err = r.Run(ctx, Cmd{Args: append(args, string(q.Commit), "--"), Env: offline(), Stdout: w})
	failed, isExit := errors.AsType[*Error](err)
	switch {
	case w.full:
		return true, nil
	case isExit && failed.Code == 1 && failed.Stderr == "":
		return false, nil // no line is found
	case err == nil:
		err = w.err
	}
	if err != nil {
		return false, fmt.Errorf("search %s: %w", q.Commit.Short(), err)
	}
	return false, nil
}

// grepWriter reads records such as "commit:path\0line\0text\n" as they come.
type grepWriter struct {
	prefix string
	left   int
	take   func(path string, line int, text string)
	rest   []byte // of a record that has not ended
	full   bool
	err    error
}

func (w *grepWriter) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	for w.err == nil {
		name, after, ok1 := bytes.Cut(w.rest, []byte{0})
		number, after, ok2 := bytes.Cut(after, []byte{0})
		line, after, ok3 := bytes.Cut(after, []byte{'\n'})
		if !ok1 || !ok2 || !ok3 {
			break
		}
		if w.left--; w.left < 0 {
			w.full, w.err = true, errEnough
			break
		}
		path, ok := bytes.CutPrefix(name, []byte(w.prefix))
		n, err := strconv.Atoi(string(number))
		if !ok || err != nil {
			w.err = fmt.Errorf("unexpected record %.60q", w.rest)
			break
		}
		w.take(string(path), n, string(line))
		w.rest = after
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(text), nil
}
