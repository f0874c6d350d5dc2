package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// interpreters are programs with rules that get no guard. The programs that
// they run have guards. An interpreter is started too often for a guard, and
// some find their own files by the name of their call.
func interpreters() []string {
	return []string{
		"bash", "dash", "ksh", "sh", "source", "zsh",
		"bun", "deno", "node", "nodejs", "perl", "php", "python", "python3", "ruby", "ts-node", "tsx",
	}
}

// Installed returns those of some programs that get a guard. They are in a folder of
// path: the guard of a missing program would make it seem installed.
func Installed(programs []string, path string) []string {
	var all []string
	for _, name := range programs {
		if name != filepath.Base(name) || name == "." || name == binary || slices.Contains(interpreters(), name) {
			continue
		}
		there := slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
			file := filepath.Join(dir, name)
			info, err := os.Stat(file)
			return err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil
		})
		if there {
			all = append(all, name)
		}
	}
	return all
}

// Install makes the folder with the guards of some programs, beside the kept binary
// self, or completes it. It returns the folder; "" without programs, and if the path
// has a colon, which no PATH can hold. The error says which link cannot be made.
func Install(self string, names []string) (string, error) {
	if len(names) == 0 || strings.Contains(self, ":") {
		return "", nil
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	dir := filepath.Join(filepath.Dir(self), Folder, hex.EncodeToString(sum[:6]))
	fail := func(err error) (string, error) { return "", fmt.Errorf("make the guards of agents: %w", err) }
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	to := filepath.Join("..", "..", filepath.Base(self))
	for _, name := range names {
		if err := relink(filepath.Join(dir, name), to); err != nil {
			return fail(err)
		}
	}
	return dir, nil
}

// relink makes link lead to a target. A process that looks the link up
// meanwhile finds the old target or the new target.
func relink(link, to string) error {
	now, err := os.Readlink(link)
	switch {
	case err == nil && now == to:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = os.Symlink(to, link)
		if errors.Is(err, fs.ErrExist) {
			return nil // another run made it meanwhile
		}
		return err
	}
	temp := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(to, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, link); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
