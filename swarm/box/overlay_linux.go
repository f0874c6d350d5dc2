package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// layer makes an overlay.
//
// The kernel takes no lower folder that lies in another one, and what an
// earlier command left of HOME is kept with the state, which usually lies in
// HOME. Then the lowest is shown by an overlay of its own.
func layer(p Piece) (int, error) {
	mount, err := overlay(p)
	if errors.Is(err, unix.EINVAL) {
		// The kernel does not say that a file system was mounted after the probe.
		if mounted := MountsBelow(p.Lower[len(p.Lower)-1], ""); mounted != nil {
			err = fmt.Errorf("%w: %w", err, mounted)
		}
		return mount, err
	}
	if len(p.Lower) < 2 || !errors.Is(err, unix.ELOOP) {
		return mount, err
	}
	at, err := under(p)
	if err != nil {
		return -1, fmt.Errorf("show %s below %s: %w", p.Lower[len(p.Lower)-1], p.Lower[0], err)
	}
	// The overlay that is made of it holds it.
	defer func() { _ = unix.Unmount(at, unix.MNT_DETACH) }()
	p.Lower = append(p.Lower[:len(p.Lower)-1:len(p.Lower)-1], at)
	return overlay(p)
}

// under puts up an overlay of the lowest folder of a piece alone, which nobody
// writes to, and returns where. It stands somewhere, since older kernels make no
// overlay of a mount that does not.
func under(p Piece) (string, error) {
	dir := p.Work + "-under"
	at := filepath.Join(dir, "at")
	below := Piece{
		Lower: p.Lower[len(p.Lower)-1:], Upper: filepath.Join(dir, "up"), Work: filepath.Join(dir, "wk"), Sealed: true,
	}
	for _, dir := range []string{at, below.Upper, below.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	// The top of HOME is as the lower one is, not as this folder.
	if info, err := os.Stat(below.Lower[0]); err == nil {
		if err := os.Chmod(below.Upper, info.Mode().Perm()|0o700); err != nil {
			return "", err
		}
	}
	mount, err := overlay(below)
	if err != nil {
		return "", err
	}
	defer unix.Close(mount)
	return at, unix.MoveMount(mount, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// overlay makes an overlay. Its folders are named by descriptors: the kernel cuts
// long options off and reads colons, commas and backslashes in them.
func overlay(p Piece) (int, error) {
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
	attrs := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if p.Sealed {
		attrs |= unix.MOUNT_ATTR_RDONLY
	}
	// Without userxattr who is not root cannot mark a folder as opaque.
	return newFS("overlay", attrs, [][2]string{
		{"lowerdir", strings.Join(lower, ":")}, {"upperdir", upper}, {"workdir", work}, {"userxattr", ""},
	}...)
}
