package worktree

import "io/fs"

// Modes of files as git has them.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeSym  = 0o120000
	modeLink = 0o160000
)

func gitMode(at fs.FileInfo) uint32 {
	switch {
	case at.Mode().Type() == fs.ModeSymlink:
		return modeSym
	case at.Mode().Perm()&0o100 != 0:
		return modeExec
	default:
		return modeFile
	}
}
