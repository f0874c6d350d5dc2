package merge

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/worktree/git"
)

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

func ids(out *Outcome) (landed []string) {
	for _, l := range out.Landed {
		landed = append(landed, l.ID)
	}
	return landed
}

// TestMergeLandsEachAsACommit: each patch becomes a commit, in plan order, with
// the given people and times.
func TestMergeLandsEachAsACommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"a/x": "1\n", "b/x": "1\n", "c": "1\n"})
	one := f.patch("a1", base, map[string]string{"a/x": "2\n"})
	two := f.patch("a2", base, map[string]string{"b/x": "2\n", "new/file": "n\n"})
	out := f.merge(base, one, two)
	if got := ids(out); !slices.Equal(got, []string{"a1", "a2"}) || len(out.Conflicts) > 0 {
		t.Fatalf("landed %q, conflicts %v; want both and none", got, out.Conflicts)
	}
	for _, l := range out.Landed {
		if !l.Spliced {
			t.Errorf("%s was not spliced", l.ID)
		}
	}
	want := map[string]string{"a/x": "2\n", "b/x": "2\n", "c": "1\n", "new/file": "n\n"}
	if got := f.files(out.Commit); !maps.Equal(got, want) {
		t.Errorf("merged files are %q, want %q", got, want)
	}
	log, err := f.q.Run(t.Context(), git.Cmd{Args: []string{
		"log", "--reverse", "--format=%an <%ae> %at|%cn <%ce> %ct|%B", string(base) + ".." + string(out.Commit),
	}})
	f.must(err)
	wantLog := lines(
		"robot (m1) <robot@example.com> 1714979289|A User <user@example.com> 1714979289|change by a1",
		"", "Swarm-Run: k3x9q2", "Swarm-Agent: a1", "",
		"robot (m1) <robot@example.com> 1714979289|A User <user@example.com> 1714979289|change by a2",
		"", "Swarm-Run: k3x9q2", "Swarm-Agent: a2", "")
	if string(log) != wantLog {
		t.Errorf("log is\n%s\nwant\n%s", log, wantLog)
	}
	other := f.merge(base, two, one)
	if other.Tree != out.Tree || other.Commit == out.Commit {
		t.Error("disjoint patches in another order: want the same tree by other commits")
	}
}

