package checkout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// back makes everything old again. Paths that the user changed stay.
func (m *mover) back(ctx context.Context) error {
	if m.rec.Ref != "" {
		m.breakRefLocks(ctx)
	}
	for _, s := range slices.Backward(m.rec.Sides) {
		if !s.present() {
			continue
		}
		if err := m.putBack(s); err != nil {
			return err
		}
	}
	m.rec.Phase = undone
	return m.finish()
}

// putBack is the reverse of moveFiles.
func (m *mover) putBack(s *side) error {
	var changed []string
	for _, p := range slices.Backward(s.Paths) {
		if p.New == Absent || p.New == p.Old {
			continue
		}
		at, err := fileAt(s.at(p.Path))
		if err != nil {
			return writing(s.Dir, s.at(p.Path), err)
		}
		placed, err := m.isPlaced(s, p, at)
		if err == nil && placed {
			err = m.takeOut(s, p)
		}
		if err != nil {
			return writing(s.Dir, s.at(p.Path), err)
		}
		if !placed && at != p.Old && at != Absent {
			changed = append(changed, string(p.Path))
		}
	}
	for _, d := range slices.Backward(s.MadeDirs) {
		_ = unix.Rmdir(s.at(d)) // it stays where the user put something in
	}
	for _, d := range slices.Backward(s.GoneDirs) {
		if err := os.Mkdir(s.at(d.Path), d.Mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return writing(s.Dir, s.at(d.Path), err)
		}
	}
	for _, p := range s.Paths {
		kept, err := m.restore(s, p)
		if err != nil {
			return writing(s.Dir, s.at(p.Path), err)
		}
		if kept {
			changed = append(changed, string(p.Path))
		}
	}
	if len(changed) > 0 {
		m.keep(s, slices.Compact(slices.Sorted(slices.Values(changed))))
	}
	return s.syncDirs()
}

// isPlaced reports whether the file at a path is the new file, put there by us.
func (m *mover) isPlaced(s *side, p *pathing, at Identity) (bool, error) {
	if at != p.New {
		return false, nil
	}
	put, err := os.Lstat(s.at(p.Put))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	here, err := os.Lstat(s.at(p.Path))
	// Between its link and the removal of the other name it has both.
	return err == nil && (os.SameFile(put, here) || put.Mode()&fs.ModeSymlink != 0), err
}

// takeOut moves a new file back into the staging folder, so that it can be put
// in place again.
func (m *mover) takeOut(s *side, p *pathing) error {
	if err := m.step("take out " + string(p.Path)); err != nil {
		return err
	}
	if err := os.Rename(s.at(p.Path), s.at(p.Put)); err != nil {
		return err
	}
	// A rename between two names of the same file has no effect.
	return removeSame(s.at(p.Path), s.at(p.Put))
}

func removeSame(path, other string) error {
	a, err := os.Lstat(path)
	if err != nil {
		return nil // the rename moved it
	}
	b, err := os.Lstat(other)
	if err != nil || !os.SameFile(a, b) {
		return err
	}
	return os.Remove(path)
}

// restore moves an old file back to its path. It reports whether the user has
// another file there by now.
func (m *mover) restore(s *side, p *pathing) (kept bool, err error) {
	if p.Old == Absent {
		return false, nil
	}
	if _, err := os.Lstat(s.at(p.Aside)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := m.step("put back " + string(p.Path)); err != nil {
		return false, err
	}
	err = moveNew(s.at(p.Aside), s.at(p.Path))
	if errors.Is(err, fs.ErrExist) || notFolder(err) || gone(err) {
		return true, nil
	}
	return false, err
}
