package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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
func build(w Walls) error {
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
	proc, err := makeProc(w.Rung)
	if err != nil {
		return err
	}
	defer unix.Close(proc)
	if !w.Open {
		if err := closeRoot(); err != nil {
			return err
		}
	}
	for i := range pieces {
		if err := pieces[i].put(); err != nil {
			return fmt.Errorf("put up %s: %w", pieces[i].At, err)
		}
	}
	// An empty folder is closed only now: other pieces may stand in it.
	for _, p := range pieces {
		if p.Empty && p.mount >= 0 && !p.file {
			attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
			if err := unix.MountSetattr(p.mount, "", unix.AT_EMPTY_PATH, &attr); err != nil {
				return fmt.Errorf("close %s: %w", p.At, err)
			}
		}
	}
	err = unix.MoveMount(proc, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("put up /proc: %w", err)
	}
	return nil
}

// closeRoot gives this process a second view of the whole file system, which
// can only be read. The first one cannot be made so: files of the supervisor
// are open for writing in it.
func closeRoot() error {
	root, err := unix.OpenTree(unix.AT_FDCWD, "/",
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("take a view of the file system: %w", err)
	}
	defer unix.Close(root)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(root, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
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

// makeProc makes a new /proc, or takes the old one aside while it can still be
// written to.
func makeProc(rung Rung) (int, error) {
	if !rung.FreshProc() {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/proc",
			unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return -1, fmt.Errorf("keep /proc: %w", err)
		}
		return fd, nil
	}
	return newFS("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

// detach makes the mounts of all pieces.
func detach(w Walls) ([]piece, error) {
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

func detachOne(p Piece) (piece, error) {
	made := piece{Piece: p, mount: -1}
	var at unix.Stat_t
	err := unix.Stat(p.At, &at)
	switch {
	case err != nil && p.Optional:
		return made, nil
	case err == nil:
		made.file = at.Mode&unix.S_IFMT != unix.S_IFDIR
	}
	switch {
	case p.From != "":
		made.mount, made.file, err = bind(p.From, p.Write)
	case len(p.Lower) > 0:
		made.mount, err = layer(p)
	case p.Empty && made.file:
		made.mount, _, err = bind(os.DevNull, true)
	default:
		made.mount, err = newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return made, err
}

// bind makes a second mount of what is at a path.
func bind(from string, write bool) (fd int, file bool, err error) {
	fd, err = unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, false, fmt.Errorf("open %s: %w", from, err)
	}
	var at unix.Stat_t
	if err = unix.Fstat(fd, &at); err == nil && !write {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
	}
	if err != nil {
		return -1, false, errors.Join(err, unix.Close(fd))
	}
	return fd, at.Mode&unix.S_IFMT != unix.S_IFDIR, nil
}

// put moves a piece to where it belongs.
func (p *piece) put() error {
	if p.mount < 0 {
		return nil
	}
	if err := p.place(); err != nil {
		return err
	}
	return unix.MoveMount(p.mount, "", unix.AT_FDCWD, p.At, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// place makes what a piece is mounted on, where an earlier one has taken it
// out of sight.
func (p *piece) place() error {
	at, err := os.Stat(p.At)
	if err == nil && at.IsDir() == !p.file {
		return nil
	}
	if err == nil {
		return fmt.Errorf("a folder and a file cannot stand for each other")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !p.file {
		return os.MkdirAll(p.At, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(p.At), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(p.At, os.O_CREATE|os.O_WRONLY, 0o600)
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

// layer makes an overlay. Its folders are named by descriptors: the kernel cuts
// long options off and reads colons, commas and backslashes in them.
func layer(p Piece) (int, error) {
	var fds []int
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	name := func(dir string) (string, error) {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", fmt.Errorf("open %s: %w", dir, err)
		}
		fds = append(fds, fd)
		return "/proc/self/fd/" + strconv.Itoa(fd), nil
	}
	var lower []string
	for _, dir := range p.Lower {
		path, err := name(dir)
		if err != nil {
			return -1, err
		}
		lower = append(lower, path)
	}
	upper, err := name(p.Upper)
	if err != nil {
		return -1, err
	}
	work, err := name(p.Work)
	if err != nil {
		return -1, err
	}
	// Without userxattr who is not root cannot mark a folder as opaque.
	return newFS("overlay", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, [][2]string{
		{"lowerdir", strings.Join(lower, ":")}, {"upperdir", upper}, {"workdir", work}, {"userxattr", ""},
	}...)
}
