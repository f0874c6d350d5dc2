package control

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"agentswarm/swarm/store"
)

// sweepAge is the least age of a dead run's sockets: the owner of a run makes a
// socket before it listens on it.
const sweepAge = time.Hour

// FoldersFor are all folders where runs of a state, and of other states of this
// user, may have made sockets.
func FoldersFor(state *store.State, getenv func(string) string) []string {
	all := candidates(state, getenv)
	for _, dir := range Folders(getenv) {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// Sweep removes the sockets of dead runs from some folders, for any state: a
// run without a state cannot be resumed. A run is alive if a process listens on
// any of its sockets. Folders that are not ours alone are left alone.
func Sweep(folders []string, now time.Time) (failed error) {
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil || inspect(dir) != nil {
			continue
		}
		runs := map[string][]string{}
		for _, e := range entries {
			if prefix := ofRun().FindString(e.Name()); prefix != "" {
				runs[prefix] = append(runs[prefix], filepath.Join(dir, e.Name()))
			}
		}
		for prefix, paths := range runs {
			if !dead(paths, now) {
				continue
			}
			aside := filepath.Join(dir, prefix+"dead")
			// A socket that a crash left aside is in the way of the others.
			slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(rank(a, aside), rank(b, aside)) })
			for _, path := range paths {
				failed = errors.Join(failed, sweep(path, aside))
			}
		}
	}
	return failed
}

func rank(path, first string) int {
	if path == first {
		return 0
	}
	return 1
}

// ofRun matches the start of the names of a run's socket and of the folders of
// its attempts: the run and the state.
var ofRun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+-[0-9a-f]{8}\.`) })

// dead reports whether all paths of a run are old sockets, or folders of such, and no
// process listens there.
func dead(paths []string, now time.Time) bool {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || now.Sub(info.ModTime()) < sweepAge || listens(path) {
			return false
		}
	}
	return true
}

// listens reports whether a process may listen on a socket, or on the socket in
// the folder of an attempt. Only a refusal proves that none does. Other files
// count as alive.
func listens(path string) bool {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, "s")
		info, err = os.Lstat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil || info.Mode().Type() != fs.ModeSocket:
		return true
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return !errors.Is(err, syscall.ECONNREFUSED)
}

// sweep takes a path aside and removes it. Its run may have been resumed since it was
// looked at, and listen there by now: then the path comes back.
func sweep(path, aside string) error {
	err := os.Rename(path, aside) // They may be the same path.
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && listens(aside):
		return os.Rename(aside, path)
	case err == nil:
		_ = os.Remove(filepath.Join(aside, "s")) // of a folder
		err = os.Remove(aside)
		if errors.Is(err, syscall.ENOTEMPTY) {
			return os.Rename(aside, path) // It holds other files.
		}
	}
	if err != nil {
		return fmt.Errorf("remove the socket of a dead run: %w", err)
	}
	return nil
}
