package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/event"
)

// checkoutSteps are the steps at which the test kills merge, apply and undo:
// one of each kind. The package worktree/git/checkout tests all steps.
func checkoutSteps() []string {
	return []string{
		"checkout record the begin", "publish", "checkout write the new files", "checkout write the next index",
		"before intended", "checkout record the renames", "checkout set aside pkg/p0/f.txt",
		"checkout put in place pkg/p0/f.txt", "checkout move the branch", "checkout install the index",
		"checkout record the end", "checkout remove the staging folder", "before landed", "before undone",
	}
}

// TestKilledLandings kills merge, apply and their undo at a step. The next
// command, of any kind, says on which side the checkout is, and it is there.
func TestKilledLandings(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"merge", "apply"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			y := newFixture(t)
			y.ends(0, "run", "--", "sh", "-c", "echo more >> pkg/p0/f.txt; echo new > new.txt; rm pkg/p1/f.txt")
			y.write("repo/pkg/p2/f.txt", "mine\n")
			y.write("repo/mine.txt", "mine\n")
			l := &landings{fixture: y, verb: verb, old: y.standing()}
			y.ends(0, verb)
			l.new = y.standing()
			y.ends(0, "undo")
			if y.standing() != l.old {
				y.failf("undo left\n%s\nwant\n%s", y.standing(), l.old)
			}
			readers := [][]string{{"ls"}, {"status"}, {"show"}, {"diff"}, {"gc"}, {"inbox"}}
			for n, step := range checkoutSteps() {
				// The gate kills a command at each step.
				if !campaign.Running(t) && (n%2 == 0) != (verb == "merge") {
					continue
				}
				l.kill(step, verb, readers[n%len(readers)])
				if y.standing() == l.old {
					y.ends(0, verb)
				}
				l.kill(step, "undo", readers[(n+1)%len(readers)])
				if y.standing() == l.new {
					y.ends(0, "undo")
				}
				if y.standing() != l.old {
					y.failf("undo left\n%s\nwant\n%s", y.standing(), l.old)
				}
			}
		})
	}
}

// TestKilledSettling kills an undo before it journals its end, and then the command that
// settles it. The landing is taken back for the commands after them.
func TestKilledSettling(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.ends(0, "run", "--", "sh", "-c", "echo more >> pkg/p0/f.txt")
	old := y.standing()
	y.ends(0, "merge")
	for range 2 {
		happened := y.path("happened")
		if s := y.swarm([]string{faultVar + "=kill:before undone:" + happened}, "undo"); s.code != 128+int(syscall.SIGKILL) {
			y.failf("undo ended with %d: %s", s.code, s.stderr)
		}
		y.must(os.Remove(happened))
	}
	if s := y.ends(0, "undo"); !strings.Contains(s.stdout+s.stderr, "nothing to undo") {
		y.failf("undo says %q, want nothing to undo", s.stdout+s.stderr)
	}
	if got := y.standing(); got != old {
		y.failf("the checkout is\n%s\nwant\n%s", got, old)
	}
	y.ends(0, "merge")
}

// TestKilledForgetting kills a merge and an undo on either side of the record of their
// end. The next landing of the run removes the record of the transaction. A reason stands
// only where the landing did not happen.
func TestKilledForgetting(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.ends(0, "run", "--", "sh", "-c", "echo more >> pkg/p0/f.txt")
	next := map[string]string{"merge": "undo", "undo": "merge"}
	for _, step := range []string{"before landed", "after landed"} {
		for _, verb := range []string{"merge", "undo"} {
			happened := y.path("happened")
			if s := y.swarm([]string{faultVar + "=kill:" + step + ":" + happened}, verb); s.code != 128+int(syscall.SIGKILL) {
				y.failf("%s ended with %d: %s", verb, s.code, s.stderr)
			}
			y.must(os.Remove(happened))
			y.ends(0, next[verb])
			y.ends(0, verb)
		}
		y.ends(0, "undo")
	}
	if left, _ := filepath.Glob(filepath.Join(y.state, "repo-*", "checkouts", "tx-*")); len(left) > 0 {
		y.failf("left are %q, want no record of a landing that is journaled", left)
	}
	for _, r := range y.records() {
		if e, ok := r.Event.(*event.Landed); ok && e.OK == (e.Reason != "") {
			y.failf("landing %d has happened: %t, with the reason %q", e.ID, e.OK, e.Reason)
		}
	}
}

// landings is a fixture where a landing is made and taken back.
type landings struct {
	*fixture
	verb     string
	old, new string // the checkout on either side
}

// standing is branch, index and files of the checkout.
func (y *fixture) standing() string {
	y.t.Helper()
	var files strings.Builder
	for _, n := range []string{"pkg/p0/f.txt", "pkg/p1/f.txt", "pkg/p2/f.txt", "new.txt", "mine.txt"} {
		text, err := os.ReadFile(filepath.Join(y.repo, n))
		if err != nil {
			text = []byte("none\n")
		}
		files.WriteString(n + ": " + string(text))
	}
	return y.git("log", "-1", "--format=%T") + "\n" + y.git("--no-optional-locks", "status", "--porcelain", "-uall") + "\n" +
		y.git("ls-files", "-s") + "\n" + files.String()
}

