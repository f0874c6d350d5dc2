package box

import "path/filepath"

// Hidden are the paths that no agent in a place sees, beside the state folder.
func Hidden(p Place) []string {
	c := composing{Place: p}
	return c.hidden()
}

// Cover says how a sandbox covers the place of a program.
type Cover uint8

// The covers.
const (
	Open    Cover = iota // the program is seen where it lies
	Mounted              // its folder is private to each agent; the program is mounted there, read-only
	Masked               // its folder is hidden, so the program cannot be started
)

// CoverOf tells how a sandbox in a place covers a program, and which folder is covered.
// The folder is empty where the program is seen, or does not exist. Of the pieces of
// the place only those count that open the folder of a login.
func CoverOf(p Place, program string) (Cover, string) {
	c := composing{Place: p}
	c.Home, _ = real(p.Home)
	target, ok := real(program)
	if !ok {
		return Open, ""
	}
	paths := []string{parented(program), target}
	in := func(dirs ...string) string {
		for _, dir := range dirs {
			at, ok := real(expand(dir, c.Home))
			for _, path := range paths {
				if ok && at != "/" && covers(at, path) {
					return filepath.Clean(expand(dir, c.Home))
				}
			}
		}
		return ""
	}
	if dir := in(append(c.hidden(), p.State)...); dir != "" {
		return Masked, dir
	}
	if dir := in("/tmp", "/var/tmp", "/run", "/dev/shm"); dir != "" {
		return Mounted, dir
	}
	return Open, ""
}
