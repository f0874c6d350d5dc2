package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// FilterError says that a filter of the user's, which the attributes of a file
// require, failed on that file.
type FilterError struct {
	Filter, Path string
	Err          error // required
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter %q failed on %q: %v", e.Filter, e.Path, e.Err)
}

func (e *FilterError) Unwrap() error { return e.Err }

// assigns reports whether changed attributes could assign a filter to a file: by
// the name of the filter, by a macro of the base, or since a line that took the
// filter away is gone.
func (c *capturing) assigns(ctx context.Context) bool {
	return len(c.filters.drivers) > 0 && (slices.ContainsFunc(c.found.Deleted, isAttributes) ||
		slices.ContainsFunc(c.found.Changed, func(path string) bool { return isAttributes(path) && c.differs(ctx, path) }))
}

// differs reports whether an attribute file of the agent is not that of the base. A
// file that cannot be read, or is too long, counts as another.
func (c *capturing) differs(ctx context.Context, path string) bool {
	f, err := os.OpenFile(filepath.Join(c.Workspace.Files(), path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return !disk.Missing(err) && !errors.Is(err, syscall.ELOOP)
	}
	defer f.Close() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	if err != nil || len(text) > maxRules {
		return true
	}
	known := c.base.Find(path)
	id, err := c.Repo.BlobName(ctx, bytes.NewReader(text), int64(len(text)))
	return err != nil || known == nil || known.ID != id
}

func isAttributes(path string) bool { return filepath.Base(path) == ".gitattributes" }

// assigned reads the files once more to which only the attributes of the agent
// assign a filter that the user configured. Stored as they are, they would differ
// from the user's files in each checkout.
func (s *staging) assigned(ctx context.Context) error {
	if !s.assigns(ctx) {
		return nil
	}
	if err := s.update(ctx, &s.records, "--index-info"); err != nil {
		return err
	}
	paths, err := s.rewritten()
	if err != nil {
		return err
	}
	given, dir, err := s.newlyAssigned(ctx, paths)
	if err != nil || len(given) == 0 {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(given)) {
		if err := s.addBy(ctx, path, dir); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return &FilterError{Filter: given[path], Path: path, Err: err}
		}
	}
	return s.takeIn(ctx)
}

// newlyAssigned maps paths to the filters that the agent's attributes give them and
// the base's do not. It prepares to run them by the attribute files in dir.
func (s *staging) newlyAssigned(ctx context.Context, paths []string) (given map[string]string, dir string, err error) {
	before, err := s.drivers(ctx, s.Workspace.Index, paths)
	if err != nil {
		return nil, "", err
	}
	if given, err = s.drivers(ctx, s.private, paths); err != nil {
		return nil, "", err
	}
	maps.DeleteFunc(given, func(path, filter string) bool { return filter == before[path] })
	if len(given) == 0 {
		return nil, "", nil
	}
	if dir, err = s.agentRules(ctx); err != nil {
		return nil, "", err
	}
	return given, dir, s.setAssignedApart(dir, given)
}

// rewritten are the files whose content differs from the base. It omits a file
// whose status alone is new in the index.
func (s *staging) rewritten() ([]string, error) {
	entries, err := s.Repo.ReadIndex(s.private)
	if err != nil {
		return nil, err
	}
	now := make(map[string]git.Hash, len(entries))
	for _, e := range entries {
		now[e.Path] = e.ID
	}
	return slices.DeleteFunc(slices.Clone(s.found.Changed), func(path string) bool {
		known := s.base.Find(path)
		return s.holds(path) || now[path] == "" || known != nil && known.ID == now[path]
	}), nil
}

