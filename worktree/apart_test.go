package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"agentswarm/worktree/git"
)

// beside runs a confined command without a sandbox, and then the given
// function.
func beside(after func(git.ConfineRequest) error) git.Confine {
	return func(ctx context.Context, r git.ConfineRequest) (int, error) {
		seen := map[string]bool{}
		for _, kv := range r.Env {
			name, _, _ := strings.Cut(kv, "=")
			if seen[name] {
				return -1, fmt.Errorf("two values of %s", name)
			}
			seen[name] = true
		}
		for _, dir := range append(append([]string{r.Dir}, r.Read...), r.Write...) {
			if at, err := os.Stat(dir); err != nil || !at.IsDir() {
				return -1, fmt.Errorf("there is no folder %s", dir)
			}
		}
		cmd := exec.CommandContext(ctx, r.Argv[0], r.Argv[1:]...)
		cmd.Env, cmd.Dir = r.Env, r.Dir
		in, err := os.Open(r.Stdin)
		if err != nil {
			return -1, err
		}
		defer in.Close()
		out, err := os.OpenFile(r.Stdout, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return -1, err
		}
		defer out.Close()
		words, err := os.OpenFile(r.Stderr, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return -1, err
		}
		defer words.Close()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, words
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			return -1, err
		}
		if after != nil {
			err = after(r)
		}
		return cmd.ProcessState.ExitCode(), err
	}
}

// lower is a filter that converts text to lower case.
const lower = "[filter \"low\"]\n\tclean = tr A-Z a-z\n\tsmudge = cat\n\trequired\n"

// TestCaptureConfinesOnlyFilters: a capture uses the sandbox only if a filter
// is assigned to a changed file.
func TestCaptureConfinesOnlyFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		want  int32
	}{
		{"none", []string{"a.md", "A\n"}, 0},
		{"line ends", []string{"a.crlf", "A\r\n"}, 0},
		{"an encoding", []string{"a.wide", "A\x00\n\x00"}, 0},
		{"a filter that is set up nowhere", []string{"a.other", "A\n"}, 0},
		{"one", []string{"a.low", "A\n", "b.low", "B\n", "a.md", "A\n"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.unapplied = true // the patch of wide text is not tried
			var runs atomic.Int32
			f.confine = beside(func(git.ConfineRequest) error { runs.Add(1); return nil })
			f.write(f.home, ".gitconfig", lower)
			base := f.commit(".gitattributes",
				"*.low filter=low\n*.crlf text\n*.wide working-tree-encoding=UTF-16LE\n*.other filter=other\n")
			f.open()
			w := f.lease(base)
			f.write(w.Dir, tt.files...)
			c := f.capture(w)
			if got := runs.Load(); got != tt.want || !c.Changed {
				t.Errorf("%d runs behind walls, want %d; changed = %v", got, tt.want, c.Changed)
			}
		})
	}
}

// TestCaptureTellsOfFailedFilters: a filter may lack files in the sandbox. If
// git goes on without the filter, the capture has a note.
func TestCaptureTellsOfFailedFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, filter, want string }{
		{"works", "clean = tr A-Z a-z\n", ""},
		{"fails", "clean = false\n", "filter_failed:"},
		{"is not there", "clean = /nowhere/to/be/found\n", "filter_failed:"},
		{"is no process", "process = /nowhere/to/be/found\n", "filter_failed:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.confine = beside(nil)
			f.write(f.home, ".gitconfig", "[filter \"low\"]\n\t"+tt.filter)
			base := f.commit(".gitattributes", "*.low filter=low\n")
			f.open()
			w := f.lease(base)
			f.write(w.Dir, "a.low", "A\n")
			if c := f.capture(w); kinds(c) != tt.want {
				t.Errorf("notes = %q, want %q", kinds(c), tt.want)
			}
		})
	}
}