// TestMergeConflicts: each kind of conflict leaves its patch out, names its
// paths and who was first, and lets the next patch land.
func TestMergeConflicts(t *testing.T) {
	t.Parallel()
	long := lines("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
	moved := func(s string) string { return s + "more\n" }
	module := "160000,1111111111111111111111111111111111111111"
	module2 := "160000,2222222222222222222222222222222222222222"
	module3 := "160000,3333333333333333333333333333333333333333"
	tests := []struct {
		name                string
		base, first, second map[string]string
		paths               []string
		kind                string
	}{
		{
			"content", map[string]string{"f": long},
			map[string]string{"f": strings.Replace(long, "3", "three", 1)},
			map[string]string{"f": strings.Replace(long, "3", "drei", 1)},
			[]string{"f"}, "content",
		},
		{
			"binary", map[string]string{"f": "a\x00b"},
			map[string]string{"f": "a\x00c"},
			map[string]string{"f": "a\x00d"},
			[]string{"f"}, "binary",
		},
		{
			"mode", map[string]string{"g": "1"},
			map[string]string{"f": long},
			map[string]string{"f": "x:" + long},
			[]string{"f"}, "add/add",
		},
		{
			"delete and modify", map[string]string{"f": long, "g": "1"},
			map[string]string{"f": ""},
			map[string]string{"f": long + "11\n"},
			[]string{"f"}, "modify/delete",
		},
		{
			"rename and rename", map[string]string{"f": long},
			map[string]string{"f": "", "g": long},
			map[string]string{"f": "", "h": long},
			[]string{"f", "g", "h"}, "rename/rename",
		},
		{
			"add and add", map[string]string{"x": "1"},
			map[string]string{"dir/f": "one\n"},
			map[string]string{"dir/f": "two\n"},
			[]string{"dir/f"}, "add/add",
		},
		{
			"submodule", map[string]string{"x": "1", "sub": module},
			map[string]string{"sub": module2},
			map[string]string{"sub": module3},
			[]string{"sub"}, "submodule",
		},
		{
			"symlink and file", map[string]string{"f": "1"},
			map[string]string{"f": "l:to"},
			map[string]string{"f": "2"},
			[]string{"f"}, "distinct types",
		},
		{
			"file and folder", map[string]string{"x": "1"},
			map[string]string{"f": "file\n"},
			map[string]string{"f/below": "below\n"},
			[]string{"f"}, "file/directory",
		},
		{
			"renamed folder", map[string]string{"d/a": long, "d/b": moved(long), "x": "1"},
			map[string]string{"d/a": "", "d/b": "", "e/a": long, "e/b": moved(long)},
			map[string]string{"d/new": "new\n"},
			[]string{"e/new"}, "file location",
		},
		{
			"odd name", map[string]string{"ö \"q\"\nx": "1\n"},
			map[string]string{"ö \"q\"\nx": "2\n"},
			map[string]string{"ö \"q\"\nx": "3\n"},
			[]string{"ö \"q\"\nx"}, "content",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.base["other"] = "1\n"
			base := f.commitPlain("", tt.base)
			patch := func(id string, files map[string]string) Patch {
				return Patch{
					ID: id, Base: base, Commit: f.commitPlain(base, files),
					Subject: id, Author: author, Label: "label " + id,
				}
			}
			out := f.merge(base, patch("a1", tt.first), patch("a2", tt.second),
				patch("a3", map[string]string{"other": "3\n"}))
			if got := ids(out); !slices.Equal(got, []string{"a1", "a3"}) {
				t.Fatalf("landed %q, want a1 and a3; outcome %+v", got, out)
			}
			if len(out.Conflicts) != 1 {
				t.Fatalf("conflicts %+v, want one", out.Conflicts)
			}
			c := out.Conflicts[0]
			if c.ID != "a2" || !slices.Equal(c.Paths, tt.paths) || !slices.Equal(c.With, []string{"a1"}) {
				t.Errorf("conflict of %s with %q in %q, want of a2 with a1 in %q",
					c.ID, c.With, c.Paths, tt.paths)
			}
			if !strings.Contains(c.Text, tt.kind) || strings.Contains(c.Text, string(base)) {
				t.Errorf("conflict says %q, want something of %q", c.Text, tt.kind)
			}
		})
	}
}

// TestMergeModes: a mode and a content go together, two contents do not, and
// the mode is not lost.
func TestMergeModes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "1\n", "g": "1\n"})
	out := f.merge(base, f.patch("a1", base, map[string]string{"f": "x:1\n"}),
		f.patch("a2", base, map[string]string{"f": "2\n"}))
	if got := f.files(out.Commit)["f"]; got != "x:2\n" || len(out.Conflicts) > 0 {
		t.Errorf("f is %q with conflicts %v, want the mode of one and the text of the other", got, out.Conflicts)
	}
}

// TestConflictWithTheTarget: a conflict with the target's own change names no
// patch.
func TestConflictWithTheTarget(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": lines("1", "2", "3", "4", "5"), "g": "1\n"})
	p := f.patch("a1", base, map[string]string{"f": lines("1", "2", "III", "3b", "4", "5")})
	target := f.commit(map[string]string{"f": lines("0", "1", "2", "three", "4", "5")})
	out := f.merge(target, f.patch("a0", base, map[string]string{"g": "2\n"}), p)
	if len(out.Conflicts) != 1 {
		t.Fatalf("outcome %+v, want one conflict", out)
	}
	c := out.Conflicts[0]
	if len(c.With) != 0 {
		t.Errorf("conflict with %q, want with nobody: the target did it", c.With)
	}
	want := []Hunk{{
		Path: "f", OursStart: 4, OursLines: 1, TheirsStart: 3, TheirsLines: 2,
		Text: lines("<<<<<<< target", "three", "=======", "III", "3b", ">>>>>>> patch"),
	}}
	if !reflect.DeepEqual(c.Hunks, want) {
		t.Errorf("hunks %+v, want %+v", c.Hunks, want)
	}
}

