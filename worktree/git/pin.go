package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A pin is a commit of the user's that housekeeping leaves alone, with its history. It is
// the HEAD of a linked worktree without files. Every git since 2.15 takes these HEADs for
// roots. The worktree is locked, so that `git worktree prune` does not remove it.
type pin struct {
	commit Hash
	dir    string // the registration, in <common>/worktrees
	whole  bool   // git takes it for a worktree with this HEAD
}

// pinReason is the text of the locks of pins. `git worktree list -v` shows it.
const pinReason = "runs of swarm need this commit; swarm gc removes the entry with the last of them\n"

// pinPrefix begins the names of the pins of this refStore. The commit follows.
func (s *refStore) pinPrefix() (string, error) {
	id, err := s.storeIDLocked()
	return "swarm-" + strings.ToLower(id[:min(len(id), 8)]) + "-", err
}

func (s *refStore) worktrees() string { return filepath.Join(s.user.CommonDir, "worktrees") }

// pins are all pins of this refStore, also those that a process left half made.
func (s *refStore) pins() ([]pin, error) {
	prefix, err := s.pinPrefix()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.worktrees())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []pin
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || !isHex(name, s.user.hexLen()) {
			continue
		}
		p := pin{commit: Hash(name), dir: filepath.Join(s.worktrees(), e.Name())}
		p.whole = s.stands(p.dir)
		all = append(all, p)
	}
	return all, nil
}

// stands reports whether a pin is whole. The file that makes git see it is written last
// and removed first. A pin that git makes is not whole as long as its folder is there.
func (s *refStore) stands(dir string) bool {
	if _, err := os.Lstat(s.pinFolder(dir)); err == nil {
		return false
	}
	for _, name := range []string{"locked", "gitdir", "HEAD"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// standing are the commits of the pins that are whole.
func standing(pins []pin) []Hash {
	var commits []Hash
	for _, p := range pins {
		if p.whole {
			commits = append(commits, p.commit)
		}
	}
	slices.Sort(commits)
	return commits
}

// pinList is the file that lists the commits which must be pinned.
func (s *refStore) pinList() string { return filepath.Join(s.refs.GitDir, "pins") }

func (s *refStore) listed() ([]Hash, error) {
	text, err := os.ReadFile(s.pinList())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var commits []Hash
	for id := range strings.FieldsSeq(string(text)) {
		commits = append(commits, Hash(id))
	}
	return commits, nil
}

// pinsStand reports whether all pins are there. A user can remove them as any worktree.
func (s *refStore) pinsStand() (bool, error) {
	commits, err := s.listed()
	if err != nil || len(commits) == 0 {
		return true, err
	}
	prefix, err := s.pinPrefix()
	for _, c := range commits {
		if !s.stands(filepath.Join(s.worktrees(), prefix+string(c))) {
			return false, err
		}
	}
	return true, err
}

// setPins pins these commits and no others. The caller holds the lock.
func (s *refStore) setPins(ctx context.Context, commits []Hash) error {
	prefix, err := s.pinPrefix()
	if err != nil {
		return err
	}
	pins, err := s.pins()
	if err != nil {
		return err
	}
	there := standing(pins)
	for _, c := range commits {
		if slices.Contains(there, c) {
			continue
		}
		if err := s.makePin(ctx, filepath.Join(s.worktrees(), prefix+string(c)), c); err != nil {
			return err
		}
	}
	if listed, err := s.listed(); err != nil || !slices.Equal(listed, commits) {
		if err := errors.Join(err, replaceText(s.pinList(), lines(commits))); err != nil {
			return err
		}
	}
	s.step("listed")
	for _, p := range pins {
		if slices.Contains(commits, p.commit) {
			continue
		}
		if err := s.removePin(p.dir); err != nil {
			return err
		}
	}
	return nil
}

// makePin makes a pin; it replaces the rest of an incomplete pin.
func (s *refStore) makePin(ctx context.Context, dir string, commit Hash) error {
	if err := s.removePin(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(s.user.CommonDir, "reftable")); err == nil {
		return s.makeTablePin(ctx, dir, commit)
	}
	// A prune may remove the folder until it is locked.
	for try := 0; ; try++ {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = writeNew(filepath.Join(dir, "locked"), pinReason)
		}
		if err == nil {
			break
		}
		if try == 2 || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	s.step("locked")
	for _, f := range [][2]string{
		{"commondir", "../..\n"}, {"HEAD", string(commit) + "\n"}, {"gitdir", filepath.Join(dir, "no files", ".git") + "\n"},
	} {
		if err := writeNew(filepath.Join(dir, f[0]), f[1]); err != nil {
			return err
		}
		s.step("wrote " + f[0])
	}
	return errors.Join(syncDir(dir), syncDir(filepath.Dir(dir)), syncDir(s.user.CommonDir))
}

// pinFolder is the folder of a worktree that git makes for a pin. It is there meanwhile.
func (s *refStore) pinFolder(dir string) string {
	return filepath.Join(s.refs.GitDir, "pin", filepath.Base(dir))
}

// makeTablePin has git make a pin: its HEAD is in a table.
func (s *refStore) makeTablePin(ctx context.Context, dir string, commit Hash) error {
	folder := s.pinFolder(dir)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	var admin string
	err := errors.New("not tried")
	for try := 0; err != nil; try++ {
		// Git fails now and then if another git makes a worktree at once.
		if admin, err = s.user.Register(ctx, folder, commit, strings.TrimSpace(pinReason)); err != nil && try == registerTries {
			return err
		}
	}
	if admin != dir {
		return errors.Join(os.RemoveAll(admin), os.RemoveAll(folder), errors.New("git names a worktree otherwise than its folder"))
	}
	s.step("registered")
	return errors.Join(os.RemoveAll(folder), syncDir(dir), syncDir(filepath.Dir(dir)))
}

// registerTries is how often git is asked again to make a worktree.
const registerTries = 3

// removePin removes a pin, or the rest of an incomplete pin. Git does not see it
// without gitdir, and does not touch it while it is locked.
func (s *refStore) removePin(dir string) error {
	err := removeFiles(filepath.Join(dir, "gitdir"))
	s.step("unlisted")
	entries, rerr := os.ReadDir(dir)
	if errors.Is(rerr, fs.ErrNotExist) {
		return err
	}
	err = errors.Join(err, rerr)
	for _, e := range entries {
		if e.Name() != "locked" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err == nil {
		s.step("emptied")
		err = errors.Join(os.RemoveAll(dir), os.RemoveAll(s.pinFolder(dir)))
	}
	return err
}

// writeNew writes a file that may be there, on the disk. Its mode is the umask's.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
