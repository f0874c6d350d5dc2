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
	"sync/atomic"
	"time"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// ignorer asks a single `git check-ignore` about folders in sequence. It
// answers by the rules of the base, which are in a separate folder.
type ignorer struct {
	dir   string
	ask   *os.File // git's input
	said  *bufio.Reader
	out   *os.File // git's output, read through said
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
			// Git looks at the disk to tell folders from files. If a rule file
			// of the base is there, git does not take the path for a folder.
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

// isRule reports whether git reads a file to decide whether and how to add
// other files.
func isRule(path string) bool {
	name := filepath.Base(path)
	return name == ".gitignore" || name == ".gitattributes"
}

// spare is a process of git that serves captures in sequence, and ends after a
// time without a request. It ends with this process, too.
type spare[T io.Closer] struct {
	turn     chan struct{} // full while a caller asks, which alone uses have and end
	have     *T
	end      *time.Timer
	answered atomic.Int64
}

func newSpare[T io.Closer]() *spare[T] { return &spare[T]{turn: make(chan struct{}, 1)} }

const (
	// idle is how long a spare process waits for the next capture.
	idle = 2 * time.Second
	// stuck is how long callers wait while none of them gets an answer; then
	// they do without the process. An answer takes some milliseconds, less than
	// the start of a process. An answer to a capture of a gigabyte takes
	// longer.
	stuck = time.Second
)

// ask asks the process, and starts it if there is none. asked is false if
// another caller uses it for long. After an error ask does not use the process
// again.
func (s *spare[T]) ask(ctx context.Context, start func() (T, error), do func(T) error) (asked bool, err error) {
	if got, err := s.wait(ctx); !got {
		return false, err
	}
	defer func() {
		s.answered.Add(1)
		<-s.turn
	}()
	if s.have == nil {
		had, err := start()
		if err != nil {
			return true, err
		}
		s.have = &had
	}
	if err := do(*s.have); err != nil {
		return true, errors.Join(err, s.drop())
	}
	if s.end == nil {
		// How it ended does not matter: all it was asked is answered.
		s.end = time.AfterFunc(idle, func() { _ = s.close() })
	} else {
		s.end.Reset(idle)
	}
	return true, nil
}

// wait waits for a turn, as long as others get theirs.
func (s *spare[T]) wait(ctx context.Context) (got bool, err error) {
	for {
		before, patience := s.answered.Load(), time.NewTimer(stuck)
		select {
		case s.turn <- struct{}{}:
			patience.Stop()
			return true, nil
		case <-ctx.Done():
			patience.Stop()
			return false, context.Cause(ctx)
		case <-patience.C:
			if s.answered.Load() == before {
				return false, nil
			}
		}
	}
}

func (s *spare[T]) close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.drop()
}

func (s *spare[T]) drop() error {
	if s.end != nil {
		s.end.Stop()
	}
	if s.have == nil {
		return nil
	}
	had := *s.have
	s.have = nil
	return had.Close()
}

// endHelpers ends the gits that wait for another capture.
func (t *Trees) endHelpers() error {
	t.mu.Lock()
	all := make([]*spare[*sharedRules], 0, len(t.ruling))
	for _, s := range t.ruling {
		all = append(all, s)
	}
	t.mu.Unlock()
	err := t.differ.close()
	for _, s := range all {
		err = errors.Join(err, s.close())
	}
	return err
}

// newShared is the folder where captures show objects to git for a moment. A
// folder for each capture would double its cost.
func newShared(f *git.Frozen) *git.Quarantine {
	if f == nil {
		return nil // no workspace is captured
	}
	return f.Lazy(filepath.Join(f.Dir, "shared"))
}

