package worktree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/precheck"
	"agentswarm/worktree/workspace"
)

// envEach says in a process of its own which backend it has been made for.
const envEach = "WORKTREE_TEST_EACH"

// envNoOverlay tells such a process that no overlay can be had, so that it gives
// the cases the same turns.
const envNoOverlay = "WORKTREE_TEST_NO_OVERLAY"

// envDisk makes this test binary use a separate disk for its temporary folders
// and run some of the tests there: "type:image:folder:tests".
const envDisk = "WORKTREE_TEST_DISK"

// apart runs a subtest of [each] in a separate process, if it needs one, and
// reports whether it did.
func apart(t *testing.T, b workspace.Backend) bool {
	t.Helper()
	if b == workspace.Linked {
		return false
	}
	if os.Getenv(envEach) == string(b) {
		if b == workspace.Overlay {
			must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""))
		}
		return false
	}
	var parts []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	tests := strings.Join(parts, "/")
	var out string
	var err error
	if b == workspace.Overlay {
		namespaces(t, newFixture(t))
		cmd := exec.CommandContext(t.Context(), os.Args[0], testFlags(tests)...)
		cmd.Env = append(os.Environ(), envEach+"="+string(b))
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			// The kernel removes its own folder, whose mode permits no access,
			// with the rights of the mounting process.
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE},
		}
		text, rerr := cmd.CombinedOutput()
		out, err = string(text), rerr
	} else if precheck.Refuses(b, precheck.Surroundings{State: t.TempDir()}) == nil {
		return false
	} else {
		out, err = onOwnDisk(t, "btrfs", tests)
	}
	if err == nil && strings.Contains(out, "--- SKIP: "+t.Name()+" ") {
		t.Skip(out)
	}
	if err != nil || !strings.Contains(out, "--- PASS: "+t.Name()+" ") {
		t.Errorf("%v:\n%s", err, failures(out))
	}
	return true
}

// overlays reports whether overlays can be had here.
func overlays(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envEach) != "" {
		return os.Getenv(envNoOverlay) == ""
	}
	mountable.Do(func() { mountable.refused = tryOverlay(t, newFixture(t)) })
	return mountable.refused == ""
}

// failures is the output of tests, without the names of silent tests.
func failures(out string) string {
	var b strings.Builder
	name := ""
	for line := range strings.Lines(out) {
		switch {
		case strings.HasPrefix(line, "=== "):
			name = line
		case !strings.HasPrefix(strings.TrimSpace(line), "--- PASS"):
			b.WriteString(name + line)
			name = ""
		}
	}
	return b.String()
}

// testFlags run tests in another process as in this one.
func testFlags(tests string) []string {
	flags := []string{"-test.run=" + tests, "-test.v"}
	if testing.Short() {
		flags = append(flags, "-test.short")
	}
	return flags
}

// onOwnDisk runs tests on a disk of its own.
func onOwnDisk(t *testing.T, kind, tests string) (string, error) {
	t.Helper()
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil || os.Getuid() != 0 {
		t.Skipf("it needs root and mkfs.%s: %v", kind, err)
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	must(t, os.Mkdir(at, 0o755), os.WriteFile(image, nil, 0o600), os.Truncate(image, 512<<20))
	if out, err := exec.CommandContext(t.Context(), mkfs, "-q", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs: %v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOnDisk$")
	cmd.Env = append(os.Environ(), envDisk+"="+strings.Join([]string{kind, image, at, tests}, ":"))
	if !overlays(t) {
		cmd.Env = append(cmd.Env, envNoOverlay+"=1")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("no mount namespace can be made here: %v", err)
	}
	if err != nil && (strings.Contains(string(out), "loop") || strings.Contains(string(out), noMounts)) {
		t.Skipf("no disk can be mounted from a file here: %s", out)
	}
	return string(out), err
}

// noMounts is the message of TestOnDisk if it may not mount.
const noMounts = "nothing can be mounted here"

// TestOnDisk is the process of [onOwnDisk], in a namespace of its own.
func TestOnDisk(t *testing.T) {
	parts := strings.SplitN(os.Getenv(envDisk), ":", 4)
	if len(parts) != 4 {
		t.Skip("run by others")
	}
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if errors.Is(err, unix.EPERM) {
		t.Fatal(noMounts)
	}
	must(t, err)
	if out, err := exec.Command("mount", "-t", parts[0], "-o", "loop", parts[1], parts[2]).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	must(t, os.Unsetenv(envDisk), os.Setenv("TMPDIR", parts[2]), os.Setenv(envEach, string(workspace.Reflink)))
	must(t, unix.Exec(os.Args[0], append([]string{os.Args[0]}, testFlags(parts[3])...), os.Environ()))
}

// mountAll mounts the mounts of a workspace, for this process.
func mountAll(all []workspace.Mount) error {
	for _, m := range all {
		fd, err := detached(m)
		if err != nil {
			return fmt.Errorf("make %s: %w", m.At, err)
		}
		err = unix.MoveMount(fd, "", unix.AT_FDCWD, m.At, unix.MOVE_MOUNT_F_EMPTY_PATH)
		if err = errors.Join(err, unix.Close(fd)); err != nil {
			return fmt.Errorf("put %s up: %w", m.At, err)
		}
	}
	return nil
}

// unmountAll takes it down again. A child that another test has just forked
// holds files of it until it runs its program, so that it goes when they are
// closed.
func unmountAll(all []workspace.Mount) (err error) {
	for _, m := range slices.Backward(all) {
		if uerr := unix.Unmount(m.At, unix.MNT_DETACH); uerr != nil {
			err = errors.Join(err, fmt.Errorf("take %s down: %w", m.At, uerr))
		}
	}
	return err
}
