package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"agentswarm/worktree/git"
)

// plan reads the files that git wrote into the staging folder, and finds out which
// folders are made and removed.
func (t *Tx) plan(s *side) error {
	stage := stageName(t.ID)
	for i, p := range s.Paths {
		p.Put = name(path.Join(stage, "tree", string(p.Path)))
		p.Aside = name(path.Join(stage, "old", fmt.Sprint(i)))
		var err error
		if p.New, err = fileAt(s.at(p.Put)); err != nil {
			return fmt.Errorf("look at the new files of %s: %w", s.Dir, err)
		}
		if c := s.changes[i]; p.New == Absent && c.NewMode != absentMode && c.NewMode != git.Gitlink && !s.sparse {
			return fmt.Errorf("git wrote no %q for %s, which is not sparse", p.Path, s.Dir)
		}
	}
	if err := s.planDirs(); err != nil {
		return err
	}
	return t.planMounts(s)
}

// planDirs finds the folders that new files need, and those in their way.
func (s *side) planDirs() error {
	made := map[string]bool{}
	leaves := map[string]bool{}
	for _, c := range s.changes {
		if c.OldMode != absentMode && c.OldMode != git.Gitlink {
			leaves[c.Path] = true
		}
	}
	for i, c := range s.changes {
		p := s.Paths[i]
		module := c.NewMode == git.Gitlink
		if c.OldMode == git.Gitlink && !module {
			s.Emptied = append(s.Emptied, p.Path)
		}
		if p.New == Absent && !module {
			continue
		}
		dir := path.Dir(c.Path)
		if module {
			dir = c.Path
			s.Modules = append(s.Modules, p.Path)
		}
		for ; dir != "." && !made[dir]; dir = path.Dir(dir) {
			info, err := os.Stat(filepath.Join(s.Dir, dir))
			if err == nil && info.IsDir() && !leaves[dir] {
				break
			}
			made[dir] = true
			s.MadeDirs = append(s.MadeDirs, name(dir))
		}
		if p.New != Absent {
			if err := s.planGone(p.Path); err != nil {
				return err
			}
		}
	}
	slices.Sort(s.MadeDirs) // parents come first
	return nil
}

// planGone lists the folders that lie where a new file goes.
func (s *side) planGone(at name) error {
	info, err := os.Lstat(s.at(at))
	if err != nil || !info.IsDir() {
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return err
	}
	var found []folder
	err = filepath.WalkDir(s.at(at), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.Dir, p)
		found = append(found, folder{Path: name(rel), Mode: info.Mode().Perm()})
		return err
	})
	slices.Reverse(found) // children come first
	s.GoneDirs = append(s.GoneDirs, found...)
	return err
}

// planMounts gives files on another file system within the checkout a staging
// folder there: a rename between file systems fails.
func (t *Tx) planMounts(s *side) error {
	stage := stageName(t.ID)
	for i, p := range s.Paths {
		parent := s.standing(path.Dir(string(p.Path)))
		if parent == "." {
			continue
		}
		// A rename of a missing file fails for the mount before it fails for
		// the name.
		err := os.Rename(s.at(name(path.Join(stage, "none"))), filepath.Join(s.Dir, parent, stage))
		if !errors.Is(err, syscall.EXDEV) {
			continue
		}
		there := filepath.Join(s.Dir, parent, stage)
		if !slices.Contains(s.Mounts, name(parent)) {
			s.Mounts = append(s.Mounts, name(parent))
			// The record names the folder before it exists.
			if err := t.rec.save(t.dir); err != nil {
				return err
			}
			if err := makeStage(there); err != nil {
				return writing(s.Dir, there, err)
			}
		}
		p.Aside = name(path.Join(parent, stage, "old", fmt.Sprint(i)))
		if p.New == Absent {
			continue
		}
		put := name(path.Join(parent, stage, "new", fmt.Sprint(i)))
		if err := copyFile(s.at(p.Put), s.at(put)); err != nil {
			return writing(s.Dir, s.at(p.Path), err)
		}
		p.Put = put
	}
	return nil
}

// standing is the nearest folder that exists, from a folder upwards.
func (s *side) standing(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if info, err := os.Stat(filepath.Join(s.Dir, dir)); err == nil && info.IsDir() {
			return dir
		}
	}
	return "."
}

// fewFiles is the most files that are synced separately.
const fewFiles = 64

// sync has the new files on the disk before the first rename.
func (s *side) sync(id string) error {
	if len(s.Paths) > fewFiles {
		for _, mount := range append([]name{"."}, s.Mounts...) {
			stage := filepath.Join(s.Dir, string(mount), stageName(id))
			done, err := syncDisk(stage)
			if err != nil {
				return writing(s.Dir, stage, err)
			}
			if !done {
				return s.syncEach()
			}
		}
		return nil
	}
	return s.syncEach()
}

func (s *side) syncEach() error {
	for _, p := range s.Paths {
		if info, err := os.Lstat(s.at(p.Put)); err != nil || !info.Mode().IsRegular() {
			continue // nothing was written, or a link
		}
		f, err := os.Open(s.at(p.Put))
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return writing(s.Dir, s.at(p.Path), err)
		}
	}
	return nil
}

// clear removes all files of ours from the checkout and its git dir. Git may be
// writing there still, if this process was killed before: it loses the folder.
func (s *side) clear(id string) error {
	var err error
	for _, mount := range append([]name{"."}, s.Mounts...) {
		err = errors.Join(err, removeAll(filepath.Join(s.Dir, string(mount), stageName(id))))
	}
	if s.Index {
		for _, kind := range ownFiles() {
			err = errors.Join(err, removeFile(s.own(id, kind)))
		}
		err = errors.Join(err, s.unlockIndex(id))
	}
	return err
}

// removeTries is how often the folder of a git that may be at work is removed.
const removeTries = 20

func removeAll(dir string) (err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // a disk that is read-only says something else
	}
	for range removeTries {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