// patch writes the patch of a capture, and counts its lines.
func (c *capturing) patch(ctx context.Context, f *os.File, out *Capture) (count git.PatchCount, err error) {
	from, to := out.Base, out.Tree
	bound := &boundedWriter{w: io.MultiWriter(f, &count), left: c.maxPatch()}
	if c.found.Largest > maxCompare {
		return count, errLongPatch
	}
	if c.pack != nil {
		if from, err = c.Repo.TreeOnce(ctx, out.Base); err != nil {
			return count, err
		}
		asked, derr := c.differ.ask(ctx, func() (*git.Differ, error) {
			return c.shared.Differ(ctx)
		}, func(d *git.Differ) error {
			return d.WritePatch(ctx, bound, from, to)
		})
		if bound.exceeded() {
			return count, errLongPatch
		}
		if asked && derr == nil || ctx.Err() != nil {
			return count, derr
		}
		// A git that is asked about this path alone may know more.
		_, serr := f.Seek(0, io.SeekStart)
		if err := errors.Join(serr, f.Truncate(0)); err != nil {
			return count, err
		}
	}
	count = git.PatchCount{}
	bound = &boundedWriter{w: io.MultiWriter(f, &count), left: c.maxPatch()}
	err = c.seen().WritePatch(ctx, bound, from, to)
	if bound.exceeded() {
		err = errLongPatch
	}
	return count, err
}

// sharedRules are the ignore rules of a base, and who answers by them.
type sharedRules struct {
	*ignorer
	made map[string]bool // folders that hold rules
	// kept is the folder of the last question. It and those above it were made
	// for questions, unless they hold rules.
	kept string
}

// Close ends git and removes the rules.
func (r *sharedRules) Close() error {
	return errors.Join(r.ignorer.close(), os.RemoveAll(r.dir))
}

// ignoredShared answers which paths the base ignores. Where others ask just
// now, asked is false.
func (c *capturing) ignoredShared(ctx context.Context, paths []string) (answers []bool, asked bool, err error) {
	c.mu.Lock()
	s := c.ruling[c.Workspace.Base]
	if s == nil {
		s = newSpare[*sharedRules]()
		c.ruling[c.Workspace.Base] = s
	}
	c.mu.Unlock()
	asked, err = s.ask(ctx, func() (*sharedRules, error) { return c.startRules(ctx) }, func(r *sharedRules) error {
		unhook := context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
		err := r.leave(disk.Parent(strings.TrimSuffix(paths[0], "/")))
		if err == nil {
			answers, err = r.ignored(paths)
			err = errors.Join(err, r.clear(paths))
		}
		if err == nil && !unhook() {
			return context.Cause(ctx)
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, true, context.Cause(ctx)
	}
	return answers, asked && err == nil, nil
}

// startRules checks the rules of the base out and starts git there.
func (c *capturing) startRules(ctx context.Context) (_ *sharedRules, err error) {
	if err := c.shared.Make(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(c.shared.Dir, "rules-")
	if err != nil {
		return nil, err
	}
	r := &sharedRules{made: map[string]bool{}}
	var paths []string
	for i := range c.index {
		e := &c.index[i]
		if e.Mode&0o170000 == 0o100000 && filepath.Base(e.Path) == ".gitignore" {
			paths = append(paths, e.Path)
			disk.AddParents(r.made, e.Path)
		}
	}
	if err = c.checkout(ctx, dir, paths); err == nil {
		r.ignorer, err = newIgnorer(context.WithoutCancel(ctx), c.shared, dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

// clear removes the folders that a question made in the folder of its paths:
// another workspace may have a file there. Those above stay for the next
// question. A walk goes into depth, and would make all of them again.
func (r *sharedRules) clear(paths []string) error {
	for _, p := range paths {
		dir, isDir := strings.CutSuffix(p, "/")
		if !isDir || r.made[dir] {
			continue
		}
		if err := os.Remove(filepath.Join(r.dir, dir)); err != nil && !disk.Missing(err) && !inTheWay(err) {
			return err
		}
		r.kept = disk.Parent(dir)
	}
	return nil
}

// leave removes the folders of earlier questions that are not above dir, the
// folder of the next question. Each path above dir has a folder.
func (r *sharedRules) leave(dir string) error {
	for r.kept != "" && !r.made[r.kept] && r.kept != dir && !strings.HasPrefix(dir, r.kept+"/") {
		if err := os.Remove(filepath.Join(r.dir, r.kept)); err != nil && !disk.Missing(err) && !inTheWay(err) {
			return err
		}
		r.kept = disk.Parent(r.kept)
	}
	return nil
}
