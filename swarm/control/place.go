// Package control owns the control socket of a live run, both ends: where it
// is, who may speak on it, and the requests that end agents or the run.
//
// It does not carry requests out: the engine does, behind [Canceller]. It does
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

	"agentswarm/swarm/store"
)

// longest is below what sun_path holds on every system we know (104).
const longest = 100

// roomy is what a run-time folder must be shorter than for a socket of ours to
// fit below it.
const roomy = longest - len("/swarm/") - len("abcdef-01234567.sock")

// Check refuses a folder for sockets that a run could not use. It makes
// nothing.
func Check(getenv func(string) string) error {
	dir := folder(getenv)
	if err := inspect(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// folder is where this process would make sockets: the user's run-time
// folder, or one of our own in /tmp where there is none.
func folder(getenv func(string) string) string {
	runtime := getenv("XDG_RUNTIME_DIR")
	if filepath.IsAbs(runtime) {
		info, err := os.Lstat(runtime)
		if err == nil && info.IsDir() && owner(info) == os.Getuid() && len(runtime) < roomy {
			return filepath.Join(runtime, "swarm")
		}
	}
	return spare()
}

func spare() string { return "/tmp/swarm-" + strconv.Itoa(os.Getuid()) }

// Folders are where the owner of a run may have made its socket: it can have
// had another environment than we, as under cron or ssh.
func Folders(getenv func(string) string) []string {
	all := []string{folder(getenv)}
	for _, dir := range []string{filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "swarm"), spare()} {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// prepare makes the folder where it is missing and accepts it only if nobody
// else can have put anything there.
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
		return &PlaceError{Dir: dir, Reason: fmt.Sprintf("has mode %#o, not 0700; look at what it holds, then: chmod 700", info.Mode().Perm())}
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

// AskFolder makes the folder that holds the ask socket of one attempt, in a
// folder that agents do not see. The path of a socket in it, of one letter, is
// short enough.
func AskFolder(run *store.Run, attempt string, getenv func(string) string) (string, error) {
	dir := folder(getenv)
	if err := prepare(dir); err != nil {
		return "", err
	}
	socket, err := socket(dir, run)
	if err != nil {
		return "", err
	}
	own := strings.TrimSuffix(socket, ".sock") + "." + attempt
	if len(own)+len("/s") >= longest {
		own = filepath.Join(spare(), filepath.Base(own))
		if err := prepare(spare()); err != nil {
			return "", err
		}
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
	for _, dir := range Folders(getenv) {
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

// socket is the path of a run's socket in a folder. Runs of two states may
// have one id, so that the state is in the name.
func socket(dir string, run *store.Run) (string, error) {
	sum := sha256.Sum256([]byte(run.State().Dir))
	path := filepath.Join(dir, run.ID+"-"+hex.EncodeToString(sum[:4])+".sock")
	if len(path) >= longest {
		return "", &PlaceError{Dir: dir, Reason: fmt.Sprintf("has too long a name: %s takes %d bytes of %d; "+
			"set XDG_RUNTIME_DIR to a shorter one", filepath.Base(path), len(path), longest-1)}
	}
	return path, nil
}
