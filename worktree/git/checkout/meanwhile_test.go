package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/internal/testprogram"
	"agentswarm/worktree/git"
)

// killed carries a transaction out in a process that is killed before a step.
func (g *fixture) killed(op, step string) {
	g.Helper()
	var steps []string
	c := g.copyTo(g.TB)
	c.must(c.transact(context.Background(), move{index: op == "branch", step: func(name string) error {
		steps = append(steps, name)
		return nil
	}}))
	n := slices.Index(steps, "checkout "+step)
	if n < 0 {
		g.Fatalf("no step is %q: %q", step, steps)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %s %s", killVariable, op, n+1, g.old, g.new, g.dir))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		g.Fatalf("killed at %s: %v: %s", step, err, out)
	}
}

func (g *fixture) read(n string) string {
	g.Helper()
	text, err := os.ReadFile(filepath.Join(g.root, n))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestChangedWhileItRuns: the user changes a path between the check and its
// rename. It stays as the user left it, and all else is old.
func TestChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, at, path string }{
		{"a file that is replaced", "put in place bit", "d4/f4"},
		{"the file itself", "set aside d4/f4", "d4/f4"},
		{"a file that appears", "put in place bit", "made/deep/b"},
		{"one that appears in the instant between", "put in place d4/f4", "d4/f4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			g.dirty("dirty")
			before := g.git("status", "--porcelain")
			err := g.transact(t.Context(), move{index: true, step: func(name string) error {
				if name == "checkout "+tt.at {
					g.write(map[string]string{tt.path: "the user's\n"})
				}
				return nil
			}})
			var dirty *git.DirtyError
			if !errors.As(err, &dirty) || !slices.Contains(dirty.Paths, tt.path) {
				t.Errorf("got %v, want a DirtyError of %s", err, tt.path)
			}
			if got := g.read(tt.path); got != "the user's\n" {
				t.Errorf("%s is %q, want the user's", tt.path, got)
			}
			g.must(os.Remove(filepath.Join(g.root, tt.path)))
			if tt.path == "d4/f4" {
				g.git("checkout", "--", tt.path)
			}
			if after := g.git("status", "--porcelain"); after != before {
				t.Errorf("status is\n%s\nwant\n%s", after, before)
			}
			if left := g.leftovers(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestChangedAfterAKill: the user changes a path after the kill. It is named and
// stays; the rest is on one side.
func TestChangedAfterAKill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, op, at, path string
		happened           bool
	}{
		{"one to come", "branch", "put in place bit", "d4/f4", false},
		{"one that was replaced", "branch", "move the branch", "d4/f4", false},
		{"one that was replaced, and the branch has moved", "branch", "install the index", "d4/f4", true},
		{"one that was made", "files", "record the end", "made/deep/b", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			g.killed(tt.op, tt.at)
			g.write(map[string]string{tt.path: "the user's\n"})
			ended := g.recover()
			if len(ended) != 1 || ended[0].Happened != tt.happened || len(ended[0].Kept) != 1 ||
				!slices.Equal(ended[0].Kept[0].Paths, []string{tt.path}) {
				t.Errorf("ended %+v, want happened %v and %s kept", ended, tt.happened, tt.path)
			}
			if got := g.read(tt.path); got != "the user's\n" {
				t.Errorf("%s is %q, want the user's", tt.path, got)
			}
			side := map[bool]git.Hash{true: g.new, false: g.old}[tt.happened]
			if got := g.git("rev-parse", "HEAD"); got != string(side) {
				t.Errorf("the branch is at %s, want %s", got, side)
			}
			for line := range strings.Lines(g.git("status", "--porcelain", "-uall")) {
				if strings.TrimSpace(line[3:]) != tt.path {
					t.Errorf("status says %q, want nothing but %s", line, tt.path)
				}
			}
			if left := g.leftovers(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestSwitchedAfterAKill: the user removed our lock and went to another branch.
func TestSwitchedAfterAKill(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.killed("branch", "move the branch")
	g.must(os.Remove(filepath.Join(g.root, ".git", "index.lock")))
	g.git("checkout", "-q", "-f", "-b", "other")
	ended := g.recover()
	if len(ended) != 1 || ended[0].Happened {
		t.Errorf("ended %+v, want it rolled back", ended)
	}
	if got := g.git("rev-parse", "main", "other"); got != string(g.old)+"\n"+string(g.old) {
		t.Errorf("the branches are at %s, want both at the old commit", got)
	}
	if got := g.git("status", "--porcelain"); got != "" {
		t.Errorf("status is %q, want clean", got)
	}
}

// TestWrittenWhileAside: a program that had a file open writes to it while it is
// moved aside. The written content is kept beside the new file.
func TestWrittenWhileAside(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	f, err := os.OpenFile(filepath.Join(g.root, "d4/f4"), os.O_WRONLY|os.O_APPEND, 0)
	g.must(err)
	defer f.Close()
	g.must(g.transact(t.Context(), move{index: true, step: func(name string) error {
		if name == "checkout move the branch" {
			_, err := f.WriteString("late\n")
			return err
		}
		return nil
	}}))
	if got := g.read("d4/f4.swarm-k3x9q2.1"); got != "old 4\nlate\n" {
		t.Errorf("what was written late is %q", got)
	}
	if o, err := Lookup(g.records, "k3x9q2.1"); err != nil || len(o.Kept) != 1 {
		t.Errorf("the outcome is %+v, %v; want the file named", o, err)
	}
}

// TestForeignLocks: a lock that is not ours stays, and is named.
func TestForeignLocks(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	lock := filepath.Join(g.root, ".git", "index.lock")
	g.must(os.WriteFile(lock, nil, 0o644))
	before := g.read("d4/f4")
	var locked *LockedError
	if err := g.transact(t.Context(), move{index: true}); !errors.As(err, &locked) || locked.Lock != lock {
		t.Errorf("got %v, want a LockedError of %s", err, lock)
	}
	if _, err := os.Lstat(lock); err != nil || g.read("d4/f4") != before {
		t.Errorf("the lock: %v, want it there and no file changed", err)
	}
	g.must(os.Remove(lock))
	// After a kill the user removed ours, and another git has one.
	g.killed("branch", "move the branch")
	g.must(os.Remove(lock), os.WriteFile(lock, nil, 0o644))
	_, err := Recover(t.Context(), RecoverRequest{Records: g.records, Repo: g.repo()})
	if !errors.As(err, &locked) {
		t.Errorf("Recover: %v, want a LockedError", err)
	}
	g.must(os.Remove(lock))
	if ended := g.recover(); len(ended) != 1 || !ended[0].Happened || g.git("status", "--porcelain") != "" {
		t.Errorf("ended %+v with status %q, want completed and clean", ended, g.git("status", "--porcelain"))
	}
}

// TestRefLocks: of the locks in the record, only those with the content that our
// git writes are removed.
func TestRefLocks(t *testing.T) {
	t.Parallel()
	moved := git.Hash(strings.Repeat("a", 40))
	for content, stays := range map[string]bool{
		"": false, string(moved) + "\n": false, strings.Repeat("b", 40) + "\n": true, "ref: refs/heads/other\n": true,
	} {
		lock := filepath.Join(t.TempDir(), "main.lock")
		if err := os.WriteFile(lock, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		tx := &Tx{rec: record{New: moved, RefLocks: []string{lock}}}
		tx.breakRefLocks(t.Context())
		if _, err := os.Lstat(lock); (err == nil) != stays {
			t.Errorf("a lock with %q: %v, want it to stay: %t", content, err, stays)
		}
	}
}

// TestForkedChildHoldsNoLock: the next command gets the locks at once, however
// long a child that was forked before takes to run its program.
func TestForkedChildHoldsNoLock(t *testing.T) {
	t.Parallel()
	records := t.TempDir()
	l, err := try(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	held, err := unix.FcntlInt(l.owner.Fd(), unix.F_DUPFD_CLOEXEC, 0) // as such a child holds it
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(held)
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	next, err := try(t.Context(), records)
	if err != nil {
		t.Fatalf("try = %v, want the locks", err)
	}
	if err := next.close(); err != nil {
		t.Fatal(err)
	}
}

// TestGitKilled: a git of the transaction is killed, and this process is not. No
// lock of it is left, and the transaction ends on one side.
func TestGitKilled(t *testing.T) {
	t.Parallel()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, word, does string
		happens          bool
	}{
		{"reading the new files", "read-tree", "kill -KILL $$", false},
		{"before it moves the branch", "update-ref", ": > .git/HEAD.lock; : > .git/refs/heads/main.lock; kill -KILL $$", true},
		{"after it moved the branch", "update-ref", `"$real" "$@"; : > .git/HEAD.lock; kill -KILL $$`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			bin := filepath.Join(g.dir, "bin")
			g.must(os.MkdirAll(bin, 0o755))
			testprogram.Write(t, filepath.Join(bin, "git"), fmt.Sprintf(`#!/bin/sh
real='%s'
case " $* " in *" %s "*) if mkdir '%s' 2>/dev/null; then %s; fi;; esac
exec "$real" "$@"
`, real, tt.word, filepath.Join(g.dir, "once"), tt.does))
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"),
				fmt.Sprintf("%s=branch 0 %s %s %s", killVariable, g.old, g.new, g.dir))
			out, err := cmd.CombinedOutput()
			if (err == nil) != tt.happens {
				t.Errorf("it ended with %v: %s; want success: %v", err, out, tt.happens)
			}
			want := map[bool]git.Hash{true: g.new, false: g.old}[tt.happens]
			if got := g.git("rev-parse", "HEAD"); got != string(want) || g.git("status", "--porcelain") != "" {
				t.Errorf("the branch is at %s with status %q, want %s and clean", got, g.git("status", "--porcelain"), want)
			}
			if left := g.leftovers(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestWrittenWhileAsideAndLeft: a program wrote to an old file while it was moved, the
// process was killed, and the user went to another branch. There another file stands at
// the path, or its folder is gone.
func TestWrittenWhileAsideAndLeft(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		does func(*fixture)
		kept string
	}{
		"another file":    {func(*fixture) {}, "d4/f4.swarm-k3x9q2.1"},
		"no folder":       {func(g *fixture) { g.must(os.RemoveAll(filepath.Join(g.root, "d4"))) }, "d4-f4.swarm-k3x9q2.1"},
		"a file above it": {func(g *fixture) { g.write(map[string]string{"d4": "a file\n"}) }, "d4-f4.swarm-k3x9q2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			g.killed("branch", "install the index")
			rec, err := load(folderOf(g.records, "k3x9q2.1"))
			g.must(err)
			n := slices.IndexFunc(rec.Sides[0].Paths, func(p *pathing) bool { return p.Path == "d4/f4" })
			g.must(os.WriteFile(rec.Sides[0].at(rec.Sides[0].Paths[n].Aside), []byte("old 4\nlate\n"), 0o644))
			g.must(os.Remove(filepath.Join(g.root, ".git", "index.lock")))
			g.git("checkout", "-q", "-f", "-b", "other", string(g.old))
			tt.does(g)
			ended := g.recover()
			if len(ended) != 1 || !ended[0].Happened || len(ended[0].Kept) != 1 || !slices.Contains(ended[0].Kept[0].Paths, tt.kept) {
				t.Errorf("ended %+v, want it completed without the checkout, and %s named", ended, tt.kept)
			}
			if got := g.read(tt.kept); got != "old 4\nlate\n" {
				t.Errorf("%s is %q, want the text that was written late", tt.kept, got)
			}
			if left := g.leftovers(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestKilledGitLeftALock: a git that wrote the next index was killed and left its lock.
// It is removed, and does not keep the next index from being made anew.
func TestKilledGitLeftALock(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"the index as it was": "", "the index changed": "M  mine/staged"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			g.killed("branch", "install the index")
			if want != "" {
				g.must(os.Remove(filepath.Join(g.root, ".git", "index.lock")))
				g.write(map[string]string{"mine/staged": "staged\n"})
				g.git("add", "mine/staged")
			}
			g.must(os.WriteFile(filepath.Join(g.root, ".git", "swarm-k3x9q2.1.index.lock"), nil, 0o600))
			if ended := g.recover(); len(ended) != 1 || !ended[0].Happened || len(ended[0].Kept) != 0 {
				t.Errorf("ended %+v, want it completed with the index", ended)
			}
			if left := g.leftovers(); len(left) > 0 {
				t.Errorf("left %q", left)
			}
			if got := g.git("status", "--porcelain"); got != want {
				t.Errorf("status is %q, want %q", got, want)
			}
		})
	}
}

// TestUnreadableRecord: a record that cannot be read stops the next transaction with
// advice. It hides no other.
func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.must(g.transact(t.Context(), move{index: true}))
	for id, text := range map[string]string{"aaaaa2.1": "{", "zzzzz2.1": `{"id":"zzzzz2.1","phase":"new"}`} {
		g.must(os.Mkdir(folderOf(g.records, id), 0o700),
			os.WriteFile(filepath.Join(folderOf(g.records, id), recordFile), []byte(text), 0o600))
	}
	ids, unreadable, err := Ended(g.records)
	if err != nil || !slices.Equal(ids, []string{"k3x9q2.1"}) || len(unreadable) != 2 {
		t.Errorf("Ended() = %q, %v, %v; want the one that ended, and two that cannot be read", ids, unreadable, err)
	}
	err = g.transact(t.Context(), move{index: true})
	var bad *RecordError
	if !errors.As(err, &bad) || bad.Dir != folderOf(g.records, "aaaaa2.1") {
		t.Fatalf("got %v, want a RecordError", err)
	}
	for _, word := range []string{"run aaaaa2 ", "`git status`", ".swarm-aaaaa2.1", "move " + bad.Dir + " away"} {
		if !strings.Contains(bad.Hint(), word) {
			t.Errorf("the hint is %q, want %q in it", bad.Hint(), word)
		}
	}
}
