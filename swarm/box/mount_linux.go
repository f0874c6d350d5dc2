package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// piece is a piece under way: a mount that stands nowhere yet.
type piece struct {
	Piece
	mount int  // -1: left out
	file  bool // it is no folder
}

// build makes the file system of the agent.
//
// All that will stand somewhere is made first, from outside, so that nothing
// that is put up hides what a later piece is made of.
func build(w Sandbox) error {
	pieces, err := detach(w)
	defer func() {
		for _, p := range pieces {
			if p.mount >= 0 {
				_ = unix.Close(p.mount)
			}
		}
	}()
	if err != nil {
		return err
	}
	proc, err := makeProc(w.Level)
	if err != nil {
		return err
	}
	defer unix.Close(proc)
	asRoot := os.Geteuid() == 0 && !w.Open
	var devices []device
	if !w.Open {
		if devices, err = takeDevices(); err != nil {
			return err
		}
		defer closeDevices(devices)
	}
	if !w.Open {
		if err := closeRoot(asRoot); err != nil {
			return err
		}
		if err := putDevices(devices); err != nil {
			return fmt.Errorf("make a private /dev: %w", err)
		}
	}
	return finish(pieces, proc, asRoot)
}

// finish puts everything up.
func finish(pieces []piece, proc int, asRoot bool) error {
	for i := range pieces {
		if err := pieces[i].put(); err != nil {
			return fmt.Errorf("put up %s: %w", pieces[i].At, err)
		}
	}
	// An empty folder is closed only now: other pieces may stand in it.
	for _, p := range pieces {
		if p.Empty && p.mount >= 0 && !p.file {
			if err := setAttr(p.mount, unix.MOUNT_ATTR_RDONLY, 0); err != nil {
				return fmt.Errorf("close %s: %w", p.At, err)
			}
		}
	}
	err := unix.MoveMount(proc, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("put up /proc: %w", err)
	}
	if asRoot {
		return closeProc()
	}
	return nil
}

// setAttr adds attributes to a mount, with AT_RECURSIVE to those in it too.
func setAttr(mount int, attrs uint64, flags uint) error {
	attr := unix.MountAttr{Attr_set: attrs}
	return unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH|flags, &attr)
}

// closeRoot gives this process a second view of the whole file system, which
// can only be read. The first one cannot be made so: files of the supervisor
// are open for writing in it.
//
// For root devices are none outside of /dev: it may open all by their owner.
func closeRoot(asRoot bool) error {
	root, err := unix.OpenTree(unix.AT_FDCWD, "/",
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("take a view of the file system: %w", err)
	}
	defer unix.Close(root)
	attrs := uint64(unix.MOUNT_ATTR_RDONLY)
	if asRoot {
		attrs |= unix.MOUNT_ATTR_NODEV
	}
	if err := setAttr(root, attrs, unix.AT_RECURSIVE); err != nil {
		return fmt.Errorf("make the file system read-only: %w", err)
	}
	err = unix.MoveMount(root, "", unix.AT_FDCWD, "/", unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("put the read-only file system up: %w", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return fmt.Errorf("enter the read-only file system: %w", err)
	}
	// Both names are the same folder: the old root ends up on top of the new
	// one, where it is let go (pivot_root(2)).
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("make the read-only file system the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	return unix.Chdir("/")
}

// detach makes the mounts of all pieces.
func detach(w Sandbox) ([]piece, error) {
	pieces := make([]piece, 0, len(w.Pieces))
	for _, p := range w.Pieces {
		made, err := detachOne(p)
		if err != nil {
			return pieces, fmt.Errorf("make what stands at %s: %w", p.At, err)
		}
		pieces = append(pieces, made)
	}
	return pieces, nil
}

func detachOne(p Piece) (made piece, err error) {
	made = piece{Piece: p, mount: -1}
	if p.Optional {
		shown := p.At
		if p.From != "" {
			shown = p.From
		}
		// A path that its user cannot reach counts as missing.
		if _, err := os.Stat(shown); err != nil {
			return made, nil
		}
	}
	var at unix.Stat_t
	if err := unix.Stat(p.At, &at); err == nil {
		made.file = at.Mode&unix.S_IFMT != unix.S_IFDIR
	}
	switch {
	case p.From != "":
		made.mount, made.file, err = bind(p.From)
		if err == nil {
			attrs := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
			if !p.Write {
				attrs |= unix.MOUNT_ATTR_RDONLY
			}
			err = setAttr(made.mount, attrs, unix.AT_RECURSIVE)
		}
	case len(p.Lower) > 0:
		made.mount, err = layer(p)
		made.file = false
	case p.Empty && made.file:
		if made.mount, _, err = bind(os.DevNull); err == nil {
			err = lockDevice(made.mount)
		}
	default:
		made.mount, err = newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		made.file = false
	}
	return made, err
}

// bind makes a second mount of what is at a path, and of what is mounted in it.
func bind(from string) (fd int, file bool, err error) {
	fd, err = unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, false, fmt.Errorf("open %s: %w", from, err)
	}
	var at unix.Stat_t
	if err := unix.Fstat(fd, &at); err != nil {
		return -1, false, errors.Join(err, unix.Close(fd))
	}
	return fd, at.Mode&unix.S_IFMT != unix.S_IFDIR, nil
}

// masks reports whether a piece only hides a path. Where an earlier piece has taken
// that out of sight there is nothing to hide: /dev/mqueue is on most systems, and in
// no agent's /dev.
func (p *piece) masks() bool { return p.Empty && p.Optional }

// put moves a piece to where it belongs.
func (p *piece) put() error {
	if p.mount < 0 {
		return nil
	}
	at, err := p.place()
	if p.masks() && errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return unix.MoveMount(p.mount, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// place opens the path that a piece is mounted on. It makes that where an earlier
// piece has taken it out of sight, except for a mask. It follows no links: all that
// were there are resolved, and a link that an earlier agent has left would lead
// elsewhere.
func (p *piece) place() (int, error) {
	open := func() (int, error) {
		return unix.Openat2(unix.AT_FDCWD, p.At, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
		})
	}
	at, err := open()
	if errors.Is(err, unix.ENOENT) && !p.masks() {
		if err := p.make(); err != nil {
			return -1, err
		}
		at, err = open()
	}
	return at, err
}

func (p *piece) make() error {
	if !p.file {
		return os.MkdirAll(p.At, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(p.At), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(p.At, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// newFS makes a file system of a type that needs no source.
func newFS(kind string, attrs int, options ...[2]string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("mount a new %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for _, o := range options {
		if o[1] == "" {
			err = unix.FsconfigSetFlag(fs, o[0])
		} else {
			err = unix.FsconfigSetString(fs, o[0], o[1])
		}
		if err != nil {
			return -1, fmt.Errorf("mount a new %s: option %s: %w", kind, o[0], wordsOf(fs, err))
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("mount a new %s: %w", kind, wordsOf(fs, err))
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attrs)
	if err != nil {
		return -1, fmt.Errorf("mount a new %s: %w", kind, wordsOf(fs, err))
	}
	return mount, nil
}

// wordsOf adds what the kernel says of a failure beside its number.
func wordsOf(fs int, err error) error {
	buf := make([]byte, 512)
	n, rerr := unix.Read(fs, buf)
	if rerr != nil || n <= 2 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(buf[2:n])))
}
