package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentswarm/internal/testprogram"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("d/e/f", "f\n")
	common := filepath.Join(g.root, ".git")
	linked := filepath.Join(g.home, "linked")
	g.git("worktree", "add", "-q", linked)
	bare := filepath.Join(g.home, "bare.git")
	g.in(g.home, "clone", "-q", "--bare", g.root, bare)
	g.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bare, "sub")
	ln := filepath.Join(g.home, "ln")
	g.ok(os.Symlink(filepath.Join(g.root, "d"), ln))
	sub := filepath.Join(common, "modules", "sub")
	tests := []struct {
		name string
		dir  string
		want Repo
		repo string // as Name gives it
	}{
		{name: "top", dir: g.root, want: Repo{CommonDir: common, GitDir: common, TopLevel: g.root}, repo: filepath.Base(g.root)},
		{name: "folder", dir: filepath.Join(g.root, "d", "e"), repo: filepath.Base(g.root),
			want: Repo{CommonDir: common, GitDir: common, TopLevel: g.root, Prefix: "d/e/"}},
		{name: "symlink", dir: ln, repo: filepath.Base(g.root),
			want: Repo{CommonDir: common, GitDir: common, TopLevel: g.root, Prefix: "d/"}},
		{name: "linked", dir: linked, repo: filepath.Base(g.root),
			want: Repo{CommonDir: common, GitDir: filepath.Join(common, "worktrees", "linked"), TopLevel: linked}},
		{name: "bare", dir: bare, want: Repo{CommonDir: bare, GitDir: bare}, repo: "bare"},
		{name: "inside of the git dir", dir: common, want: Repo{CommonDir: common, GitDir: common}, repo: filepath.Base(g.root)},
		{name: "submodule", dir: filepath.Join(g.root, "sub"), repo: "sub",
			want: Repo{CommonDir: sub, GitDir: sub, TopLevel: filepath.Join(g.root, "sub")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// Variables of an outer git must not move the inner git.
			r, err := New(append(g.environ(), "GIT_DIR=/nowhere", "GIT_WORK_TREE=/")).Discover(t.Context(), tt.dir)
			if err != nil {
				t.Fatal(err)
			}
			got := *r
			got.Git, got.ObjectFormat, got.memo = nil, "", nil
			if got != tt.want {
				t.Errorf("Discover(%s) = %+v, want %+v", tt.dir, got, tt.want)
			}
			if r.ObjectFormat != "sha1" || r.Name() != tt.repo || r.Bare() != (tt.want.TopLevel == "") {
				t.Errorf("format, name, bare = %s, %s, %v", r.ObjectFormat, r.Name(), r.Bare())
			}
		})
	}
}

func TestDiscoverRefuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	var none *NotRepoError
	_, err := New(g.environ()).Discover(t.Context(), g.home)
	if !errors.As(err, &none) || none.Hint() == "" {
		t.Errorf("Discover outside of a repository = %v, want a NotRepoError", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository to somebody else")
	}
	g.ok(os.Chown(g.root, 12345, 12345), os.Chown(filepath.Join(g.root, ".git"), 12345, 12345))
	_, err = New(g.environ()).Discover(t.Context(), g.root)
	if !errors.As(err, &none) {
		t.Errorf("Discover of somebody else's = %v, want a NotRepoError", err)
	}
	g.ok(os.WriteFile(filepath.Join(g.home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o600))
	if _, err = New(g.environ()).Discover(t.Context(), g.root); err != nil {
		t.Errorf("Discover where safe.directory says so = %v", err)
	}
}

func TestDiscoverSHA256(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "--object-format=sha256")
	if r := g.repo(); r.ObjectFormat != "sha256" || r.hexLen() != 64 {
		t.Errorf("format = %s, %d digits", r.ObjectFormat, r.hexLen())
	}
}

// TestGitOnPath changes PATH, and so cannot be parallel.
func TestGitOnPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	var missing *MissingError
	if _, err := New(os.Environ()).Discover(t.Context(), dir); !errors.As(err, &missing) {
		t.Errorf("Discover without git = %v, want a MissingError", err)
	}
	fake := func(says string) {
		t.Helper()
		testprogram.Write(t, filepath.Join(dir, "git"), "#!/bin/sh\n"+says+"\n")
	}
	fake("echo git version 2.38.9.vendor.1")
	var old *VersionError
	if _, err := New(os.Environ()).Discover(t.Context(), dir); !errors.As(err, &old) || old.Have != "2.38.9.vendor.1" {
		t.Errorf("Discover with an old git = %v, want a VersionError", err)
	}
	fake("echo huh")
	if _, err := New(os.Environ()).Version(t.Context()); err == nil {
		t.Error("Version of what is not git: want an error")
	}
	fake("exit 3")
	var bad *Error
	if _, err := New(os.Environ()).Version(t.Context()); !errors.As(err, &bad) || bad.Code != 3 {
		t.Errorf("Version = %v, want an Error with code 3", err)
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"2.38.9", "2.39", true}, {"2.39", "2.39", false}, {"2.39.5", "2.39", false}, {"2.4", "2.39", true},
		{"2.100", "2.39", false}, {"3.0", "2.39", false}, {"1.9.9", "2.39", true}, {"2", "2.39", true},
		{"2.39.0.windows.1", "2.39", false}, {"2.38.windows", "2.39", true}, {"2.rc1", "2.39", false},
	}
	for _, tt := range tests {
		if got := older(tt.a, tt.b); got != tt.want {
			t.Errorf("older(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
