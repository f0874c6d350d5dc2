package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
)

// include finds the included files and makes the backend copy them.
func (f *fixture) include(base git.Hash) *include.Set {
	f.t.Helper()
	in, err := include.Find(f.t.Context(), include.Request{
		Repo: f.repo, Base: base, Except: []string{f.state},
	})
	must(f.t, err)
	f.trees.Include = in
	return in
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		base   []string // committed; name, content
		files  []string // in the checkout; name, content
		setup  func(*fixture)
		want   []string
		reason string // why something is skipped
	}{
		{name: "no file", base: []string{".gitignore", "*.o\n"}, files: []string{"a.o", "1"}},
		{name: "an empty file", base: []string{".gitignore", "*.o\n", include.FileName, ""}, files: []string{"a.o", "1"}},
		{
			name:  "ignored and named",
			base:  []string{".gitignore", ".env*\n*.o\n", include.FileName, "# ours\r\n.env*\r\n!.env.prod\n"},
			files: []string{".env", "1", ".env.prod", "2", "sub/.env.local", "3", "a.o", "4", ".envelope/x", "5"},
			want:  []string{".env", ".envelope/x", "sub/.env.local"},
		},
		{
			name:  "named but not ignored, or tracked",
			base:  []string{".gitignore", "*.o\n", include.FileName, "*\n", "tracked", "t\n"},
			files: []string{"new", "1", "a.o", "2"},
			setup: func(f *fixture) {
				f.write(f.root, "forced.o", "3")
				f.git("add", "-f", "forced.o")
			},
			want: []string{"a.o"},
		},
		{
			name:  "folders",
			base:  []string{".gitignore", "node_modules/\nout/*\n", include.FileName, "node_modules/\nout/keep/\n", "out/.gitkeep", ""},
			files: []string{"node_modules/a/b/c", "1", "node_modules/x", "2", "out/keep/y", "3", "out/else", "4", "sub/node_modules/z", "5"},
			want:  []string{"node_modules/a/b/c", "node_modules/x", "out/keep/y", "sub/node_modules/z"},
		},
		{
			name:  "a folder is named and some of it ignored",
			base:  []string{".gitignore", "*.o\n", include.FileName, "config/\n"},
			files: []string{"config/a.o", "1", "config/plain", "2", "config/d/b.o", "3", "other/c.o", "4"},
			want:  []string{"config/a.o", "config/d/b.o"},
		},
		{
			name:  "a folder is ignored and some of it named",
			base:  []string{".gitignore", "/target/\n", include.FileName, "target/**/*.lib\n"},
			files: []string{"target/a.lib", "1", "target/d/b.lib", "2", "target/c", "3"},
			want:  []string{"target/a.lib", "target/d/b.lib"},
		},
		{
			name:  "one of the user's own",
			base:  []string{".gitignore", "*.o\n"},
			files: []string{"a.o", "1", include.FileName, "*.o\n"},
			want:  []string{"a.o"},
		},
		{
			name: "one of the user's own that is ignored", base: []string{".gitignore", "*.o\n" + include.FileName + "\n"},
			files: []string{"a.o", "1", include.FileName, "*.o\n"}, want: []string{"a.o"},
		},
		{
			name:  "the base's counts",
			base:  []string{".gitignore", "*.o\n", include.FileName, "a.o\n"},
			files: []string{"a.o", "1", "b.o", "2", include.FileName, "b.o\n"},
			want:  []string{"a.o"},
		},
		{
			name:  "tracked, but not in the base",
			base:  []string{".gitignore", "*.o\n"},
			files: []string{"a.o", "1", include.FileName, "*.o\n"},
			setup: func(f *fixture) { f.git("add", include.FileName) },
		},
		{
			name: "a symlink as the file", base: []string{".gitignore", "*.o\n"}, files: []string{"a.o", "1", "rules", "*.o\n"},
			setup: func(f *fixture) { must(f.t, os.Symlink("rules", filepath.Join(f.root, include.FileName))) },
		},
		{
			name: "odd names", base: []string{".gitignore", "/i/\n", include.FileName, "i/\n"},
			files: []string{"i/-f", "1", "i/new\nline", "2", "i/\xff", "3", "i/:(top)x", "4", "i/ ", "5"},
			want:  []string{"i/ ", "i/-f", "i/:(top)x", "i/new\nline", "i/\xff"},
		},
		{
			name: "a nested repository", base: []string{".gitignore", "vendor/\n", include.FileName, "vendor/\n"},
			files: []string{"vendor/p/x", "1"},
			setup: func(f *fixture) { f.in(filepath.Join(f.root, "vendor/p"), "init", "-q") },
			want:  []string{"vendor/p/x"}, reason: "it is the git folder of another repository",
		},
		{
			name: "where workspaces are made", base: []string{".gitignore", "state\n", include.FileName, "*\n"},
			files: []string{"a/state", "1"},
			setup: func(f *fixture) { f.state = filepath.Join(f.root, "state"); f.write(f.state, "x", "x") },
			want:  []string{"a/state"}, reason: "workspaces are made there",
		},
		{
			name: "a FIFO", base: []string{".gitignore", "i/\n", include.FileName, "i/\n"}, files: []string{"i/x", "1"},
			setup: func(f *fixture) { must(f.t, syscall.Mkfifo(filepath.Join(f.root, "i/fifo"), 0o600)) },
			want:  []string{"i/x"}, reason: "it is a FIFO, socket or device",
		},
		{
			name: "symlinks are not followed", base: []string{".gitignore", "i/\n", include.FileName, "i/\n"}, files: []string{"i/x", "1", "secret/s", "s"},
			setup: func(f *fixture) {
				must(f.t, os.Symlink("../secret", filepath.Join(f.root, "i/d")), os.Symlink("/etc", filepath.Join(f.root, "i/etc")))
			},
			want: []string{"i/d", "i/etc", "i/x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit(tt.base...)
			f.write(f.root, tt.files...)
			if tt.setup != nil {
				tt.setup(f)
			}
			f.open()
			before := f.side()
			in := f.include(base)
			if in == nil {
				in = &include.Set{}
			}
			slices.Sort(in.Paths)
			if !slices.Equal(in.Paths, tt.want) {
				t.Errorf("Includes = %q, want %q", in.Paths, tt.want)
			}
			if tt.reason != "" && (len(in.Skipped) != 1 || in.Skipped[0].Reason != tt.reason) {
				t.Errorf("skipped = %v, want %q", in.Skipped, tt.reason)
			}
			if after := f.side(); after != before {
				t.Error("the user's side changed")
			}
			w := f.lease(base)
			for _, path := range tt.want {
				if _, err := os.Lstat(filepath.Join(w.Dir, path)); err != nil {
					t.Errorf("%q is not in the workspace: %v", path, err)
				}
			}
			if got := f.in(w.Dir, "status", "--porcelain"); got != "" {
				t.Errorf("a fresh workspace is not clean: %s", got)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit(".gitignore", "node_modules/\n/target\n.venv\nvendor/\n:x\n", "a", "a\n")
	f.write(f.root, "node_modules/x", "1", "target", "1", "vendor/kept", "k\n", "plain/x", "1", ":x", "1")
	f.git("add", "-f", "vendor/kept")
	f.open()
	got, err := include.Ignored(t.Context(), f.repo, "node_modules", ".venv", "vendor", "target", "plain", ":x", "none")
	if want := []string{"node_modules", "target", ":x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Ignored = %q, %v, want %q", got, err, want)
	}
	if got, err := include.Ignored(t.Context(), f.repo, "plain"); err != nil || got != nil {
		t.Errorf("Ignored = %q, %v, want none", got, err)
	}
	bare := filepath.Join(f.home, "bare.git")
	f.in(f.home, "clone", "-q", "--bare", f.root, bare)
	repo, err := git.New(f.environ()).Discover(t.Context(), bare)
	must(t, err)
	if got, err := include.Ignored(t.Context(), repo, "node_modules"); err != nil || got != nil {
		t.Errorf("Ignored in a bare repository = %q, %v", got, err)
	}
	in, err := include.Find(t.Context(), include.Request{Repo: repo, Base: git.Hash(f.git("rev-parse", "HEAD"))})
	if err != nil || in != nil {
		t.Errorf("Includes in a bare repository = %+v, %v", in, err)
	}
}
