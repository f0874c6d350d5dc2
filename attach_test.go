package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// onTerminals starts a run of agents that each have a terminal, and run a
// script there, and waits until they are up.
func (y *fixture) onTerminals(script string, more ...string) (run string) {
	y.t.Helper()
	y.write("script.sh", "touch $SWARM_ARTIFACTS/up\n"+script)
	y.write("home/.config/swarm/config.toml",
		"[agents.shell]\npty = true\ncommand = [\"sh\", \""+filepath.Join(y.dir, "script.sh")+"\"]\n")
	run = strings.TrimSpace(y.ends(0, append([]string{"run", "--detach", "--agent", "shell", "work"}, more...)...).stdout)
	y.await("the agent", func() bool {
		found, _ := filepath.Glob(filepath.Join(y.state, "*", "runs", run, "a", "a1", "1", "artifacts", "up"))
		return len(found) > 0
	})
	y.t.Cleanup(func() {
		y.swarm(nil, "cancel", run)
		y.swarm(nil, "wait", run, "--timeout", never.String())
		aliveIn(y.dir) // wait for its end: its late writes would disturb the removal of the folder
	})
	return run
}

// interactive is a shell that a person types to. It says when it is ready.
const interactive = "PS1='> ' ENV= exec sh -i\n"

// hangs has the shell of a window run cat until a signal interrupts it. The
// text that reports its start comes from cat itself. A shell that has just
// forked might take the signal in its place.
func (y *fixture) hangs(w *window) {
	y.t.Helper()
	y.write("ready", "hangs now\n")
	w.types("cat " + filepath.Join(y.dir, "ready") + " -\r")
	w.sees("hangs now\r\n")
}

func (y *fixture) running(agent string) {
	y.t.Helper()
	if s := y.ends(0, "show", agent); !strings.Contains(s.stdout, "running") {
		y.t.Errorf("%s should run still:\n%s", agent, s.stdout)
	}
}

// TestAttach: a real terminal on a real program, with its size, Ctrl-C, and
// a way out that leaves the agent running.
func TestAttach(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	run := y.onTerminals(interactive)

	w := y.open(30, 100, "attach", "a1")
	w.sees("attached to a1; ctrl-] leaves it")
	w.sees("> ")
	w.types("stty size\r")
	w.sees("\r\n30 100\r\n> ")
	if err := pty.Setsize(w.slave, &pty.Winsize{Rows: 41, Cols: 121}); err != nil {
		t.Fatal(err)
	}
	w.types("until test \"$(stty size)\" = '41 121'; do :; done; echo res''ized\r")
	w.sees("\r\nresized\r\n> ")

	y.hangs(w)
	w.interrupts() // cat, and neither the shell nor us
	w.types("echo a''live\r")
	w.sees("\r\nalive\r\n")

	w.types("\x1d")
	w.sees("detached from a1; attach again with `")
	w.sees(" attach " + run + "/a1`")
	w.ends(0)
	y.running("a1")

	w = y.open(24, 80, "attach", run+"/a1", "--detach-key", "ctrl-a")
	w.sees("alive") // shown again
	w.types("\x1d\r")
	w.sees("not found")
	w.types("\x01")
	w.sees("detached")
	w.ends(0)

	w = y.open(24, 80, "attach")
	w.types("exit 0\r")
	w.sees("\r\na1 completed\r\n")
	w.ends(0)
	w = y.open(24, 80, "attach", "a1")
	w.sees("attach: a1 has ended: completed")
	w.ends(2)
}

// TestAttachTogether checks that several windows watch and a single one types.
// The death of that window does not disturb the agent, and the next may type.
func TestAttachTogether(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.onTerminals(interactive)

	first := y.open(24, 80, "attach", "a1")
	first.sees("> ")
	first.types("echo on''e\r")
	first.sees("\r\none\r\n")
	second := y.open(20, 70, "attach", "a1")
	second.sees("\r\none\r\n")
	second.sees("somebody else types here; you watch")
	second.sees("the terminal is 80×24; your window is smaller")
	watcher := y.open(24, 80, "attach", "a1", "--watch")
	watcher.sees("\r\none\r\n")

	second.types("echo no''body\r")
	watcher.types("echo no''body\r")
	first.sees("> ")
	first.types("echo tw''o; stty size\r")
	for _, w := range []*window{first, second, watcher} {
		if before := w.sees("\r\ntwo\r\n24 80\r\n"); strings.Contains(before, "body") {
			t.Errorf("what a watcher typed arrived: %q", before)
		}
	}
	watcher.types("\x03")
	watcher.sees("detached")
	watcher.ends(0)

	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = <-first.ended
	y.running("a1")
	// The seat is free once the run has seen the connection end.
	for try := 0; ; try++ {
		third := y.open(24, 80, "attach", "a1")
		third.types("echo th''ree\r")
		third.sees("attached to a1")
		third.types("\x1d")
		third.ends(0)
		if strings.Contains(second.text(), "\r\nthree\r\n") {
			break
		}
		if try == 100 {
			t.Fatalf("nobody can type any more; the second window shows %q", second.text())
		}
	}
	second.types("\x1d")
	second.ends(0)
}

