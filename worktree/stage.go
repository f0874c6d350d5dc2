package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// staging makes a tree from the result of a survey.
//
// Git reads the files not in the workspace but in a scratch tree of links to
// them. The scratch tree has no .gitattributes, so that those of the index
// decide, which are the base's. Files that decide how others are added, and
// paths that are in their way, are held back and added last, under the same
// rules.
type staging struct {
	*capturing
	space   *os.Root // the workspace, where others are at work in it
	private string   // a copy of the index that was saved
	scratch string
	feed    bytes.Buffer // for update-index --stdin
	records bytes.Buffer // for update-index --index-info
	fed     []string     // paths that must be in the index afterwards

	apart    *git.Apart      // where filters run; nil: there are no filters, or no sandbox
	filtered map[string]bool // paths whose filters run there
	wanted   []git.Hash      // the blobs made there
}

// stage makes the tree.
func (c *capturing) stage(ctx context.Context) (_ git.Hash, err error) {
	s := &staging{
		capturing: c,
		private:   filepath.Join(c.quarantine.Dir, "capture.index"),
		scratch:   filepath.Join(c.quarantine.Dir, "scratch"),
	}
	if s.Live {
		if s.space, err = os.OpenRoot(s.Workspace.Files()); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, s.space.Close()) }()
	}
	if err := s.prepare(ctx); err != nil {
		return "", err
	}
	gone, held, err := s.place()
	if err != nil {
		return "", err
	}
	if err := s.update(ctx, &s.records, "--index-info"); err != nil {
		return "", err
	}
	if len(held) > 0 {
		if _, err := s.rules(ctx); err != nil { // before a filter runs
			return "", err
		}
	}
	if err := s.setApart(ctx, s.found.Changed); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.endApart()) }()
	if err := s.readFiles(ctx); err != nil {
		return "", err
	}
	for _, path := range gone {
		s.forget(path)
	}
	for _, path := range held {
		if err := s.add(ctx, path); err != nil {
			return "", err
		}
	}
	if err := s.takeIn(ctx); err != nil {
		return "", err
	}
	if err := s.assigned(ctx); err != nil {
		return "", err
	}
	return s.finish(ctx)
}

// finish makes the tree once all files are read.
func (s *staging) finish(ctx context.Context) (git.Hash, error) {
	for _, path := range slices.Sorted(maps.Keys(s.found.Links)) {
		s.record(baseline.LinkMode, s.found.Links[path], path)
	}
	for _, e := range s.found.Restored {
		s.record(fmt.Sprintf("%o", e.Mode), e.ID, e.Path)
	}
	if err := s.update(ctx, &s.records, "--index-info"); err != nil {
		return "", err
	}
	if err := s.check(); err != nil {
		return "", err
	}
	out, err := s.run(ctx, git.Cmd{Args: []string{"write-tree", "--missing-ok"}})
	return git.Hash(strings.TrimSpace(string(out))), err
}

// prepare makes the index and the scratch tree.
func (s *staging) prepare(ctx context.Context) error {
	if err := s.quarantine.Make(); err != nil {
		return err
	}
	text, err := os.ReadFile(s.Workspace.Index)
	if err == nil {
		err = os.WriteFile(s.private, text, 0o600)
	}
	if err == nil {
		// So old an index makes git compare contents, whatever the times.
		err = os.Chtimes(s.private, time.Time{}, time.Unix(1, 0))
	}
	if err == nil {
		err = os.MkdirAll(s.scratch, 0o700)
	}
	if err != nil {
		return err
	}
	if err := s.checkout(ctx, s.scratch, slices.Sorted(maps.Keys(s.tools))); err != nil {
		return err
	}
	// Git takes a path outside of a sparse checkout for unchanged unless its
	// entry is made anew.
	present := map[string]bool{}
	for _, path := range s.found.Present {
		present[path] = true
	}
	for _, e := range s.index {
		if present[e.Path] {
			s.record(fmt.Sprintf("%o", e.Mode), e.ID, e.Path)
		}
	}
	return nil
}

// place fills the scratch tree. It returns the paths that are held back until
// all others are in the index: deleted files, and changed files. It does not
// read a deleted path again: a symlink may be in place of its folder.
func (s *staging) place() (gone, held []string, err error) {
	for _, path := range s.found.Deleted {
		if s.holds(path) {
			gone = append(gone, path)
			continue
		}
		s.forget(path)
	}
	for _, path := range s.found.Changed {
		if s.holds(path) {
			held = append(held, path)
			continue
		}
		err := s.take(path)
		switch {
		case errors.Is(err, errVanished):
			s.forget(path)
		case err == nil:
			s.feed.WriteString(path + "\x00")
			s.fed = append(s.fed, path)
		case inTheWay(err):
			held = append(held, path)
		case errors.Is(err, fs.ErrPermission):
			s.found.AddNote(survey.Unreadable, path)
		case s.found.LeaveOut(path, err, s.base):
		default:
			return nil, nil, err
		}
	}
	return gone, held, nil
}

// holds reports whether a file decides how other files are added.
func (s *staging) holds(path string) bool {
	return filepath.Base(path) == ".gitattributes" || s.tools[path]
}

// inTheWay reports whether a path has no room in the scratch tree: a tool of
// a filter is where a folder should be, or the whole is too long a name.
func inTheWay(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) ||
		errors.Is(err, syscall.ENAMETOOLONG)
}

