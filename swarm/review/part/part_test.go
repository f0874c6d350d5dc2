package part

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/review"
	"agentswarm/worktree/git"
)

// TestCommit: a commit has the edits that are taken, and all else of the base.
func TestCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(environ, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q", "-b", "main")
	write("a/x.go", "one\ntwo\nthree\nfour\n")
	write("a/deep/gone.go", "gone\n")
	write("kept", "kept\n")
	write("turns", "file\n")
	write("script", "echo\nit\n")
	run("add", "-A")
	run("commit", "-q", "-m", "base")
	base := git.Hash(run("rev-parse", "HEAD"))
	write("a/x.go", "ONE\ntwo\nthree\nFOUR\n")
	write("new/deep/n.go", "new\n")
	write("bin", "\x00\x01")
	write("script", "echo\nnew\n")
	if err := errors.Join(os.Remove(filepath.Join(dir, "a/deep/gone.go")), os.Remove(filepath.Join(dir, "turns")),
		os.Symlink("kept", filepath.Join(dir, "turns")), os.Chmod(filepath.Join(dir, "script"), 0o700)); err != nil {
		t.Fatal(err)
	}
	run("add", "-A")
	run("commit", "-q", "-m", "work")
	work := git.Hash(run("rev-parse", "HEAD"))
	repo, err := git.New(environ).Discover(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := repo.Freeze(t.Context(), filepath.Join(t.TempDir(), "frozen"))
	if err != nil {
		t.Fatal(err)
	}
	var patch bytes.Buffer
	if err := repo.WritePatch(t.Context(), &patch, base, work); err != nil {
		t.Fatal(err)
	}
	files, err := review.Read(patch.String())
	if err != nil {
		t.Fatal(err)
	}
	x := &review.Index{}
	x.Put(&review.Patch{ID: "a1", Files: files})
	edits := x.Edits()
	for _, test := range []struct{ name, taken, want string }{
		{"a line", "a/x.go:1", "M a/x.go: ONE two three four"},
		{"another line", "a/x.go:4", "M a/x.go: one two three FOUR"},
		{"new file", "new/deep/n.go:1", "A new/deep/n.go: new"},
		{"a file that goes, with its folder", "a/deep/gone.go:1", "D a/deep/gone.go:"},
		{"binary", "bin:0", "A bin: \x00\x01"},
		{"several", "a/x.go:1 bin:0", "M a/x.go: ONE two three four; A bin: \x00\x01"},
		{"all edits of a file", "a/x.go:1 a/x.go:4", "M a/x.go: ONE two three FOUR"},
		{"a type that changes in half", "turns:1", "refused"},
	} {
		objects := filepath.Join(t.TempDir(), "objects")
		q, err := frozen.Quarantine(objects)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[*review.Edit]bool{}
		for _, e := range edits {
			for _, place := range strings.Fields(test.taken) {
				path, line, _ := strings.Cut(place, ":")
				if e.Path == path && (line == "0" || strings.HasPrefix(line, "4") == (e.OldLine == 4)) && (test.want != "refused" || len(taken) == 0) {
					taken[e] = true
				}
			}
		}
		commit, err := Commit(t.Context(), Request{
			Quarantine: q, Base: base, Commit: work, Edits: edits, Taken: taken, Message: "part\n", Person: git.Person{Name: "p", Email: "p@q"},
		})
		if test.want == "refused" {
			if _, ok := errors.AsType[*WholeError](err); !ok {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		changes, err := q.Changes(t.Context(), base, commit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			text := ""
			if c.Status != 'D' {
				blob, err := q.Run(t.Context(), git.Cmd{Args: []string{"cat-file", "blob", string(c.New)}})
				if err != nil {
					t.Fatal(err)
				}
				text = " " + strings.ReplaceAll(strings.TrimSuffix(string(blob), "\n"), "\n", " ")
			}
			got = append(got, string(c.Status)+" "+c.Path+":"+text)
		}
		if all := strings.Join(got, "; "); all != test.want {
			t.Errorf("%s: %q, want %q", test.name, all, test.want)
		}
	}
}
