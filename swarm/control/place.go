// Package control owns the control socket of a live run, both ends: where it
// is, who may speak on it, and the requests that end agents or the run.
//
// It does not carry requests out: the engine does, behind [Target]. It does
// not answer agents' questions either; those have a socket of their own.
package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/store"
)

// longest is below the size of sun_path on every system we know (104).
const longest = 100

// room is the longest name below a folder for sockets: that of the ask socket
// of an attempt.
const room = len("/abcdef-01234567.a1000000.100/s")

// Check refuses a folder for sockets that a run of a state could not use. It makes
// nothing.
func Check(state *store.State, getenv func(string) string) error {
	dir := candidates(state, getenv)[0]
	// The state may lie below a file: that is reported with the state.
	if err := inspect(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	return nil
}

// PlaceError is a folder that no socket may be made or used in.
type PlaceError struct {
	Dir    string
	Reason string
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("the folder for sockets %s %s", e.Dir, e.Reason)
}

// candidates are the folders in which this process may make the sockets of
// runs, the best first: the user's run-time folder, a folder of the state, and
// a folder in /tmp. On a system without mounts agents write to /tmp: then a
// run-time folder there comes after the state's.
func candidates(state *store.State, getenv func(string) string) []string {
	root := filepath.Dir(state.Dir)
	var all []string
	add := func(dir string) {
		if len(dir)+room < longest && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	runtime := runtimeFolder(getenv)
	if runtime != "" && !openTo(runtime, root) {
		add(runtime)
	}
	add(filepath.Join(root, "sockets"))
	if runtime != "" {
		add(runtime)
	}
	add(spare())
	return all
}

// runtimeFolder is ours in the user's run-time folder; empty: there is none.
func runtimeFolder(getenv func(string) string) string {
	runtime := getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(runtime) {
		return ""
	}
	if info, err := os.Lstat(runtime); err != nil || !info.IsDir() || owner(info) != os.Getuid() {
		return ""
	}
	return filepath.Join(runtime, "swarm")
}

// openTo reports whether agents in a sandbox without mounts may write to a
// folder: it lies in a folder that all programs write to, and the state does
// not.
func openTo(dir, state string) bool {
	for _, shared := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		shared = fspath.Real(shared)
		_, in := fspath.Below(shared, fspath.Real(filepath.Dir(dir)))
		if _, too := fspath.Below(shared, fspath.Real(state)); in && !too {
			return true
		}
	}
	return false
}

func spare() string { return "/tmp/swarm-" + strconv.Itoa(os.Getuid()) }

// Folders are the folders in which owners of runs may have made sockets outside
// of the state: they can have had another environment than we, as under cron or
// ssh.
func Folders(getenv func(string) string) []string {
	var all []string
	for _, dir := range []string{runtimeFolder(getenv), filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "swarm"), spare()} {
		if dir != "" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// foldersOf are the folders in which the owner of a run may have made its
// socket.
func foldersOf(run *store.Run, getenv func(string) string) []string {
	return FoldersFor(run.State(), getenv)
}

// NewFolder is the folder in which a new run would make its sockets.
func NewFolder(state *store.State, getenv func(string) string) string {
	return candidates(state, getenv)[0]
}

// Folder is the folder for the sockets of a run that this process owns.
func Folder(run *store.Run, getenv func(string) string) string {
	all := candidates(run.State(), getenv)
	for _, dir := range all {
		if path, err := socket(dir, run); err == nil && inspect(dir) == nil && fspath.Exists(path) {
			return dir
		}
	}
	return all[0]
}

// prepare makes the folder if it is missing. It accepts the folder only if no
// other user can have put anything there.
func prepare(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return &PlaceError{Dir: dir, Reason: "cannot be made: " + err.Error()}
	}
	return inspect(dir)
}

// inspect refuses a folder that is not ours alone.
func inspect(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &PlaceError{Dir: dir, Reason: "is a symbolic link; remove it"}
	case !info.IsDir():
		return &PlaceError{Dir: dir, Reason: "is not a folder; remove it"}
	case owner(info) != os.Getuid():
		return &PlaceError{Dir: dir, Reason: fmt.Sprintf("belongs to user %d; set XDG_RUNTIME_DIR to a folder of yours", owner(info))}
	case info.Mode().Perm() != 0o700:
		return &PlaceError{Dir: dir, Reason: fmt.Sprintf("has mode %#o, not 0700; check its files, then: chmod 700", info.Mode().Perm())}
	default:
		return nil
	}
}

// owner is the user a file belongs to; -1 where that cannot be told.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// AskFolder makes the folder that holds the ask socket of an attempt, in a
// folder that agents do not see. The path of a socket in it, with a name of one
// letter, is short enough. It returns a [*PlaceError] if the folder cannot be
// used.
func AskFolder(run *store.Run, attempt string, getenv func(string) string) (string, error) {
	dir := Folder(run, getenv)
	if err := prepare(dir); err != nil {
		return "", err
	}
	socket, err := socket(dir, run)
	if err != nil {
		return "", err
	}
	own := strings.TrimSuffix(socket, ".sock") + "." + attempt
	if len(own)+len("/s") >= longest {
		return "", &PlaceError{Dir: dir, Reason: "has too long a name for the socket of attempt " + attempt + "; set XDG_RUNTIME_DIR to a shorter one"}
	}
	// The folder of an owner that died is in the way.
	if err := os.RemoveAll(own); err != nil {
		return "", err
	}
	return own, os.Mkdir(own, 0o700)
}

// Clear removes the sockets that an owner of a run left which died. The caller
// owns the run.
func Clear(run *store.Run, getenv func(string) string) error {
	var all error
	for _, dir := range foldersOf(run, getenv) {
		socket, err := socket(dir, run)
		if err != nil || inspect(dir) != nil {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			all = errors.Join(all, err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if path == socket || strings.HasPrefix(path, strings.TrimSuffix(socket, "sock")) {
				all = errors.Join(all, os.RemoveAll(path))
			}
		}
	}
	return all
}

// socket is the path of a run's socket in a folder. Runs of two states may have
// the same id, so the name includes the state.
func socket(dir string, run *store.Run) (string, error) {
	sum := sha256.Sum256([]byte(run.State().Dir))
	path := filepath.Join(dir, run.ID+"-"+hex.EncodeToString(sum[:4])+".sock")
	if len(path) >= longest {
		return "", &PlaceError{Dir: dir, Reason: fmt.Sprintf("has too long a name: %s takes %d bytes of %d; "+
			"set XDG_RUNTIME_DIR to a shorter one", filepath.Base(path), len(path), longest-1)}
	}
	return path, nil
}
