package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/workspace"
)

// envInside makes this test binary the process inside of a workspace: it holds
// the mounts as JSON.
const envInside = "WORKTREE_TEST_INSIDE"

type insideSpec struct {
	Mounts  []workspace.Mount
	Bases   string // out of sight but for the link to Objects; empty: as it is
	Link    string
	Objects string
	Dir     string
	Script  string
	Small   string // the folder of the workspace, to be on a small disk

	// Without a script, so many random changes are made.
	Seed  uint64
	Edits int
}

// TestInside is the process of [fixture.inside].
func TestInside(t *testing.T) {
	text := os.Getenv(envInside)
	if text == "" {
		t.Skip("run by others")
	}
	var s insideSpec
	must(t, json.Unmarshal([]byte(text), &s))
	must(t, os.Unsetenv(envInside), s.build(), os.Chdir(s.Dir))
	if s.Edits > 0 {
		r := rand.New(rand.NewPCG(s.Seed, 1))
		for range s.Edits {
			scramble(r, s.Dir)
		}
		return
	}
	must(t, unix.Exec("/bin/sh", []string{"sh", "-ec", s.Script}, os.Environ()))
}

// build mounts the mounts of a workspace. It makes all of them before it
// attaches the first.
func (s *insideSpec) build() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	if err := s.shrink(); err != nil {
		return fmt.Errorf("make a small disk: %w", err)
	}
	var fds []int
	for _, m := range s.Mounts {
		fd, err := detached(m)
		if err != nil {
			return fmt.Errorf("make %s: %w", m.At, err)
		}
		fds = append(fds, fd)
	}
	if s.Objects == "" {
		return nil
	}
	objects, err := detached(workspace.Mount{From: s.Objects})
	if err != nil {
		return err
	}
	if s.Bases != "" {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(objects, "", unix.AT_EMPTY_PATH, &attr); err != nil {
			return err
		}
		if err := unix.Mount("tmpfs", s.Bases, "tmpfs", 0, ""); err != nil {
			return err
		}
		if err := os.Mkdir(s.Link, 0o700); err != nil {
			return err
		}
		if err := unix.MoveMount(objects, "", unix.AT_FDCWD, s.Link, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return err
		}
	}
	for i, m := range s.Mounts {
		if err := unix.MoveMount(fds[i], "", unix.AT_FDCWD, m.At, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("put %s up: %w", m.At, err)
		}
	}
	return nil
}

// shrink puts the changes of a workspace, those of its git dir too, on a small disk.
func (s *insideSpec) shrink() error {
	if s.Small == "" {
		return nil
	}
	if err := unix.Mount("tmpfs", s.Small, "tmpfs", 0, "size=1m"); err != nil {
		return err
	}
	for _, dir := range []string{workspace.UpperName, workspace.WorkName} {
		if err := os.Mkdir(filepath.Join(s.Small, dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func detached(m workspace.Mount) (int, error) {
	if len(m.Lower) == 0 {
		return unix.OpenTree(unix.AT_FDCWD, m.From, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	}
	name := func(dir string) string {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return dir
		}
		return "/proc/self/fd/" + strconv.Itoa(fd)
	}
	var lower []string
	for _, dir := range m.Lower {
		lower = append(lower, name(dir))
	}
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{
		{"lowerdir", strings.Join(lower, ":")}, {"upperdir", name(m.Upper)}, {"workdir", name(m.Work)},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, fmt.Errorf("%s: %w", o[0], err)
		}
	}
	if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
		return -1, err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
}

// inside runs a shell script in the place of an agent: in the workspace, with
// all of its mounts. It returns the script's output.
func (f *fixture) inside(w *workspace.Workspace, script string) string {
	f.t.Helper()
	out, err := f.tryInside(w, script)
	if err != nil {
		f.t.Fatalf("inside of %s: %v\n%s", w.Name, err, out)
	}
	return out
}

func (f *fixture) tryInside(w *workspace.Workspace, script string) (string, error) {
	s := f.specOf(w)
	s.Script = script
	return s.run(f)
}

// specOf describes the mounts for a process in a workspace.
func (f *fixture) specOf(w *workspace.Workspace) insideSpec {
	link, objects := f.trees.Objects()
	s := insideSpec{Mounts: w.Mounts(), Link: link, Objects: objects, Dir: w.Path(), Small: f.small}
	if w.At != "" && w.Private() {
		s.Bases = f.trees.Bases
	}
	if w.At == "" {
		s.Mounts = nil
	}
	return s
}

func (s insideSpec) run(f *fixture) (string, error) {
	namespaces(f.t, f)
	return s.try(f)
}

func (s insideSpec) try(f *fixture) (string, error) {
	text, err := json.Marshal(s)
	must(f.t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestInside$")
	cmd.Env = append(f.environ(), envInside+"="+string(text), "GOCOVERDIR="+f.home, "SELF="+os.Args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	for c := range unix.CAP_LAST_CAP + 1 {
		cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, uintptr(c))
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// namespaces skips a test where no overlay can be mounted.
func namespaces(t testing.TB, f *fixture) {
	t.Helper()
	mountable.Do(func() { mountable.refused = tryOverlay(t, f) })
	if mountable.refused != "" {
		t.Skipf("no overlay can be mounted here: %s", mountable.refused)
	}
}

// mountable is the result of the first try of an overlay.
var mountable struct {
	sync.Once
	refused string
}

// tryOverlay mounts an overlay, and says why it cannot.
func tryOverlay(t testing.TB, f *fixture) (refused string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"l", "u", "w", "at"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, "l", "f"), nil, 0o600))
	out, err := insideSpec{
		Mounts: []workspace.Mount{{
			At: filepath.Join(dir, "at"), Lower: []string{filepath.Join(dir, "l")},
			Upper: filepath.Join(dir, "u"), Work: filepath.Join(dir, "w"),
		}},
		// A file of the lower layer goes by a whiteout, which no overlay makes in its turn.
		Objects: dir, Dir: dir, Script: "rm at/f",
	}.try(f)
	// The kernel's own folder keeps a whiteout, and its mode permits no access.
	if cerr := os.Chmod(filepath.Join(dir, "w", "work"), 0o700); !errors.Is(cerr, fs.ErrNotExist) {
		must(t, cerr)
	}
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return ""
}
