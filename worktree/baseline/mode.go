package baseline

import (
	"io/fs"
	"strings"
)

// Modes of files as git has them.
const (
	ModeFile = 0o100644
	ModeExec = 0o100755
	ModeSym  = 0o120000
	ModeLink = 0o160000
)

// ModeOf is the mode that git has for a file or symlink.
func ModeOf(at fs.FileInfo) uint32 {
	switch {
	case at.Mode().Type() == fs.ModeSymlink:
		return ModeSym
	case at.Mode().Perm()&0o100 != 0:
		return ModeExec
	default:
		return ModeFile
	}
}

// TreeMode is a mode as a tree object is listed.
func TreeMode(mode uint32) string {
	switch mode {
	case ModeFile:
		return "100644"
	case ModeExec:
		return "100755"
	case ModeSym:
		return "120000"
	default:
		return LinkMode
	}
}

// Absent is the mode of a path on the side of a change that has none.
const Absent = "000000"

// LinkMode is that of a submodule.
const LinkMode = "160000"

// Ruled reports whether a path in the index would change the rules by which
// others are written: an attribute file, or a path below its name.
func Ruled(path string) bool {
	return strings.Contains("/"+path+"/", "/.gitattributes/")
}
