package control

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// self is the test binary, also for a user who may not enter its folder.
func self() (string, error) { return "/proc/self/exe", nil }

// walls puts a process into namespaces of its own, as agents are.
func walls() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
}

func TestParentIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give string
		want int
		ok   bool
	}{
		{"12 (sh) S 7 12 12 0", 7, true},
		{"12 (a) b (c)) R 8 1", 8, true},
		{"12 (1 (2) 3 4) 5) S 9 1", 9, true},
		{"12 (sh) S", 0, false},
		{"12 (sh) S x 1", 0, false},
		{"", 0, false},
	} {
		got, err := parentIn([]byte(test.give))
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("parentIn(%q) = %d, %v, want %d", test.give, got, err, test.want)
		}
	}
	if got, err := parent(os.Getpid()); err != nil || got != os.Getppid() {
		t.Errorf("parent = %d, %v, want %d", got, err, os.Getppid())
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
	}, s.path)
	line, err := out.ReadString('\n')
	if !strings.Contains(line, "another user than 65534") {
		t.Errorf("another user is answered %q, %v", line, err)
	}
}

func FuzzParentIn(f *testing.F) {
	f.Add([]byte("12 (a) b (c)) R 8 1"))
	f.Fuzz(func(t *testing.T, stat []byte) {
		_, _ = parentIn(stat) // must not panic
	})
}
