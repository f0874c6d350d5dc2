package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
)

// brief is a log as lines: subject, author and files.
func brief(entries []LogEntry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s by %s: %q\n", e.Subject, e.Author, e.Files)
	}
	return b.String()
}

func TestLog(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "1\n", "dir/:(top) b", "1\n")
	g.commit("dir/:(top) b", "2\n", "c\nd", "1\n")
	g.git("checkout", "-q", "-b", "side", "HEAD~1")
	g.commit("side", "1\n")
	g.git("checkout", "-q", "main")
	g.git("-c", "user.name=Ada \"x\" Löw", "merge", "-q", "--no-ff", "-m", "both\nlines\n\nbody", "side")
	head := Hash(g.git("rev-parse", "HEAD"))
	const all = `both lines by Ada "x" Löw: []
work by User: ["c\nd" "dir/:(top) b"]
work by User: ["side"]
work by User: ["a" "dir/:(top) b"]
`
	q := g.quarantine(g.frozen())
	for _, tt := range []struct {
		name string
		give LogRequest
		want string
	}{
		{"all", LogRequest{Max: 50}, all},
		{"some", LogRequest{Max: 1}, "both lines by Ada \"x\" Löw: []\n"},
		{"a path", LogRequest{Max: 50, Path: "dir/:(top) b"}, "work by User: [\"dir/:(top) b\"]\nwork by User: [\"dir/:(top) b\"]\n"},
		{"a folder", LogRequest{Max: 50, Path: "dir"}, "work by User: [\"dir/:(top) b\"]\nwork by User: [\"dir/:(top) b\"]\n"},
		{"no glob", LogRequest{Max: 50, Path: "*"}, ""},
		{"nothing", LogRequest{Max: 50, Path: "none"}, ""},
		{"an option", LogRequest{Max: 50, Path: "--all"}, ""},
	} {
		tt.give.From, tt.give.Limit = head, 1<<20
		got, err := q.Log(t.Context(), tt.give)
		if err != nil || brief(got) != tt.want {
			t.Errorf("%s: Log = %s, %v, want %s", tt.name, brief(got), err, tt.want)
		}
	}
	got, err := q.Log(t.Context(), LogRequest{From: head, Max: 1, Limit: 1 << 20})
	g.ok(err)
	if want := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC); got[0].Commit != head || got[0].Date != want {
		t.Errorf("Log = %v at %v, want %s at %v", got[0].Commit, got[0].Date, head, want)
	}
	var long *LongError
	if _, err := q.Log(t.Context(), LogRequest{From: head, Max: 50, Limit: 100}); !errors.As(err, &long) || long.Limit != 100 {
		t.Errorf("Log of a small limit = %v, want a *LongError", err)
	}
	var bad *Error
	if _, err := q.Log(t.Context(), LogRequest{From: "--all", Max: 50, Limit: 100}); !errors.As(err, &bad) {
		t.Errorf("Log from an option = %v, want git's refusal", err)
	}
}

// TestLogRunsNothing has a repository whose configuration names programs for
// logs, other authors, and a replacement for the requested commit.
func TestLogRunsNothing(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	first := g.commit("a", "1\n", ".mailmap", "Other <other@example.com> <user@example.com>\n")
	head := g.commit("a", "2\n")
	q := g.quarantine(g.frozen())
	mark := filepath.Join(g.home, "ran")
	tool := filepath.Join(g.home, "tool")
	testprogram.Write(t, tool, "#!/bin/sh\ntouch "+mark+"\n")
	for k, v := range map[string]string{
		"log.showSignature": "true", "gpg.program": tool, "log.mailmap": "true", "pager.log": tool,
		"core.pager": tool, "diff.external": tool, "log.date": "relative", "format.pretty": "%B",
	} {
		g.git("config", k, v)
	}
	g.git("replace", string(head), string(first))
	got, err := q.Log(t.Context(), LogRequest{From: head, Max: 50, Limit: 1 << 20})
	if err != nil || len(got) != 2 || got[0].Author != "User" || got[0].Commit != head {
		t.Errorf("Log = %v, %v, want two commits of User", got, err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("Log ran what the configuration names")
	}
}

// TestLogShallow ends where the history of a clone does.
func TestLogShallow(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "1\n")
	head := g.commit("a", "2\n")
	clone := filepath.Join(g.home, "clone")
	g.git("clone", "-q", "--depth=1", "file://"+g.root, clone)
	r, err := New(g.environ()).Discover(t.Context(), clone)
	g.ok(err)
	f, err := r.Freeze(t.Context(), filepath.Join(g.home, "frozen"))
	g.ok(err)
	got, err := g.quarantine(f).Log(t.Context(), LogRequest{From: head, Max: 50, Limit: 1 << 20})
	if err != nil || brief(got) != "work by User: [\"a\"]\n" {
		t.Errorf("Log of a shallow clone = %s, %v", brief(got), err)
	}
}

func TestParseLog(t *testing.T) {
	t.Parallel()
	one := "commit abc\x00A\x007\x00s\x00"
	entry := LogEntry{Commit: "abc", Author: "A", Date: time.Unix(7, 0).UTC(), Subject: "s"}
	changed := entry
	changed.Files = []string{"commit x", ":y"}
	for _, tt := range []struct {
		give string
		want []LogEntry // nil: an error
	}{
		{one, []LogEntry{entry}},
		{one + "\n:1 2 a b M\x00commit x\x00:1 2 a b A\x00:y\x00" + one, []LogEntry{changed, entry}},
		{"commit abc\x00A\x00x\x00s\x00", nil},
		{"commit abc\x00A\x007\x00s", nil},
		{":1 2 a b M\x00x\x00", nil},
		{one + "\n:1 2 a b M\x00x", nil},
		{one + "stray\x00x\x00", nil},
	} {
		got, err := parseLog([]byte(tt.give))
		if !reflect.DeepEqual(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("parseLog(%q) = %+v, %v, want %+v", tt.give, got, err, tt.want)
		}
	}
	if got, err := parseLog(nil); got != nil || err != nil {
		t.Errorf("parseLog of nothing = %v, %v", got, err)
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte("commit abc\x00A\x007\x00s\x00\n:1 2 a b M\x00x\x00"))
	f.Add([]byte("commit \x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		entries, err := parseLog(out)
		if err != nil && entries != nil {
			t.Errorf("parseLog = %v with %v", entries, err)
		}
		for _, e := range entries {
			if strings.ContainsRune(e.Subject+e.Author+strings.Join(e.Files, ""), 0) {
				t.Errorf("parseLog = %+v, want no NUL", e)
			}
		}
	})
}
