package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/swarm/box"
	"agentswarm/swarm/privatehome"
)

// TestSameCopy: a copy of a file or folder is known as a copy, and a
// replacement by the agent is not.
func TestSameCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"user/config": "[user]\n", "user/ignore": "*.o\n", "user/credentials": "secret\n",
		"copy/config": "[user]\n", "copy/ignore": "*.o\n",
		"changed/config": "[core]\n", "changed/ignore": "*.o\n",
		"more/config": "[user]\n", "more/ignore": "*.o\n", "more/attributes": "* text\n",
		"less/config": "[user]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path("user/config"), path("link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"copy", "user", true},
		{"copy/config", "user/config", true},
		{"link", "user/config", true},
		{"changed", "user", false},
		{"changed/config", "user/config", false},
		{"more", "user", false},
		{"less", "user", false},
		{"pipe", "user/config", false},
		{"copy", "user/config", false},
		{"copy", "nothing", false},
		{"nothing", "user", false},
		{"nothing", "nothing either", true},
	} {
		if got := (gitFiles{copied: true}).same(path(tc.a), path(tc.b)); got != tc.want {
			t.Errorf("same(%s, %s) = %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestChangedGitFiles: agents have configuration without credentials, as a copy or in
// the layer of HOME. It is no change of theirs.
func TestChangedGitFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, getenv := filepath.Join(dir, "user"), func(string) string { return "" }
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"dotfiles/git": "[user]\nname = Ada\n[http]\nextraHeader = secret\n[include]\npath = ~/more\n", "more": "[user]\nemail = a@b\n",
		".config/git/config": "[github]\noauth = secret\n", ".config/git/ignore": "*.o\n", ".config/git/credentials": "secret",
	} {
		write(filepath.Join(home, name), text)
	}
	if err := os.Symlink("dotfiles/git", filepath.Join(home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	copied := func(t *testing.T) string {
		shared, at := t.TempDir(), filepath.Join(t.TempDir(), "home")
		hidden := box.Hidden(box.Place{Home: home, Getenv: getenv, Secret: privatehome.GitIncludes(home, getenv)})
		template, err := privatehome.Prepare(privatehome.Request{Home: home, Hidden: hidden, Shared: shared, Getenv: getenv})
		if err != nil {
			t.Fatal(err)
		}
		if err := template.Build(at, nil); err != nil {
			t.Fatal(err)
		}
		return at
	}
	layer := func(t *testing.T) string {
		plain := t.TempDir()
		if err := privatehome.WritePlain(home, getenv, plain); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(plain, home)
	}
	empty := func(t *testing.T) string { return t.TempDir() }
	for _, test := range []struct {
		name   string
		make   func(t *testing.T) string
		change func(at string) error
		want   bool
	}{
		{"a copy", copied, nil, false},
		{"a layer", layer, nil, false},
		{"an empty layer", empty, nil, false},
		{"a changed copy", copied, func(at string) error { return os.WriteFile(filepath.Join(at, ".gitconfig"), []byte("[a]\n"), 0o600) }, true},
		{"a changed layer", layer, func(at string) error { return os.WriteFile(filepath.Join(at, "dotfiles/git"), []byte("[a]\n"), 0o600) }, true},
		{"a changed included copy", copied, func(at string) error { return os.WriteFile(filepath.Join(at, "more"), nil, 0o600) }, true},
		{"a changed included layer", layer, func(at string) error { return os.WriteFile(filepath.Join(at, "more"), nil, 0o600) }, true},
		{"another file of a copied folder", copied, func(at string) error { return os.WriteFile(filepath.Join(at, ".config/git/attributes"), nil, 0o600) }, true},
		{"another file of a layer", layer, func(at string) error { return os.WriteFile(filepath.Join(at, ".config/git/ignore"), nil, 0o600) }, true},
		{"a folder without its file", layer, func(at string) error { return os.Remove(filepath.Join(at, ".config/git/config")) }, true},
		{"in the place of a link", layer, func(at string) error { return os.WriteFile(filepath.Join(at, ".gitconfig"), nil, 0o600) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			at := test.make(t)
			if test.change != nil {
				if err := test.change(at); err != nil {
					t.Fatal(err)
				}
			}
			seen := gitFiles{user: home, plain: privatehome.PlainGit(home, getenv), copied: strings.Contains(test.name, "cop")}
			j := &Judge{Request: Request{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
			if got := seen.changed(at, j.userGit()); got != test.want {
				t.Errorf("changed = %t, want %t", got, test.want)
			}
		})
	}
}