// TestAttachSignals: whatever ends attach, the terminal is as it was, and the
// agent goes on.
func TestAttachSignals(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.onTerminals(interactive)
	ending := map[syscall.Signal]int{
		syscall.SIGTERM: 143, syscall.SIGHUP: 143, syscall.SIGINT: 130, syscall.SIGQUIT: 143,
	}
	if signal.Ignored(syscall.SIGHUP) {
		delete(ending, syscall.SIGHUP) // the tests run below nohup, which swarm obeys
	}
	for sig, code := range ending {
		w := y.open(24, 80, "attach", "a1")
		w.sees("attached to a1")
		w.sees("> ")
		if err := w.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		w.ends(code)
	}
	y.running("a1")

	// The run ends the agent, or itself.
	w := y.open(24, 80, "attach", "a1")
	w.sees("> ")
	y.ends(0, "cancel", "a1", "--reason", "enough")
	w.sees("a1 cancelled: enough")
	w.ends(3)

	y.onTerminals(interactive)
	w = y.open(24, 80, "attach", "a1")
	w.sees("> ")
	y.must(syscall.Kill(y.view().Opened.Pid, syscall.SIGKILL))
	w.sees("a1 lost: ")
	w.ends(3)
}

// TestAttachEarly: who comes while the workspace is being made ready waits
// for the terminal, and for the result once the agent has ended.
func TestAttachEarly(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	t.Cleanup(func() { aliveIn(y.dir) }) // until the run is gone
	wait := func(name string) string {
		return "until test -e " + filepath.Join(y.dir, name) + "; do sleep 0.02; done"
	}
	y.write("home/.config/swarm/config.toml", "[agents.shell]\npty = true\ncommand = [\"sh\", \"-c\", \"read x; echo $x > x.txt\"]\n")
	y.ends(0, "run", "--detach", "--agent", "shell", "work",
		"--setup", "touch "+filepath.Join(y.dir, "begun")+"; "+wait("ready"), "--verify", wait("checked")+"; false")
	y.await("the end of its wait in the queue", func() bool {
		_, err := os.Stat(filepath.Join(y.dir, "begun"))
		return err == nil
	})
	w := y.open(24, 80, "attach")
	w.sees("a1 is being made ready; its terminal is waited for")
	y.write("ready", "")
	w.sees("attached to a1")
	w.types("text\r")
	w.sees("a1 has ended; its work is being captured and checked")
	y.write("checked", "")
	w.sees("a1 check failed")
	w.ends(0) // it completed
	y.ends(7, "wait")
}

// TestAttachStopped checks that a stopped client has a raw terminal again when
// it goes on. A client that reads nothing delays no other client, and is told.
func TestAttachStopped(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.onTerminals(interactive)
	w := y.open(24, 80, "attach", "a1")
	w.sees("> ")
	y.must(w.cmd.Process.Signal(syscall.SIGSTOP))
	y.must(term.Restore(int(w.slave.Fd()), w.before)) // as a shell does
	y.must(w.cmd.Process.Signal(syscall.SIGCONT))
	w.raw()
	w.types("echo on''e\r")
	w.sees("\r\none\r\n")
	w.types("\x1d")
	w.ends(0)

	w = y.open(24, 80, "attach", "a1")
	w.sees("> ")
	w.types("while :; do echo flo''od; done\r")
	w.sees("flood\r\nflood\r\n")
	y.must(w.cmd.Process.Signal(syscall.SIGSTOP))
	typed := filepath.Join(y.dir, "typed")
	y.await("another who types", func() bool {
		next := y.open(24, 80, "attach", "a1")
		next.sees("flood") // nothing of it comes before the terminal is raw, and Ctrl-C a letter
		next.types("\x03touch " + typed + "\r")
		found := false
		for try := 0; try < 100 && !found; try++ {
			time.Sleep(20 * time.Millisecond) // a client that only watches waits in vain
			_, err := os.Stat(typed)
			found = err == nil
		}
		next.types("\x1d")
		next.ends(0)
		return found
	})
	y.must(w.cmd.Process.Signal(syscall.SIGCONT))
	w.sees("the connection to a1 broke")
	w.ends(1)
	y.running("a1")
}

