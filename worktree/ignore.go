package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/git"
)

// ignorer asks one `git check-ignore` about one folder after the other. It
// answers by the rules of the base, which lie in a folder of their own.
type ignorer struct {
	dir   string
	ask   *os.File // what git reads
	said  *bufio.Reader
	out   *os.File // what git writes, read through said
	ended chan error
	stop  context.CancelCauseFunc
}

// newIgnorer starts git where it sees no file of the workspace: dir holds the
// rule files of the base and nothing else.
func newIgnorer(ctx context.Context, q *git.Quarantine, dir string) (*ignorer, error) {
	questions, ask, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, questions.Close(), ask.Close())
	}
	ctx, stop := context.WithCancelCause(ctx)
	g := &ignorer{
		dir: dir, ask: ask, out: out, said: bufio.NewReader(out), ended: make(chan error, 1), stop: stop,
	}
	go func() {
		_, err := q.Run(ctx, git.Cmd{
			Args: []string{"check-ignore", "--no-index", "-z", "--stdin", "-v", "-n"},
			Dir:  dir, Env: []string{"GIT_WORK_TREE=" + dir},
			Stdin: questions, Stdout: answers,
		})
		var none *git.Error
		if errors.As(err, &none) && none.Code == 1 {
			err = nil // none of the paths is ignored
		}
		// Both of its ends go, so that neither side waits for a dead git.
		g.ended <- errors.Join(err, questions.Close(), answers.Close())
	}()
	return g, nil
}

// ignored answers for each path; a folder ends in a slash.
func (g *ignorer) ignored(paths []string) ([]bool, error) {
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			// Git looks at the disk for what is a folder. A rule file of the
			// base may be there, which is then no folder to it.
			err := os.MkdirAll(filepath.Join(g.dir, p), 0o700)
			if err != nil && !inTheWay(err) {
				return nil, fmt.Errorf("ask which files are ignored: %w", err)
			}
		}
	}
	asked := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(g.ask)
		var err error
		for _, p := range paths {
			_, werr := w.WriteString(g.spell(p) + "\x00")
			err = errors.Join(err, werr)
		}
		asked <- errors.Join(err, w.Flush())
	}()
	answers := make([]bool, len(paths))
	var err error
	for i := range paths {
		if answers[i], err = g.answer(paths[i]); err != nil {
			err = errors.Join(err, g.ask.Close()) // ends the writer
			break
		}
	}
	return answers, errors.Join(err, <-asked)
}

// spell writes a path so that git sees no pathspec magic in it: check-ignore
// does not take GIT_LITERAL_PATHSPECS. It also drops the slash of a folder,
// which `dir/*` would match.
func (g *ignorer) spell(path string) string {
	path = strings.TrimSuffix(path, "/")
	if path[0] == ':' {
		return "./" + path
	}
	return path
}

// answer reads source, line number, pattern and path. A pattern that begins
// with an exclamation mark takes the path back in.
func (g *ignorer) answer(path string) (bool, error) {
	var field [4]string
	for i := range field {
		text, err := g.said.ReadString(0)
		if err != nil {
			return false, fmt.Errorf("ask which files are ignored: %w", err)
		}
		field[i] = text[:len(text)-1]
	}
	if want := g.spell(path); field[3] != want {
		return false, fmt.Errorf("ask which files are ignored: answer for %q, want %q", field[3], want)
	}
	return field[2] != "" && field[2][0] != '!', nil
}

// close ends git and waits for it.
func (g *ignorer) close() error {
	err := g.ask.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil // an answer went wrong before
	}
	_, rerr := io.Copy(io.Discard, g.out)
	err = errors.Join(err, <-g.ended, rerr, g.out.Close())
	g.stop(nil)
	return err
}

// rules checks the ignore and attribute files of the base out into a folder,
// once a capture.
func (c *capturing) rules(ctx context.Context) (string, error) {
	dir := filepath.Join(c.quarantine.Dir, "rules")
	if c.ruled {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var paths []string
	for _, e := range c.index {
		if e.Mode&0o170000 == 0o100000 && isRule(e.Path) {
			paths = append(paths, e.Path)
		}
	}
	for path := range c.tools {
		paths = append(paths, path)
	}
	if err := c.checkout(ctx, dir, paths); err != nil {
		return "", err
	}
	c.ruled = true
	return dir, nil
}

// isRule reports whether git looks into a file while it decides what and how
// other files are added.
func isRule(path string) bool {
	name := filepath.Base(path)
	return name == ".gitignore" || name == ".gitattributes"
}
