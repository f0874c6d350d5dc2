package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWritersAreNotReused: a descriptor or a mapping that an agent passed to
// another process cannot change a later workspace. Only the files that stay
// open are made anew.
func TestWritersAreNotReused(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(t *testing.T, path string) (write func() error){
		"descriptor": func(t *testing.T, path string) func() error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(t, err)
			t.Cleanup(func() { _ = f.Close() })
			return func() error { _, err := f.WriteAt([]byte("X"), 0); return err }
		},
		"mapping": func(t *testing.T, path string) func() error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			text, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			must(t, err)
			must(t, f.Close())
			t.Cleanup(func() { _ = unix.Munmap(text) })
			return func() error { text[0] = 'X'; return nil }
		},
		"descriptor on its way": func(t *testing.T, path string) func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			must(t, err)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(t, err)
			must(t, unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(int(f.Fd())), nil, 0))
			must(t, f.Close())
			t.Cleanup(func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) })
			return func() error {
				control := make([]byte, unix.CmsgSpace(4))
				_, n, _, _, err := unix.Recvmsg(pair[1], make([]byte, 1), control, 0)
				if err != nil {
					return err
				}
				messages, err := unix.ParseSocketControlMessage(control[:n])
				if err != nil {
					return err
				}
				fds, err := unix.ParseUnixRights(&messages[0])
				if err != nil {
					return err
				}
				defer unix.Close(fds[0])
				_, err = unix.Pwrite(fds[0], []byte("X"), 0)
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("held", "held\n", "d/free", "free\n")
			seen := pooled(f)
			w := f.lease(base)
			write := hold(t, filepath.Join(w.Files(), "held"))
			free, err := os.Stat(filepath.Join(w.Files(), "d/free"))
			must(t, err)
			f.recycle(w)
			next := f.lease(base)
			must(t, write())
			text, err := os.ReadFile(filepath.Join(next.Files(), "held"))
			must(t, err)
			if string(text) != "held\n" {
				t.Errorf("the next workspace has %q", text)
			}
			again, err := os.Stat(filepath.Join(next.Files(), "d/free"))
			must(t, err)
			if seen["reused"] != 1 || !os.SameFile(free, again) {
				t.Error("a file that nobody has open was not reused")
			}
		})
	}
}
