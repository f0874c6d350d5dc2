package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/shim"
)

// GitCommand is the first argument of a process that was called as git by an
// agent.
const GitCommand = "__git"

// InstallShims makes the folder of shims beside the kept binary and returns its path, which
// stands first in the PATH of agents. It returns an empty path where a colon in it would end
// the entry: git is then not shimmed. It returns an error if a file cannot be written.
func InstallShims(self string) (string, error) {
	dir := filepath.Join(filepath.Dir(self), "shims")
	if strings.Contains(dir, ":") {
		return "", nil
	}
	if err := hookShim(dir, self); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "git")
	const mode = 0o755 // it runs as a script: who runs it must read it
	info, err := os.Lstat(file)
	if err == nil && info.Mode() == mode {
		if text, err := os.ReadFile(file); err == nil && bytes.Equal(text, shim.Script) {
			return dir, nil
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the git of agents: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return "", fmt.Errorf("make the git of agents: %w", err)
	}
	_, err = temp.Write(shim.Script)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("make the git of agents: %w", err), os.Remove(temp.Name()))
	}
	return dir, nil
}

// hookShim puts the kept binary into the PATH of agents, for their hooks.
func hookShim(dir, self string) error {
	link, to := filepath.Join(dir, cmdline.Program), filepath.Join("..", filepath.Base(self))
	if now, err := os.Readlink(link); err == nil && now == to {
		return nil
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Symlink(to, link)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the hook of agents: %w", err)
	}
	return nil
}