// TestHunksAtTheEnd: a last line without an end, and lines that are alike.
func TestHunksAtTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "}\n\n}\n\na\n}\n\nz", "n": "1\n"})
	out := f.merge(base, f.patch("a1", base, map[string]string{"f": "}\n\n}\n\na\n}\n\nours"}),
		f.patch("a2", base, map[string]string{"f": "new\n}\n\n}\n\na\n}\n\ntheirs\nmore"}))
	want := []Hunk{{
		Path: "f", OursStart: 8, OursLines: 1, TheirsStart: 9, TheirsLines: 2,
		Text: "<<<<<<< target\nours\n=======\ntheirs\nmore\n>>>>>>> patch\n",
	}}
	if len(out.Conflicts) != 1 || !reflect.DeepEqual(out.Conflicts[0].Hunks, want) {
		t.Errorf("conflicts %+v, want one with hunks %+v", out.Conflicts, want)
	}
}

// TestMergeTwice: a patch that is contained already gives no commit.
func TestMergeTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := lines("1", "2", "3", "4", "5", "6", "7", "8", "9")
	base := f.commit(map[string]string{"f": long, "g": "1\n", "d/x": "1\n"})
	patches := []Patch{
		f.patch("a1", base, map[string]string{"f": strings.Replace(long, "2", "two", 1)}),
		f.patch("a2", base, map[string]string{"f": strings.Replace(long, "8", "eight", 1), "new": "n\n"}),
		f.patch("a3", base, map[string]string{"d/x": "", "g": "x:1\n"}),
		f.patch("a4", base, nil),
	}
	once := f.merge(base, patches...)
	if got := ids(once); !slices.Equal(got, []string{"a1", "a2", "a3"}) {
		t.Fatalf("landed %q, conflicts %v", got, once.Conflicts)
	}
	if !slices.Equal(once.Empty, []string{"a4"}) {
		t.Errorf("empty %q, want a4, which changes nothing", once.Empty)
	}
	twice := f.merge(once.Commit, patches...)
	if twice.Commit != once.Commit || len(twice.Empty) != 4 {
		t.Errorf("merging again: %+v, want nothing new", twice)
	}
}

// TestMergeAbove: of a patch that improves another, only the rest is merged where
// the target has that other. Where it has not, the patch is merged whole.
func TestMergeAbove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "1\n2\n3\n", "g": "g\n"})
	own := f.patch("a1", base, map[string]string{"f": "1\ntwo\n3\n"})
	better := f.patch("a1", base, map[string]string{"f": "1\nTWO\n3\n", "g": "G\n"})
	better.Above = own.Commit
	plain := better
	plain.Above = ""
	landed := f.merge(base, own)
	if out := f.merge(landed.Commit, plain); len(out.Conflicts) != 1 {
		t.Fatalf("without Above: %+v, want a conflict: else this test shows nothing", out)
	}
	want := map[string]string{"f": "1\nTWO\n3\n", "g": "G\n"}
	for _, onto := range []git.Hash{landed.Commit, base} {
		out := f.merge(onto, better)
		if got := f.files(out.Commit); len(out.Conflicts) != 0 || !maps.Equal(got, want) {
			t.Errorf("onto %s: %+v with %q, want %q", onto.Short(), out, got, want)
		}
	}
	other := f.merge(base, f.patch("a2", base, map[string]string{"f": "1\nzwei\n3\n"}))
	if out := f.merge(other.Commit, better); len(out.Conflicts) != 1 {
		t.Errorf("onto other work: %+v, want a conflict", out)
	}
	again := f.merge(base, own, f.patch("a3", base, map[string]string{"g": "3\n"}))
	if out := f.merge(again.Commit, better); len(out.Conflicts) != 1 || !slices.Equal(out.Conflicts[0].Paths, []string{"g"}) {
		t.Errorf("the rest meets other work: %+v, want a conflict in g alone", out)
	}
}

