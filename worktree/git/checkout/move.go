package checkout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// Kept are paths of a checkout that the user changed meanwhile, and that were
// left as they are.
type Kept struct {
	Dir   string
	Paths []string
}

// mover carries out the renames of a record, in either direction. Each of its
// steps may have been done already: a process that died had come that far.
type mover struct {
	*Tx
	// branchMoved is set once the branch is at New: then there is no way back.
	branchMoved bool
	// yield is set where paths that the user changed are left as they are, and
	// the rest moves on.
	yield bool
	// ended is set once the end is on the disk.
	ended bool
}

func (t *Tx) mover() *mover { return &mover{Tx: t} }

// forward makes everything new.
func (m *mover) forward(ctx context.Context) error {
	for _, s := range m.rec.Sides {
		if !s.present() {
			continue
		}
		if err := m.moveFiles(s); err != nil {
			return err
		}
	}
	if m.rec.Ref != "" && !m.branchMoved {
		if err := m.moveRef(ctx); err != nil {
			return err
		}
		m.branchMoved = true
	}
	for _, s := range m.rec.Sides {
		if s.Head != "" && s.present() {
			if err := m.moveHead(ctx, s); err != nil {
				return err
			}
		}
	}
	for _, s := range m.rec.Sides {
		if s.Index && s.present() {
			if err := m.installIndex(ctx, s); err != nil {
				return err
			}
		}
	}
	m.rec.Phase = done
	return m.finish()
}

// finish records the end and removes the staging folders.
func (m *mover) finish() error {
	if err := m.step("record the end"); err != nil {
		return err
	}
	if err := m.rec.save(m.dir); err != nil {
		return err
	}
	m.ended = true
	return m.tidy()
}

// tidy removes the files of a transaction that has ended.
func (m *mover) tidy() error {
	var errs []error
	for _, s := range m.rec.Sides {
		if !s.present() {
			continue
		}
		if err := m.step("remove the staging folder"); err != nil {
			return err
		}
		if err := m.saveAsides(s); err != nil {
			errs = append(errs, err)
			continue
		}
		if m.rec.Phase == done {
			s.removeEmptied()
		}
		errs = append(errs, s.clear(m.ID))
	}
	return errors.Join(errs...)
}

// keep notes paths that were not overwritten.
func (m *mover) keep(s *side, paths []string) {
	for i := range m.rec.Kept {
		if k := &m.rec.Kept[i]; k.Dir == s.Dir {
			k.Paths = slices.Compact(slices.Sorted(slices.Values(append(k.Paths, paths...))))
			return
		}
	}
	m.rec.Kept = append(m.rec.Kept, Kept{Dir: s.Dir, Paths: paths})
}

// moveFiles renames the files of a checkout. A path that the user changed is a
// [*git.DirtyError], or kept where the mover yields.
func (m *mover) moveFiles(s *side) error {
	var changed []string
	act := func(p *pathing, do func(*pathing) error) error {
		err := do(p)
		if errors.Is(err, errChanged) {
			changed = append(changed, string(p.Path))
			if m.yield {
				return nil
			}
			return &git.DirtyError{Dir: s.Dir, Paths: changed}
		}
		return writing(s.Dir, s.at(p.Path), err)
	}
	for _, p := range s.Paths { // files that leave go first: they may be in the way
		if p.New == Absent && p.Old != Absent {
			if err := act(p, func(p *pathing) error { return m.setAside(s, p) }); err != nil {
				return err
			}
		}
	}
	for _, d := range s.GoneDirs {
		if err := unix.Rmdir(s.at(d.Path)); err != nil && !gone(err) && !notFolder(err) && !m.yield {
			return writing(s.Dir, s.at(d.Path), err)
		}
	}
	for _, d := range s.MadeDirs {
		if err := m.step("make folder " + string(d)); err != nil {
			return writing(s.Dir, s.at(d), err)
		}
		if err := os.Mkdir(s.at(d), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return writing(s.Dir, s.at(d), err)
		}
	}
	for _, p := range s.Paths {
		if p.New != Absent && p.New != p.Old {
			if err := act(p, func(p *pathing) error { return m.replace(s, p) }); err != nil {
				return err
			}
		}
	}
	if len(changed) > 0 {
		m.keep(s, changed)
	}
	return s.syncDirs()
}