// drivers maps paths to the configured filters that the attributes of an index
// give them.
func (s *staging) drivers(ctx context.Context, index string, paths []string) (map[string]string, error) {
	given := map[string]string{}
	if len(paths) == 0 {
		return given, nil
	}
	out, err := s.quarantine.Run(ctx, git.Cmd{
		Args: []string{"check-attr", "-z", "--stdin", "--cached", "filter"}, Env: []string{"GIT_INDEX_FILE=" + index},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) != 3*len(paths) {
		return nil, fmt.Errorf("ask for the filters of %d files: %d fields", len(paths), len(fields))
	}
	for i := 2; i < len(fields); i += 3 {
		if s.filters.drivers[fields[i]] {
			given[fields[i-2]] = fields[i]
		}
	}
	return given, nil
}

// agentRules is a folder with the attribute files as the agent left them, and the
// programs of filters as the base has them.
func (s *staging) agentRules(ctx context.Context) (string, error) {
	entries, err := s.Repo.ReadIndex(s.private)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, e := range entries {
		if e.Mode&0o170000 == 0o100000 && isAttributes(e.Path) {
			paths = append(paths, e.Path)
		}
	}
	dir := filepath.Join(s.quarantine.Dir, "assigned")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	tools := make([]string, 0, len(s.tools))
	for path := range s.tools {
		tools = append(tools, path)
	}
	if err := s.checkout(ctx, dir, tools); err != nil {
		return "", err
	}
	return dir, s.checkoutFrom(ctx, s.private, checkingPaths{dir: dir, paths: paths, raw: true})
}

// setAssignedApart makes the filters of these paths run in the caller's
// sandbox, in a separate folder.
func (s *staging) setAssignedApart(rules string, given map[string]string) (err error) {
	if s.apart != nil {
		if err := disk.RemoveAll(s.apart.Dir); err != nil {
			return err
		}
	}
	s.apart, s.filtered, s.wanted = nil, map[string]bool{}, nil
	if s.Confine == nil {
		return nil
	}
	for path := range given {
		s.filtered[path] = true
	}
	s.apart, err = s.quarantine.Apart(git.ApartRequest{
		Dir: filepath.Join(s.quarantine.Dir, "apart-assigned"), Confine: s.Confine, Index: s.private,
		Read: []string{s.Frozen.Dir, s.Repo.CommonDir, rules}, Programs: s.filters.programs,
		Config: []string{"lfs.storage=" + filepath.Join(s.quarantine.Dir, "apart-assigned", "work", lfsName)},
	})
	return err
}

// writeAssigned writes the files once more to which only the attributes of the
// commit assign a filter: they are in the repository as that filter made them.
func (r *restoring) writeAssigned(ctx context.Context) error {
	var paths []string
	changed := false
	for _, c := range r.changes {
		switch {
		case isAttributes(c.Path) && c.NewMode == baseline.Absent:
			r.forget(c.Path)
			changed = true
		case isAttributes(c.Path) && c.NewMode != baseline.LinkMode:
			r.record(c.NewMode, c.New, c.Path)
			changed = true
		case strings.HasPrefix(c.NewMode, "100") && !baseline.Ruled(c.Path):
			paths = append(paths, c.Path)
		}
	}
	if !changed || len(r.filters.drivers) == 0 {
		r.records.Reset()
		return nil
	}
	if err := r.update(ctx, &r.records, "--index-info"); err != nil {
		return err
	}
	given, dir, err := r.newlyAssigned(ctx, paths)
	if err != nil || len(given) == 0 {
		return err
	}
	if err := r.lendLFS(); err != nil {
		return err
	}
	for _, c := range r.changes {
		if given[c.Path] == "" {
			continue
		}
		if err := r.root.Remove(c.Path); err != nil && !disk.Missing(err) {
			return err
		}
		if err := r.writeFiltered(ctx, c, dir); err != nil {
			return &FilterError{Filter: given[c.Path], Path: c.Path, Err: err}
		}
	}
	return nil
}

// writeFiltered writes a file of the commit by the attribute files in a folder.
func (r *restoring) writeFiltered(ctx context.Context, c git.Change, dir string) error {
	mode := fs.FileMode(0o666)
	if c.NewMode == "100755" {
		mode = 0o777
	}
	f, err := r.root.OpenFile(c.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = r.filter(ctx, c.Path, git.Cmd{
		Dir: dir, Env: []string{"GIT_WORK_TREE=" + dir}, Stdout: f,
		Args: []string{"cat-file", "--filters", "--path=" + c.Path, string(c.New)},
	})
	return errors.Join(err, f.Close())
}
