package cachework

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	// enough is how many commands must write the same files.
	enough = 3
	// leastBytes is how much they must have in common. History files and settings
	// have the same names everywhere, and are smaller.
	leastBytes = 1 << 20
	// mostCommands and mostFiles bound the search: a run that has not shown the
	// pattern by then is not searched further.
	mostCommands = 12
	mostFiles    = 5000
)

// Tracker compares the files that the commands of a run left in their private
// HOME folders. The zero value is ready. It is safe for concurrent use.
type Tracker struct {
	mu      sync.Mutex // guards all below
	written map[uint64]int
	looked  map[string]int // commands by their step
	found   bool
}

// Finding is work that several commands did alike.
type Finding struct {
	Commands int    // how many commands wrote the same files
	Bytes    int64  // the size of these files, of a single command
	Folder   string // the folder of HOME that holds most of it, such as .cache/go-build
}

// Add reads the folder with the files that a command of a step, such as a
// check, wrote to its HOME. It returns a finding once, for the first command
// that shows the pattern, and nil else. A missing folder is empty. It returns
// an error if the folder cannot be read.
func (t *Tracker) Add(step, home string) (*Finding, error) {
	if !t.wants(step) {
		return nil, nil
	}
	files, err := filesBelow(home)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found {
		return nil, nil
	}
	if t.written == nil {
		t.written = map[uint64]int{}
	}
	same := Finding{Commands: enough}
	folders := map[string]int64{}
	for _, f := range files {
		key := f.key(step)
		if t.written[key]++; t.written[key] < enough {
			continue
		}
		same.Bytes += f.size
		folder := f.folder()
		if folders[folder] += f.size; folders[folder] > folders[same.Folder] || same.Folder == "" {
			same.Folder = folder
		}
	}
	if same.Bytes < leastBytes {
		return nil, nil
	}
	t.found, t.written = true, nil
	return &same, nil
}

// wants reports whether another command of a step is worth a look.
func (t *Tracker) wants(step string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found || t.looked[step] >= mostCommands {
		return false
	}
	if t.looked == nil {
		t.looked = map[string]int{}
	}
	t.looked[step]++
	return true
}

// file is a regular file below a HOME.
type file struct {
	path string // relative to HOME
	size int64
}

func (f file) key(step string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(step + "\x00" + f.path + "\x00")) // it never fails
	_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(f.size)))
	return sum.Sum64()
}

// folder is the first two folders of the path: that of a tool, as a rule.
func (f file) folder() string {
	parts := strings.SplitN(filepath.ToSlash(filepath.Dir(f.path)), "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

// filesBelow lists the first regular files of a folder in the order of their
// paths, at most mostFiles.
func filesBelow(dir string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil // a process that goes on may remove it
		case err != nil:
			return err
		case len(files) == mostFiles:
			return filepath.SkipAll
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, file{path: rel, size: info.Size()})
		return err
	})
	return files, err
}
