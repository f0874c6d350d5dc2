package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/swarm/event"
)

func TestTrashedListsDamagedOnes(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	r, o := created(t, s)
	mustAppend(t, o, called(1, "one"), &event.Intended{ID: 1, Verb: "merge", Ref: "refs/heads/x"})
	mustClose(t, o)
	to, err := r.Remove(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Trashed()
	if err != nil || len(all) != 1 || all[0].Damage != nil || all[0].Home() != filepath.Join(s.Dir, "runs", r.ID) {
		t.Fatalf("Trashed = %+v, %v, want run %s", all, err, r.ID)
	}
	if v, err := all[0].View(); err != nil || len(v.Agents) != 1 || len(v.Landings) != 1 {
		t.Errorf("View = %+v, %v, want what the journal says", v, err)
	}
	for _, text := range []string{"nonsense", `{"schema":"swarm.runfile/1","run":"zzzzz2"}`} {
		if err := os.WriteFile(filepath.Join(to, "run.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := s.Trashed()
		if err != nil || len(all) != 1 || all[0].Run != r.ID || all[0].Path != to || !isDamaged(all[0].Damage) {
			t.Errorf("Trashed = %+v, %v with %s, want a damaged run", all, err, text)
		}
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	r, o := created(t, s)
	mustAppend(t, o, called(1, "one"))
	mustClose(t, o)
	if _, err := r.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	trashed := func() Trashed {
		all, err := s.Trashed()
		if err != nil || len(all) != 1 {
			t.Fatalf("Trashed = %+v, %v, want one run", all, err)
		}
		return all[0]
	}
	gone := trashed()
	if err := os.Mkdir(gone.Home(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Restore(t.Context()); !errors.Is(err, ErrThere) {
		t.Errorf("Restore over a run = %v, want ErrThere", err)
	}
	gone = trashed() // the folder is still there
	if err := os.Remove(gone.Home()); err != nil {
		t.Fatal(err)
	}
	back, err := gone.Restore(t.Context())
	if err != nil || back.ID != r.ID || back.Dir != r.Dir {
		t.Fatalf("Restore = %+v, %v, want run %s at %s", back, err, r.ID, r.Dir)
	}
	if v, err := back.View(); err != nil || len(v.Agents) != 1 {
		t.Errorf("View = %+v, %v, want the agent of the run", v, err)
	}
	if all, err := s.Trashed(); err != nil || len(all) != 0 {
		t.Errorf("Trashed = %+v, %v, want none", all, err)
	}
}

func TestUnmade(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	_, o := created(t, s)
	mustClose(t, o)
	for _, test := range []struct {
		name  string
		files []string
		want  bool
	}{
		{name: "100-abcde2-new", want: true},
		{name: "101-abcde3-new", files: []string{"run.json", "lock", "journal.jsonl", ".new-17"}, want: true},
		{name: "102-abcde4-new", files: []string{"run.json", "stranger"}},
		{name: "103-abcde5-new", files: []string{"a/1/prompt"}},
		{name: "104-abcde6-run"},
		{name: "105-mine-new"},
		{name: "x-abcde7-new"},
	} {
		dir := filepath.Join(s.Trash(), test.name)
		for _, f := range append(test.files, ".new-1") {
			path := filepath.Join(dir, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.Unmade()
		found := slices.ContainsFunc(all, func(u Trashed) bool { return u.Path == dir })
		if err != nil || found != test.want {
			t.Errorf("Unmade with %s = %+v, %v, want it listed: %v", test.name, all, err, test.want)
		}
	}
	// A folder that a process is making now.
	r := &Run{ID: "abcde3", Dir: filepath.Join(s.Trash(), "101-abcde3-new"), state: s}
	lock, err := r.lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if all, err := s.Unmade(); err != nil || len(all) != 1 || all[0].Run != "abcde2" {
		t.Errorf("Unmade = %+v, %v, want only that of abcde2", all, err)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	if lost, err := s.Lost(); err != nil || lost != nil {
		t.Errorf("Lost of nothing = %q, %v", lost, err)
	}
	var runs []*Run
	var owners []*Owner
	for range 3 {
		r, o := created(t, s)
		runs, owners = append(runs, r), append(owners, o)
		if err := os.MkdirAll(filepath.Join(s.Trees(r.ID), "a1.1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The first is whole, the second is damaged, the third is damaged and
	// live; of a fourth there is nothing but workspaces.
	mustClose(t, owners[0])
	mustClose(t, owners[1])
	for _, r := range runs[1:] {
		if err := os.WriteFile(filepath.Join(r.Dir, "run.json"), []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"abcde2", "stranger"} {
		if err := os.MkdirAll(s.Trees(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{runs[1].ID, "abcde2"}
	slices.Sort(want)
	if lost, err := s.Lost(); err != nil || fmt.Sprint(lost) != fmt.Sprint(want) {
		t.Errorf("Lost = %q, %v, want %q", lost, err, want)
	}
}
