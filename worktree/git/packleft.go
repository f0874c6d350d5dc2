package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// removeFailedPack removes what an index-pack that failed left in the
// repository: temporary files, and marks of ours without a pack. Only files
// that are ours, are not older than the start of that git and that no process
// has open are removed, so a fetch of the user's is never disturbed.
func (r *Repo) removeFailedPack(since time.Time) error {
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var open map[string]bool
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		temporary := strings.HasPrefix(e.Name(), "tmp_pack_") || strings.HasPrefix(e.Name(), "tmp_idx_")
		if !temporary && !strings.HasSuffix(e.Name(), ".keep") {
			continue
		}
		info, ierr := e.Info()
		if ierr != nil || info.ModTime().Before(since.Add(-time.Second)) {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() {
			continue
		}
		if temporary {
			if open == nil {
				if open = openFiles(dir); open == nil {
					return nil // nobody can tell who has what open
				}
			}
			if open[path] {
				continue
			}
		} else if !orphanedMark(path) {
			continue
		}
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// orphanedMark reports whether a .keep file is ours and has no pack.
func orphanedMark(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(text)) != KeepMark {
		return false
	}
	_, err = os.Lstat(strings.TrimSuffix(path, ".keep") + ".idx")
	return errors.Is(err, fs.ErrNotExist)
}

// openFiles are the files below a folder that processes of this user have open;
// nil where the system does not tell.
func openFiles(dir string) map[string]bool {
	if runtime.GOOS != "linux" {
		return nil
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil || len(links) == 0 {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return nil // names would not be comparable
	}
	open := map[string]bool{}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir+"/") {
			open[target] = true
		}
	}
	return open
}
