package box

import (
	"os"
	"path/filepath"
	"strings"
)

// covers reports whether path is dir or lies in it.
func covers(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimRight(dir, "/"))
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

// expand turns "~" and what begins with "~/" into a path in HOME.
func expand(path, home string) string {
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isLink(path string) bool {
	at, err := os.Lstat(path)
	return err == nil && at.Mode()&os.ModeSymlink != 0
}

// isDevice reports whether a path is a device, such as /dev/null for no file.
func isDevice(path string) bool {
	at, err := os.Stat(path)
	return err == nil && at.Mode()&os.ModeDevice != 0
}

func isSocket(path string) bool {
	at, err := os.Lstat(path)
	return err == nil && at.Mode()&os.ModeSocket != 0
}

func isDir(path string) bool {
	at, err := os.Stat(path)
	return err == nil && at.IsDir()
}

// real is an absolute path without links; not ok: there is nothing, or nothing
// that its user could reach.
func real(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	path, err := filepath.EvalSymlinks(path)
	return path, err == nil
}

// parented is a path whose folder is named without links, as far as it exists.
func parented(path string) string {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	if real, ok := real(dir); ok {
		return filepath.Join(real, filepath.Base(path))
	}
	return filepath.Join(parented(dir), filepath.Base(path))
}
