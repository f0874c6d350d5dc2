package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree"
)

// cloneVar makes this test binary mount a disk with clones, and run scripts
// there: "image:folder".
const cloneVar = "SWARMTEST_CLONES"

// TestScriptsReflink runs some scripts on a disk that clones, with workspaces
// that are clones.
func TestScriptsReflink(t *testing.T) {
	t.Parallel()
	mkfs, err := exec.LookPath("mkfs.btrfs")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("it needs root and mkfs.btrfs: %v", err)
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	for _, err := range []error{os.Mkdir(at, 0o755), os.WriteFile(image, nil, 0o600), os.Truncate(image, 2<<30)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(mkfs, "-q", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs: %v: %s", err, out)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestScriptsOnDisk$", "-test.v")
	cmd.Env = append(os.Environ(), cloneVar+"="+image+":"+at)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("no mounts of its own: %v", err)
	}
	if strings.Contains(string(out), "no disk can be mounted") {
		t.Skipf("%s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestScriptsOnDisk/run_prompt") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestScriptsOnDisk runs in the process that [TestScriptsReflink] starts, with
// mounts of its own.
func TestScriptsOnDisk(t *testing.T) {
	image, dir, ok := strings.Cut(os.Getenv(cloneVar), ":")
	if !ok {
		t.Skip("run by TestScriptsReflink")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "btrfs", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Fatalf("no disk can be mounted: %v: %s", err, out)
	}
	t.Run("unmounted", func(t *testing.T) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestScriptsUnmounted$", "-test.v")
		cmd.Env = append(os.Environ(), unmountedVar+"="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{Size: 1}}, GidMappings: []syscall.SysProcIDMap{{Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestScriptsUnmounted/run_unmounted") {
			t.Errorf("%v:\n%s", err, out)
		}
	})
	params := scriptParams(worktree.Reflink)
	params.WorkdirRoot = dir
	names := gateWorkspaceScripts
	if campaign.Running(t) {
		names = workspaceScripts
	}
	for _, name := range names {
		params.Files = append(params.Files, filepath.Join(scriptsDir(), name+".txtar"))
	}
	testscript.Run(t, params)
}

// unmountedVar makes this test binary run a script in a folder, on a disk with
// clones, without namespaces.
const unmountedVar = "SWARMTEST_UNMOUNTED"

// TestScriptsUnmounted runs in the process that [TestScriptsOnDisk] starts, in
// a user namespace that allows none below it.
func TestScriptsUnmounted(t *testing.T) {
	dir := os.Getenv(unmountedVar)
	if dir == "" {
		t.Skip("run by TestScriptsOnDisk")
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	params := scriptParams(worktree.Reflink)
	params.WorkdirRoot = dir
	params.Files = []string{filepath.Join(scriptsDir(), "run_unmounted.txtar")}
	testscript.Run(t, params)
}
