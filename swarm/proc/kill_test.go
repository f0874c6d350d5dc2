package proc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStartedFirst: the identity of a supervisor is known before it runs
// anything. After a crash in between the next owner finds it, and knows
// correctly whether it has begun.
func TestStartedFirst(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		refused := errors.New("not journaled")
		spec := m.spec(t, "exit", "0")
		begun := func() bool { _, err := os.Lstat(spec.Stdout); return err == nil }
		spec.Started = func(pid int, start uint64) error {
			if !Alive(pid, start) {
				t.Errorf("process %d is not alive when it is told of", pid)
			}
			for range 20 { // nothing tells that something does not come
				if begun() {
					t.Error("it has begun before it was told of")
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			return refused
		}
		if _, err := m.launcher().Start(t.Context(), spec); !errors.Is(err, refused) {
			t.Errorf("Start = %v, want the error of Started", err)
		}
		if begun() {
			t.Error("what nobody may know of has begun")
		}
	})
}

func TestStop(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "polite")
		spec.Grace = patient
		p := m.start(t, spec)
		printed(t, p, 1)
		p.Stop()
		p.Stop()
		exit := p.Wait()
		if got := read(t, spec.Stdout); exit.Code != 7 || exit.Signal != "" ||
			got != "ready\nbye\n" {
			t.Errorf("polite: %+v, %q", exit, got)
		}

		w := newWitness(t)
		spec = m.spec(t, "deaf", w.path)
		spec.Grace = time.Millisecond
		p = m.start(t, spec)
		w.meet(t, 1)
		p.Stop()
		exit = p.Wait()
		w.gone(t)
		if exit.Code != 137 || exit.Signal != "SIGKILL" || exit.Left != 0 {
			t.Errorf("deaf: %+v, want SIGKILL", exit)
		}
		p.Stop()
		p.Kill()
	})
}

func TestStopWakesSleepers(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "halted")
		spec.Grace = patient
		p := m.start(t, spec)
		printed(t, p, 1)
		p.Stop()
		if exit := p.Wait(); exit.Code != 128+int(syscall.SIGTERM) || exit.Left != 0 {
			t.Errorf("who has a stopped process in its group ended %+v, want code 143 for its SIGTERM", exit)
		}
	})
}

func TestSupervisorObeysSignals(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "polite")
		spec.Grace = patient
		p := m.start(t, spec)
		printed(t, p, 1)
		pid, _ := p.Started()
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if exit := p.Wait(); exit.Code != 7 {
			t.Errorf("SIGTERM to the supervisor: %+v, want code 7", exit)
		}
	})
}

func TestLeftovers(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		spec := m.spec(t, "family", w.path, "leaves")
		p := m.start(t, spec)
		w.meet(t, familySize+1)
		exit := p.Wait()
		w.gone(t)
		if exit.Reason != Exited || exit.Code != 3 || exit.Left != familySize {
			t.Errorf("family: %+v, want code 3 and %d left", exit, familySize)
		}
	})
}

// TestNotLeft counts only processes that had to be killed, and not an orphan
// that something else killed before.
func TestNotLeft(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		exit, _ := m.run(t, m.spec(t, "bereaved"))
		if exit.Code != 0 || exit.Left != 0 {
			t.Errorf("%+v, want code 0 and none left", exit)
		}
	})
}

func TestKill(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) { killsFamily(t, m, m.spec) })
}

// killsFamily holds that Kill ends an agent and all that it has started.
func killsFamily(t *testing.T, m mode, spec func(t *testing.T, role string, args ...string) Spec) {
	t.Helper()
	w := newWitness(t)
	p := m.start(t, spec(t, "family", w.path, "stays"))
	w.meet(t, familySize+1)
	p.Kill()
	p.Kill()
	exit := p.Wait()
	w.gone(t)
	if exit.Reason != Exited || exit.Signal != "SIGKILL" || exit.Left != familySize {
		t.Errorf("family: %+v, want SIGKILL and %d left", exit, familySize)
	}
}

