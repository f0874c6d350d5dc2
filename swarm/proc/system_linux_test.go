package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
)

// TestUnprivileged runs all other tests once more as the user nobody. In the
// gate those about large numbers are left out.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it needs root to become somebody else")
	}
	const nobody = 65534
	tmp, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chown(tmp, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	// The gate runs the tests of signals, of ends and of visits. Rights decide those.
	tests := "^Test(Kill|Kill[A-Z].*|Stop|Sweep|Escaped|Leftovers|Supervisor.*|EngineKilled|Foreground.*|Namespace.*|Visit(|Adopts|Refuses.*|SameSandbox|Signals))$"
	if campaign.Running(t) {
		tests = "^Test"
	}
	cmd := exec.Command(exe(), "-test.run="+tests, "-test.v")
	cmd.Env, cmd.Dir = []string{"TMPDIR=" + tmp, "PATH=/usr/local/bin:/usr/bin:/bin"}, tmp
	cmd.Env = append(cmd.Env, campaign.Variable+"="+os.Getenv(campaign.Variable))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as uid %d: %v\n%s", nobody, err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestKill/fallback") {
		t.Errorf("as uid %d nothing was tested:\n%s", nobody, out)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	m := allModes()[0] // The kernel sweeps a namespace.
	w := newWitness(t)
	run := runName(t)
	kill, pid, start := startEngine(t, m, w)
	bystander := startBystander(t)
	halt(t, pid)
	kill()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	dead(t, pid, start)
	w.alive(t)
	swept(t, run+"x", 0)
	w.alive(t)
	swept(t, run, familySize+1)
	w.gone(t)
	bystander.answers(t)
	if _, err := Sweep(t.Context(), ""); err == nil {
		t.Error("Sweep accepts no name")
	}
}

// TestEscaped lets an agent start a program that changes its user, as sudo
// does. It cannot be killed and holds the agent's stdout, and yet the agent
// must come to an end that says so.
func TestEscaped(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it needs root to make a program that becomes root")
	}
	if bound, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || bound == 1 {
		t.Skip("no program gains privileges here (no_new_privs)")
	}
	const nobody = 65534
	m := mode{attr: func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		}
	}}
	dir, err := os.MkdirTemp("", "escape")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "program")
	binary, err := os.Readlink(exe())
	if err != nil {
		t.Fatal(err)
	}
	// Were it written here, another test's child could keep it busy.
	if out, err := exec.Command("cp", binary, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := errors.Join(os.Chown(dir, nobody, nobody),
		os.Chmod(program, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	w := newWitness(t)
	spec := m.spec(t, "escape", program, w.path)
	spec.Dir, spec.Stdout, spec.Stderr = dir, dir+"/stdout", dir+"/stderr"
	p := m.start(t, spec)
	w.meet(t, 1)
	exit := p.Wait()
	if exit.Reason != Exited || exit.Code != 0 || exit.Escaped != 1 || exit.Left != 0 {
		t.Errorf("%+v, want code 0 and one escaped", exit)
	}
	w.alive(t)
	swept(t, spec.Run, 1)
	w.gone(t)
}

func TestNoDescriptorLeaks(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "descriptors")
		leak := spec.Dir + "/leak"
		if err := os.WriteFile(leak, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		// It stands for a descriptor that swarm itself inherited.
		fd, err := syscall.Open(leak, syscall.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		_, got := m.run(t, spec)
		for line := range strings.Lines(got) {
			number, to, _ := strings.Cut(strings.TrimSpace(line), " ")
			own := strings.HasPrefix(to, "anon_inode:") || // of the Go runtime
				strings.HasPrefix(to, "/sys/fs/cgroup/") || // likewise
				strings.HasPrefix(to, "/proc/") // the listing itself
			if number > "2" && !own || number == "0" && to != "/dev/null" {
				t.Errorf("descriptor %s is open: %s", number, to)
			}
		}
		if strings.Count(got, "pipe:") != 2 {
			t.Errorf("want two pipes, for stdout and stderr: %s", got)
		}
	})
}

func TestAgentIsAsBefore(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, got := m.run(t, m.spec(t, "status"))
		for line := range strings.Lines(got) {
			name, mask, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			// 2 and 3 of the runtime's own signals are never masked.
			if name == "SigIgn" && strings.Trim(mask, "0") != "" {
				t.Errorf("the agent ignores signals: %s", mask)
			}
		}
		if !strings.Contains(got, "SigIgn") {
			t.Errorf("no status: %q", got)
		}
	})
}

func TestNamespaceShowsItsOwn(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, got := m.run(t, m.spec(t, "processes"))
		var pid, uid, gid, processes int
		if _, err := fmt.Sscan(got, &pid, &uid, &gid, &processes); err != nil {
			t.Fatal(err)
		}
		if uid != os.Getuid() || gid != os.Getgid() {
			t.Errorf("it runs as %d:%d, want %d:%d", uid, gid, os.Getuid(), os.Getgid())
		}
		if alone := processes == 2 && pid < 1000; alone != (m.attr != nil) {
			t.Errorf("process %d sees %d processes", pid, processes)
		}
	})
}

func TestSupervisorIsShut(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := newWitness(t)
		p := m.start(t, m.spec(t, "deaf", w.path))
		w.meet(t, 1)
		pid, _ := p.Started()
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if os.Getuid() != 0 {
			if err == nil {
				t.Error("another process of the user can look into it")
			}
		} else if got := strings.TrimRight(string(environ), "\x00"); got !=
			"GOMAXPROCS=1\x00GOGC=25" {
			t.Errorf("its environment is %q", got)
		}
	})
}