// kill kills a command at a step and has another put the checkout in order. A
// command that has no such step is carried out.
func (l *landings) kill(step, command string, next []string) {
	l.t.Helper()
	happened := filepath.Join(l.dir, "happened")
	defer os.Remove(happened)
	l.about = command + " killed at " + step + ": "
	s := l.swarm([]string{faultVar + "=kill:" + step + ":" + happened}, command)
	_, err := os.Stat(happened)
	killed := err == nil
	if killed != (s.code == 128+int(syscall.SIGKILL)) || !killed && s.code != 0 {
		l.failf("it ended with %d: %s", s.code, s.stderr)
	}
	s = l.swarm(nil, next...)
	if s.code != 0 {
		l.failf("%v ended with %d: %s", next, s.code, s.stderr)
	}
	at := l.standing()
	if at != l.old && at != l.new {
		l.failf("after %v the checkout is\n%s\nneither\n%s\nnor\n%s", next, at, l.old, l.new)
	}
	if killed && strings.HasPrefix(step, "checkout ") && step != "checkout record the begin" {
		l.says(s, command, at)
	}
	for _, pattern := range []string{".git/*.lock", ".git/refs/heads/*.lock", "../state/*/refs.git/refs/swarm/*/landed/*.lock", ".git/swarm-*", ".swarm-*", "../tmp/swarm-index-*"} {
		if left, _ := filepath.Glob(filepath.Join(l.repo, pattern)); len(left) > 0 {
			l.failf("after %v there is %q", next, left)
		}
	}
	if s := l.swarm(nil, next...); strings.Contains(s.stderr, "cut off") {
		l.failf("it is said again: %s", s.stderr)
	}
	l.about = ""
}

// says fails unless the command that followed a kill says on which side the
// checkout is.
func (l *landings) says(s said, command, at string) {
	l.t.Helper()
	want := "cut off before it changed anything"
	switch isNew := at == l.new; {
	case strings.Contains(s.stderr, want), strings.Contains(l.about, "remove the staging folder"):
		if isNew == (command != "undo") && !strings.Contains(l.about, "remove the staging folder") {
			l.failf("it says %q, and something changed", s.stderr)
		}
		return
	case isNew == (command != "undo"):
		want = "it is completed"
	default:
		want = "it is rolled back"
	}
	if !strings.Contains(s.stderr, command) || !strings.Contains(s.stderr, want) {
		l.failf("it says %q, want %s with the command", s.stderr, want)
	}
}

// TestLandingsOnAFullDisk: the error of a merge, an apply and an undo names the
// path and the cause. Nothing changed, and the command works once there is room.
func TestLandingsOnAFullDisk(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.ends(0, "run", "--", "sh", "-c", "echo more >> pkg/p0/f.txt; echo new > new.txt")
	for _, verb := range []string{"merge", "apply"} {
		for _, command := range []string{verb, "undo"} {
			for _, step := range []string{"checkout write the new files", "checkout put in place pkg/p0/f.txt"} {
				before := y.standing()
				s := y.swarm([]string{faultVar + "=full:" + step + ":x"}, command)
				if s.code != 1 || !strings.Contains(s.stderr, "no space left on device") ||
					!strings.Contains(s.stderr, "hint: free space") || strings.Contains(s.stderr, "local changes") {
					t.Errorf("%s ended with %d, want 1 and the cause: %s", command, s.code, s.stderr)
				}
				if strings.Contains(step, "put") && !strings.Contains(s.stderr, "repo/pkg/p0/f.txt") {
					t.Errorf("%s does not name the path: %s", command, s.stderr)
				}
				if after := y.standing(); after != before {
					t.Errorf("after %s the checkout is\n%s\nwant\n%s", command, after, before)
				}
			}
			y.ends(0, command)
		}
	}
}

// TestCollectTransactions: the record of a landing whose outcome no journal has
// goes with its run.
func TestCollectTransactions(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.ends(0, "run", "--", "sh", "-c", "echo more >> pkg/p0/f.txt")
	happened := y.path("happened")
	if s := y.swarm([]string{faultVar + "=kill:before landed:" + happened}, "merge"); s.code != 128+int(syscall.SIGKILL) {
		t.Fatalf("merge ended with %d: %s", s.code, s.stderr)
	}
	records := func() []string {
		found, err := filepath.Glob(filepath.Join(y.state, "repo-*", "checkouts", "tx-*"))
		y.must(err)
		return found
	}
	y.ends(0, "gc")
	if got := records(); len(got) != 1 {
		t.Errorf("the records are %q, want that of the run kept", got)
	}
	y.must(os.RemoveAll(y.runs()[0].Dir))
	s := y.ends(0, "gc", "--json")
	if got := records(); len(got) != 0 || !strings.Contains(s.stdout, `"transaction"`) {
		t.Errorf("the records are %q, want none: %s", got, s.stdout)
	}
}
