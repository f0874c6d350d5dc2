package control

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// self is the test binary, also for a user who may not enter its folder.
func self() (string, error) { return "/proc/self/exe", nil }

// setTag puts a tag where supervisors have theirs: the soft limit of file locks.
func setTag(tag uint64) error {
	return unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: tag, Max: unix.RLIM_INFINITY})
}

// TestBelowAnotherSupervisor: agents of other runs are refused, also after they
// have shed the tag and the variable that say so.
func TestBelowAnotherSupervisor(t *testing.T) {
	t.Parallel()
	s, _, _ := listening(t, &target{})
	_, in, out := start(t, &os.ProcAttr{Env: append(os.Environ(), "CONTROL_CHILD=supervise another run")}, s.path, s.secret)
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	line, err := out.ReadString('\n')
	if !strings.Contains(line, "an agent or its processes") {
		t.Errorf("below a supervisor of another run the answer is %q, %v", line, err)
	}
}

// walls puts a process into namespaces of its own, as agents are.
func walls() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
}

func TestAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	s, _, runtime := listening(t, &target{})
	// Let the other user come as far as the rule.
	for _, path := range []string{runtime, filepath.Join(runtime, "swarm"), s.path} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	_, _, out := start(t, &os.ProcAttr{
		Env: append(os.Environ(), "CONTROL_CHILD=speak"),
		Sys: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	}, s.path, s.secret)
	line, err := out.ReadString('\n')
	if !strings.Contains(line, "another user than 65534") {
		t.Errorf("another user is answered %q, %v", line, err)
	}
}
