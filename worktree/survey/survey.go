// Package survey compares a workspace with its baseline by lstat and lists the
// files that may have changed, with notes for a person. It reads no file content
// and makes no commit.
package survey

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/internal/bytesize"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
)

// LargeFile is a new or changed file that is above the size limit of captures.
type LargeFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes, holes included

	Known *git.IndexEntry `json:"-"` // of the base; nil: the file is new
}

const (
	// maxLarge bounds the list of large files.
	maxLarge = 50
	// maxLargeNotes bounds how many of them have a note of their own.
	maxLargeNotes = 10
)

// TooLargeError reports that a file grew above the limit after the survey.
type TooLargeError struct{ Size int64 }

// LeaveOut adds a file to the large ones if err says that it is too large.
func (s *Survey) LeaveOut(path string, err error, base *baseline.Index) bool {
	var large *TooLargeError
	if !errors.As(err, &large) {
		return false
	}
	s.Large = append(s.Large, LargeFile{Path: path, Size: large.Size, Known: base.Find(path)})
	return true
}

// ListLarge returns the first large files by path, and how many more there are.
func (s *Survey) ListLarge() (list []LargeFile, more int) {
	slices.SortFunc(s.Large, func(a, b LargeFile) int { return strings.Compare(a.Path, b.Path) })
	n := min(len(s.Large), maxLarge)
	return s.Large[:n:n], len(s.Large) - n
}

// LargeNotes names the first large files, and counts the rest.
func LargeNotes(list []LargeFile, more int) []Note {
	var notes []Note
	for i, f := range list {
		if i == maxLargeNotes {
			more += len(list) - i
			break
		}
		notes = append(notes, Note{Kind: TooLarge, Path: f.Path, Size: f.Size})
	}
	if more > 0 {
		notes = append(notes, Note{Kind: MoreTooLarge, Size: int64(more)})
	}
	return notes
}

// NoteUnfetched notes a submodule that was never checked out, with the number of
// files in its folder. The workspace goes to the trash.
func (s *Survey) NoteUnfetched(path string, files int) {
	s.AddNote(SubmoduleMissing, path)
	s.Notes[len(s.Notes)-1].Size = int64(files)
}

// LooseFiles counts the files of a submodule, without its .git. A folder that
// cannot be read counts as a file.
func LooseFiles(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // fails at no entry
		switch {
		case path == filepath.Join(dir, ".git"):
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
		case err != nil || !e.IsDir():
			n++
		}
		return nil
	})
	return n
}

// Any reports whether a tree has to be made at all.
func (s *Survey) Any() bool {
	return len(s.Changed)+len(s.Deleted)+len(s.Links)+len(s.Restored) > 0
}

// Survey is the result of a walk over a workspace.
type Survey struct {
	Changed  []string            // files and symlinks that may differ from the base, or are new
	Deleted  []string            // of the base, gone
	Present  []string            // of those in changed, outside of a sparse checkout
	Restored []git.IndexEntry    // files still as a restore wrote them
	Links    map[string]git.Hash // submodules at another commit
	Modules  []string            // submodules with a git dir
	Largest  int64               // bytes of the largest file that is captured, or was deleted
	Large    []LargeFile         // new or changed files above the size limit
	Notes    []Note
	Partial  bool // something is neither in the base, nor here, nor ignored
	Ignored  IgnoredFiles
	Seal     Seal
	withheld []string // folders that could not be read
}

// AddNote notes something about a path. Some kinds make the survey partial.
func (s *Survey) AddNote(kind NoteKind, path string) {
	s.Notes = append(s.Notes, Note{Kind: kind, Path: path})
	switch kind {
	case NestedRepository, SubmoduleAdded, GitReplaced, SubmoduleMoved, SubmoduleLeft, SubmoduleMissing, Unreadable,
		SpecialFile, NameRefused:
		s.Partial = true
	case SubmoduleReplaced, MadeReadable, HeadInvalid, FilterFailed, Entangled, TooLarge, MoreTooLarge, PatchOmitted:
	}
}

// GoneError says that a workspace is not there any more, or not a folder.
type GoneError struct{ Dir string }

func (e *TooLargeError) Error() string { return "too large: " + bytesize.Format(e.Size) }