// add puts a file that was held back into the index, or removes it from there.
func (s *staging) add(ctx context.Context, path string) error {
	dir, err := s.rules(ctx)
	if err != nil {
		return err
	}
	return s.addBy(ctx, path, dir)
}

// addBy is add by the attribute files in a folder.
func (s *staging) addBy(ctx context.Context, path, dir string) error {
	full := filepath.Join(s.Workspace.Files(), path)
	at, err := os.Lstat(full)
	if disk.Missing(err) || err == nil && !at.Mode().IsRegular() && at.Mode().Type() != fs.ModeSymlink {
		s.forget(path)
		return nil
	}
	if err != nil {
		return err
	}
	cmd := git.Cmd{
		Dir: dir, Env: []string{"GIT_WORK_TREE=" + dir},
		Args: []string{"hash-object", "-w", "-t", "blob", "--stdin"},
	}
	mode := baseline.ModeOf(at)
	if mode == baseline.ModeSym {
		target, err := os.Readlink(full)
		if s.Live && vanished(err) {
			s.forget(path)
			return nil
		}
		if err != nil {
			return err
		}
		cmd.Stdin = strings.NewReader(target)
		cmd.Args = append(cmd.Args, "--no-filters")
	} else {
		f, err := os.OpenFile(full, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
		if s.Live && vanished(err) {
			s.forget(path)
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
		cmd.Args = append(cmd.Args, "--path="+path)
		if !s.filters.fileMode {
			mode = s.modeOf(path)
		}
	}
	out, err := s.filter(ctx, path, cmd)
	if err != nil {
		return err
	}
	id := git.Hash(strings.TrimSpace(string(out)))
	s.record(fmt.Sprintf("%o", mode), id, path)
	if s.filtered[path] {
		s.want(path, id)
	}
	s.fed = append(s.fed, path)
	return nil
}

// modeOf is the mode of a file where the disk knows none.
func (s *staging) modeOf(path string) uint32 {
	for _, e := range s.index {
		if e.Path == path && e.Mode&0o170000 == 0o100000 {
			return e.Mode
		}
	}
	return baseline.ModeFile
}

// forget takes a path out of the index. The scratch tree is not looked at: a
// symlink may be where its folder was.
func (s *staging) forget(path string) {
	s.record("0", git.Hash(strings.Repeat("0", len(s.Workspace.Base))), path)
}

func (s *staging) record(mode string, id git.Hash, path string) {
	fmt.Fprintf(&s.records, "%s %s\t%s\x00", mode, id, path)
}

// update feeds in to the index, and empties it.
func (s *staging) update(ctx context.Context, in *bytes.Buffer, args ...string) error {
	if in.Len() == 0 {
		return nil
	}
	cmd := git.Cmd{
		Args:  append([]string{"update-index", "-z", "--add", "--replace"}, args...),
		Stdin: in,
	}
	if slices.Contains(args, "--index-info") {
		// Git compares files that are as old as the index when it writes that. By
		// now the attributes there may be the agent's: no filter runs for them.
		cmd.Env = git.Without(slices.Sorted(maps.Keys(s.filters.drivers)))
	}
	_, err := s.run(ctx, cmd)
	in.Reset()
	return err
}

// run runs git in the scratch tree on the private index.
func (s *staging) run(ctx context.Context, cmd git.Cmd) ([]byte, error) {
	cmd.Dir = s.scratch
	cmd.Env = append([]string{"GIT_WORK_TREE=" + s.scratch, "GIT_INDEX_FILE=" + s.private}, cmd.Env...)
	return s.quarantine.Run(ctx, cmd)
}

// check notes the files that git left out without an error: it takes no file
// whose name could be a .git on another system.
func (s *staging) check() error {
	after, err := s.Repo.ReadIndex(s.private)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(after))
	for _, e := range after {
		there[e.Path] = true
	}
	for _, path := range s.fed {
		if !there[path] {
			s.found.AddNote(survey.NameRefused, path)
		}
	}
	return nil
}

// checkout writes files of the base into a folder of ours.
func (c *capturing) checkout(ctx context.Context, dir string, paths []string) error {
	// An agent may have given these a filter, and have made it, too.
	return c.checkoutFrom(ctx, c.Workspace.Index, checkingPaths{dir: dir, paths: paths, raw: c.foreign(c.Workspace.Base)})
}

// checkingPaths are files that are written into a folder of ours; raw: no filter
// runs.
type checkingPaths struct {
	dir   string
	paths []string
	raw   bool
}

// checkoutFrom writes files of an index.
func (c *capturing) checkoutFrom(ctx context.Context, index string, p checkingPaths) error {
	if len(p.paths) == 0 {
		return nil
	}
	env := []string{"GIT_WORK_TREE=" + p.dir, "GIT_INDEX_FILE=" + index}
	if p.raw {
		env = append(env, git.Without(slices.Sorted(maps.Keys(c.filters.drivers)))...)
	}
	_, err := c.quarantine.Run(ctx, git.Cmd{
		Dir: p.dir, Env: env,
		Args:  []string{"checkout-index", "-z", "-f", "-q", "--ignore-skip-worktree-bits", "--stdin"},
		Stdin: strings.NewReader(strings.Join(p.paths, "\x00") + "\x00"),
	})
	return err
}

// link makes a second name for a file, or copies it where that cannot be. A
// symlink is made anew.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	at, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if at.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	err = os.Link(from, to)
	if err == nil || inTheWay(err) {
		return err
	}
	// Another file system, too many links, or a file of another owner.
	src, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, at.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	return errors.Join(git.CopySparse(dst, src), dst.Close())
}