// TestMergeTakesAllAway: patches that empty the tree.
func TestMergeTakesAllAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"a": "1\n", "b": "2\n", "d/e/f": "3\n"})
	out := f.merge(base, f.patch("a1", base, map[string]string{"a": ""}),
		f.patch("a2", base, map[string]string{"b": "", "d": ""}))
	if got := f.files(out.Commit); len(got) != 0 || len(out.Landed) != 2 {
		t.Errorf("left %q after %+v, want nothing", got, out)
	}
}

// TestMergeSnapshotBase: the user's uncommitted changes at the start of the
// work are in the base, and do not land with a patch.
func TestMergeSnapshotBase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := lines("1", "2", "3", "4", "5", "6", "7", "8", "9")
	head := f.commit(map[string]string{"f": long, "g": "1\n"})
	mine := strings.Replace(long, "2", "mine", 1)
	base := f.side(head, map[string]string{"f": mine, "private": "mine\n"})
	tests := []struct {
		name string
		give map[string]string
		want map[string]string
	}{
		{
			"another file", map[string]string{"g": "2\n"},
			map[string]string{"f": long, "g": "2\n"},
		},
		{
			"the same file", map[string]string{"f": strings.Replace(mine, "8", "theirs", 1)},
			map[string]string{"f": strings.Replace(long, "8", "theirs", 1), "g": "1\n"},
		},
		{
			"beside a private file", map[string]string{"private2": "theirs\n"},
			map[string]string{"f": long, "g": "1\n", "private2": "theirs\n"},
		},
	}
	for _, tt := range tests {
		out := f.merge(head, f.patch("a1", base, tt.give))
		if got := f.files(out.Commit); !maps.Equal(got, tt.want) {
			t.Errorf("%s: merged files %q, want %q", tt.name, got, tt.want)
		}
	}
	out := f.merge(head, f.patch("a1", base, map[string]string{"private": "changed\n"}))
	if len(out.Conflicts) != 1 || !slices.Equal(out.Conflicts[0].Paths, []string{"private"}) {
		t.Errorf("a change of a file the target does not have: %+v, want a conflict", out)
	}
}

// TestMergeRefusesForeignCommits: a commit that does not stand on its base
// would be merged from another base.
func TestMergeRefusesForeignCommits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "1\n"})
	next := f.commit(map[string]string{"f": "2\n"})
	good := f.patch("a1", next, map[string]string{"f": "3\n"})
	bad := good
	bad.Base = base
	trailer := good
	trailer.Trailers = []string{"Swarm-Run: x\nSigned-off-by: somebody"}
	for name, patches := range map[string][]Patch{
		"another base": {bad}, "two of one id": {good, good}, "a trailer of two lines": {trailer},
		"no such commit": {{ID: "a1", Base: base, Commit: git.Hash(strings.Repeat("1", 40))}},
	} {
		out, err := Merge(t.Context(), f.q, Request{Onto: base, Patches: patches, Committer: committer})
		if err == nil || out != nil {
			t.Errorf("%s: Merge = %+v, %v; want an error", name, out, err)
		}
	}
}

// TestMergeStops: merging ends with its context, and says why.
func TestMergeStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"f": "1\n"})
	p := f.patch("a1", base, map[string]string{"f": "2\n"})
	why := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	req := Request{Onto: base, Patches: []Patch{p}, Committer: committer}
	if out, err := Merge(ctx, f.q, req); !errors.Is(err, why) {
		t.Errorf("Merge = %+v, %v; want the cause", out, err)
	}
}

