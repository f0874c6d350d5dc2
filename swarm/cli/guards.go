package cli

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

	"agentswarm/swarm/guard"
)

// guardActions puts guards into the PATH of agents where walls cannot stand.
// Who takes the walls down has said that agents may do what they like.
func (b *bench) guardActions(self string, j *judge) error {
	if b.rung.Namespaces() || b.isolation.open() {
		return nil
	}
	law, err := j.known()
	if err != nil {
		return err
	}
	b.guards, err = guards(self, guarded(law.rules.Programs(), b.env.Getenv("PATH")))
	return err
}

// runners are programs that rules look at and that have no guard: shells and
// interpreters. What they run has its own, they are started far too often, and
// some find their own files by the name they are called by.
func runners() []string {
	return []string{
		"bash", "dash", "ksh", "sh", "source", "zsh",
		"bun", "deno", "node", "nodejs", "perl", "php", "python", "python3", "ruby", "ts-node", "tsx",
	}
}

// guarded are those of some programs that have a guard: a guard for what is
// not there would make it seem to be.
func guarded(programs []string, path string) []string {
	var all []string
	for _, name := range programs {
		if name != filepath.Base(name) || name == "." || name == program || slices.Contains(runners(), name) {
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

// guards is the folder beside the kept binary of a build that holds the guards
// of these programs, made where it is missing, and what is missing in it. It is
// empty where no PATH can name it.
func guards(self string, names []string) (string, error) {
	if len(names) == 0 || strings.Contains(self, ":") {
		return "", nil
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	dir := filepath.Join(filepath.Dir(self), guard.Folder, hex.EncodeToString(sum[:6]))
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

// relink sees to it that a link leads somewhere.
func relink(link, to string) error {
	now, err := os.Readlink(link)
	switch {
	case err == nil && now == to:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = os.Symlink(to, link)
		if errors.Is(err, fs.ErrExist) {
			return nil // another run was as quick
		}
		return err
	}
	// Whoever looks it up finds the old or the new one.
	temp := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(to, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, link); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
