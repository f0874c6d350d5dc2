package box

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
)

// self is this binary, also for a user who may not enter its folder.
const self = "/proc/self/exe"

// TestMain makes the test binary play supervisor and agent. With os.Exit they
// would sleep for a second under the race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "inside":
			syscall.Exit(playSupervisor())
		case "agent":
			syscall.Exit(playAgent(os.Args[2]))
		case "limited":
			syscall.Exit(playLimited(os.Args[2], os.Args[3:]))
		}
	}
	os.Exit(m.Run())
}

// job is what a supervisor is told.
type job struct {
	Walls Sandbox
	Argv  []string // empty: the agent that this binary plays
	Task  task
}

// playSupervisor enters the sandbox and runs an agent on the same thread.
func playSupervisor() int {
	runtime.LockOSThread()
	var j job
	err := json.NewDecoder(os.NewFile(3, "job")).Decode(&j)
	if err == nil {
		err = Enter(j.Walls)
	}
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	if len(j.Argv) == 0 {
		text, _ := json.Marshal(j.Task)
		j.Argv = []string{self, "agent", string(text)}
	}
	pid, err := syscall.ForkExec(j.Argv[0], j.Argv, &syscall.ProcAttr{
		Files: []uintptr{0, 1, 2}, Env: os.Environ(), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	var status syscall.WaitStatus
	for err == nil {
		var got int
		if got, err = syscall.Wait4(pid, &status, 0, nil); got == pid {
			return status.ExitStatus()
		} else if errors.Is(err, syscall.EINTR) {
			err = nil
		}
	}
	fmt.Fprint(os.Stderr, err)
	return 1
}

// inside really starts something in a sandbox, and returns what it printed.
func inside(j job) (string, error) {
	var err error
	if j.Task.Outer, err = os.Readlink("/proc/self/ns/mnt"); err != nil {
		return "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	in, tell, err := os.Pipe()
	if err != nil {
		return "", err
	}
	er, ew, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	defer er.Close()
	p, err := os.StartProcess(self, []string{self, "inside"},
		&os.ProcAttr{Files: []*os.File{nil, w, ew, in}, Sys: Attr(j.Walls.Level), Env: os.Environ()})
	if err := errors.Join(w.Close(), ew.Close(), in.Close()); err != nil {
		return "", err
	}
	if err != nil {
		return "", errors.Join(err, tell.Close())
	}
	sent := make(chan error, 1)
	go func() { sent <- errors.Join(json.NewEncoder(tell).Encode(j), tell.Close()) }()
	words := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(er)
		words <- string(text)
	}()
	out, outErr := io.ReadAll(r)
	stderr := <-words
	state, err := p.Wait()
	if err := errors.Join(outErr, err, <-sent); err != nil && !errors.Is(err, syscall.EPIPE) {
		return string(out), err
	}
	if !state.Success() {
		return string(out), fmt.Errorf("%s: %s", state, stderr)
	}
	return string(out), nil
}

// facts are what an agent finds out about its sandbox.
type facts struct {
	PID, UID, GID int
	Processes     int
	Caps          map[string]string
	Shared        bool // a mount is shared with the outside
	IPC           string
	Supervisor    bool // the supervisor's descriptors can be seen
	Setuid        bool // the agent may become root
	NoNew         bool // nor gain any privilege
}

func tellFacts() string {
	f := facts{PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid(), Caps: capabilities()}
	f.IPC, _ = os.Readlink("/proc/self/ns/ipc")
	names, _ := filepath.Glob("/proc/[0-9]*")
	f.Processes = len(names)
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	f.Shared = bytes.Contains(mounts, []byte(" shared:"))
	_, err := os.Readlink("/proc/1/fd/1")
	f.Supervisor = err == nil
	f.Setuid = syscall.Setuid(0) == nil
	no, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	f.NoNew = no == 1
	text, _ := json.Marshal(f)
	return string(text)
}

func capabilities() map[string]string {
	caps := map[string]string{}
	status, _ := os.ReadFile("/proc/thread-self/status")
	for line := range strings.Lines(string(status)) {
		name, mask, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		if strings.HasPrefix(name, "Cap") && name != "CapBnd" {
			caps[name] = mask
		}
	}
	return caps
}

// try starts the sandbox of a level, with an empty overlay in it if it has overlays.
func try(level Level, got *facts) error {
	w := Sandbox{Level: level}
	if level.Overlay() {
		dir, err := os.MkdirTemp("/var/tmp", "swarm-box-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for _, name := range []string{"/at", "/lower", "/upper", "/work"} {
			if err := os.Mkdir(dir+name, 0o700); err != nil {
				return err
			}
		}
		w.Pieces = []Piece{{At: dir + "/at", Lower: []string{dir + "/lower"}, Upper: dir + "/upper", Work: dir + "/work"}}
	}
	out, err := inside(job{Walls: w, Task: task{Name: "facts"}})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), got)
}

