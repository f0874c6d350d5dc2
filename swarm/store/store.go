// Package store owns the state folder: its layout, the locks of runs, the
// journal and its lines, the fold of a journal into a view, and the addresses
// people use for runs and agents.
//
// It decides nothing about a run and starts nothing: the engine decides and
// store records. The content of workspaces, attempts and approvals belongs to
// the packages that write them; store only knows their paths.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
)

// State is the folder of a repository below the root of all state.
type State struct {
	// Dir is the folder. It is absolute and may not exist yet.
	Dir string
	// Step, where set, is called before and after every record that is
	// appended, with "before 7 settled" and "after 7 settled". Tests use it
	// to stop or kill the process at a record they chose; an error it
	// returns is returned by the append.
	Step func(name string) error
}

// Root is where the state of all repositories lives: SWARM_STATE_DIR, a folder of
// XDG_STATE_HOME or of HOME, and where HOME is not set or cannot be written to,
// as in many containers, a folder in /var/tmp that only its user can enter. The path has no
// symbolic links.
func Root(getenv func(string) string) (string, error) { return rootIn(getenv, "/var/tmp") }

// rootIn is Root with the folder that all users write to.
func rootIn(getenv func(string) string, shared string) (string, error) {
	if dir := getenv("SWARM_STATE_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("SWARM_STATE_DIR is %q; it must be an absolute path", dir)
		}
		return resolved(dir), nil
	}
	// The XDG specification says that relative values are to be ignored.
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return resolved(filepath.Join(dir, "swarm")), nil
	}
	home := getenv("HOME")
	if filepath.IsAbs(home) && canMake(home) {
		return resolved(filepath.Join(home, ".local", "state", "swarm")), nil
	}
	dir := filepath.Join(shared, "swarm-"+strconv.Itoa(os.Geteuid()))
	if err := ownFolder(dir); err != nil {
		return "", fmt.Errorf("no place for state: HOME is %q, where nothing can be written, and %w; "+
			"set SWARM_STATE_DIR to an absolute path", home, err)
	}
	return resolved(dir), nil
}

// canMake reports whether a folder is there and can be written to, or can be
// made.
func canMake(dir string) bool {
	for {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		if !errors.Is(err, unix.ENOENT) || dir == filepath.Dir(dir) {
			return err == nil
		}
		dir = filepath.Dir(dir)
	}
}

// ownFolder makes a folder within a folder that all users write to. It refuses
// a folder of another user, and a link.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var at unix.Stat_t
	if err := unix.Lstat(dir, &at); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if at.Mode&unix.S_IFMT != unix.S_IFDIR || int(at.Uid) != os.Geteuid() || at.Mode&0o077 != 0 {
		return fmt.Errorf("%s is not a folder that you alone can enter", dir)
	}
	return nil
}

// Open names the state of the repository whose common git dir is given. It
// touches nothing: the folder is made with its first run.
func Open(root, name, commonDir string) *State {
	sum := sha256.Sum256([]byte(resolved(commonDir)))
	return &State{Dir: filepath.Join(resolved(root), plain(name)+"-"+hex.EncodeToString(sum[:6]))}
}

// Unlinked refuses a symbolic link in the place of a folder of the state, or of
// a folder that all repositories share, with a [*statefile.ForeignError]: files
// below it would be written and removed outside. It also refuses odd files
// among the refs.
func (s *State) Unlinked() error {
	shared := filepath.Join(filepath.Dir(s.Dir), "shared")
	for _, dir := range []string{s.Dir, shared, filepath.Join(shared, "bin"), s.scratches()} {
		if at, err := os.Lstat(dir); err == nil && at.Mode()&fs.ModeSymlink != 0 {
			return linkedFolder(dir)
		}
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil // a command that uses the folder reports it
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			return linkedFolder(filepath.Join(s.Dir, e.Name()))
		}
	}
	return plainGitDir(s.Refs(), 0)
}

// plainGitDir refuses anything but files, folders and the types of allowed in a git
// dir: git follows a link there, and waits for the other end of a pipe.
func plainGitDir(dir string, allowed fs.FileMode) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Type()&^allowed == 0 {
			return nil // a command that uses the folder reports the error
		}
		return &statefile.ForeignError{Path: path, Reason: "it is " + statefile.KindOf(e.Type())}
	})
}

func linkedFolder(dir string) error {
	return &statefile.ForeignError{
		Path: dir, Reason: "it is a symbolic link",
		Advice: "put the folder that swarm made back in its place, or set SWARM_STATE_DIR to move all state elsewhere",
	}
}

// Trees is where the workspaces of a run live.
func (s *State) Trees(run string) string { return filepath.Join(s.Dir, "trees", run) }

// Bases is where the checkouts are that many workspaces share.
func (s *State) Bases() string { return filepath.Join(s.Dir, "bases") }

