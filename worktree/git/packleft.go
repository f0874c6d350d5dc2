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

// removeFailedPack removes the files that a failed index-pack left in the
// repository: the .keep file with its mark, and temporary files. It removes only
// files that are ours, that are not older than the start of that git and that no
// process has open. While indexing reports that another process indexes a pack,
// they stay: it closes its files before it names them.
func (r *Repo) removeFailedPack(since time.Time, mark string, indexing func() bool) error {
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var open map[string]bool // nil: not known yet
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
				if open = openFiles(dir); open == nil || indexing() {
					open = map[string]bool{"": true} // every file may be in use
				}
			}
			if open[path] || open[""] {
				continue
			}
		} else if text, rerr := os.ReadFile(path); rerr != nil || strings.TrimSpace(string(text)) != mark {
			continue
		}
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// indexesPack reports whether a process is a git that writes packs.
func indexesPack() bool {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return true
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // none: the process has ended
		for word := range strings.SplitSeq(string(text), "\x00") {
			if word == "index-pack" || word == "fast-import" || word == "unpack-objects" {
				return true
			}
		}
	}
	return false
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
