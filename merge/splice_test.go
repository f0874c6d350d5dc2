package merge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
)

// FuzzSplice compares splicing, and merging by a single process, with a git
// process for each patch. It makes random changes of a small tree, with many
// moves of files and folders, and merges them in all ways.
func FuzzSplice(f *testing.F) {
	for _, crash := range []uint64{93, 118} {
		f.Add(crash) // git 2.39 fails an assertion
	}
	for n := range campaign.Rounds(f, 5, 200) {
		f.Add(campaign.Seed(f) - 1 + uint64(n))
	}
	repo := newFixture(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		here := *repo
		here.TB = t
		base, patches := here.randomPatches(r)
		req := Request{Onto: base, Patches: patches, Committer: committer}
		if r.IntN(3) == 0 {
			// A target that went on by itself.
			req.Onto, req.Patches = patches[0].Commit, patches[1:]
		}
		fast, err := merge(t.Context(), here.q, req, quick)
		here.must(err)
		slow, err := merge(t.Context(), here.q, req, plain)
		here.must(err)
		if diff := different(fast, slow); diff != "" {
			t.Errorf("seed %d: spliced and not spliced differ: %s", seed, diff)
		}
		asked, err := merge(t.Context(), here.q, req, asking)
		here.must(err)
		if diff := different(asked, slow); diff != "" {
			t.Errorf("seed %d: one process and a process for each differ: %s", seed, diff)
		}
		out, err := here.q.Run(t.Context(), git.Cmd{
			Args: []string{"ls-tree", "-r", "-t", "--format=%(objectmode)", string(fast.Commit)},
		})
		here.must(err)
		for mode := range strings.Lines(string(out)) {
			if !strings.Contains("040000 100644 100755 120000 160000", strings.TrimSpace(mode)) {
				t.Errorf("seed %d: a merged tree holds an entry of mode %s", seed, mode)
			}
		}
		here.sameTouched(base, patches)
		again, err := merge(t.Context(), here.q, req, quick)
		here.must(err)
		if again.Commit != fast.Commit {
			t.Errorf("seed %d: the same patches gave %s and %s", seed, fast.Commit, again.Commit)
		}
	})
}

// sameTouched compares our list of a patch's paths with git's.
func (f *fixture) sameTouched(base git.Hash, patches []Patch) {
	f.Helper()
	m := merger{objects: f.q.Objects()}
	for _, p := range patches[:2] {
		changes, err := f.q.Changes(f.Context(), base, p.Commit)
		f.must(err)
		var want []string
		for _, c := range changes {
			want = append(want, c.Path)
		}
		from, _, err := m.objects.Commit(f.Context(), base)
		f.must(err)
		to, _, err := m.objects.Commit(f.Context(), p.Commit)
		f.must(err)
		got, err := m.changed(f.Context(), "", from, to)
		f.must(err)
		if got, want = unique(got), unique(want); !slices.Equal(got, want) {
			f.Errorf("patch %s touches %q, want %q", p.ID, got, want)
		}
	}
	f.must(m.objects.Close())
}

// randomPatches writes a base and changes of it, in a single import.
func (f *fixture) randomPatches(r *rand.Rand) (git.Hash, []Patch) {
	base := tree{}
	for i := range 6 + r.IntN(8) {
		base.put(randomPath(r), text(fmt.Sprintf("file %d", i)))
	}
	var stream bytes.Buffer
	writeCommit(&stream, 1, 0, base)
	const patches = 5
	for i := range patches {
		t := base.clone()
		for range 1 + r.IntN(3) {
			t.change(r)
		}
		writeCommit(&stream, 2+i, 1, t)
	}
	for i := range patches + 1 {
		fmt.Fprintf(&stream, "get-mark :%d\n", i+1)
	}
	out := f.gitIn(f.dir, stream.Bytes(), "fast-import", "--quiet", "--force", "--cat-blob-fd=1")
	marks := strings.Fields(out)
	list := make([]Patch, patches)
	for i := range list {
		list[i] = Patch{
			ID: fmt.Sprintf("a%d", i+1), Base: git.Hash(marks[0]), Commit: git.Hash(marks[i+1]),
			Subject: "random", Author: author,
		}
	}
	return git.Hash(marks[0]), list
}

