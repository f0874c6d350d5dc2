package baseline

import (
	"io/fs"
	"syscall"

	"agentswarm/worktree/git"
)

// Stat is the entry of a file that an index would hold.
func Stat(at fs.FileInfo) git.IndexEntry {
	s, ok := at.Sys().(*syscall.Stat_t)
	if !ok {
		return git.IndexEntry{}
	}
	return git.IndexEntry{
		CTime: git.IndexTime{Sec: uint32(s.Ctimespec.Sec), Nano: uint32(s.Ctimespec.Nsec)},
		MTime: git.IndexTime{Sec: uint32(s.Mtimespec.Sec), Nano: uint32(s.Mtimespec.Nsec)},
		Inode: uint32(s.Ino), Size: uint32(s.Size),
	}
}