// need skips a test where its sandbox cannot be started.
func need(t *testing.T, level Level) {
	t.Helper()
	if level == Landlock {
		if r, err := newRuleset(reads, 0); err != nil {
			t.Skip(err)
		} else {
			r.close()
			return
		}
	}
	if err := try(level, new(facts)); err != nil {
		t.Skipf("this system refuses %v: %v", level, err)
	}
}

func TestWalls(t *testing.T) {
	t.Parallel()
	ipc, err := os.Readlink("/proc/self/ns/ipc")
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range ladder() {
		var f facts
		if err := try(level, &f); err != nil {
			t.Logf("this system refuses %v: %v", level, err)
			continue
		}
		if level.Namespaces() && f.PID > 1000 && level.FreshProc() || f.UID != os.Getuid() || f.GID != os.Getgid() {
			t.Errorf("%v: process %d of %d:%d, want %d:%d",
				level, f.PID, f.UID, f.GID, os.Getuid(), os.Getgid())
		}
		if alone := f.Processes == 2; alone != level.FreshProc() {
			t.Errorf("%v: %d processes are visible", level, f.Processes)
		}
		if level.Namespaces() && (f.Shared || f.IPC == ipc) {
			t.Errorf("%v: shared mounts %v, shared IPC %v", level, f.Shared, f.IPC == ipc)
		}
		if f.Setuid && os.Getuid() != 0 || f.Supervisor {
			t.Errorf("%v: becomes root %v, sees its supervisor's descriptors %v",
				level, f.Setuid, f.Supervisor)
		}
		for name, mask := range f.Caps {
			if strings.Trim(mask, "0") != "" {
				t.Errorf("%v: the agent's %s is %s", level, name, mask)
			}
		}
		if !f.NoNew {
			t.Errorf("%v: the agent may gain privileges", level)
		}
		if len(f.Caps) != 4 {
			t.Errorf("%v: capabilities %v, want four sets", level, f.Caps)
		}
	}
}

// TestRefused lets the very step fail that fails in containers, whose words
// must arrive.
func TestRefused(t *testing.T) {
	t.Parallel()
	level, err := Probe(func(r Level) error {
		if r == Full {
			// Inside, as if it were not started with Attr.
			return Enter(Sandbox{Level: r})
		}
		return try(r, new(facts))
	})
	if err == nil || !strings.Contains(err.Error(), "first process") {
		t.Errorf("Probe = %v, %v, want the failing step's words", level, err)
	}
	if level == Full {
		t.Errorf("Probe = %v, which was refused", level)
	}
}

// TestUnprivileged runs all other tests once more as somebody who is nobody. In
// the gate those are left out whose subject is how paths are called and where
// files lie.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it needs root to become somebody else")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	args := []string{self, "-test.run=^Test", "-test.v"}
	if campaign.Rounds(t, 0, 1) == 0 {
		args = append(args, "-test.skip=^Test(OddPaths|Homes|WarmInHome|CachesInView|CachesElsewhere|Redirect|Copies|HideLinks|Programs|Views|Shared)$")
	}
	p, err := os.StartProcess(self, args, &os.ProcAttr{
		Dir: "/", Files: []*os.File{nil, w, w},
		Env: []string{"PATH=/usr/bin:/bin", campaign.Variable + "=" + os.Getenv(campaign.Variable)},
		Sys: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- SKIP") {
			t.Logf("as nobody: %s", line)
		}
	}
	if err != nil || !state.Success() ||
		!bytes.Contains(out, []byte("--- PASS: TestWalls")) {
		t.Errorf("as nobody: %v, %v\n%s", state, err, out)
	}
}

// TestIdentity: git's index holds owners, and agents must not believe they are
// somebody else.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, level := range ladder() {
		if !level.Namespaces() {
			continue
		}
		attr := Attr(level)
		if attr.Cloneflags&unix.CLONE_NEWUSER == 0 || attr.GidMappingsEnableSetgroups {
			t.Errorf("%v: %+v gives no user namespace of its own", level, attr)
		}
		for _, m := range append(attr.UidMappings, attr.GidMappings...) {
			if m.ContainerID != m.HostID || m.Size != 1 {
				t.Errorf("%v: the mapping %+v is not the identity", level, m)
			}
		}
	}
}
