package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
)

// side makes a commit on the first commit with some files changed.
func (y *objectFixture) side(files map[string]string) Hash {
	y.Helper()
	y.git("checkout", "-q", "--detach", "main")
	// A file is removed before a folder takes its place.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		y.must(os.RemoveAll(filepath.Join(y.dir, name)))
	}
	for name, text := range files {
		if text != "" {
			y.write(name, text)
		}
	}
	return y.commit()
}

// gitlink is a commit on base with a submodule at an id.
func (y *objectFixture) gitlink(base Hash, id string) Hash {
	y.Helper()
	o := y.objects()
	tree, err := o.WriteTree(y.Context(), []TreeEntry{{"sub", "160000", Hash(strings.Repeat(id, y.repo.hexLen()))}})
	y.must(err)
	c := CommitRequest{Tree: tree, Message: "m\n", Author: Swarm(time.Unix(1, 0)), Committer: Swarm(time.Unix(1, 0))}
	if base != "" {
		c.Parents = []Hash{base}
	}
	commit, err := o.WriteCommit(y.Context(), c)
	y.must(err)
	return commit
}

// TestMerger: a single process for all merges gives the same results as a
// process for each. It sees objects made while it runs, loose or in a pack.
func TestMerger(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		y := newObjectFixture(t, "--object-format="+format)
		lines := strings.Repeat("line\n", 20)
		y.write("long", lines)
		y.commit()
		top := y.side(map[string]string{"long": "top\n" + lines})
		end := y.side(map[string]string{"long": lines + "end\n"})
		other := y.side(map[string]string{"long": "other\n" + lines, "a": ""})
		folder := y.side(map[string]string{"a": "", "a/b\nc": "nothing like it\n"})
		a := y.side(map[string]string{"a": "2\n"})
		moved := y.side(map[string]string{"long": "", "d/long": lines})
		sub := y.gitlink("", "1")
		pairs := []pair{
			{top, end}, {top, other}, {top, end}, {a, other}, {folder, a}, {a, folder}, {top, top},
			{y.gitlink(sub, "2"), y.gitlink(sub, "3")}, {top, moved}, {moved, other}, {end, top},
		}
		m := y.q.Merger()
		o := y.objects()
		o.Hold()
		conflicts := 0
		for i, p := range pairs {
			// The merged tree is the next thing to be merged, as in a landing.
			want, err := y.q.MergeTree(t.Context(), p.ours, p.theirs)
			y.must(err)
			got, err := m.Merge(t.Context(), p.ours, p.theirs)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d: Merge = %+v, %v; want %+v", format, i, got, err, want)
			}
			if !want.Clean {
				conflicts++
				continue
			}
			next := y.commitsOn(o, CommitRequest{Tree: want.Tree, Parents: []Hash{y.hash("main")}}, i)
			if r, err := m.Merge(t.Context(), next, end); err != nil || r.Tree == "" {
				t.Errorf("%s, %d: Merge of what was made since = %+v, %v", format, i, r, err)
			}
		}
		if m.fresh > 0 || m.asked < len(pairs) || conflicts < 4 {
			t.Errorf("%s: %d asked, %d by a process of their own, %d conflicts", format, m.asked, m.fresh, conflicts)
		}
		y.must(m.Close())
		y.must(m.Close())
	}
}

// commitsOn writes a commit, every other time in a pack with more of them.
func (y *objectFixture) commitsOn(o *Objects, c CommitRequest, i int) (last Hash) {
	y.Helper()
	for k := range 1 + i%2*looseUpTo {
		c.Message = fmt.Sprintf("%d %d\n", i, k)
		var err error
		last, err = o.WriteCommit(y.Context(), c)
		y.must(err)
	}
	y.must(o.Flush())
	return last
}

