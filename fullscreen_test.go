package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"agentswarm/internal/picture"
)

// glass is a window with a full-screen view, as a person sees it.
type glass struct {
	*window
	rows, cols int
}

// watches opens a full-screen view of a command.
func (y *fixture) watches(rows, cols int, args ...string) *glass {
	y.t.Helper()
	// A terminal with few abilities gets few kinds of sequences.
	y.env = append(y.env, "TERM=vt100", "CI=")
	return &glass{y.open(uint16(rows), uint16(cols), args...), rows, cols}
}

// looks is the text on the screen.
func (g *glass) looks() string {
	s := picture.NewScreen(g.rows, g.cols)
	_, _ = s.Write([]byte(g.text()))
	return s.Text()
}

// awaits waits until the screen has all of some texts, and returns it.
func (g *glass) awaits(texts ...string) string {
	g.t.Helper()
	now := ""
	shown := poll(never, func() bool {
		now = g.looks()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(now, text) })
	})
	if !shown {
		g.t.Fatalf("%q does not come; the screen shows\n%s", texts, now)
	}
	return now
}

// resizes changes the size of the terminal.
func (g *glass) resizes(rows, cols int) {
	g.t.Helper()
	g.mu.Lock()
	g.shown = nil
	g.mu.Unlock()
	g.rows, g.cols = rows, cols
	if err := pty.Setsize(g.slave, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		g.t.Fatal(err)
	}
}

// TestWatchView: the view of a run on a real terminal: it takes keys and new sizes,
// gives the terminal to a shell and to the agent, and leaves it as it was. Neither
// its end nor a signal ends the run.
func TestWatchView(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	run := y.onTerminals(interactive)

	g := y.watches(24, 80, "watch")
	g.awaits("run "+run+" running", "1 working", "> a1 work", "? help")
	g.types("?")
	g.awaits("leave; the run continues")
	g.types("?\t")
	g.awaits("|0.0s")
	g.resizes(50, 200)
	g.awaits("|0.0s")
	g.types("\t\t")
	g.awaits("│ a1 work")

	g.types("t")
	g.awaits("a1 is running in")
	g.types("echo in the work''space\r")
	g.awaits("in the workspace")
	g.types("exit 0\r")
	g.awaits("│ a1 work", "? help")
	g.types("A")
	g.awaits("attached to a1")
	g.types("\x1d")
	g.awaits("│ a1 work", "? help")

	g.types("Xy")
	g.awaits("a1 cancelled")
	g.types("\x03")
	g.ends(0)

	run = y.onTerminals(interactive)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		g = y.watches(24, 80, "watch", run)
		g.awaits("? help")
		y.must(g.cmd.Process.Signal(sig))
		g.ends(128 + int(sig))
	}
	g = y.watches(24, 80, "watch", run+"/a1")
	g.awaits("? help")
	y.must(g.cmd.Process.Kill())
	_ = <-g.ended
	y.running("a1")
}

// TestReviewView has a person review a run on a real terminal by keys alone.
// Verdicts are kept, an undo takes back a verdict, and the terminal is left as
// it was.
func TestReviewView(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.ends(0, "run", "--each", "pkg/*/", "--", "sh", "-c",
		`case $SWARM_ITEM in pkg/p1) echo other;; *) echo added;; esac >> "$SWARM_ITEM/f.txt"`)
	g := y.watches(24, 80, "review")
	g.awaits("0 of 2 classes", "C1:", "edit 1 of")
	g.types("au")
	g.awaits("undone", "0 of 2 classes")
	g.types("a")
	g.awaits("1 of 2 classes", "u undoes it")
	g.types("clook again\r")
	g.awaits("remark: look again")
	g.resizes(50, 200)
	g.awaits("remark: look again", "│ +")
	g.types("a")
	g.awaits("2 of 2 classes, 100 %")
	g.types("t")
	g.awaits("copy")
	g.types("exit\r")
	g.awaits("2 of 2 classes, 100 %")
	g.types("q")
	g.ends(0)
	drafts := 0
	for _, a := range y.view().Agents {
		drafts += len(a.Drafts())
		if !a.Accepted() {
			t.Errorf("%s is not accepted", a.ID)
		}
	}
	if drafts != 1 {
		t.Errorf("%d remarks are kept, want 1", drafts)
	}
	g = y.watches(24, 80, "review")
	g.awaits("2 of 2 classes", "accepted")
	y.must(g.cmd.Process.Signal(syscall.SIGTERM))
	g.ends(128 + int(syscall.SIGTERM))
}

// TestRunWatch: run --watch shows the run, which goes on by itself. Its result
// follows the view.
func TestRunWatch(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	g := y.watches(24, 80, "run", "--watch", "--", "sh", "-c", "echo more >> new.txt")
	g.awaits("1 ready", "the run has ended")
	g.types("q")
	g.sees("completed")
	g.ends(0)
}

// TestNoticeAbovePicture: a warning of a run stays on the screen above its picture,
// which leaves no earlier rows behind.
func TestNoticeAbovePicture(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.env = append(y.env, "SIGNALS="+y.dir, "PASSPHRASE=x")
	g := y.watches(24, 80, "run", "--each", "pkg/*/", "--", "sh", "-c", `case $SWARM_ITEM in
*p0*) until test -e "$SIGNALS/fail"; do sleep 0.1; done; echo "PASSPHRASE is not set" >&2; exit 1 ;;
*) until test -e "$SIGNALS/end"; do sleep 0.1; done ;;
esac`)
	g.awaits("3 running")
	y.write("fail", "")
	g.awaits("1 failed, 2 running")
	y.write("end", "")
	g.ends(3)
	shown := g.looks()
	for _, once := range []string{"names PASSPHRASE", "]  3/3", "/3  "} {
		if n := strings.Count(shown, once); n != 1 {
			t.Errorf("%q is on the screen %d times, want once:\n%s", once, n, shown)
		}
	}
}