// TestMergeDriversStayOff: a merge driver of the user's configuration is a
// command, and the result would not be the same everywhere.
func TestMergeDriversStayOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("config", "merge.evil.driver", "touch '"+f.home+"/evil'; exit 0")
	f.git("config", "merge.default", "evil")
	f.open()
	base := f.commit(map[string]string{".gitattributes": "* merge=evil\n", "f": "1\n"})
	out := f.merge(base, f.patch("a1", base, map[string]string{"f": "2\n"}),
		f.patch("a2", base, map[string]string{"f": "3\n"}))
	if len(out.Conflicts) != 1 {
		t.Errorf("outcome %+v, want a plain conflict", out)
	}
	f.wantGone(f.home + "/evil")
}

// TestMergeSha256: objects with longer names merge like others.
func TestMergeSha256(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "--object-format=sha256")
	base := f.commit(map[string]string{"f": "1\n", "d/g": "1\n"})
	out := f.merge(base, f.patch("a1", base, map[string]string{"f": "2\n"}),
		f.patch("a2", base, map[string]string{"d/g": "2\n"}), f.patch("a3", base, map[string]string{"f": "3\n"}))
	want := map[string]string{"f": "2\n", "d/g": "2\n"}
	if got := f.files(out.Commit); !maps.Equal(got, want) || len(out.Conflicts) != 1 {
		t.Errorf("merged files %q and conflicts %+v, want %q and one", got, out.Conflicts, want)
	}
	if len(out.Conflicts) == 1 && len(out.Conflicts[0].Hunks) != 1 {
		t.Errorf("hunks %+v, want one", out.Conflicts[0].Hunks)
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give Patch
		want string
	}{
		{"as given", Patch{Subject: "rename Foo to Bar"}, "rename Foo to Bar"},
		{"first line only", Patch{Subject: "\n one \t two\nsecret prompt"}, "one two"},
		{"exactly the limit", Patch{Subject: strings.Repeat("ä", 72)}, strings.Repeat("ä", 72)},
		{"cut", Patch{Subject: strings.Repeat("ä", 73)}, strings.Repeat("ä", 71) + "…"},
		{"no blank before the dots", Patch{Subject: strings.Repeat("a", 70) + " bcd"}, strings.Repeat("a", 70) + "…"},
		{"control signs", Patch{Subject: "a\x1b[31mb\x00c"}, "a [31mb c"},
		{"not text", Patch{Subject: "a\xffb"}, "a\uFFFDb"},
		{"none", Patch{Label: "pkg/one", ID: "a1"}, "pkg/one"},
		{"neither", Patch{ID: "a1"}, "patch a1"},
	}
	for _, tt := range tests {
		if got := tt.give.subject(); got != tt.want {
			t.Errorf("%s: subject = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzSubject(f *testing.F) {
	f.Add("a subject", "a1")
	f.Fuzz(func(t *testing.T, subject, id string) {
		text, err := Patch{ID: id, Subject: subject}.message()
		if err != nil || !utf8.ValidString(text) || strings.Count(text, "\n") != 1 ||
			utf8.RuneCountInString(text) > maxSubject+1 {
			t.Errorf("message of %q = %q, %v", subject, text, err)
		}
	})
}

func FuzzHunks(f *testing.F) {
	f.Add([]byte("a\n<<<<<<< o\nb\n=======\nc\n>>>>>>> t\nd\n"))
	f.Add([]byte("<<<<<<< o\n=======\n=======\n<<<<<<< o\n>>>>>>> t"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range parseHunks(text, "o", "t") {
			all := splitLines(text)
			if !utf8.ValidString(h.shown) || h.locate(all, h.ours) < 1 || len(h.before) > nearby {
				t.Errorf("parseHunks(%q) = %+v", text, h)
			}
		}
	})
}