func TestKillStuckSupervisor(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		l := m.launcher()
		l.patience = time.Millisecond
		p, err := l.Start(t.Context(), m.spec(t, "family", w.path, "stays"))
		if err != nil {
			t.Fatal(err)
		}
		w.meet(t, familySize+1)
		pid, _ := p.Started()
		halt(t, pid)
		p.Kill()
		exit := p.Wait()
		w.gone(t)
		if exit.Reason != Lost {
			t.Errorf("a stopped supervisor: %+v, want lost", exit)
		}
	})
}

func TestForkChain(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "chain", "first")
		p := m.start(t, spec)
		printed(t, p, 1)
		p.Kill()
		if exit := p.Wait(); exit.Reason != Exited || exit.Signal != "SIGKILL" {
			t.Errorf("chain: %+v, want SIGKILL", exit)
		}
		swept(t, spec.Run, 0)
	})
}

func TestSupervisorKilled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		p := m.start(t, m.spec(t, "family", w.path, "stays"))
		w.meet(t, familySize+1)
		bystander := startBystander(t)
		pid, start := p.Started()
		if row, ok := look(pid); !ok || row.group != pid {
			t.Errorf("its group is %d: a Ctrl-C would reach it", row.group)
		}
		if !Alive(pid, start) || Alive(pid, start+1) {
			t.Error("Alive does not recognize the supervisor")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		exit := p.Wait()
		w.gone(t)
		if exit.Reason != Lost || !strings.Contains(exit.Text, "killed") {
			t.Errorf("a killed supervisor: %+v, want lost", exit)
		}
		if Alive(pid, start) {
			t.Error("Alive sees the dead")
		}
		bystander.answers(t)
	})
}

// startEngine starts an engine in a process of its own, which runs a family.
func startEngine(t *testing.T, m mode, w *witness) (kill func(), pid int, start uint64) {
	t.Helper()
	kill, pid, start = startEngineOf(t, m, m.spec(t, "family", w.path, "stays"))
	w.meet(t, familySize+1)
	return kill, pid, start
}

// startEngineOf starts an engine in a process of its own, which runs a spec.
func startEngineOf(t *testing.T, m mode, spec Spec) (kill func(), pid int, start uint64) {
	t.Helper()
	line, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe(), "engine", m.name, string(line))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	if _, err := fmt.Fscan(out, &pid, &start); err != nil {
		t.Fatal(err)
	}
	return kill, pid, start
}

func TestEngineKilled(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		kill, pid, start := startEngine(t, m, w)
		bystander := startBystander(t)
		kill()
		w.end(t)
		dead(t, pid, start)
		bystander.answers(t)
	})
}

func TestKillOrphan(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		kill, pid, start := startEngine(t, m, w)
		bystander := startBystander(t)
		// A supervisor that cannot run cannot see that its engine is gone.
		halt(t, pid)
		kill()
		w.alive(t)
		if n, err := KillOrphan(t.Context(), pid, start+1); n != 0 || err != nil {
			t.Errorf("KillOrphan of a stranger = %d, %v, want 0, nil", n, err)
		}
		w.alive(t)
		n, err := KillOrphan(t.Context(), pid, start)
		w.gone(t)
		if n < 1 || err != nil || Alive(pid, start) {
			t.Errorf("KillOrphan = %d, %v, want the family", n, err)
		}
		bystander.answers(t)
	})
}

// bystander is a process of the same name that must not be touched.
type bystander struct {
	in  io.Writer
	out *bufio.Reader
}

func startBystander(t *testing.T) *bystander {
	t.Helper()
	cmd := exec.Command(exe(), "agent", "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &bystander{in: in, out: bufio.NewReader(out)}
}

func (b *bystander) answers(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(b.in, "well?\n"); err != nil {
		t.Errorf("the bystander is gone: %v", err)
	}
	if line, err := b.out.ReadString('\n'); line != "well?\n" {
		t.Errorf("the bystander answers %q, %v", line, err)
	}
}

func swept(t *testing.T, run string, want int) {
	t.Helper()
	if n, err := Sweep(t.Context(), run); n != want || err != nil {
		t.Errorf("Sweep(%q) = %d, %v, want %d, nil", run, n, err, want)
	}
}
