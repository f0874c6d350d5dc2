// Package apparmor owns the AppArmor profile that allows swarm to create user
// namespaces: the text of the profile, its installation and its removal.
//
// Ubuntu 23.10 and later set kernel.apparmor_restrict_unprivileged_userns. A
// process without a profile then has no capabilities in a user namespace that
// it creates. A profile with the rule `userns` exempts the program at its path.
//
// The profile is attached to the program and to the copies of it in the state
// folder, from which supervisors start. The user can write to that folder, and
// therefore can put any program at such a path. That program may then create
// user namespaces, as on a system without the restriction. It gets no other
// right: the profile is unconfined, like a process without a profile. Programs
// that swarm starts inherit the profile, because an unconfined profile survives
// exec unless another one is attached (profile_transition in the kernel's
// security/apparmor/domain.c).
//
// The package prints nothing. Its caller decides who may install a profile, and
// finds the state folder.
package apparmor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentswarm/swarm/gocache"
)

// Profile is the AppArmor profile of one program.
type Profile struct {
	// Name is the name of the profile and of its file. It is derived from the
	// program's path, so that two programs never share a profile.
	Name string
	// Text is the content of the file.
	Text string
}

// marker begins every file of this package. Files without it are neither
// replaced nor removed.
const marker = "# Written by `swarm setup apparmor`"

// New returns the profile of the program and of its copies below the folder
// state. Both paths must be free of symbolic links, because the kernel compares
// them with the real path of an executable. A path that no profile can hold, or
// that is about to vanish, is a [*PathError].
func New(program, state string) (*Profile, error) {
	for _, path := range []string{program, state} {
		if reason := unfit(path); reason != "" {
			return nil, &PathError{Path: path, Reason: reason, Advice: "move it to a folder with a plain name"}
		}
	}
	if gocache.Temporary(program) {
		return nil, &PathError{
			Path: program, Reason: "`go run` removes this program again",
			Advice: "build swarm first: " + buildCommand,
		}
	}
	name := nameOf(program)
	// The leading slash stands before the alternatives: apparmor_parser refuses
	// attachments that begin with a brace.
	attachment := `"/{` + escape(program[1:]) + "," + escape(state[1:]) + copies + `}"`
	return &Profile{Name: name, Text: marker + `; removed by: swarm setup apparmor --remove
# It restricts nothing. It allows swarm to create user namespaces where
# kernel.apparmor_restrict_unprivileged_userns is 1.
abi <abi/4.0>,

profile ` + name + " " + attachment + ` flags=(unconfined) {
  userns,
}
`}, nil
}

// copies is the place of the program's copies below the folder of all state:
// the folder of a repository, "bin", the folder of a build (store.State.Bin). A
// star matches no slash.
const copies = "/*/bin/*/swarm"

const buildCommand = "go build -o FOLDER/swarm ."

// PathError is a path for which there can be no profile.
type PathError struct {
	Path   string // required
	Reason string // required
	Advice string // required
}

func (e *PathError) Error() string {
	return fmt.Sprintf("no AppArmor profile for %q: %s", e.Path, e.Reason)
}

// Hint is a way out.
func (e *PathError) Hint() string { return e.Advice }

// unfit is the reason why a profile cannot hold a path; empty if it can.
// Invisible characters are refused as well: an administrator has to be able to
// read to which programs a profile is attached.
func unfit(path string) string {
	switch {
	case !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/":
		return "it is not the absolute path of a file or folder"
	case !utf8.ValidString(path):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "it has a character that cannot be printed"
	default:
		return ""
	}
}

// nameOf returns the name of a program's profile. The name has a digest of the
// path: with slashes replaced, two paths could have the same name.
func nameOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return "swarm-" + hex.EncodeToString(sum[:6])
}

// special are the characters with a meaning within a quoted AppArmor pattern
// (apparmor.d(5), section globbing), and the quote that ends it.
const special = `"\*?[]{}^,@`

// escape turns a path into a pattern that matches this path only.
func escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(special, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
