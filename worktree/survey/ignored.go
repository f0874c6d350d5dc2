package survey

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

// IgnoredFiles collects them: a bounded list, and the sums of all.
type IgnoredFiles struct {
	List  []IgnoredFile
	More  int // entries that the list has no room for
	Files int
	Size  int64
}

// add lists an ignored file, or a folder as a single entry. Files for which
// known reports true do not count; known may be nil. A folder with no other
// files is not listed.
func (l *IgnoredFiles) add(root, path string, known func(path string, at fs.FileInfo) bool) {
	f := IgnoredFile{Path: path}
	none := known != nil
	// Unreadable files are not counted; they go to the trash all the same.
	_ = filepath.WalkDir(filepath.Join(root, path), func(full string, e fs.DirEntry, err error) error {
		if err != nil {
			none = false
			return nil
		}
		if e.IsDir() {
			return nil
		}
		at, err := e.Info()
		if err == nil && known != nil {
			if rel, rerr := filepath.Rel(root, full); rerr == nil && known(filepath.ToSlash(rel), at) {
				return nil
			}
		}
		none = false
		f.Files++
		if err == nil {
			f.Size += at.Size()
		}
		return nil
	})
	if none {
		return
	}
	l.Files += f.Files
	l.Size += f.Size
	if len(l.List) >= maxIgnored {
		l.More++
		return
	}
	l.List = append(l.List, f)
}
