package include

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
)

// answerClones makes the kernel answer each FICLONE of this thread from now on,
// with no error or with errno, and do no work. It affects no other call, and
// needs no right. The thread must be locked, and end with its goroutine.
func answerClones(errno uint32) error {
	const number, request = 0, 24 // in struct seccomp_data, of little endian
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_IOCTL, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: request},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.FICLONE, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// bringOne copies a single included file from a folder into another.
func bringOne(from, to, name string) (err error) {
	b := &copying{dirs: map[string]bool{"": true}, done: baseline.Placed{}}
	if b.from, err = os.OpenRoot(from); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.from.Close()) }()
	if b.to, err = os.OpenRoot(to); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.leave(), b.to.Close()) }()
	return b.copy(name)
}

// TestBringClones: an included file is cloned if the file system can clone,
// else copied. Few file systems can, so the test makes the kernel report it. A
// clone that the kernel reports but does not make leaves a file empty, unless
// the file was copied, too.
func TestBringClones(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 100_000)
	for _, tt := range []struct {
		name  string
		errno uint32
		want  string
	}{
		{"it can", 0, ""},
		{"it cannot", uint32(unix.EOPNOTSUPP), text},
		{"another file system", uint32(unix.EXDEV), text},
		{"no clones at all", uint32(unix.ENOTTY), text},
		{"not of such files", uint32(unix.EINVAL), text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), t.TempDir()
			must(t, os.WriteFile(filepath.Join(from, "x"), []byte(text), 0o640))
			done := make(chan error)
			go func() {
				runtime.LockOSThread() // for good: the thread ends with this goroutine
				err := answerClones(tt.errno)
				if err == nil {
					err = bringOne(from, to, "x")
				}
				done <- err
			}()
			must(t, <-done)
			if got, err := os.ReadFile(filepath.Join(to, "x")); err != nil || string(got) != tt.want {
				t.Errorf("%d bytes came along, %v, want %d", len(got), err, len(tt.want))
			}
		})
	}
}

// TestCloneFile: a clone has the same content on a file system that can clone.
// On another the call fails without harm.
func TestCloneFile(t *testing.T) {
	t.Parallel()
	dir, text := t.TempDir(), strings.Repeat("0123456789", 100_000)
	must(t, os.WriteFile(filepath.Join(dir, "from"), []byte(text), 0o600))
	from, err := os.Open(filepath.Join(dir, "from"))
	must(t, err)
	to, err := os.Create(filepath.Join(dir, "to"))
	must(t, err)
	cloned := git.Reflink(to, from)
	must(t, from.Close(), to.Close())
	got, err := os.ReadFile(filepath.Join(dir, "to"))
	must(t, err)
	switch {
	case cloned == nil && string(got) != text:
		t.Errorf("the clone has %d bytes, want %d", len(got), len(text))
	case cloned != nil && len(got) > 0:
		t.Errorf("%v, and yet it has %d bytes", cloned, len(got))
	case cloned != nil:
		t.Logf("this file system does not clone: %v", cloned)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