// TestMergerRefuses: a merge that git refuses gives the same error as without
// the process. The next merge works.
func TestMergerRefuses(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	a, b := y.side(map[string]string{"a": "2\n"}), y.side(map[string]string{"d/b": "2\n"})
	stranger := y.gitlink("", "1")
	m := y.q.Merger()
	m.patience = time.Minute // a slow process would be ended, and m.live would be nil below
	for _, p := range []pair{
		{a, stranger}, {a, Hash(strings.Repeat("1", 40))}, {a, "main"}, {a, "HEAD\nHEAD HEAD"},
		{a, y.hash("HEAD^{tree}")}, {"", ""},
	} {
		_, want := y.q.MergeTree(t.Context(), p.ours, p.theirs)
		_, got := m.Merge(t.Context(), p.ours, p.theirs)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Merge(%q) = %v, want %v", p, got, want)
		}
		if r, err := m.Merge(t.Context(), a, b); err != nil || !r.Clean {
			t.Errorf("Merge after %q = %+v, %v; want it clean", p, r, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user went away")
	cancel(cause)
	if r, err := m.Merge(ctx, a, b); err != nil && !errors.Is(err, cause) {
		t.Errorf("Merge with an ended context = %+v, %v", r, err)
	}
	if r, err := m.Merge(t.Context(), a, b); err != nil || !r.Clean {
		t.Errorf("Merge after one that was called off = %+v, %v", r, err)
	}
	m.live.stop(errors.New("killed by the test"))
	m.live.ended <- <-m.live.ended
	if r, err := m.Merge(t.Context(), a, b); err != nil || !r.Clean {
		t.Errorf("Merge after a kill = %+v, %v", r, err)
	}
	y.must(m.Close())
}

// TestMergerOdd: a git whose long-lived merge crashes, says nothing sensible
// or says everything at its end still merges.
func TestMergerOdd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string // of `merge-tree --stdin`
		asked  int
		starts int
	}{
		"works":          {`exec git "$@"`, 6, 1},
		"crashes":        {"read line; echo 'merge-ort.c:1: Assertion' >&2; kill -ABRT $$", 0, mergeFailures},
		"is not there":   {"exit 129", 0, mergeFailures},
		"says nonsense":  {"read line; printf '1\\0000\\0'", 0, mergeFailures},
		"keeps it all":   {`out=$(mktemp "$0.XXXXXX"); git "$@" > "$out"; cat "$out"; rm "$out"`, 6, 6},
		"ends too early": {`head -n 1 | git "$@"`, 3, 3},
	} {
		y := newObjectFixture(t)
		a, b, c := y.side(map[string]string{"a": "2\n"}), y.side(map[string]string{"d/b": "2\n"}), y.side(map[string]string{"a": "3\n"})
		starts := filepath.Join(y.home, "starts")
		fake := filepath.Join(y.home, "git")
		testprogram.Write(t, fake, "#!/bin/sh\ncase \"$*\" in *merge-tree*--stdin*) echo . >>'"+starts+"'\n"+
			tt.script+"\n;; *) exec git \"$@\";; esac\n")
		y.repo.Git = &Git{binary: fake, env: y.environ()}
		m := y.q.Merger()
		// A process that is slow is started anew, which changes the counts.
		// Only a single test case waits for that.
		m.patience = time.Minute
		if name == "keeps it all" {
			m.patience = 200 * time.Millisecond
		}
		for i, theirs := range []Hash{b, c, b, c, b, c} {
			want, err := y.q.MergeTree(t.Context(), a, theirs)
			y.must(err)
			got, err := m.Merge(t.Context(), a, theirs)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d: Merge = %+v, %v; want %+v", name, i, got, err, want)
			}
		}
		y.must(m.Close())
		log, err := os.ReadFile(starts)
		if n := bytes.Count(log, []byte("\n")); err != nil || n != tt.starts || m.asked != tt.asked {
			t.Errorf("%s: %d starts and %d answers, %v; want %d and %d", name, n, m.asked, err, tt.starts, tt.asked)
		}
	}
}

// These are recorded answers of `git merge-tree --stdin --messages`.
const (
	answerTree     = "4da5228e19ef3793f1a42618bacd2f1889314661"
	answerClean    = "1\x00" + answerTree + "\x00\x001\x00a\x00Auto-merging\x00Auto-merging a\n\x00\x00"
	answerConflict = "0\x00" + answerTree + "\x00100644 " + answerTree + " 2\ta\x00\x00" +
		"1\x00a\x00CONFLICT (contents)\x00CONFLICT (content): in a\n\x00\x00"
	answerAdvice = "0\x00" + answerTree + "\x00160000 " + answerTree + " 2\tsub\x00\x00" +
		"1\x00sub\x00CONFLICT (contents)\x00no\n\x00Recursive merging with submodules\n\x00"
)

func TestMergeStream(t *testing.T) {
	t.Parallel()
	s := mergeStream{text: bufio.NewReaderSize(strings.NewReader(
		answerClean+answerConflict+answerAdvice+answerClean), 16)}
	for i, clean := range []bool{true, false, false, true} {
		m, err := s.begin()
		if err != nil || m.Clean != clean || m.Tree != answerTree {
			t.Fatalf("answer %d: begin = %+v, %v", i, m, err)
		}
		if clean {
			continue // its end is read with the next
		}
		if err := s.rest(m); err != nil || len(m.Stages) != 1 || len(m.Messages) != 1 {
			t.Errorf("answer %d: rest = %+v, %v", i, m, err)
		}
	}
	if m, err := s.begin(); err == nil {
		t.Errorf("begin at the end = %+v", m)
	}
}

// FuzzMergeStream: the parsed results equal the content of the stream, and a
// stream that ends too early is an error.
func FuzzMergeStream(f *testing.F) {
	for _, seed := range []string{
		answerClean, answerConflict, answerAdvice, "0\x00" + answerTree + "\x00\x0099999999999\x00",
		"0\x00" + answerTree + "\x00\x00-1\x00", "2\x00", "1\x00no tree\x00", strings.Repeat("0", 1<<12) + "\x00",
	} {
		f.Add([]byte(seed + answerClean))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := mergeStream{text: bufio.NewReaderSize(bytes.NewReader(raw), 16)}
		size := 0
		for {
			m, err := s.begin()
			if err != nil {
				break
			}
			if err := s.rest(m); err != nil {
				break
			}
			size += len(m.Tree)
			for _, stage := range m.Stages {
				if size += len(stage.Path); stage.Path == "" || stage.Number < 1 || stage.Number > 3 {
					t.Errorf("stage %+v", stage)
				}
			}
			for _, msg := range m.Messages {
				size += len(msg.Kind) + len(msg.Text) + len(strings.Join(msg.Paths, ""))
			}
		}
		if size > len(raw) {
			t.Errorf("read %d bytes of %d", size, len(raw))
		}
	})
}
