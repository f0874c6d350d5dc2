package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// placed is a run with an id of the test's choice and agents with labels.
func placed(t *testing.T, s *State, id string, labels ...string) *Run {
	t.Helper()
	for _, dir := range []string{s.runs(), s.Trash()} {
		if err := makeFolder(dir); err != nil {
			t.Fatal(err)
		}
	}
	r := &Run{ID: id, Dir: filepath.Join(s.runs(), id), state: s}
	if err := os.Mkdir(r.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := r.make(Identity{Schema: Schema, Run: id, Created: time.Now(), TopLevel: "/home/me/repo"})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, o)
	for i, label := range labels {
		mustAppend(t, o, called(i+1, label))
	}
	return r
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	placed(t, s, "k3x9q2", "pkg/foo", "old one", "pkg/bar")
	placed(t, s, "kk44mm", "lib")
	placed(t, s, "pkg777", "foo")
	placed(t, s, "z9z9z9", "pkg/foo", "pkg/foo/sub", "a1", "twice", "twice", "k3x9q2", "kk", "a b", "", "x")
	for _, test := range []struct{ give, want string }{
		{"", "z9z9z9"},
		// Runs, by id and prefix.
		{"k3x9q2", "k3x9q2"}, // an id beats the label of a6
		{"k3", `"k3" could be k3x9q2, z9z9z9/a6 (k3x9q2)`},
		{"z9", "z9z9z9"},
		{"kk44", "kk44mm"},
		{"kk", "z9z9z9/a7"}, // a label beats a prefix
		{"pkg7", "pkg777"},
		// Agents of the latest run, by id, label and prefix.
		{"a2", "z9z9z9/a2"},
		{"a1", "z9z9z9/a1"}, // an id beats the label of a3 and the prefix of a10
		{"a10", "z9z9z9/a10"},
		{"pkg/foo", "z9z9z9/a1"}, // a label beats the prefix of a2 and pkg777/a1
		{"pkg/foo/", "z9z9z9/a2"},
		{"pkg/foo/s", "z9z9z9/a2"},
		{"a ", "z9z9z9/a8"},
		{"a b", "z9z9z9/a8"},
		{"twice", `"twice" could be z9z9z9/a4 (twice), z9z9z9/a5 (twice)`},
		{"tw", `"tw" could be z9z9z9/a4 (twice), z9z9z9/a5 (twice)`},
		{"pkg/f", `"pkg/f" could be pkg777/a1 (foo), z9z9z9/a1 (pkg/foo), z9z9z9/a2 (pkg/foo/sub)`},
		{"a", `"a" could be z9z9z9/a1 (pkg/foo), z9z9z9/a2 (pkg/foo/sub), z9z9z9/a3 (a1), z9z9z9/a4 (twice), z9z9z9/a5 (twice), z9z9z9/a6 (k3x9q2), z9z9z9/a7 (kk) and 3 more`},
		// Agents of a named run.
		{"k3x9q2/a2", "k3x9q2/a2"},
		{"k3x9q2/pkg/foo", "k3x9q2/a1"},
		{"k3x9q2/pkg/", `"k3x9q2/pkg/" could be k3x9q2/a1 (pkg/foo), k3x9q2/a3 (pkg/bar)`},
		{"k3x9q2/old", "k3x9q2/a2"},
		{"k3/old one", "k3x9q2/a2"},
		{"kk4/lib", "kk44mm/a1"},
		{"k/lib", "kk44mm/a1"},
		{"k/a1", `"k/a1" could be k3x9q2/a1 (pkg/foo), kk44mm/a1 (lib)`},
		// Nothing.
		{"pgk/foo", `no run or agent "pgk/foo"; did you mean pkg/foo?`},
		{"k3x9q3", `no run or agent "k3x9q3"; did you mean k3x9q2?`},
		{"k3x9q2/zzz", `no run or agent "k3x9q2/zzz"`},
		{"k3x9q2/", `no run or agent "k3x9q2/"; did you mean k3x9q2?`},
		{"/a1", `no run or agent "/a1"; did you mean a1?`},
		{"/", `no run or agent "/"`},
		{"old one", `no run or agent "old one"`}, // not of the latest
	} {
		got := ""
		if a, err := s.Resolve(test.give); err != nil {
			got = err.Error()
		} else {
			got = a.String()
		}
		if got != test.want && !(strings.HasPrefix(test.want, "no run") && strings.HasPrefix(got, test.want)) {
			t.Errorf("Resolve(%q) = %s, want %s", test.give, got, test.want)
		}
	}
}

