package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/worktree"
)

// refusedCommand is `refused CODE TEXT COMMAND…`. The command ends with that
// code, and prints "swarm: TEXT" on a line of stderr, perhaps a line with a
// hint, and nothing on stdout. Nothing below $WORK was written: no state, no
// ref, no temporary file. In TEXT an ellipsis stands for anything.
func refusedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused CODE TEXT COMMAND [ARGUMENT…]")
	}
	work := ts.Getenv("WORK")
	before := written(ts, work)
	exitsCommand(ts, false, append([]string{args[0]}, args[2:]...))
	text := strings.ReplaceAll(regexp.QuoteMeta(args[1]), "…", ".*")
	want := regexp.MustCompile(`^swarm: ` + text + `\n(hint: .*\n)?$`)
	if got := ts.ReadFile("stderr"); !want.MatchString(got) {
		ts.Fatalf("stderr is\n%swant one line:\nswarm: %s", got, args[1])
	}
	if got := ts.ReadFile("stdout"); got != "" {
		ts.Fatalf("stdout is %q, want nothing", got)
	}
	after := written(ts, work)
	for name, is := range after {
		if was := before[name]; was != is {
			ts.Fatalf("%s was written: %q, before %q", name, is, was)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			ts.Fatalf("%s was removed", name)
		}
	}
}

// written lists the files below a folder, with the attributes that a write
// changes. A folder's time is left out: a removed temporary file does not
// count.
func written(ts *testscript.TestScript, dir string) map[string]string {
	all := map[string]string{}
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		stat, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = stat.Mode().String()
		if !d.IsDir() {
			all[path] += fmt.Sprint(" ", stat.Size(), " ", stat.ModTime())
		}
		return nil
	}))
	return all
}

// scriptCondition tells whether this machine lets a script mount a file
// system of its own, which [mounts] asks; and, by its name, on which backend
// the script runs.
func scriptCondition(name string, backend worktree.Backend) (bool, error) {
	switch name {
	case string(worktree.Overlay), string(worktree.Reflink), string(worktree.Copied), string(worktree.Linked):
		return name == string(backend), nil
	case "mounts":
		return exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt").Run() == nil, nil
	case "limits": // a container's /proc/sys is read-only
		return exec.Command("unshare", "-rm", "test", "-w", "/proc/sys/user/max_user_namespaces").Run() == nil, nil
	case "overlays":
		return canMountOverlays()
	case "landlock":
		return hasLandlock(), nil
	case "root":
		return os.Getuid() == 0, nil
	default:
		return false, errors.New("unknown condition")
	}
}

// canMountOverlays reports whether user namespaces may mount overlays on the file
// system of the tests. The file system of a container's image takes none, and no
// whiteouts.
var canMountOverlays = sync.OnceValues(func() (bool, error) {
	dir, err := os.MkdirTemp("", "swarm-overlays")
	if err != nil {
		return false, err
	}
	const script = `mkdir lower upper work at && touch lower/f && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr o at && rm at/f`
	mount := exec.Command("unshare", "-rm", "sh", "-c", script)
	mount.Dir = dir
	can := mount.Run() == nil
	return can, errors.Join(openWork(filepath.Join(dir, "work")), os.RemoveAll(dir))
})

// openWork opens the folder that the kernel makes in the work folder of an overlay.
// Its mode permits no access, and it keeps a whiteout, so that only root could remove
// it.
func openWork(dir string) error {
	err := os.Chmod(filepath.Join(dir, "work"), 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was mounted
	}
	return err
}