func writeCommit(b *bytes.Buffer, mark, from int, t tree) {
	fmt.Fprintf(b, "commit refs/heads/random-%d\nmark :%d\ncommitter A <a@b> 1700000000 +0000\ndata 0\n", mark, mark)
	if from != 0 {
		fmt.Fprintf(b, "from :%d\ndeleteall\n", from)
	} else {
		b.WriteString("deleteall\n")
	}
	for path, file := range t {
		if file.mode == moduleMode {
			fmt.Fprintf(b, "M %s %s %s\n", file.mode, file.text, path)
			continue
		}
		fmt.Fprintf(b, "M %s inline %s\ndata %d\n%s\n", file.mode, path, len(file.text), file.text)
	}
}

// tree is a tree in memory, by path.
type tree map[string]file

type file struct{ mode, text string }

// moduleMode is the mode of a file whose text is a commit elsewhere.
const moduleMode = "160000"

func (t tree) clone() tree {
	c := tree{}
	for p, f := range t {
		c[p] = f
	}
	return c
}

// put adds a file and removes the files above or below it.
func (t tree) put(path string, f file) {
	for p := range t {
		if strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/") {
			delete(t, p)
		}
	}
	t[path] = f
}

func (t tree) paths() []string {
	files := map[string]string{}
	for p := range t {
		files[p] = ""
	}
	return sorted(files)
}

// module is a submodule at a random commit of a few.
func module(r *rand.Rand) file {
	return file{mode: moduleMode, text: strings.Repeat(fmt.Sprint(1+r.IntN(3)), 40)}
}

// text is a file long enough for git to know it again when it moves.
func text(name string) file {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "%s line %d\n", name, i)
	}
	return file{mode: "100644", text: b.String()}
}

func randomPath(r *rand.Rand) string {
	names := []string{"a", "b", "c", "d"}
	path := names[r.IntN(len(names))]
	for range r.IntN(3) {
		path += "/" + names[r.IntN(len(names))]
	}
	return path
}

// change makes a random change of the kinds that agents make.
func (t tree) change(r *rand.Rand) {
	paths := t.paths()
	if len(paths) == 0 {
		t.put(randomPath(r), text("new"))
		return
	}
	path := paths[r.IntN(len(paths))]
	f := t[path]
	if f.mode == moduleMode && r.IntN(3) > 0 {
		t[path] = module(r)
		return
	}
	switch r.IntN(13) {
	case 0, 1:
		if f.mode == moduleMode {
			return
		}
		lines := strings.SplitAfter(f.text, "\n")
		lines[r.IntN(len(lines))] = fmt.Sprintf("changed %d\n", r.IntN(3))
		f.text = strings.Join(lines, "")
		t[path] = f
	case 2:
		delete(t, path)
	case 3, 4:
		t.put(randomPath(r), text(fmt.Sprintf("new %d", r.IntN(4))))
	case 5:
		delete(t, path)
		t.put(randomPath(r), f)
	case 6, 7:
		t.moveFolder(path, randomPath(r))
	case 8:
		if f.mode != moduleMode {
			f.mode = "100755"
			t[path] = f
		}
	case 9:
		t[path] = file{mode: "120000", text: "elsewhere"}
	case 10:
		t[path] = module(r)
	case 11:
		t.put(randomPath(r), module(r))
	case 12:
		// Everything goes into a folder.
		for _, p := range paths {
			moved := t[p]
			delete(t, p)
			t["all/"+p] = moved
		}
	}
}

// moveFolder moves the folder that path lies in.
func (t tree) moveFolder(path, to string) {
	from, _, ok := strings.Cut(path, "/")
	if !ok {
		return
	}
	for _, p := range t.paths() {
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			if moved, still := t[p]; still {
				delete(t, p)
				t.put(to+"/"+rest, moved)
			}
		}
	}
}
