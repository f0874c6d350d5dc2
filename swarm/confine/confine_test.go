package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/swarm/box"
	"agentswarm/worktree/git"
)

// TestGitConfig: where nothing can be mounted git would stop at a hidden configuration. It
// reads a copy without credentials.
func TestGitConfig(t *testing.T) {
	t.Parallel()
	home, private := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[http]\n\textraHeader = the-secret\n[lfs]\n\tconcurrentTransfers = 3\n"), 0o600),
		os.Mkdir(box.TmpOf(private), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &Runner{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	config := filepath.Join(box.TmpOf(private), "gitconfig")
	for _, level := range []box.Level{box.Landlock, box.Full, box.None} {
		env, err := r.environ(Sandbox{Level: level}, nil, git.ConfineRequest{Env: []string{"HOME=" + home}, Private: private})
		if got := slices.Contains(env, "GIT_CONFIG_GLOBAL="+config); err != nil || got != (level == box.Landlock) {
			t.Errorf("%v: git reads the copy: %t, %v", level, got, err)
		}
	}
	if text, err := os.ReadFile(config); err != nil || string(text) != "[lfs]\n\tconcurrenttransfers = \"3\"\n" {
		t.Errorf("the copy is %q, %v", text, err)
	}
	env, err := r.environ(Sandbox{Level: box.Landlock}, nil, git.ConfineRequest{Env: []string{"GIT_CONFIG_GLOBAL=/dev/null"}, Private: private})
	if err != nil || slices.Contains(env, "GIT_CONFIG_GLOBAL="+config) {
		t.Errorf("a chosen configuration is replaced: %q, %v", env, err)
	}
}
