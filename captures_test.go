package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// capturesProgram is `captures ARG…`: it runs git in the git dir that holds the names of
// captures of the repository in the current folder.
func capturesProgram() {
	dir, err := refsDir(".", os.Getenv("SWARM_STATE_DIR"), os.Environ())
	if err == nil {
		var git string
		if git, err = exec.LookPath("git"); err == nil {
			err = syscall.Exec(git, append([]string{"git", "--git-dir=" + dir}, os.Args[1:]...), os.Environ())
		}
	}
	fmt.Fprintln(os.Stderr, "captures:", err)
	os.Exit(1)
}

// refsDir is the git dir below a state folder that holds the refs of runs in the
// repository of a folder.
func refsDir(repo, state string, environ []string) (string, error) {
	cmd := exec.Command("git", "rev-parse", "--path-format=absolute", "--git-common-dir")
	cmd.Dir, cmd.Env = repo, environ
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	common, err := filepath.EvalSymlinks(strings.TrimSuffix(string(out), "\n"))
	if err != nil {
		return "", err
	}
	all, err := filepath.Glob(filepath.Join(state, "*", "refs.git"))
	if err != nil {
		return "", err
	}
	for _, dir := range all {
		text, err := os.ReadFile(filepath.Join(dir, "objects", "info", "alternates"))
		if err == nil && strings.TrimSpace(string(text)) == filepath.Join(common, "objects") {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no run has begun in %s", repo)
}