func TestResolveAmongDamage(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	if _, err := s.Resolve(""); err == nil || err.Error() != "this repository has no run yet" {
		t.Errorf("Resolve without runs = %v", err)
	}
	placed(t, s, "k3x9q2", "lib")
	last := placed(t, s, "z9z9z9", "lib")
	for _, file := range []string{"run.json", "journal.jsonl"} {
		if err := os.Remove(filepath.Join(last.Dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	dateFolder(t, s, "z9z9z9", time.Hour)
	for give, want := range map[string]string{
		"k3x9q2": "k3x9q2", "k3x9q2/lib": "k3x9q2/a1", "k3x9q2/a1": "k3x9q2/a1", "z9z9z9": "z9z9z9",
	} {
		if a, err := s.Resolve(give); err != nil || a.String() != want {
			t.Errorf("Resolve(%q) = %v, %v, want %s", give, a, err, want)
		}
	}
	if _, err := s.Resolve(""); !isDamaged(err) {
		t.Errorf("the latest run is damaged: %v", err)
	}
	if a, err := s.Resolve("lib"); err == nil {
		t.Errorf("an agent of a run that cannot be read is %v", a)
	}
}

func isDamaged(err error) bool {
	_, ok := errors.AsType[*DamagedError](err)
	return ok
}

func TestRunOfAnotherRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	there, here := Open(root, "there", "/there"), Open(root, "here", "/here")
	placed(t, there, "k3x9q2", "lib")
	for _, give := range []string{"k3x9q2", "k3x9q2/lib"} {
		_, err := here.Resolve(give)
		missing, ok := errors.AsType[*NotFoundError](err)
		if !ok || missing.Elsewhere != "/home/me/repo" {
			t.Errorf("Resolve(%q) = %v", give, err)
		}
	}
	if _, err := here.Run("k3x9q2"); err == nil || !strings.Contains(err.Error(), "/home/me/repo") {
		t.Errorf("Run = %v", err)
	}
	if r, err := there.Run("k3x9q2"); err != nil || r.ID != "k3x9q2" {
		t.Errorf("Run = %v, %v", r, err)
	}
	for _, bad := range []string{"", "..", "k3x9", "../../x"} {
		if r, err := there.Run(bad); err == nil {
			t.Errorf("Run(%q) = %v", bad, r)
		}
	}
}

func FuzzResolve(f *testing.F) {
	s := Open(f.TempDir(), "r", "/r")
	r, o, err := s.Create(Identity{})
	if err != nil {
		f.Fatal(err)
	}
	_, err = o.AppendAll([]event.Event{called(1, "pkg/foo"), called(2, "pkg/foo/x"), called(3, "a1")})
	if err := errors.Join(err, o.Close()); err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "/", "a1", "pkg/foo", r.ID, r.ID + "/a2", "a/b/c", "\xff", "../.."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := s.Resolve(text)
		if err != nil {
			return
		}
		// The result has an exact name that finds it again.
		again, err := s.Resolve(a.String())
		if err != nil || again.String() != a.String() {
			t.Errorf("Resolve(%q) = %s, and that = %v, %v", text, a, again, err)
		}
		known := []task.ID{"", "a1", "a2", "a3"}
		if a.Run.ID != r.ID || !slices.Contains(known, a.Agent) {
			t.Errorf("Resolve(%q) = %s", text, a)
		}
	})
}
