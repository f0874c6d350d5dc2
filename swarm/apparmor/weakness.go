package apparmor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Weakness is a file or folder that lets others than root and the user put
// another program at a path to which the profile is attached.
type Weakness struct {
	Path string
	Who  string // "everyone", "user 1001" or "group 50"
}

func (w Weakness) String() string {
	return fmt.Sprintf("%s can write to %s, and so can run any program under the profile", w.Who, w.Path)
}

const everyone = "everyone"

// ExposedError refuses to install a profile that would lift the restriction for
// every user of the machine.
type ExposedError struct{ Weakness Weakness }

func (e *ExposedError) Error() string { return "the profile was not installed: " + e.Weakness.String() }

// Hint is a way out.
func (e *ExposedError) Hint() string {
	return "put the program and the state folder (SWARM_STATE_DIR) where only you or root can write"
}

// weaknesses examines a path and the folders above it, as far as they exist.
// The sticky bit makes no difference: it protects a name in /tmp only until the
// next clean-up.
func weaknesses(path string, user int) []Weakness {
	var all []Weakness
	for at := "/"; ; {
		info, err := os.Lstat(at)
		if err != nil {
			return all
		}
		if who := writer(info, user); who != "" {
			all = append(all, Weakness{Path: at, Who: who})
		}
		if at == path {
			return all
		}
		next, _, _ := strings.Cut(strings.TrimPrefix(path[len(at):], "/"), "/")
		at = filepath.Join(at, next)
	}
}

// writer names those who can write to a file, beside root and the user; empty
// if there are none. POSIX access lists show in the bits of the group.
func writer(info os.FileInfo, user int) string {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case mode&0o002 != 0:
		return everyone
	case !ok:
		return ""
	case owner.Uid != 0 && int(owner.Uid) != user:
		return fmt.Sprintf("user %d", owner.Uid)
	// A group with the user's number is the private group that useradd makes.
	case mode&0o020 != 0 && owner.Gid != 0 && int(owner.Gid) != user:
		return fmt.Sprintf("group %d", owner.Gid)
	default:
		return ""
	}
}
