package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"agentswarm/internal/bytesize"
	"agentswarm/worktree/git"
)

// DefaultMaxFile is the size in bytes up to which files are captured where
// nothing else is configured.
const DefaultMaxFile = 100 << 20

// LargeFile is a new or changed file that is above the size limit of captures.
type LargeFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes, holes included

	known *git.IndexEntry // of the base; nil: the file is new
}

const (
	// maxLarge bounds the list of large files.
	maxLarge = 50
	// maxLargeNotes bounds how many of them have a note of their own.
	maxLargeNotes = 10
)

// tooLargeError reports that a file grew above the limit after the survey.
type tooLargeError struct{ size int64 }

func (e *tooLargeError) Error() string { return "too large: " + bytesize.Format(e.size) }

// maxFile is the limit of [Config.MaxFile]. Without a backend it is the default.
func (t *Trees) maxFile() int64 {
	if t != nil && t.MaxFile > 0 {
		return t.MaxFile
	}
	return DefaultMaxFile
}

// leaveOut adds a file to the large ones if err says that it is too large.
func (s *survey) leaveOut(path string, err error, base *baseIndex) bool {
	var large *tooLargeError
	if !errors.As(err, &large) {
		return false
	}
	s.large = append(s.large, LargeFile{Path: path, Size: large.size, known: base.find(path)})
	return true
}

// listLarge returns the first large files by path, and how many more there are.
func (s *survey) listLarge() (list []LargeFile, more int) {
	slices.SortFunc(s.large, func(a, b LargeFile) int { return strings.Compare(a.Path, b.Path) })
	n := min(len(s.large), maxLarge)
	return s.large[:n:n], len(s.large) - n
}

// largeNotes names the first large files, and counts the rest.
func largeNotes(list []LargeFile, more int) []Note {
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

// maxCompared is the size in bytes below which a large file is compared with
// the file of the base. An index entry has the size modulo 4 GiB.
const maxCompared = 1 << 32

// readmit drops large files that have the content of the base. A file whose
// time alone has changed is no change.
func (c *capturing) readmit(ctx context.Context) error {
	kept := c.found.large[:0]
	for _, f := range c.found.large {
		same, err := c.sameContent(ctx, f)
		if err != nil {
			return err
		}
		if !same {
			kept = append(kept, f)
		}
	}
	c.found.large = kept
	return nil
}

// sameContent reports whether a large file has mode and content of the base,
// as git stores it without filters. It reads only files that have the size of
// the base's.
func (c *capturing) sameContent(ctx context.Context, f LargeFile) (bool, error) {
	if f.known == nil || f.Size >= maxCompared || uint32(f.Size) != f.known.Size {
		return false, nil
	}
	file, err := os.OpenFile(filepath.Join(c.Workspace.files(), f.Path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil //nolint:nilerr // it stays in the list, and in the trash
	}
	defer file.Close() //nolint:errcheck // it was only read
	at, err := file.Stat()
	if err != nil || !at.Mode().IsRegular() || at.Size() != f.Size || gitMode(at) != f.known.Mode {
		return false, nil //nolint:nilerr // the same
	}
	id, err := c.Repo.BlobName(ctx, git.NewSparseReader(file, f.Size), f.Size)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && id == f.known.ID, nil
}
