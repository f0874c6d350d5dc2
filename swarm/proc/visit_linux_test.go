package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
)

// TestVisitSameSandbox: dropped rights belong to the thread that entered the
// sandbox, so every visitor must come from that very thread.
func TestVisitSameSandbox(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		m.walls.Bare = true
		p, spec := m.hosts(t)
		for range 3 {
			_, out, err := visited(t, spec.Door, "sh", "-c",
				"grep NoNewPrivs /proc/self/status; readlink /proc/self/ns/pid; echo $PPID")
			lines := strings.Fields(out)
			if err != nil || len(lines) != 4 || lines[1] != "1" {
				t.Fatalf("%q, %v, want no new privileges", out, err)
			}
			pid, _ := p.Started()
			inside := lines[2] != must2(os.Readlink("/proc/self/ns/pid"))
			if inside != (m.attr != nil) || inside && lines[3] != "1" || !inside && lines[3] != fmt.Sprint(pid) {
				t.Errorf("in %s below %s, the supervisor is %d", lines[2], lines[3], pid)
			}
		}
	})
}

func TestVisitDescriptors(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		_, out, err := visited(t, spec.Door, exe(), "agent", "descriptors")
		if err != nil || strings.Count(out, "pipe:") != 2 || strings.Contains(out, "socket:") ||
			strings.Contains(out, "pid:[") {
			t.Errorf("it holds %s, %v", out, err)
		}
	})
}

// TestVisitsLeaveNothing counts the open descriptors of the supervisor.
func TestVisitsLeaveNothing(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p, spec := m.hosts(t)
		pid, _ := p.Started()
		count := func() int {
			// Another visit makes sure that the visit before is over.
			if _, _, err := visited(t, spec.Door, "true"); err != nil {
				t.Fatal(err)
			}
			names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
			if errors.Is(err, os.ErrPermission) {
				t.Skip("only root may look into a supervisor")
			}
			if err != nil {
				t.Fatal(err)
			}
			return len(names)
		}
		before := count()
		visits := campaign.Rounds(t, 40, 200)
		for i := range visits {
			name := "true"
			if i%4 == 0 {
				name = "no-such-command"
			}
			if _, _, err := visited(t, spec.Door, name); err != nil && i%4 != 0 {
				t.Fatal(err)
			}
			if i%10 == 0 {
				knockWith(t, spec.Door, []byte("garbage\n"), 3)
			}
		}
		// The last ones may be about to close their own, and leave it at that.
		after := count()
		for limit := time.Now().Add(patient); after > before+2 && time.Now().Before(limit); {
			after = count()
		}
		if after > before+2 {
			t.Errorf("%d descriptors are open after %d visits, %d before", after, visits, before)
		}
	})
}

// knockWith sends bytes and a number of descriptors to a door and returns the
// answer.
func knockWith(t *testing.T, door string, b []byte, descriptors int) string {
	t.Helper()
	c, err := knock(t.Context(), door)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	files := make([]*os.File, descriptors)
	for i := range files {
		files[i] = null
	}
	if err := pass(c, b, files); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	return string(answer)
}

func TestVisitNonsense(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, spec := m.hosts(t)
		good := must2(encodeLine(wireVisit{Argv: []exact{"true"}, Dir: "/"}))
		tests := []struct {
			name  string
			line  []byte
			files int
			want  string
		}{
			{"garbage", []byte("\x00\xff\n"), 4, "read the request"},
			{"no command", []byte(`{"dir":"Lw=="}` + "\n"), 4, "no command"},
			{"too few", good, 3, "3 descriptors came"},
			{"none", good, 0, "0 descriptors came"},
			{"too many", good, 5, "more descriptors"},
			{"a flood", good, 200, "more descriptors"},
			{"no witness", good, 4, "another PID namespace"},
			{"too long", []byte(strings.Repeat("x", mostAsked+1<<16)), 4, fmt.Sprint(mostAsked)},
		}
		for _, test := range tests {
			got := knockWith(t, spec.Door, test.line, test.files)
			if !strings.HasPrefix(got, `{"refused":`) || !strings.Contains(got, test.want) {
				t.Errorf("%s: %q, want it refused with %q", test.name, got, test.want)
			}
		}
		if exit, _, err := visited(t, spec.Door, "sh", "-c", "exit 3"); err != nil || exit.Code != 3 {
			t.Errorf("a visit after all that: %+v, %v", exit, err)
		}
	})
}

