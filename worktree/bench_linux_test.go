package worktree

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// manyFiles makes a commit of 20,000 files, 100 in each folder.
func manyFiles(f *fixture) git.Hash {
	f.t.Helper()
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter x <x@x> 1700000000 +0000\ndata 0\n")
	file := func(path, text string) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	file(".gitignore", "*.o\n/out/\n")
	file(".gitattributes", "* text=auto\n*.png binary\n")
	for i := range 20_000 {
		line := fmt.Sprintf("line of file %d, as long as lines of code are\n", i)
		file(fmt.Sprintf("p%d/q%d/f%d.go", i/2000, i/100, i), strings.Repeat(line, 40))
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin = f.root, f.environ(), &in
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("import: %v: %s", err, out)
	}
	f.git("reset", "-q", "--hard", "main")
	return git.Hash(f.git("rev-parse", "HEAD"))
}

// BenchmarkCapture captures a change of five files in an overlay of 20,000. It
// compares this with git's time for the tree and the patch in a full checkout.
func BenchmarkCapture(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		b.Run(fmt.Sprintf("new file=%v", fresh), func(b *testing.B) { benchCapture(b, fresh) })
	}
}

func benchCapture(b *testing.B, fresh bool) {
	f := newFixture(b)
	base := manyFiles(f)
	f.open()
	plain := filepath.Join(f.home, "plain")
	f.git("worktree", "add", "-q", "--detach", plain, string(base))
	index := filepath.Join(f.git("-C", plain, "rev-parse", "--absolute-git-dir"), "index")
	saved, err := os.ReadFile(index)
	must(b, err)
	change := func(dir string, n int) {
		for i := range 5 {
			f.write(dir, fmt.Sprintf("p%d/q%d/f%d.go", i*2, i*40, i*4000), fmt.Sprintf("changed %d %d\n", i, n))
		}
		if fresh {
			f.write(dir, "p1/q20/new.go", fmt.Sprintf("new %d\n", n))
		}
	}
	var ours, theirs time.Duration
	n := 0
	once := func() {
		n++
		w := f.overlay(base)
		change(w.Files(), n)
		begun := time.Now()
		if _, err := f.trees.Capture(b.Context(), f.captureRequest(w)); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(begun)
		must(b, os.WriteFile(index, saved, 0o600))
		change(plain, n)
		begun = time.Now()
		f.in(plain, "add", "-A")
		f.in(plain, "diff", "--cached", "--binary")
		theirs += time.Since(begun)
	}
	once() // both sides warm
	ours, theirs = 0, 0
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "ms/capture")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N)/1000, "ms/add+diff")
	b.ReportMetric(float64(theirs)/float64(ours), "ratio")
}

// BenchmarkCaptureHidden captures a change of five files whose ref is in the state folder,
// beside a capture whose ref is in the repository, in turns.
func BenchmarkCaptureHidden(b *testing.B) {
	visible, hidden := newFixture(b), newFixture(b)
	n, spent := 0, map[*fixture]time.Duration{}
	bases := map[*fixture]git.Hash{}
	for _, f := range []*fixture{visible, hidden} {
		bases[f] = manyFiles(f)
		f.open()
	}
	hidden.hide(bases[hidden])
	once := func() {
		n++
		for _, f := range []*fixture{visible, hidden} {
			w := f.overlay(bases[f])
			for i := range 5 {
				f.write(w.Files(), fmt.Sprintf("p%d/q%d/f%d.go", i*2, i*40, i*4000), fmt.Sprintf("changed %d %d\n", i, n))
			}
			begun := time.Now()
			if _, err := f.trees.Capture(b.Context(), f.captureRequest(w)); err != nil {
				b.Fatal(err)
			}
			spent[f] += time.Since(begun)
		}
	}
	once() // both sides warm
	clear(spent)
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(spent[visible].Microseconds())/float64(b.N)/1000, "ms/visible")
	b.ReportMetric(float64(spent[hidden].Microseconds())/float64(b.N)/1000, "ms/hidden")
	b.ReportMetric(float64(spent[hidden])/float64(spent[visible]), "ratio")
}
