package initconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWriteProjectConfig: a file that came since init looked is not lost, and
// nothing is left of an attempt that did not succeed.
func TestWriteProjectConfig(t *testing.T) {
	t.Parallel()
	const old, fresh = "[limits]\njobs = 1\n", "[limits]\njobs = 2\n"
	tests := []struct {
		name  string
		give  map[string]string // below .swarm
		force bool
		want  map[string]string
		fails bool
	}{
		{"nothing there", nil, false, map[string]string{"config.toml": fresh}, false},
		{"nothing to replace", nil, true, map[string]string{"config.toml": fresh}, false},
		{"there by now", map[string]string{"config.toml": old}, false, map[string]string{"config.toml": old}, true},
		{"replaced", map[string]string{"config.toml": old}, true, map[string]string{"config.toml": fresh, "config.toml.bak": old}, false},
		{
			"two to keep", map[string]string{"config.toml": old, "config.toml.bak": "x"}, true,
			map[string]string{"config.toml": old, "config.toml.bak": "x"}, true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var files []string
			for name, text := range tt.give {
				files = append(files, ".swarm/"+name+": "+text)
			}
			c := lay(t, files...)
			err := Write(c.root, fresh, tt.force)
			if (err != nil) != tt.fails {
				t.Errorf("Write = %v, want an error: %t", err, tt.fails)
			}
			entries, err := os.ReadDir(filepath.Join(c.root.Name(), ".swarm"))
			if err != nil || len(entries) != len(tt.want) {
				t.Errorf("left = %v, %v, want %d files", entries, err, len(tt.want))
			}
			for name, want := range tt.want {
				if got := c.read(".swarm/" + name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// FuzzSurvey checks that the file that init writes is valid whatever a
// repository holds, and that all words in it are swarm's.
func FuzzSurvey(f *testing.F) {
	for _, seed := range []string{
		"", "{", `{"scripts":{"test":"a"}}`, `{"scripts":{"test":["a"]},"packageManager":"yarn@4"}`,
		`{"dependencies":{"x":"\n"},"packageManager":"evil; rm"}`, "test:\n\tx", "pytest",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"package.json", "composer.json", "pyproject.toml", "Makefile"} {
			c := lay(t, "yarn.lock", "composer.lock", "uv.lock")
			if err := os.WriteFile(filepath.Join(c.root.Name(), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := Survey{ecosystems: c.ecosystems(), makefile: c.makeTest()}
			written := s.Text()
			loadText(t, written)
			if mark := "evil"; strings.Contains(text, mark) && strings.Contains(written, mark) {
				t.Errorf("words of %s are in\n%s", name, written)
			}
		}
	})
}
