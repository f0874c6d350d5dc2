package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// diskVariable has the test binary run its tests in a namespace where it can
// mount small disks.
const diskVariable = "CHECKOUT_TEST_DISK"

// TestSmallDisks runs the tests of full and read-only disks in a user and mount
// namespace, where there is one.
func TestSmallDisks(t *testing.T) {
	t.Parallel()
	if os.Getenv(diskVariable) != "" {
		t.Run("no space", noSpace)
		t.Run("no inodes", noInodes)
		t.Run("a filter fills the disk", filterFills)
		t.Run("read-only", readOnlyDisk)
		t.Run("another disk within", diskWithin)
		return
	}
	inNamespace(t, 0, "^TestSmallDisks$")
}

// TestForbidden runs as a user without privileges: root may write everywhere.
func TestForbidden(t *testing.T) {
	t.Parallel()
	if os.Getenv(diskVariable) != "" {
		forbidden(t)
		return
	}
	inNamespace(t, 1000, "^TestForbidden$")
}

// inNamespace runs a test of this binary in a user and mount namespace, as a user.
func inNamespace(t *testing.T, uid int, test string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", test, "-test.v")
	cmd.Env = append(os.Environ(), diskVariable+"=1", "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("no user and mount namespace can be had here: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("no small disk can be mounted here:\n%s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// onDisk is a ground whose checkout is on a disk of its own. The records are not.
func onDisk(t *testing.T, options string) *fixture {
	t.Helper()
	g := newFixture(t, 20)
	there := g.root + " on disk"
	g.must(os.Rename(g.root, there), os.Mkdir(g.root, 0o755))
	if err := unix.Mount("tmpfs", g.root, "tmpfs", 0, options); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { g.must(unix.Unmount(g.root, unix.MNT_DETACH)) })
	g.must(copyTree(there, g.root), os.RemoveAll(there))
	g.git("update-index", "-q", "--refresh")
	return g
}

// fill leaves so many bytes free on the disk of the checkout.
func (g *fixture) fill(free int64) {
	g.Helper()
	var s unix.Statfs_t
	g.must(unix.Statfs(g.root, &s))
	f, err := os.Create(filepath.Join(g.root, ".git", "filler"))
	g.must(err)
	g.must(unix.Fallocate(int(f.Fd()), 0, 0, int64(s.Bavail)*int64(s.Bsize)-free), f.Close())
}

// refuses fails unless a merge and an apply end with a cause and change nothing.
func (g *fixture) refuses(want func(error) bool) {
	g.Helper()
	before := g.snapshot()
	for _, index := range []bool{true, false} {
		err := g.transact(context.Background(), move{index: index})
		if err == nil || !want(err) {
			g.Errorf("got %v, want the cause", err)
		}
		if hint, ok := errorHint(err); !ok || hint == "" {
			g.Errorf("%v has no hint", err)
		}
		if after := g.snapshot(); after != before {
			g.Errorf("the checkout is\n%s\nwant\n%s", after, before)
		}
		if left := g.leftovers(); len(left) > 0 {
			g.Errorf("left %q", left)
		}
	}
}

func errorHint(err error) (string, bool) {
	var h interface{ Hint() string }
	if !errors.As(err, &h) {
		return "", false
	}
	return h.Hint(), true
}

// goesOn fails unless the transaction can be made once there is room.
func (g *fixture) goesOn() {
	g.Helper()
	g.must(os.Remove(filepath.Join(g.root, ".git", "filler")))
	g.must(g.transact(context.Background(), move{index: true}))
	if got := g.git("status", "--porcelain"); got != "" || g.git("rev-parse", "HEAD") != string(g.new) {
		g.Errorf("status is %q, want clean at the new commit", got)
	}
}

func noSpace(t *testing.T) {
	for _, free := range []int64{0, 4 << 10, 64 << 10, slack} {
		g := onDisk(t, "size=8m")
		g.fill(free)
		g.refuses(func(err error) bool {
			var space *SpaceError
			return errors.As(err, &space) && !space.Inodes && errors.Is(err, syscall.ENOSPC) &&
				strings.Contains(err.Error(), "no space left") && strings.Contains(err.Error(), g.root)
		})
		g.goesOn()
	}
}

func noInodes(t *testing.T) {
	g := onDisk(t, "size=8m,nr_inodes=200")
	for n := 0; ; n++ {
		err := os.WriteFile(filepath.Join(g.root, ".git", fmt.Sprint("filler", n)), nil, 0o644)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		g.must(err)
	}
	g.must(os.Remove(filepath.Join(g.root, ".git", "filler0")), os.Remove(filepath.Join(g.root, ".git", "filler1")))
	g.refuses(func(err error) bool {
		var space *SpaceError
		return errors.As(err, &space) && space.Inodes && strings.Contains(err.Error(), "no inodes left")
	})
}

// filterFills: a filter makes a file larger than the free space that the check
// found enough for it.
func filterFills(t *testing.T) {
	g := onDisk(t, "size=16m")
	g.git("config", "filter.up.smudge", "cat; head -c 4000000 /dev/zero")
	g.git("config", "filter.up.required", "true")
	g.fill(slack + 1<<20)
	g.refuses(func(err error) bool {
		var write *WriteError
		return errors.As(err, &write) && errors.Is(err, syscall.ENOSPC) && strings.HasSuffix(write.Path, "loud.up")
	})
}

func readOnlyDisk(t *testing.T) {
	g := onDisk(t, "size=8m")
	if err := unix.Mount("tmpfs", g.root, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=8m"); err != nil {
		t.Skipf("remount: %v", err)
	}
	g.refuses(func(err error) bool {
		return errors.Is(err, syscall.EROFS) && strings.Contains(err.Error(), "read-only file system")
	})
}

// diskWithin: a folder of the checkout is a disk of its own, to which no file
// can be renamed.
func diskWithin(t *testing.T) {
	for _, bind := range []bool{false, true} {
		g := newFixture(t, 20)
		at, saved := filepath.Join(g.root, "d4"), filepath.Join(g.dir, "d4")
		g.must(copyTree(at, saved))
		var err error
		if bind { // the same file system, mounted again
			err = unix.Mount(saved, at, "", unix.MS_BIND, "")
		} else {
			err = unix.Mount("tmpfs", at, "tmpfs", 0, "size=1m")
		}
		if err != nil {
			t.Skipf("mount: %v", err)
		}
		if !bind {
			g.must(copyTree(saved, at))
		}
		g.must(g.transact(context.Background(), move{index: true}))
		if got := g.git("status", "--porcelain"); got != "" || g.read("d4/f4") != "new 4\n" {
			t.Errorf("status is %q and a file there %q, want clean and new", got, g.read("d4/f4"))
		}
		if left := g.leftovers(); len(left) > 0 {
			t.Errorf("left %q", left)
		}
		g.must(unix.Unmount(at, unix.MNT_DETACH))
	}
}

func forbidden(t *testing.T) {
	g := newFixture(t, 20)
	closed := filepath.Join(g.root, "d3")
	g.must(os.Chmod(closed, 0o555))
	defer func() { g.must(os.Chmod(closed, 0o755)) }()
	g.refuses(func(err error) bool {
		var write *WriteError
		var dirty *git.DirtyError
		return errors.As(err, &write) && !errors.As(err, &dirty) && errors.Is(err, syscall.EACCES) &&
			strings.HasPrefix(write.Path, closed)
	})
}
