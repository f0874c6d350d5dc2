package git

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"agentswarm/internal/testprogram"
)

func TestParseMergeTree(t *testing.T) {
	t.Parallel()
	const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	tests := []struct {
		name string
		give string
		want *MergeResult // nil: an error
	}{
		{"clean", tree + "\x00", &MergeResult{Tree: tree}},
		{
			"conflict",
			tree + "\x00100644 " + tree + " 1\ta b\tc\x00100644 " + tree + " 3\ta b\tc\x00\x00" +
				"1\x00a b\tc\x00CONFLICT (contents)\x00CONFLICT: in a\n\x00" +
				"2\x00x\x00y\x00Auto-merging\x00merging\n\x00",
			&MergeResult{
				Tree: tree,
				Stages: []Stage{
					{Path: "a b\tc", Mode: "100644", ID: tree, Number: 1},
					{Path: "a b\tc", Mode: "100644", ID: tree, Number: 3},
				},
				Messages: []MergeMessage{
					{Paths: []string{"a b\tc"}, Kind: "CONFLICT (contents)", Text: "CONFLICT: in a"},
					{Paths: []string{"x", "y"}, Kind: "Auto-merging", Text: "merging"},
				},
			},
		},
		{
			"advice",
			tree + "\x00160000 " + tree + " 2\tsub\x00\x00" +
				"1\x00sub\x00CONFLICT (contents)\x00no\n\x00Recursive merging with submodules\n",
			&MergeResult{
				Tree:     tree,
				Stages:   []Stage{{Path: "sub", Mode: "160000", ID: tree, Number: 2}},
				Messages: []MergeMessage{{Paths: []string{"sub"}, Kind: "CONFLICT (contents)", Text: "no"}},
			},
		},
		{"nothing", "", nil},
		{"no tree", "usage: git\x00", nil},
		{"a stage beyond three", tree + "\x00100644 " + tree + " 4\ta\x00", nil},
		{"a stage without path", tree + "\x00100644 " + tree + " 1\x00", nil},
		{"a count that is none", tree + "\x00\x00x\x00", nil},
		{"a count beyond the end", tree + "\x00\x00999999999\x00a\x00", nil},
		{"a message cut off", tree + "\x00\x001\x00a\x00CONFLICT\x00", nil},
	}
	for _, tt := range tests {
		got, err := parseMergeTree([]byte(tt.give))
		if (err != nil) != (tt.want == nil) || tt.want != nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: parseMergeTree = %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

func FuzzMergeTree(f *testing.F) {
	f.Add([]byte("4b825dc642cb6eb9a060e54bf8d69288fbee4904\x00100644 12 1\ta\x00\x001\x00a\x00K\x00t\n\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		m, err := parseMergeTree(out)
		if err != nil {
			return
		}
		for _, s := range m.Stages {
			if s.Path == "" || s.Number < 1 || s.Number > 3 {
				t.Errorf("parseMergeTree(%q) has stage %+v", out, s)
			}
		}
	})
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	base := y.hash("HEAD")
	y.write("a", "2\n")
	ours := y.commit()
	y.git("checkout", "-q", "--detach", string(base))
	y.write("d/b", "2\n")
	clean := y.commit()
	y.write("a", "3\n")
	theirs := y.commit()
	objects := y.git("count-objects")
	index, err := os.ReadFile(filepath.Join(y.dir, ".git", "index"))
	y.must(err)

	m, err := y.q.MergeTree(t.Context(), ours, clean)
	if err != nil || !m.Clean || len(m.Stages) > 0 {
		t.Errorf("MergeTree = %+v, %v; want it clean", m, err)
	}
	m, err = y.q.MergeTree(t.Context(), ours, theirs)
	if err != nil || m.Clean || len(m.Stages) != 3 || m.Messages[len(m.Messages)-1].Kind != "CONFLICT (contents)" {
		t.Errorf("MergeTree = %+v, %v; want a conflict", m, err)
	}
	if _, err := y.q.MergeTree(t.Context(), ours, "1111"); err == nil {
		t.Error("MergeTree with a commit that is not there: want an error")
	}
	after, err := os.ReadFile(filepath.Join(y.dir, ".git", "index"))
	if err != nil || string(after) != string(index) {
		t.Error("merging touched the index")
	}
	if n := y.git("count-objects"); n != objects {
		t.Errorf("merging made objects in the repository: %s, had %s", n, objects)
	}
}

// TestMergeTreeCrash: a crash of git is told from a git that was killed. A
// crash is final, a retry after a kill may succeed.
func TestMergeTreeCrash(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	head := y.hash("HEAD")
	for script, want := range map[string]bool{
		"echo 'git: merge-ort.c:2056: handle: Assertion failed.' >&2; kill -ABRT $$": true,
		"kill -KILL $$": false,
		"echo 'fatal: merge-ort.c:1: cannot read' >&2; exit 128": false,
	} {
		fake := filepath.Join(t.TempDir(), "git")
		testprogram.Write(t, fake, "#!/bin/sh\n"+script+"\n")
		y.repo.Git = &Git{binary: fake, env: y.environ()}
		_, err := y.q.MergeTree(t.Context(), head, head)
		var crash *CrashError
		if err == nil || errors.As(err, &crash) != want {
			t.Errorf("%s: MergeTree: %v, want a CrashError: %v", script, err, want)
		}
	}
}