// TestAttachFullScreen: who attaches late sees the screen that the program is
// on, drawn anew, and gets their own back.
func TestAttachFullScreen(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.onTerminals(`printf '\033[?1049h\033[?25l\033[?2004h\033[?1000h\033[5;10r\033='
i=0; while test $i -lt 3000; do echo "line $i of a long text"; i=$((i+1)); done
trap 'echo drawn anew' WINCH
echo rea""dy
while :; do sleep 0.02; done
`)
	y.awaitShown("ready")
	for range 2 {
		w := y.open(24, 80, "attach", "a1") // the size that it has already
		before := w.sees("line 2999")
		for _, want := range []string{"\x1b[?1049h", "\x1b[?25l", "\x1b[?2004h", "\x1b[?1000h", "\x1b="} {
			if !strings.Contains(before, want) {
				t.Errorf("the screen lacks %q", want)
			}
		}
		if strings.Contains(before, "line 0 ") {
			t.Error("all that was ever shown is shown again")
		}
		w.sees("ready")
		w.sees("drawn anew")
		w.types("\x1b[93;5u") // as terminals send the key that tell keys apart
		undone := w.sees("detached")
		for _, want := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l", "\x1b[?1000l", "\x1b>", "\x1b[0m"} {
			if !strings.Contains(undone, want) {
				t.Errorf("leaving does not write %q, only %q", want, undone)
			}
		}
		w.ends(0)
	}
}

// TestAttachEditor types into a program that takes the whole screen, and leaves
// and comes back in between. vi drops typed text when the size changes, and
// does not repeat a write that the change interrupts. So the test attaches
// after vi has drawn its screen. It types after vi has drawn it in the size of
// the window, which differs each time.
func TestAttachEditor(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("vi"); err != nil {
		t.Skip("there is no vi here")
	}
	y := newFixture(t)
	y.onTerminals("TERM=xterm exec vi notes.txt\n")
	y.await("the editor's screen", func() bool {
		return strings.Count(y.ends(0, "logs", "a1", "--raw").stdout, "~") > 20
	})
	w := y.open(30, 90, "attach", "a1")
	w.sees("notes.txt")
	w.sees("\x1b[30;")
	w.types("ihello from afar")
	w.sees("afar")
	w.types("\x1d")
	w.ends(0)
	w = y.open(35, 100, "attach", "a1")
	w.sees("hello from afar")
	w.sees("\x1b[35;")
	w.types("\x1b:wq\r")
	w.sees("a1 completed")
	w.ends(0)
	if got := y.captures("show", "refs/swarm/"+y.view().Identity.Run+"/a/a1/1:notes.txt"); got != "hello from afar" {
		t.Errorf("the editor wrote %q", got)
	}
}

// TestShell: a shell of the person's own, on a terminal of theirs, in the
// place of an agent.
func TestShell(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.onTerminals("echo theirs > theirs.txt; " + interactive)
	y.awaitShown("> ")

	w := y.open(24, 80, "shell", "a1")
	w.sees("shell: a1 is running in ")
	w.sees("> ")
	w.types("cat theirs.txt; echo mine > mine.txt; stty size; test -t 0 && echo \"it is a term\"'inal'\r")
	w.sees("\r\ntheirs\r\n24 80\r\nit is a terminal\r\n")
	w.sees("> ")
	y.hangs(w)
	w.interrupts() // cat, and neither the shell nor us
	w.types("echo a''live; exit 7\r")
	w.sees("\r\nalive\r\n")
	w.ends(7)
	y.running("a1")
	y.ends(0, "cancel", "a1")

	w = y.open(24, 80, "shell")
	w.sees("this is a copy of what a1 left")
	w.sees("> ")
	w.types("cat theirs.txt mine.txt; echo more > more.txt; exit\r")
	w.sees("\r\ntheirs\r\nmine\r\n")
	w.sees("what you changed is kept: ")
	w.ends(0)

	// A killed shell leaves a copy. The next gc keeps the copy, but not while
	// somebody is in it.
	w = y.open(24, 80, "shell", "a1")
	w.sees("> ")
	// Where the terminal goes with who was killed there is nothing to read.
	w.types("trap '' HUP; echo last > last.txt; echo in''side; read x || until test -e " + filepath.Join(y.dir, "looked") + "; do sleep 0.1; done\r")
	w.sees("\r\ninside\r\n")
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = <-w.ended
	if s := y.ends(0, "gc"); strings.Contains(s.stdout, "of a copy") {
		t.Errorf("gc took a copy away that somebody is in:\n%s", s.stdout)
	}
	y.write("looked", "")
	w.types("\r")
	w.types("exit\r")
	for deadline := time.Now().Add(never); ; time.Sleep(10 * time.Millisecond) { // a poll
		s := y.ends(0, "gc")
		if strings.Contains(s.stdout, "what you changed is kept\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("gc does not keep what a crash left:\n%s", s.stdout)
		}
	}
	got := y.captures("for-each-ref", "--format=%(refname)", "refs/swarm/*/copy/*")
	if n := len(strings.Fields(got)); n != 2 {
		t.Errorf("the copies that are kept are %q, want two", got)
	}
	if left, _ := filepath.Glob(filepath.Join(y.state, "*", "copies", "*")); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
}