// TestFilterLeavesTraps: whatever a filter that was taken over leaves where it
// can write, git and swarm write nowhere else for it, and believe nothing.
func TestFilterLeavesTraps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		trap func(f *fixture, work string) error
		good bool // it is captured all the same
	}{
		{"an index that leads away", func(f *fixture, work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "index")),
				os.Symlink(f.victim(), filepath.Join(work, "index")))
		}, false},
		{"an index that nobody writes", func(_ *fixture, work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "index")),
				syscall.Mkfifo(filepath.Join(work, "index"), 0o600))
		}, false},
		{"locks that lead away", func(f *fixture, work string) error {
			return errors.Join(os.Symlink(f.victim(), filepath.Join(work, "index.lock")),
				os.Symlink(f.victim(), filepath.Join(work, "..", "scratch.lock")))
		}, true},
		{"object folders that lead away", func(f *fixture, work string) error {
			return eachFolder(filepath.Join(work, "objects"), func(dir string) error {
				return errors.Join(os.RemoveAll(dir), os.Symlink(f.home, dir))
			})
		}, false},
		{"objects of another name", func(f *fixture, work string) error {
			objects := filepath.Join(f.root, ".git", "objects")
			some := f.git("rev-parse", "HEAD:x")
			text, err := os.ReadFile(filepath.Join(objects, some[:2], some[2:]))
			if err != nil {
				return err
			}
			return eachFolder(filepath.Join(work, "objects"), func(dir string) error {
				files, err := os.ReadDir(dir)
				for _, e := range files {
					path := filepath.Join(dir, e.Name())
					err = errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o444))
				}
				return err
			})
		}, false},
		{"folders that are closed", func(_ *fixture, work string) error {
			var err error
			for _, dir := range []string{work, filepath.Join(work, "..", "..", "scratch")} {
				deep := filepath.Join(dir, "closed", "deep")
				err = errors.Join(err, os.MkdirAll(deep, 0o700), os.Chmod(filepath.Dir(deep), 0))
			}
			return err
		}, true},
		{"rules in its folder", func(_ *fixture, work string) error {
			return os.WriteFile(filepath.Join(work, "..", "..", "scratch", ".gitattributes"), []byte("* filter=other\n"), 0o600)
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			must(t, os.WriteFile(f.victim(), []byte("mine\n"), 0o600))
			f.confine = beside(func(r git.ConfineRequest) error { return tt.trap(f, r.Write[0]) })
			f.write(f.home, ".gitconfig", lower)
			base := f.commit(".gitattributes", "*.low filter=low\n", "x", "x\n")
			f.open()
			w := f.lease(base)
			f.write(w.Dir, "new.low", "NEW\n", "other", "o\n")
			names := entries(t, f.home)
			c, err := f.trees.Capture(t.Context(), f.captureRequest(w))
			if (err == nil) != tt.good {
				t.Errorf("Capture: %v, want success: %v", err, tt.good)
			}
			if err == nil && (f.show(c.Tree, "new.low") != "new\n" || f.show(c.Tree, "other") != "o\n") {
				t.Errorf("captured %q", f.files(c.Tree))
			}
			if text, err := os.ReadFile(f.victim()); err != nil || string(text) != "mine\n" {
				t.Errorf("the file of the user's is %q, %v", text, err)
			}
			if got := entries(t, f.home); got != names {
				t.Errorf("HOME holds %s, want %s", got, names)
			}
			if _, err := os.Lstat(f.captureRequest(w).Objects); err == nil {
				t.Error("the quarantine is still there")
			}
		})
	}
}

func (f *fixture) victim() string { return filepath.Join(f.home, "victim") }

func entries(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	return fmt.Sprint(all)
}

// eachFolder calls do for each folder of loose objects.
func eachFolder(objects string, do func(dir string) error) error {
	dirs, err := filepath.Glob(filepath.Join(objects, "[0-9a-f][0-9a-f]"))
	if err == nil && len(dirs) == 0 {
		err = errors.New("there are no objects")
	}
	for _, dir := range dirs {
		err = errors.Join(err, do(dir))
	}
	return err
}

// TestTakeLFS: the store takes only files whose content matches their names,
// and no file in it changes.
func TestTakeLFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, store := filepath.Join(dir, "from"), filepath.Join(dir, "store")
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	put := func(root, name, text string) string {
		path := filepath.Join(root, filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
		return path
	}
	must(t, takeLFS(from, store)) // no file was cleaned
	put(from, lfsPath(sum("new")), "new")
	put(from, lfsPath(sum("false")), "not what it says")
	put(from, "objects/"+sum("astray"), "astray")
	put(from, "objects/zz/zz/"+sum("far"), "far")
	put(from, "tmp/half", "half")
	kept := put(store, lfsPath(sum("kept")), "whatever is there")
	put(from, lfsPath(sum("kept")), "kept")
	secret := put(dir, "secret", "secret")
	link := filepath.Join(from, filepath.FromSlash(lfsPath(sum("secret"))))
	must(t, os.MkdirAll(filepath.Dir(link), 0o755))
	must(t, os.Symlink(secret, link))
	pipe := filepath.Join(from, filepath.FromSlash(lfsPath(sum("pipe"))))
	must(t, os.MkdirAll(filepath.Dir(pipe), 0o755))
	must(t, syscall.Mkfifo(pipe, 0o600))

	for range 2 { // again after a crash
		must(t, takeLFS(from, store))
		var got []string
		must(t, filepath.Walk(store, func(path string, at os.FileInfo, err error) error {
			if err == nil && !at.IsDir() {
				got = append(got, path)
			}
			return err
		}))
		if len(got) != 2 {
			t.Errorf("the store holds %q, want two files", got)
		}
		for path, want := range map[string]string{kept: "whatever is there", filepath.Join(store, lfsPath(sum("new"))): "new"} {
			if text, err := os.ReadFile(path); err != nil || string(text) != want {
				t.Errorf("%s = %q, %v, want %q", path, text, err, want)
			}
		}
	}
}
