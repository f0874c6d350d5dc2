package survey

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/overlay"
	"agentswarm/worktree/workspace"
)

// Seal is a digest of all files of a workspace as lstat sees them. Two equal
// seals say that nothing was written in between. It does not depend on the
// order of the files, and leaves the time of the last status change out,
// since a capture makes hard links.
type Seal [sha256.Size]byte

func (s *Seal) add(path string, at fs.FileInfo) {
	one := sha256.Sum256(fmt.Appendf(nil, "%s\x00%o %d %d %d", path,
		at.Mode(), at.Size(), at.ModTime().UnixNano(), baseline.Stat(at).Inode))
	for i := range s {
		s[i] ^= one[i]
	}
}

// mark counts a folder that hides the folder below it.
func (s *Seal) mark(path string) {
	one := sha256.Sum256([]byte(path + "\x00opaque"))
	for i := range s {
		s[i] ^= one[i]
	}
}

func (s *Seal) String() string { return hex.EncodeToString(s[:]) }

// SealOf walks over the files of a workspace as a capture does. In an upper
// layer it also counts the entries that hide files of the base.
func SealOf(w workspace.Workspace) (string, error) {
	var s Seal
	root := w.Files()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.EqualFold(e.Name(), ".git") && path != root {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != root && w.Kind() == workspace.Overlay && overlay.Opaque(path) {
				s.mark(filepath.ToSlash(rel))
			}
			return nil
		}
		at, err := os.Lstat(path)
		if err != nil {
			return err
		}
		s.add(filepath.ToSlash(rel), at)
		return nil
	})
	return s.String(), err
}
