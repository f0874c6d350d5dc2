package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// sparse makes a file of a size that has no data.
func sparse(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	must(t, f.Truncate(size), f.Close())
}

// TestCaptureLargeFiles leaves files above the limit out, names them with their
// size, and captures the rest. A file of a terabyte is never read.
func TestCaptureLargeFiles(t *testing.T) {
	t.Parallel()
	const limit, tera = 1000, int64(1) << 40
	scenes := []scene{
		{
			name: "new, changed and in a new folder", base: []string{"a", "a\n", "big", "small before\n", "gone", "g\n"},
			setup: func(f *fixture) { f.maxFile = limit },
			act: func(f *fixture, w *workspace.Workspace) {
				sparse(f.t, filepath.Join(f.at(w), "core"), tera)
				sparse(f.t, filepath.Join(f.at(w), "big"), tera)
				f.write(f.at(w), "a", "b\n", "edge", strings.Repeat("x", limit), "new/fits", "n\n")
				f.write(f.at(w), "new/over", strings.Repeat("x", limit+1))
				rm(f, filepath.Join(f.at(w), "gone"))
			},
			want:  []string{"100644 a", "100644 big", "100644 edge", "100644 new/fits"},
			notes: "too_large:big too_large:core too_large:new/over", partial: true,
			after: func(f *fixture, _ *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "big"); got != "small before\n" {
					f.t.Errorf("big = %q, want the content of the base", got)
				}
				want := []survey.LargeFile{{Path: "big", Size: tera}, {Path: "core", Size: tera}, {Path: "new/over", Size: limit + 1}}
				for i := range c.Large {
					c.Large[i].Known = nil
				}
				if !slices.Equal(c.Large, want) {
					f.t.Errorf("Large = %+v, want %+v", c.Large, want)
				}
				if text := c.Notes[1].String(); !strings.Contains(text, `"core" is too large (1.1 TB)`) {
					f.t.Errorf("the note says %q", text)
				}
			},
		},
		{
			name: "nothing else", base: []string{"a", "a\n"}, none: true,
			setup: func(f *fixture) { f.maxFile = limit },
			act:   func(f *fixture, w *workspace.Workspace) { sparse(f.t, filepath.Join(f.at(w), "core"), tera) },
			want:  []string{"100644 a"}, notes: "too_large:core", partial: true,
		},
		{
			name: "ignored", base: []string{"a", "a\n", ".gitignore", "core\n"}, none: true,
			act:  func(f *fixture, w *workspace.Workspace) { sparse(f.t, filepath.Join(f.at(w), "core"), tera) },
			want: []string{"100644 .gitignore", "100644 a"},
			after: func(f *fixture, _ *workspace.Workspace, c *Capture) {
				if c.IgnoredSize != tera {
					f.t.Errorf("the ignored files have %d bytes, want %d", c.IgnoredSize, tera)
				}
			},
		},
		{
			name: "a large file of the base that was touched", base: []string{"a", "a\n", "big", strings.Repeat("x", 4*limit)},
			setup: func(f *fixture) { f.maxFile = limit }, none: true,
			act: func(f *fixture, w *workspace.Workspace) {
				text, err := os.ReadFile(filepath.Join(f.at(w), "big"))
				must(f.t, err)
				f.write(f.at(w), "big", string(text))
			},
			want: []string{"100644 a", "100644 big"},
		},
		{
			name: "by the default limit", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				sparse(f.t, filepath.Join(f.at(w), "over"), DefaultMaxFile+1)
				f.write(f.at(w), "a", "b\n")
			},
			want: []string{"100644 a"}, notes: "too_large:over", partial: true,
		},
		{
			name: "a sparse file that fits", base: []string{"a", "a\n"},
			act:  func(f *fixture, w *workspace.Workspace) { sparse(f.t, filepath.Join(f.at(w), "holes"), 3<<20) },
			want: []string{"100644 a", "100644 holes"},
			after: func(f *fixture, _ *workspace.Workspace, c *Capture) {
				if got := f.show(c.Tree, "holes"); len(got) != 3<<20 || strings.Trim(got, "\x00") != "" {
					f.t.Errorf("holes has %d bytes, not all of them zero", len(got))
				}
			},
		},
	}
	play(t, scenes)
}

// TestBlobName is the name that git gives.
func TestBlobName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit("a", "some\ntext\n")
	f.open()
	got, err := f.repo.BlobName(t.Context(), strings.NewReader("some\ntext\n"), 10)
	if want := git.Hash(f.git("rev-parse", "HEAD:a")); err != nil || got != want {
		t.Errorf("BlobName = %s, %v, want %s", got, err, want)
	}
	if _, err := f.repo.BlobName(t.Context(), strings.NewReader("some"), 10); err == nil {
		t.Error("BlobName of a file that ends early succeeds")
	}
}

// TestCaptureLongPatch keeps no text above the bound. Commit, ref and counts
// are there all the same.
func TestCaptureLongPatch(t *testing.T) {
	t.Parallel()
	play(t, []scene{{
		name: "long", base: []string{"a", "a\n", ".gitattributes", "*.x text\n"},
		setup: func(f *fixture) { f.maxPatch, f.unapplied = 600, true },
		act: func(f *fixture, w *workspace.Workspace) {
			f.write(f.at(w), "a", strings.Repeat("line\n", 200), "b.x", "b\n")
		},
		want: []string{"100644 .gitattributes", "100644 a", "100644 b.x"}, notes: "patch_omitted:",
		after: func(f *fixture, w *workspace.Workspace, c *Capture) {
			if c.Patch != "" || c.Ref == "" || c.Stat != (git.Stat{Files: 2, Added: 201, Deleted: 1}) {
				f.t.Errorf("patch %q, ref %q, stat %+v", c.Patch, c.Ref, c.Stat)
			}
			left, err := os.ReadDir(filepath.Dir(f.captureRequest(w).PatchFile))
			must(f.t, err)
			for _, e := range left {
				if strings.Contains(e.Name(), "patch") {
					f.t.Errorf("%s is left of the text", e.Name())
				}
			}
		},
	}, {
		name: "just short enough", base: []string{"a", "a\n"},
		setup: func(f *fixture) { f.maxPatch = 600 },
		act:   func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "a", strings.Repeat("line\n", 20)) },
		after: func(f *fixture, w *workspace.Workspace, c *Capture) {
			if c.Patch == "" {
				f.t.Error("its text is not kept")
			}
		},
	}})
}
