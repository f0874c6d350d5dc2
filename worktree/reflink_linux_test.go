package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// envDisk makes this test binary one whose temporary folders are on a disk of
// their own: "type:image:folder".
const envDisk = "WORKTREE_TEST_DISK"

// TestOnDisk is what [TestFileSystems] starts in a namespace of its own.
func TestOnDisk(t *testing.T) {
	kind, rest, ok := strings.Cut(os.Getenv(envDisk), ":")
	if !ok {
		t.Skip("run by TestFileSystems")
	}
	image, dir, _ := strings.Cut(rest, ":")
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	if out, err := exec.Command("mount", "-t", kind, "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	must(t, os.Unsetenv(envDisk), os.Setenv("TMPDIR", dir))
	must(t, unix.Exec(os.Args[0], []string{os.Args[0], "-test.run=^TestReflink", "-test.v"}, os.Environ()))
}

// TestFileSystems runs the tests of clones on disks that clone.
func TestFileSystems(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"btrfs", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			mkfs, err := exec.LookPath("mkfs." + kind)
			if err != nil || os.Getuid() != 0 {
				t.Skipf("it needs root and mkfs.%s: %v", kind, err)
			}
			dir := t.TempDir()
			image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
			must(t, os.Mkdir(at, 0o755), os.WriteFile(image, nil, 0o600), os.Truncate(image, 512<<20))
			if out, err := exec.Command(mkfs, "-q", image).CombinedOutput(); err != nil {
				t.Fatalf("mkfs: %v: %s", err, out)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestOnDisk$")
			cmd.Env = append(os.Environ(), envDisk+"="+kind+":"+image+":"+at)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
			out, err := cmd.CombinedOutput()
			if err != nil && strings.Contains(string(out), "loop") {
				t.Skipf("no disk can be mounted from a file here: %s", out)
			}
			if err != nil || !strings.Contains(string(out), "--- PASS: TestReflinkLease") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// clones skips a test where the temporary folders are on a disk that does not
// clone.
func clones(t *testing.T, f *fixture) {
	t.Helper()
	if err := Refuses(Reflink, Surroundings{State: f.state}); err != nil {
		t.Skip(err)
	}
}

func TestReflinkLease(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"in place", "at the path of the checkout"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			must(t, os.Symlink("/nowhere", filepath.Join(f.root, "ln")))
			f.script(filepath.Join(f.root, "run"), "1\n")
			base := f.commit("big", strings.Repeat("0123456789", 2<<20), "d/e/f", "f\n", "empty", "",
				`a b:c,d\e`, "o\n", ".gitignore", "m/\n", IncludeFile, "m/\n")
			f.write(f.root, "m/x", "along\n")
			f.open()
			clones(t, f)
			f.private(Reflink)
			f.include(base)
			if at == "in place" {
				f.trees.At = ""
			}
			before := listing(t, f.repo.CommonDir)
			f.lease(base)
			unix.Sync()
			room, err := Free(f.state)
			must(t, err)
			w := f.lease(base)
			unix.Sync()
			if less, err := Free(f.state); err != nil || room-less > 4<<20 {
				t.Errorf("a clone of 20 MB takes %d bytes, %v", room-less, err)
			}
			got := f.inside(w, `
				test "$(git diff-files)" = ""; test "$(git status --porcelain)" = ""
				test -x run; test "$(readlink ln)" = /nowhere; cat 'a b:c,d\e' m/x d/e/f
				stat -c %Y big d/e/f; git mv d h; echo more >> big; git commit -qam x; git gc -q
			`)
			if got != "o\nalong\nf\n1000000000\n1000000000" {
				t.Errorf("inside: %q", got)
			}
			// Where nothing keeps it from that, git notes the use of an object it has.
			if d := differ(before, listing(t, f.repo.CommonDir)); d != "" && w.At != "" {
				t.Errorf("the repository was touched:\n%s", d)
			}
			if text, err := os.ReadFile(filepath.Join(f.lease(base).files(), "big")); err != nil || len(text) != 20<<20 {
				t.Errorf("a sibling has %d bytes, %v", len(text), err)
			}
			p, err := readPlaced(*w)
			if err != nil || !p.included("m/x") {
				t.Errorf("placed: %v, %v", p, err)
			}
			must(t, f.trees.Drop(t.Context(), *w))
			f.clean(w)
		})
	}
}

func TestReflinkKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"based", "recorded", "filled", "saved"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n")
			f.open()
			clones(t, f)
			f.private(Reflink)
			f.step = func(name string) error {
				if name == step {
					return errKilled
				}
				return nil
			}
			if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.Is(err, errKilled) {
				t.Fatalf("Lease = %v", err)
			}
			f.step = nil
			f.private(Reflink)
			strays, err := f.trees.Strays(nil)
			if err != nil || len(strays) != 1 {
				t.Fatalf("Strays = %+v, %v", strays, err)
			}
			if _, err := f.trees.Release(t.Context(), strays[0], nil); err != nil {
				t.Error(err)
			}
			f.clean(&strays[0])
			f.lease(base)
		})
	}
}

func TestReflinkOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n", "d/e/f", "f\n")
	f.open()
	clones(t, f)
	f.private(Reflink)
	f.operate(base)
}

func TestReflinkRestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/x", "x\n", "d/e/y", "y\n", "g", "g\n")
	f.open()
	clones(t, f)
	f.private(Reflink)
	commit := f.change("rm -r d; echo x > d; echo A > a; rm g; mkdir g; echo 1 > g/1")
	w := f.restored(base, commit)
	if got := f.inside(w, "git add -A; git write-tree; find . -path ./.git -prune -o -type f -print | sort"); got !=
		f.git("rev-parse", string(commit)+"^{tree}")+"\n./a\n./d\n./g/1" {
		t.Errorf("inside: %s", got)
	}
	must(t, f.trees.Drop(t.Context(), *w))
}

// TestCloneFails holds that nothing is left where a file cannot be cloned.
func TestCloneFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	if Refuses(Reflink, Surroundings{State: f.state}) == nil {
		t.Skip("this disk clones")
	}
	f.private(Reflink)
	var errno syscall.Errno
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &errno) {
		t.Errorf("Lease = %v, want what the kernel says", err)
	}
	for _, path := range []string{f.leaseRequest("a1.1", base).Saved, filepath.Join(f.trees.Dir, "a1.1")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
