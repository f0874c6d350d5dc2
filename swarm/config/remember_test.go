package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestRememberConfined: a single key is added to the user's file, once, and
// nothing else in it changes.
func TestRememberConfined(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want string }{
		{"no file", "", "[risk]\nconfined = \"snapshot\"\n"},
		{"other tables", "# mine\n[limits]\njobs = 3\n", "# mine\n[limits]\njobs = 3\n\n[risk]\nconfined = \"snapshot\"\n"},
		{"without a line end", "[limits]\njobs = 3", "[limits]\njobs = 3\n\n[risk]\nconfined = \"snapshot\"\n"},
		{"an empty table", "[risk] # mine\n[limits]\njobs = 3\n", "[risk] # mine\nconfined = \"snapshot\"\n[limits]\njobs = 3\n"},
		{"a table at the end", "[risk]", "[risk]\nconfined = \"snapshot\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "swarm", "config.toml")
			if tt.give != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(tt.give), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := RememberConfined(file, ConfinedSnapshot); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != tt.want {
				t.Errorf("the file is %q, %v, want %q", got, err, tt.want)
			}
			var known *KnownError
			if err := RememberConfined(file, ConfinedAsk); !errors.As(err, &known) {
				t.Errorf("a second time: %v, want a KnownError", err)
			}
			if again, err := os.ReadFile(file); err != nil || string(again) != tt.want {
				t.Errorf("the second time changed it to %q, %v", again, err)
			}
			if files, err := os.ReadDir(filepath.Dir(file)); err != nil || len(files) != 1 {
				t.Errorf("the folder has %d files, %v", len(files), err)
			}
		})
	}
	for name, text := range map[string]string{
		"broken": "[risk\n", "in line": "risk = { rules = [] }\n",
	} {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := RememberConfined(file, ConfinedSnapshot); err == nil {
			t.Errorf("%s: it was written", name)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s: the file is now %q, %v", name, got, err)
		}
	}
}

// TestWriteFile holds that the file behind a link is replaced, with its mode.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{link, filepath.Join(dir, "new", "file")} {
		text := fmt.Sprint("text ", i)
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != text || err != nil {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	if info, err := os.Lstat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has mode %v, %v, want that of the old one", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".config-*")); len(left) > 0 || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
