package box

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/internal/testprogram"
)

// TestCoverOf holds which programs the sandbox hides, and which it mounts from a
// folder that is private to each agent.
func TestCoverOf(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "swarm-cover-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Dir(base)
	home, state := filepath.Join(base, "home"), filepath.Join(base, "state")
	program := func(name string) string {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		testprogram.Write(t, path, "#!/bin/sh\n")
		return path
	}
	link := func(name, target string) string {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	local := program("home/.claude/local/claude")
	plain, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, program string
		want          Cover
		dir           string
	}{
		{"of the system", plain, Open, ""},
		{"in /tmp", program("bin/pi"), Mounted, tmp},
		{"a link in /tmp to the system", link("bin/sh", plain), Mounted, tmp},
		{"in a folder of a login", local, Masked, filepath.Join(home, ".claude")},
		{"a link to there", link("bin/claude", local), Masked, filepath.Join(home, ".claude")},
		{"in what the user hides", program("secret/bin/x"), Masked, filepath.Join(base, "secret")},
		{"in the user's own folder", program("home/mine/x"), Masked, filepath.Join(home, "mine")},
		{"in the state", program("state/x"), Masked, state},
		{"of no program", filepath.Join(base, "none"), Open, ""},
		{"of no path", "sh", Open, ""},
		{"empty", "", Open, ""},
	} {
		got, dir := CoverOf(Place{
			Home: home, State: state, Hide: []string{filepath.Join(base, "secret"), "~/mine"}, Getenv: func(string) string { return "" },
		}, test.program)
		if got != test.want || tmp == "/tmp" && dir != test.dir {
			t.Errorf("%s: %d in %q, want %d in %q", test.name, got, dir, test.want, test.dir)
		}
	}
	own := filepath.Join(home, ".claude")
	if got, _ := CoverOf(Place{
		Home: home, State: state, Pieces: []Piece{{At: own, From: own, Write: true}}, Getenv: func(string) string { return "" },
	}, local); got == Masked {
		t.Error("the folder of a login is hidden from the agent that may write to it")
	}
}

// TestHiddenSockets: a link in the place of a folder for sockets hides nothing.
// Otherwise an agent that writes to /tmp could hide a folder from later runs.
func TestHiddenSockets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, link := filepath.Join(dir, "sockets"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Symlink("/usr", link)); err != nil {
		t.Fatal(err)
	}
	all := Hidden(Place{Sockets: []string{folder, link}, Getenv: func(string) string { return "" }})
	if !slices.Contains(all, folder) || slices.Contains(all, link) {
		t.Errorf("hidden are %q, want %s and not %s", all, folder, link)
	}
}

// TestMachineSecrets: folders with secrets of containers and units are hidden.
func TestMachineSecrets(t *testing.T) {
	t.Parallel()
	all := Hidden(Place{Getenv: func(string) string { return "" }})
	for _, dir := range []string{"/run/secrets", "/var/run/secrets", "/run/credentials", "/run/credstore"} {
		if !slices.Contains(all, dir) {
			t.Errorf("%s is not hidden", dir)
		}
	}
}