func TestBoundedMemory(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		p := m.start(t, m.spec(t, "chatty", "50000000", "50000000", "stdout", "stays"))
		printed(t, p, 50_000_000)
		pid, _ := p.Started()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(status), "VmHWM:")
		var kib int
		if _, err := fmt.Sscan(rest, &kib); found && (err != nil || kib > 40<<10) {
			t.Errorf("after 50 MB of output it has used %d KiB, %v", kib, err)
		}
	})
}

func TestSupervisePeople(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(exe(), "__supervise")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 ||
		!strings.Contains(string(out), "not for people") {
		t.Errorf("by hand: %v, %s", err, out)
	}
	// An engine that dies before it has sent the spec.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	report, sent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe(), "__supervise")
	cmd.ExtraFiles = []*os.File{r, sent}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{r, w, sent} {
		_ = f.Close()
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ends as if all were well")
	}
	if got, err := io.ReadAll(report); len(got) != 0 || err != nil {
		t.Errorf("it reports %q, %v", got, err)
	}
	_ = report.Close()
}

// TestAgentGoesFirst: where memory runs out, the kernel kills an agent before the
// process that started its supervisor.
func TestAgentGoesFirst(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		own, err := strconv.Atoi(strings.TrimSpace(read(t, "/proc/self/oom_score_adj")))
		if err != nil {
			t.Fatal(err)
		}
		spec := m.spec(t, "cat")
		spec.Argv = []string{"/bin/sh", "-c", "cat /proc/self/oom_score_adj"}
		m.start(t, spec).Wait()
		if got, want := strings.TrimSpace(read(t, spec.Stdout)), strconv.Itoa(max(own, agentScore)); got != want {
			t.Errorf("the score of an agent is %s, want %s", got, want)
		}
	})
}

// TestLowPriority: a program that is low gives way to others, and so do its children.
// Other programs keep the priority of swarm.
func TestLowPriority(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		own := niceValue(t, read(t, "/proc/self/stat"))
		for _, tt := range []struct {
			low  bool
			want int
		}{{false, own}, {true, lowestPriority}} {
			spec := m.spec(t, "cat")
			spec.Low, spec.Argv = tt.low, []string{"/bin/sh", "-c", "cat /proc/$$/stat && sh -c 'cat /proc/$$/stat; true'"}
			m.start(t, spec).Wait()
			for _, line := range strings.Split(strings.TrimSpace(read(t, spec.Stdout)), "\n") {
				if got := niceValue(t, line); got != tt.want {
					t.Errorf("low %v: the nice value is %d, want %d", tt.low, got, tt.want)
				}
			}
		}
	})
}

// niceValue is the nice value in a line of /proc/PID/stat.
func niceValue(t *testing.T, stat string) int {
	t.Helper()
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 17 {
		t.Fatalf("a line of stat is %q", stat)
	}
	value, err := strconv.Atoi(fields[16])
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func FuzzParseStat(f *testing.F) {
	self, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(self)
	f.Add([]byte("12 (a) Z) (b) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18 99 20"))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, ok := parseStat(line)
		again, _ := parseStat(append([]byte(" "), line...))
		if ok && again != p {
			t.Fatalf("parseStat(%q) = %+v and %+v", line, p, again)
		}
	})
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 12 3 4 5 6 7 8 9 10 11 12 13 14 15 16 %d 18 99 20\n"
	tests := []struct {
		line string
		dead bool
	}{
		{"12 (a) b) (c) S" + fmt.Sprintf(rest, 1), false},
		{"12 () Z" + fmt.Sprintf(rest, 1), true},
		{"12 (x) Z" + fmt.Sprintf(rest, 3), false}, // its other threads live
		{"12 (x\n) X" + fmt.Sprintf(rest, 3), true},
	}
	for _, test := range tests {
		want := process{pid: 12, parent: 1, group: 12, start: 99, dead: test.dead}
		if got, ok := parseStat([]byte(test.line)); !ok || got != want {
			t.Errorf("parseStat(%q) = %+v, %v, want %+v", test.line, got, ok, want)
		}
	}
	for _, line := range []string{"", "12", "12 (a", ")12 (", "12 (a) S 1 2", "x (a) S" + rest} {
		if got, ok := parseStat([]byte(line)); ok {
			t.Errorf("parseStat(%q) = %+v, want none", line, got)
		}
	}
}

func FuzzParseTag(f *testing.F) {
	f.Add("Limit  Soft\nMax file locks            4611686018427387904  unlimited  locks\n")
	f.Add("Max file locks unlimited unlimited locks\n")
	f.Fuzz(func(t *testing.T, limits string) {
		if tag := parseTag(limits); tag != 0 && (tag&tagMagic == 0 || tag>>63 != 0) {
			t.Fatalf("parseTag(%q) = %x", limits, tag)
		}
	})
}

func TestTags(t *testing.T) {
	t.Parallel()
	a, b, c := newTag("one"), newTag("one"), newTag("two")
	if a&tagRun != b&tagRun || a&tagRun == c&tagRun || a == b {
		t.Errorf("tags %x, %x of one run, %x of another", a, b, c)
	}
	for _, tag := range []uint64{a, b, c} {
		line := fmt.Sprintf("Max file locks            %d  unlimited  locks", tag)
		if got := parseTag(line); got != tag {
			t.Errorf("parseTag(%q) = %x, want %x", line, got, tag)
		}
	}
}
