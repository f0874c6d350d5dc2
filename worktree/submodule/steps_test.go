package submodule

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/worktree/git"
)

// TestStepsStayInside: neither the names of a .gitmodules nor the folders of a
// checkout lead to a repository outside of the user's submodules.
func TestStepsStayInside(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, env := filepath.Join(top, "repo"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top}
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = in, append(env, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(in string) git.Hash {
		t.Helper()
		run(in, "add", "-A")
		run(in, "-c", "user.name=u", "-c", "user.email=u", "commit", "-q", "--allow-empty", "-m", "c")
		return git.Hash(run(in, "rev-parse", "HEAD"))
	}
	run(top, "init", "-q", dir)
	run(top, "init", "-q", filepath.Join(top, "other"))
	commit(filepath.Join(top, "other"))
	known := commit(filepath.Join(top, "other"))
	for _, to := range []string{"repo/.git/modules/fine", "repo/.git/real"} {
		run(top, "clone", "-q", "--bare", filepath.Join(top, "other"), filepath.Join(top, to))
	}
	var modules strings.Builder
	for path, name := range map[string]string{
		"fine": "fine", "up": "../real", "far": "../../../other/.git", "dot": "./fine", "link": "linked", "gone": "gone",
	} {
		modules.WriteString("[submodule \"" + name + "\"]\n\tpath = " + path + "\n")
	}
	for file, text := range map[string]string{".gitmodules": modules.String(), "f": "f\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := commit(dir)
	for _, err := range []error{
		os.Symlink(filepath.Join(top, "other", ".git"), filepath.Join(dir, ".git/modules/linked")),
		os.Symlink(filepath.Join(top, "other"), filepath.Join(dir, "folder")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	repo, err := git.New(env).Discover(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"fine": true, "up": false, "far": false, "dot": false, "link": false, "gone": false, "folder": false, "unnamed": false,
	} {
		steps, missing, err := Steps(t.Context(), Request{
			Repo: repo, Stores: filepath.Join(top, "stores"), From: base,
			Changes: []git.Change{{Path: path, OldMode: git.Gitlink, NewMode: git.Gitlink, Old: known, New: known}},
		})
		if err != nil || (len(steps) == 1) != want || (len(missing) == 1) == want {
			t.Errorf("%s: %d steps, missing %v, %v", path, len(steps), missing, err)
		}
	}
}
