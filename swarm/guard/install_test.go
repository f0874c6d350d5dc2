package guard

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/risk"
)

func TestInstalled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"git": 0o755, "rm": 0o755, "sh": 0o755, "python": 0o755, "swarm": 0o755, "docker": 0o644, "ls": 0o755,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	programs := append(rules.Programs(), binary)
	if got, want := Installed(programs, "/nowhere:"+dir), []string{"git", "rm"}; !slices.Equal(got, want) {
		t.Errorf("Installed = %q, want %q", got, want)
	}
	if got := Installed(programs, ""); got != nil {
		t.Errorf("Installed with no PATH = %q", got)
	}
	// A guard makes sense for each of these.
	for _, name := range []string{"git", "rm", "rmdir", "mv", "dd", "shred", "kill", "pkill", "gh", "npm", "curl", "docker", "ssh", "crontab", "chmod"} {
		if !slices.Contains(programs, name) {
			t.Errorf("no rule looks at %s", name)
		}
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(dir string) error
	}{
		{"made", func(string) error { return nil }},
		{"one is gone", func(dir string) error { return os.Remove(filepath.Join(dir, "git")) }},
		{"one leads elsewhere", func(dir string) error {
			link := filepath.Join(dir, "git")
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.Symlink("/bin/true", link)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			self := filepath.Join(t.TempDir(), "build", "swarm")
			dir, err := Install(self, []string{"git", "rm"})
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(dir) != filepath.Join(filepath.Dir(self), Folder) {
				t.Errorf("Install(%q) = %q", self, dir)
			}
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			if again, err := Install(self, []string{"git", "rm"}); again != dir || err != nil {
				t.Fatalf("Install = %q, %v, want %q", again, err, dir)
			}
			for _, name := range []string{"git", "rm"} {
				to, err := os.Readlink(filepath.Join(dir, name))
				if err != nil || filepath.Join(dir, to) != self {
					t.Errorf("%s leads to %q, %v, want %q", name, to, err, self)
				}
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
				t.Errorf("the folder holds %v, %v", entries, err)
			}
			if other, err := Install(self, []string{"git"}); err != nil || other == dir {
				t.Errorf("Install of others = %q, %v: they are the same", other, err)
			}
		})
	}
	if dir, err := Install(filepath.Join(t.TempDir(), "a:b", "swarm"), []string{"git"}); dir != "" || err != nil {
		t.Errorf("Install = %q, %v, want none: they cannot be in a PATH", dir, err)
	}
	if dir, err := Install(filepath.Join(t.TempDir(), "swarm"), nil); dir != "" || err != nil {
		t.Errorf("Install of nothing = %q, %v", dir, err)
	}
}
