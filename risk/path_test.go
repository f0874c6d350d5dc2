package risk

import "testing"

func TestAreaOf(t *testing.T) {
	t.Parallel()
	own, linked, main := place(), shared(), shared()
	main.Root, main.GitDir = "/repo/main", "/repo/main/.git"
	below := shared()
	below.Root, below.Tmp = "/tmp/run/1/tree", []string{"/tmp", "/tmp/run/1/tmp"}
	below.GitDir, below.CommonDir = "/repo/main/.git/worktrees/tree", "/repo/main/.git"
	below.Others = []string{"/repo/main", "/tmp/run/2/tree"}
	for _, c := range []struct {
		name  string
		place Place
		file  string
		want  area
	}{
		{"own", own, "/repo/tree/src/a.go", areaTree},
		{"own", own, "/repo/tree/.git/config", areaGit},
		{"own", own, "/tmp/x", areaTmp},
		{"own", own, "/repo/x", areaOutside},
		{"linked", linked, "/repo/tree/.git", areaGit},
		{"linked", linked, "/repo/main/.git/worktrees/tree/HEAD", areaGit},
		{"linked", linked, "/repo/main/.git/worktrees/other/HEAD", areaCommon},
		{"linked", linked, "/repo/main/.git/config", areaCommon},
		{"linked", linked, "/repo/main/a", areaOther},
		{"main", main, "/repo/main/.git/config", areaCommon},
		{"main", main, "/repo/main/a", areaTree},
		{"main", main, "/repo/sibling/a", areaOther},
		{"below", below, "/tmp/run/1/tree/a", areaTree},
		{"below", below, "/tmp/run/1/tmp/a", areaTmp},
		{"below", below, "/tmp/run/1/a", areaOutside},
		{"below", below, "/tmp/run/2/tree/a", areaOther},
		{"below", below, "/tmp/run/3/tree/a", areaOutside},
		{"below", below, "/tmp/other", areaTmp},
	} {
		if got := c.place.areaOf(c.file); got != c.want {
			t.Errorf("%s: areaOf(%s) = %d, want %d", c.name, c.file, got, c.want)
		}
	}
}

// A file in the shared git dir is blocked under every name that it has.
func TestSharedGitDir(t *testing.T) {
	t.Parallel()
	r := load(t)
	for give, want := range map[string]bool{
		`rm -rf "$(git rev-parse --git-common-dir)/refs"`:           true,
		`cp x "$(git rev-parse --git-common-dir)/hooks/pre-commit"`: true,
		`echo x > "$(git rev-parse --git-dir)/COMMIT_EDITMSG"`:      false,
		`cat "$(git rev-parse --git-common-dir)/config"`:            false,
		"chmod +x /repo/main/.git/hooks/x":                          true,
		"chmod -x /repo/main/.git/hooks/x":                          true,
		"chmod -R go-rwx /repo/main/.git":                           true,
		"chmod -x src/a.go":                                         false,
		"git checkout -B main":                                      true,
		"git switch -C main":                                        true,
		"git checkout -B feature/x":                                 false,
		"git gc -h":                                                 false,
		"git stash -h":                                              false,
		"git checkout -B new":                                       false,
	} {
		if got := r.Classify(&Shell{Text: give}, shared()); got.Blocked != want {
			t.Errorf("Classify(%s) is blocked: %v, want %v", give, got.Blocked, want)
		}
	}
}

// The files with which the main checkout commits belong to it, even if its git
// dir is shared.
func TestMainCheckoutIsShared(t *testing.T) {
	t.Parallel()
	r, p := load(t), shared()
	p.Root, p.GitDir, p.Others = "/repo/main", "/repo/main/.git", []string{"/repo/tree"}
	for give, want := range map[string]bool{
		"echo x > .git/config": true, "rm -rf .git": true, "rm .git/refs/heads/x": true, "git gc": true, "echo x > .git/COMMIT_EDITMSG": false,
		"echo x > a": false, "git commit -m x": false, "rm -rf src": false,
	} {
		if got := r.Classify(&Shell{Text: give}, p); got.Blocked != want {
			t.Errorf("Classify(%s) is blocked: %v, want %v", give, got.Blocked, want)
		}
	}
}