// errChanged says that a path holds neither its old nor its new content.
var errChanged = errors.New("the file changed meanwhile")

// setAside moves the old file out of the way, where that is still to be done.
// It looks at the file after the move: no change of the user's can come between.
func (m *mover) setAside(s *side, p *pathing) error {
	at, err := fileAt(s.at(p.Path))
	if err != nil {
		return err
	}
	if at == Absent {
		aside, err := Identify(s.at(p.Aside))
		if err == nil && aside != p.Old {
			err = errChanged // the user removed it
		}
		return err
	}
	if at != p.Old {
		return errChanged
	}
	if err := m.step("set aside " + string(p.Path)); err != nil {
		return err
	}
	if err := os.Rename(s.at(p.Path), s.at(p.Aside)); err != nil {
		return err
	}
	if at, err = Identify(s.at(p.Aside)); err != nil || at != p.Old {
		return errors.Join(err, errChanged, moveNew(s.at(p.Aside), s.at(p.Path)))
	}
	return nil
}

// replace puts the new file in place of the old file.
func (m *mover) replace(s *side, p *pathing) error {
	at, err := fileAt(s.at(p.Path))
	if err != nil {
		return err
	}
	if at == p.New {
		return removeFile(s.at(p.Put)) // a link to the same file may be left
	}
	if p.Old != Absent {
		if err := m.setAside(s, p); err != nil {
			return err
		}
	} else if at != Absent {
		return errChanged
	}
	if err := m.step("put in place " + string(p.Path)); err != nil {
		return err
	}
	err = moveNew(s.at(p.Put), s.at(p.Path))
	if errors.Is(err, fs.ErrExist) || notFolder(err) {
		return errChanged // another process made a file there just before
	}
	return err
}

// saveAsides is keepAsides, and notes the saved files in the record.
func (m *mover) saveAsides(s *side) error {
	kept, err := s.keepAsides(m.ID)
	if len(kept) == 0 {
		return err
	}
	m.keep(s, kept)
	return errors.Join(err, m.rec.save(m.dir))
}

// keepAsides saves old files that were written to while they were moved, beside
// the new ones.
func (s *side) keepAsides(id string) (kept []string, err error) {
	for _, p := range s.Paths {
		at, ierr := Identify(s.at(p.Aside))
		if at == Absent || at == p.Old {
			continue
		}
		to := s.asideName(p.Path) + stageName(id)
		if ierr == nil {
			ierr = moveNew(s.at(p.Aside), s.at(name(to)))
		}
		if errors.Is(ierr, fs.ErrExist) {
			continue
		}
		err = errors.Join(err, ierr)
		kept = append(kept, to)
	}
	return kept, err
}

// asideName is the path that an old file is saved beside. Where folders above it
// are gone, their names become a part of the file's.
func (s *side) asideName(n name) string {
	dir := path.Dir(string(n))
	for dir != "." {
		if info, err := os.Lstat(s.at(name(dir))); err == nil && info.IsDir() {
			break
		}
		dir = path.Dir(dir)
	}
	if dir == path.Dir(string(n)) {
		return string(n)
	}
	rest := strings.TrimPrefix(string(n), dir+"/")
	return path.Join(dir, strings.ReplaceAll(rest, "/", "-"))
}

// removeEmptied removes the folders that the transaction left empty.
func (s *side) removeEmptied() {
	for _, d := range s.Emptied {
		_ = unix.Rmdir(s.at(d)) // it stays where the submodule has files
	}
	for _, p := range s.Paths {
		if p.New != Absent || p.Old == Absent {
			continue
		}
		for dir := path.Dir(string(p.Path)); dir != "."; dir = path.Dir(dir) {
			if slices.Contains(s.Modules, name(dir)) || unix.Rmdir(filepath.Join(s.Dir, dir)) != nil {
				break // it is not empty, a file by now, or a submodule's
			}
		}
	}
}

// syncDirs has the renames on the disk.
func (s *side) syncDirs() error {
	seen := map[string]bool{}
	for _, p := range s.Paths {
		for dir := filepath.Dir(s.at(p.Path)); len(dir) >= len(s.Dir) && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if err := syncDir(dir); err != nil && !gone(err) && !notFolder(err) {
				return writing(s.Dir, dir, err)
			}
		}
	}
	return nil
}

func gone(err error) bool      { return errors.Is(err, fs.ErrNotExist) }
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
