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
)

// self is this binary, also for a user who may not enter its folder.
const self = "/proc/self/exe"

// TestMain makes the test binary play supervisor and agent. With os.Exit they
// would sleep for a second under the race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "inside":
			syscall.Exit(playSupervisor(os.Args[2]))
		case "agent":
			playAgent()
			syscall.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// facts are what an agent finds out about its walls.
type facts struct {
	PID, UID, GID int
	Processes     int
	Caps          map[string]string
	Shared        bool // a mount is shared with the outside
	IPC           string
	Supervisor    bool // the supervisor's descriptors can be seen
	Setuid        bool // the agent may become root
}

// playSupervisor enters the walls and runs an agent on the same thread.
func playSupervisor(word string) int {
	runtime.LockOSThread()
	var rung Rung
	err := rung.UnmarshalText([]byte(word))
	if err == nil {
		err = Enter(Walls{Rung: rung})
	}
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 1
	}
	pid, err := syscall.ForkExec(self, []string{self, "agent", "-"},
		&syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
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

func playAgent() {
	f := facts{
		PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid(), Caps: capabilities(),
	}
	f.IPC, _ = os.Readlink("/proc/self/ns/ipc")
	names, _ := filepath.Glob("/proc/[0-9]*")
	f.Processes = len(names)
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	f.Shared = bytes.Contains(mounts, []byte(" shared:"))
	_, err := os.Readlink("/proc/1/fd/1")
	f.Supervisor = err == nil
	f.Setuid = syscall.Setuid(0) == nil
	_ = json.NewEncoder(os.Stdout).Encode(f)
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

// try really starts something inside a rung.
func try(rung Rung, got *facts) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	er, ew, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer er.Close()
	p, err := os.StartProcess(self, []string{self, "inside", rung.String()},
		&os.ProcAttr{Files: []*os.File{nil, w, ew}, Sys: Attr(rung)})
	if err := errors.Join(w.Close(), ew.Close()); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	out, outErr := io.ReadAll(r)
	words, wordsErr := io.ReadAll(er)
	state, err := p.Wait()
	switch {
	case outErr != nil || wordsErr != nil || err != nil:
		return errors.Join(outErr, wordsErr, err)
	case !state.Success():
		return errors.New(string(words))
	}
	return json.Unmarshal(out, got)
}

func TestWalls(t *testing.T) {
	t.Parallel()
	ipc, err := os.Readlink("/proc/self/ns/ipc")
	if err != nil {
		t.Fatal(err)
	}
	before := capabilities()
	for _, rung := range ladder() {
		var f facts
		if err := try(rung, &f); err != nil {
			t.Logf("this system refuses %v: %v", rung, err)
			continue
		}
		if f.PID > 1000 || f.UID != os.Getuid() || f.GID != os.Getgid() {
			t.Errorf("%v: process %d of %d:%d, want %d:%d",
				rung, f.PID, f.UID, f.GID, os.Getuid(), os.Getgid())
		}
		if alone := f.Processes == 2; alone != (rung == Full) {
			t.Errorf("%v: %d processes are visible", rung, f.Processes)
		}
		if f.Shared || f.IPC == ipc {
			t.Errorf("%v: shared mounts %v, shared IPC %v", rung, f.Shared, f.IPC == ipc)
		}
		if root := os.Getuid() == 0; root != f.Setuid ||
			!root && rung == Full && f.Supervisor {
			t.Errorf("%v: becomes root %v, sees its supervisor's descriptors %v",
				rung, f.Setuid, f.Supervisor)
		}
		for name, mask := range f.Caps {
			if mask != before[name] {
				t.Errorf("%v: the agent's %s is %s, before it was %s",
					rung, name, mask, before[name])
			}
		}
		if len(f.Caps) != 4 {
			t.Errorf("%v: capabilities %v, want four sets", rung, f.Caps)
		}
	}
}

// TestRefused lets the very step fail that fails in containers, whose words
// must arrive.
func TestRefused(t *testing.T) {
	t.Parallel()
	rung, err := Probe(func(r Rung) error {
		if r == Full {
			// Inside, as if it were not started with Attr.
			return Enter(Walls{Rung: r})
		}
		return try(r, new(facts))
	})
	if err == nil || !strings.Contains(err.Error(), "first process") {
		t.Errorf("Probe = %v, %v, want the failing step's words", rung, err)
	}
	if rung == Full {
		t.Errorf("Probe = %v, which was refused", rung)
	}
}

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
	p, err := os.StartProcess(self, []string{self, "-test.run=^Test", "-test.v"},
		&os.ProcAttr{Dir: "/", Files: []*os.File{nil, w, w}, Sys: &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
		}})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil || !state.Success() ||
		!bytes.Contains(out, []byte("--- PASS: TestWalls")) {
		t.Errorf("as nobody: %v, %v\n%s", state, err, out)
	}
}

// TestRootKeepsOthersFiles is why root gets no user namespace.
func TestRootKeepsOthersFiles(t *testing.T) {
	t.Parallel()
	userns := Attr(Full).Cloneflags&unix.CLONE_NEWUSER != 0
	if userns != (os.Getuid() != 0) {
		t.Errorf("user namespace %v for uid %d", userns, os.Getuid())
	}
	for _, m := range Attr(Full).UidMappings {
		if m.ContainerID == 0 || m.ContainerID != m.HostID || m.Size != 1 {
			t.Errorf("the mapping %+v is not the identity", m)
		}
	}
}
