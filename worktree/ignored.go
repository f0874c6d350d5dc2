package worktree

import (
	"io/fs"
	"path/filepath"
)

// IgnoredFile is a new file, or a folder with a trailing slash, that the
// rules of the base keep out of the commit.
type IgnoredFile struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
	Size  int64  `json:"size"`
}

// maxIgnored bounds the list of ignored files.
const maxIgnored = 1000

// ignoredFiles collects them: a bounded list, and the sums of all.
type ignoredFiles struct {
	list  []IgnoredFile
	more  int // entries that the list has no room for
	files int
	size  int64
}

// add lists an ignored file, or a folder as one entry.
func (l *ignoredFiles) add(root, path string) {
	f := IgnoredFile{Path: path}
	// What cannot be read is not counted; it goes to the trash all the same.
	_ = filepath.WalkDir(filepath.Join(root, path), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		f.Files++
		if at, err := e.Info(); err == nil {
			f.Size += at.Size()
		}
		return nil
	})
	l.files += f.Files
	l.size += f.Size
	if len(l.list) >= maxIgnored {
		l.more++
		return
	}
	l.list = append(l.list, f)
}