// TestVisitRefusesAgents has agents knock at their own door, and at that of
// another, with no sandbox that would hide them.
func TestVisitRefusesAgents(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, other := m.hosts(t)
		own := withDoor(t, m.spec(t, ""))
		for name, door := range map[string]string{"its own": own.Door, "another's": other.Door} {
			want := "it comes from an agent"
			if m.attr != nil {
				want = map[string]string{
					"its own": "it comes from inside", "another's": "it comes from another PID namespace",
				}[name]
			}
			spec := m.spec(t, "visits", door)
			if name == "its own" {
				spec.Door = door
			}
			if _, out := m.run(t, spec); !strings.HasPrefix(out, `{"refused":"`+want) {
				t.Errorf("%s door answers an agent %q, want it refused", name, out)
			}
		}
		_, out, err := visited(t, other.Door, exe(), "agent", "visits", other.Door)
		if err != nil || !strings.HasPrefix(out, `{"refused":"it comes from`) {
			t.Errorf("a visitor that visits in turn: %q, %v", out, err)
		}
	})
}

// TestVisitRefusesTheDead: an agent is known by its ancestors. An agent that
// ended before they were read is not let in, though its request is there.
func TestVisitRefusesTheDead(t *testing.T) {
	t.Parallel()
	m := allModes()[0]
	p, spec := m.hosts(t)
	fd, err := newSocket()
	if err != nil {
		t.Fatal(err)
	}
	c, err := waitable(fd, "visit")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	supervisor, _ := p.Started()
	if err := syscall.Kill(supervisor, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe(), "agent", "hands over", spec.Door)
	cmd.ExtraFiles = []*os.File{c}
	out, err := cmd.CombinedOutput()
	if err := errors.Join(err, syscall.Kill(supervisor, syscall.SIGCONT)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	answer, err := io.ReadAll(c)
	if want := `{"refused":"process ` + fmt.Sprint(cmd.Process.Pid); !strings.HasPrefix(string(answer), want) {
		t.Errorf("it is answered %q, %v, want %q", answer, err, want)
	}
}

func TestVisitRefusesOthers(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		if os.Getuid() != 0 {
			t.Skip("it needs root to become somebody else")
		}
		const nobody = 65534
		dir, err := os.MkdirTemp("", "door")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		spec := m.spec(t, "cat")
		spec.Pipe, spec.Door = true, filepath.Join(dir, "door")
		m.start(t, spec)
		// As if somebody had widened the permissions of the folder and the
		// door.
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(spec.Door, 0o666)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe(), "visitor", spec.Door, "true")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "is not swarm") {
			t.Errorf("a stranger's own look at it: %q, %v", out, err)
		}
		c, err := knock(t.Context(), spec.Door)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	})
}

// TestVisitRefusesUsurpers: without a sandbox an agent may put a socket of its own
// where the door was.
func TestVisitRefusesUsurpers(t *testing.T) {
	t.Parallel()
	m := allModes()[0]
	_, spec := m.hosts(t)
	p := m.start(t, m.spec(t, "usurps", spec.Door))
	printed(t, p, 1)
	if _, _, err := visited(t, spec.Door, "true"); err == nil || !strings.Contains(err.Error(), "is not swarm") {
		t.Errorf("Visit = %v, want it to see who is there", err)
	}
}

// TestDoorFarAway has a door at a path that is longer than an address.
func TestDoorFarAway(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		dir := filepath.Join(t.TempDir(), strings.Repeat("a,: \\", 40), strings.Repeat("b", 200))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		spec := m.spec(t, "cat")
		spec.Pipe, spec.Door = true, filepath.Join(dir, "ctl.sock")
		m.start(t, spec)
		if exit, _, err := visited(t, spec.Door, "sh", "-c", "exit 3"); err != nil || exit.Code != 3 {
			t.Errorf("%+v, %v, want code 3", exit, err)
		}
		info, err := os.Stat(spec.Door)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("it has mode %v, %v", info.Mode(), err)
		}
	})
}

func FuzzDecodeVisit(f *testing.F) {
	f.Add(must2(encodeLine(wireVisit{Argv: []exact{"a", "\xff"}, Env: []exact{"A=b"}, Dir: "/x", Terminal: true})))
	f.Add([]byte(`{"argv":["YQ=="],"dir":"Lw=="}`))
	f.Add([]byte(`{"signal":"SIGINT"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, streams, err := decodeVisit(line)
		if err == nil && (len(p.argv) == 0 || !filepath.IsAbs(p.dir) || streams < 1 || streams >= mostPassed) {
			t.Fatalf("decodeVisit(%q) accepts %+v with %d streams", line, p, streams)
		}
		if sig, ok := decodeWord(line); ok && (sig == syscall.SIGKILL || sig == syscall.SIGSTOP || sig <= 0) {
			t.Fatalf("decodeWord(%q) passes on %v", line, sig)
		}
	})
}