// Pool is where unchanged files of workspaces wait for the next workspaces.
func (s *State) Pool() string { return filepath.Join(s.Dir, "pool") }

// Refs is the git dir of the refs that hold the work of runs.
func (s *State) Refs() string { return filepath.Join(s.Dir, "refs.git") }

// Trash is where removed workspaces and runs wait.
func (s *State) Trash() string { return filepath.Join(s.Dir, "trash") }

// Bin is where the binary of a build is kept.
func (s *State) Bin(build string) string {
	// The profile of AppArmor wants a folder above "bin" (apparmor.copies).
	return filepath.Join(filepath.Dir(s.Dir), "shared", "bin", fileName(build), "swarm")
}

// OwnBins is where older versions kept a copy for each repository.
func (s *State) OwnBins() string { return filepath.Join(s.Dir, "bin") }

// MakeDir makes the folder of the state, where there is none.
func (s *State) MakeDir() error { return makeFolder(s.Dir) }

// AnyLive reports whether a run of the user is live, in any repository.
func (s *State) AnyLive() (bool, error) {
	all, err := s.siblings()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for live runs: %w", err)
	}
	for _, other := range all {
		entries, err := other.Runs()
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			if e.Run.Live() {
				return true, nil
			}
		}
	}
	return false, nil
}

// siblings lists the states of all repositories of the user, with this state, and
// folders beside them that have no runs.
func (s *State) siblings() ([]*State, error) {
	root := filepath.Dir(s.Dir)
	folders, err := os.ReadDir(root)
	var all []*State
	for _, f := range folders {
		all = append(all, &State{Dir: filepath.Join(root, f.Name())})
	}
	return all, err
}

// Trust is the folder of the user's approvals.
func (s *State) Trust() string { return filepath.Join(s.Dir, "trust") }

// LockFile is the file that processes lock for the thing they name, such as
// a branch. Its folder is there once the state holds a run.
func (s *State) LockFile(name string) string {
	return filepath.Join(s.Dir, "locks", fileName(name))
}

// Checkouts is where the transactions are recorded that change checkouts of the
// user's.
func (s *State) Checkouts() string { return filepath.Join(s.Dir, "checkouts") }

func (s *State) runs() string { return filepath.Join(s.Dir, "runs") }

// InsideError is a state folder that lies within the repository it is about:
// agents would copy it, and it would show up as the user's work.
type InsideError struct {
	Dir    string // the state folder
	Folder string // the repository's folder it lies in
}

func (e *InsideError) Error() string {
	return fmt.Sprintf("the state folder %s lies inside the repository %s; "+
		"set SWARM_STATE_DIR to a folder outside of it", e.Dir, e.Folder)
}

// Outside refuses, with an [*InsideError], a state within one of the folders:
// the repository's top level and its common git dir. Empty names are skipped.
func (s *State) Outside(folders ...string) error {
	dir := resolved(s.Dir)
	for _, folder := range folders {
		if folder != "" && within(resolved(folder), dir) {
			return &InsideError{Dir: s.Dir, Folder: folder}
		}
	}
	return nil
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// resolved returns the path with the symbolic links of its existing part
// followed, so that each folder has a single name.
func resolved(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// plain is a name that every file system takes: letters, digits, dots, dashes
// and underscores, not hidden, not long.
func plain(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9',
			r == '.', r == '-', r == '_':
			return r
		default:
			return '-'
		}
	}, name)
	clean = strings.Trim(clean[:min(len(clean), 40)], ".-")
	if clean == "" {
		return "unnamed"
	}
	return clean
}

// fileName returns plain, with a hash where two names would have the same
// plain.
func fileName(name string) string {
	clean := plain(name)
	if clean == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return clean + "-" + hex.EncodeToString(sum[:6])
}

// FullError is a write that found no room. Nothing of it was kept.
type FullError struct {
	File string
	Err  error
}

func (e *FullError) Error() string { return fmt.Sprintf("no room to write %s: %v", e.File, e.Err) }

// Unwrap returns the error of the system.
func (e *FullError) Unwrap() error { return e.Err }

// noRoom turns a system's word for a full disk into a [*FullError].
func noRoom(file string, err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return &FullError{File: file, Err: full}
		}
	}
	return err
}

// makeFolder makes a folder and its parents, for the user alone.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return noRoom(dir, fmt.Errorf("make folder: %w", err))
	}
	return nil
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeFile replaces a file at once: readers see the old or the new.
func writeFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-") // 0600
	if err != nil {
		return noRoom(path, fmt.Errorf("write %s: %w", path, err))
	}
	_, werr := f.Write(text)
	err = errors.Join(werr, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(noRoom(path, fmt.Errorf("write %s: %w", path, err)), os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}
