package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights that Landlock watches. They leave out running files, which
// needs no reading, and looking at names.
const (
	reads = unix.LANDLOCK_ACCESS_FS_READ_FILE
	// onFile are the writes that a rule for a file may allow.
	onFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writes = onFile | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// ruleset is what a thread and all that it starts will be allowed.
type ruleset struct {
	fd      int
	handled uint64
}

// newRuleset makes one of what the kernel knows of the given.
func newRuleset(access, scoped uint64) (*ruleset, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil, fmt.Errorf("ask for Landlock: %w", errno)
	}
	if abi < 2 {
		access &^= unix.LANDLOCK_ACCESS_FS_REFER // which is refused anyway
	}
	if abi < 3 {
		access &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 6 {
		scoped = 0
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: access, Scoped: scoped}
	// Only that much of it does every version know.
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if scoped != 0 {
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	if access == 0 && scoped == 0 {
		return &ruleset{fd: -1}, nil
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("make Landlock rules: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: access}, nil
}

// allow adds a rule for what is at a path and below. What is not there, or
// out of reach, needs none.
func (r *ruleset) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
			return nil
		}
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var at unix.Stat_t
	if err := unix.Fstat(fd, &at); err != nil {
		return err
	}
	if at.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= reads | onFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno == unix.EBADFD {
		return nil // A pipe or socket of /proc: no file system holds it.
	}
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}

// around allows to read below dir, but for what is hidden. A rule cannot take
// anything back, so that it takes one for everything beside.
func (r *ruleset) around(dir string, hidden []string) error {
	inside := false
	for _, path := range hidden {
		if path == dir {
			return nil
		}
		inside = inside || covers(dir, path)
	}
	if !inside {
		return r.allow(dir, reads)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil // Nor can the agent.
		}
		return err
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			continue // It counts where it leads to.
		}
		if err := r.around(filepath.Join(dir, e.Name()), hidden); err != nil {
			return err
		}
	}
	return nil
}

// enforce makes the rules hold for this thread and what it starts.
func (r *ruleset) enforce() error {
	if r.fd < 0 {
		return nil
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("enforce Landlock rules: %w", errno)
	}
	return nil
}

func (r *ruleset) close() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
	}
}

// restrict is the level without namespaces. It holds for this thread and what
// is started from it; the rest of the supervisor stays free.
//
// Weaker than mounts: names below what is hidden can be listed, sockets in the
// file system be connected to, and files that appear later beside what is
// hidden cannot be read.
func restrict(w Sandbox) error {
	if w.Open {
		return noNewPrivileges()
	}
	r, err := newRuleset(reads|writes, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
	if err != nil {
		return err
	}
	defer r.close()
	var hidden []string
	for _, p := range w.Pieces {
		if p.Empty {
			hidden = append(hidden, p.At)
		}
	}
	asRoot := os.Geteuid() == 0
	if asRoot {
		hidden = append(hidden, "/dev")
	}
	if err := r.around("/", hidden); err != nil {
		return fmt.Errorf("allow to read: %w", err)
	}
	for _, name := range append(harmless(), "ptmx", "pts") { // nothing can be mounted in their place
		if err := r.allow("/dev/"+name, reads|onFile); err != nil {
			return err
		}
	}
	for _, p := range w.Pieces {
		if err := r.admit(p); err != nil {
			return fmt.Errorf("allow %s: %w", p.At, err)
		}
	}
	if asRoot {
		err = giveUp()
	} else {
		err = noNewPrivileges()
	}
	if err != nil {
		return err
	}
	noForeignLimits()
	return r.enforce()
}

// admit allows what a piece would give.
func (r *ruleset) admit(p Piece) error {
	switch {
	case p.Empty || p.Scratch:
		return nil
	case len(p.Lower) > 0:
		return errors.New("layers need a mount namespace")
	case p.Write && p.From != p.At:
		return fmt.Errorf("%s cannot stand there without a mount namespace", p.From)
	case p.Write:
		return r.allow(p.From, reads|writes)
	default:
		return r.allow(p.From, reads)
	}
}

// noForeignSockets keeps the agent from sockets without a file, which no mount
// hides: those of D-Bus and X11, for example. Older kernels cannot; nor does
// this say anything about files, because who says so must not mount anymore.
func noForeignSockets() {
	r, err := newRuleset(0, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
	if err != nil {
		return
	}
	defer r.close()
	_ = r.enforce()
}
