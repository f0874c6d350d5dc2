package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadIndex(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+" version "+version, func(t *testing.T) {
				t.Parallel()
				g := newFixture(t, "--object-format="+format)
				long := strings.Repeat("long/", 200)
				g.commit("a", "a\n", "d/b", "b\n", "d/bc", "c\n", "d/bcd/e", "e\n", "x\ny\xff", "", long+"f", "f\n")
				g.ok(os.Symlink("a", filepath.Join(g.root, "ln")), os.Chmod(filepath.Join(g.root, "a"), 0o755))
				g.git("add", "-A")
				if version == "3" {
					g.git("update-index", "--skip-worktree", "d/b")
				} else {
					g.git("update-index", "--index-version", version)
				}
				index := filepath.Join(g.root, ".git", "index")
				text, err := os.ReadFile(index)
				g.ok(err)
				if got := fmt.Sprint(text[7]); got != version {
					t.Fatalf("git wrote version %s, want %s", got, version)
				}
				entries, err := g.repo().ReadIndex(index)
				g.ok(err)
				var got strings.Builder
				for _, e := range entries {
					fmt.Fprintf(&got, "%o %s %d\t%s\x00", e.Mode, e.ID, e.Stage, e.Path)
					at, err := os.Lstat(filepath.Join(g.root, e.Path))
					g.ok(err)
					if int64(e.Size) != at.Size() || int64(e.MTime.Sec) != at.ModTime().Unix() {
						t.Errorf("%q: size %d and time %d, want %d and %d", e.Path, e.Size, e.MTime.Sec, at.Size(), at.ModTime().Unix())
					}
					if e.SkipWorktree != (version == "3" && e.Path == "d/b") {
						t.Errorf("%q: skip-worktree = %v", e.Path, e.SkipWorktree)
					}
				}
				if want := g.git("ls-files", "-s", "-z"); got.String() != want {
					t.Errorf("ReadIndex =\n%q, want\n%q", got.String(), want)
				}
			})
		}
	}
}

func TestReadIndexRefuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("in/a", "a\n", "out/b", "b\n")
	index := filepath.Join(g.root, ".git", "index")
	text, err := os.ReadFile(index)
	g.ok(err)
	for name, give := range map[string][]byte{
		"empty": nil, "text": []byte(strings.Repeat("x", 100)), "cut off": text[:len(text)/2],
		"version 9": append([]byte("DIRC\x00\x00\x00\x09"), text[8:]...),
		"a count":   append([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), text[12:]...),
	} {
		var bad *IndexError
		if got, err := parseIndex(give, 20); !errors.As(err, &bad) {
			t.Errorf("parseIndex of %s = %v, %v, want an IndexError", name, got, err)
		}
	}
	g.git("update-index", "--split-index")
	var bad *IndexError
	if _, err := g.repo().ReadIndex(index); !errors.As(err, &bad) {
		t.Errorf("ReadIndex of a split index = %v, want an IndexError", err)
	}
	g.git("update-index", "--no-split-index")
	g.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
	if _, err := g.repo().ReadIndex(index); !errors.As(err, &bad) {
		t.Errorf("ReadIndex of a sparse index = %v, want an IndexError", err)
	}
}

func FuzzParseIndex(f *testing.F) {
	head := "DIRC\x00\x00\x00\x02\x00\x00\x00\x01"
	entry := strings.Repeat("\x00", 24) + "\x00\x00\x81\xa4" + strings.Repeat("\x01", 12+20)
	f.Add([]byte(head + entry + "\x00\x01a" + strings.Repeat("\x00", 9) + strings.Repeat("\x00", 20)))
	f.Add([]byte(strings.Replace(head, "\x02", "\x04", 1) + entry + "\x00\x01\x00a\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte(head + entry + "\x40\x01\x40\x00a" + strings.Repeat("\x00", 40)))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, idLen := range []int{20, 32} {
			entries, err := parseIndex(text, idLen)
			var bad *IndexError
			if err != nil && !errors.As(err, &bad) {
				t.Errorf("parseIndex = %v, want an IndexError", err)
			}
			for _, e := range entries {
				if len(e.ID) != 2*idLen {
					t.Errorf("entry %q has id %q", e.Path, e.ID)
				}
			}
		}
	})
}
