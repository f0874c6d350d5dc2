package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// answer is what a limited system gives.
type answer struct {
	Level Level
	Why   string
	Out   string // what an agent has escaped with
	Proof string // that the workspace can be written to
}

// limits are the ways in which a system is made worse.
func limits() map[string]func(*fixture) error {
	return map[string]func(*fixture) error{
		"nothing": func(*fixture) error { return nil },
		"no user namespaces": func(*fixture) error {
			return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
		},
		"no mount namespaces": func(*fixture) error {
			return os.WriteFile("/proc/sys/user/max_mnt_namespaces", []byte("0"), 0)
		},
		"no PID namespaces": func(*fixture) error {
			return os.WriteFile("/proc/sys/user/max_pid_namespaces", []byte("0"), 0)
		},
		"chroot": func(g *fixture) error {
			dir := filepath.Join(g.Dir, "root")
			return errors.Join(os.Mkdir(dir, 0o700), unix.Mount("/", dir, "", unix.MS_BIND|unix.MS_REC, ""),
				unix.Chroot(dir), unix.Chdir("/"))
		},
		"mount in /var/tmp":   func(g *fixture) error { return mountIn(g.Dir) },
		"mount in HOME":       func(g *fixture) error { return mountIn(g.Home) },
		"masked proc":         maskProc,
		"state on an overlay": stateOnOverlay,
		"masked proc, state on an overlay": func(g *fixture) error {
			return errors.Join(maskProc(g), stateOnOverlay(g))
		},
		"no user namespaces, no Landlock": func(*fixture) error {
			return errors.Join(os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0), noLandlock())
		},
	}
}

// mountIn mounts a file system in a folder.
func mountIn(dir string) error {
	at := filepath.Join(dir, "mounted")
	return errors.Join(os.Mkdir(at, 0o700), unix.Mount("tmpfs", at, "tmpfs", 0, ""))
}

// maskProc is what containers do.
func maskProc(*fixture) error {
	return unix.Mount("/dev/null", "/proc/timer_list", "", unix.MS_BIND, "")
}

func stateOnOverlay(g *fixture) error {
	own, up := filepath.Dir(g.Private), filepath.Join(g.Dir, "up")
	wk := filepath.Join(g.Dir, "wk")
	return errors.Join(os.Mkdir(up, 0o700), os.Mkdir(wk, 0o700),
		unix.Mount("o", own, "overlay", 0, "userxattr,lowerdir="+own+",upperdir="+up+",workdir="+wk))
}

// noLandlock answers as a kernel that has none.
func noLandlock() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// playLimited makes the system worse and climbs the ladder.
func playLimited(name string, args []string) int {
	runtime.LockOSThread()
	var g fixture
	err := json.Unmarshal([]byte(args[0]), &g)
	if err == nil {
		err = limits()[name](&g)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v", name, err)
		return 1
	}
	var got answer
	var why error
	got.Level, why = Probe(func(level Level) error {
		w, err := Compose(level, false, g.on(level))
		if err != nil {
			return err
		}
		got.Out, err = inside(job{Walls: w, Task: task{Name: "write", Args: []string{g.Sibling + "/file"}}})
		if err != nil {
			return err
		}
		at := g.Repo
		if level == Landlock {
			at = g.Up
		}
		if got.Proof, err = inside(job{Walls: w, Argv: []string{"/bin/sh", "-c", "echo new >$0/new && cat $0/new", at}}); err != nil {
			return err
		}
		out, err := inside(job{Walls: w, Task: task{Name: "read", Args: []string{
			g.Home, g.State + "/repo-2", g.State + "/repo-1/trees/a2",
		}}})
		got.Out += out
		return err
	})
	if why != nil {
		got.Why = why.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		return 1
	}
	return 0
}

// limited climbs the ladder on a system with a limit.
func limited(t *testing.T, name string) answer {
	t.Helper()
	g := newFixture(t, outside(t))
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	attr := Attr(Full)
	attr.Cloneflags &^= unix.CLONE_NEWPID // whose numbers the /proc here does not know
	p, err := os.StartProcess(self, []string{self, "limited", name, string(text)},
		&os.ProcAttr{Files: []*os.File{nil, w, os.Stderr}, Sys: attr, Env: os.Environ()})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil || !state.Success() {
		t.Fatalf("limited %q: %v, %v", name, state, err)
	}
	var got answer
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(g.Sibling + "/file"); string(text) != "sibling" {
		t.Errorf("the sibling is %q now", text)
	}
	return got
}

// TestLadder takes the better levels away for real.
func TestLadder(t *testing.T) {
	t.Parallel()
	need(t, Full)
	for _, tt := range []struct {
		limit string
		want  Level
		words []string
	}{
		{"nothing", Full, nil},
		{"no user namespaces", Landlock, []string{"no space left on device"}},
		{"no mount namespaces", Landlock, []string{"no space left on device"}},
		{"no PID namespaces", Landlock, []string{"no space left on device"}},
		{"chroot", Landlock, []string{"operation not permitted"}},
		{"mount in /var/tmp", Full, nil},
		{"mount in HOME", NoOverlay, []string{"mount a new overlay: invalid argument", "another file system is mounted at /"}},
		{"masked proc", OldProc, []string{"mount a new proc", "operation not permitted"}},
		{"state on an overlay", NoOverlay, []string{"mount a new overlay", "not supported as upperdir"}},
		{"masked proc, state on an overlay", NoOverlayOldProc, []string{"not supported as upperdir", "mount a new proc"}},
		{"no user namespaces, no Landlock", None, []string{"no space left on device", "ask for Landlock: function not implemented"}},
	} {
		t.Run(tt.limit, func(t *testing.T) {
			t.Parallel()
			if tt.want == Landlock {
				need(t, Landlock)
			}
			got := limited(t, tt.limit)
			if got.Level != tt.want {
				t.Errorf("the walls are %v, want %v: %s", got.Level, tt.want, got.Why)
			}
			for _, word := range tt.words {
				if !strings.Contains(got.Why, word) {
					t.Errorf("why is %q, want %q", got.Why, word)
				}
			}
			if got.Level == None {
				return
			}
			for _, found := range lines(got.Out) {
				// What it writes to in HOME is a copy. Landlock knows no chmod.
				copied := got.Level.Overlay() && !strings.HasPrefix(found, "read")
				if !copied && (got.Level != Landlock || !strings.HasPrefix(found, "chmod")) {
					t.Errorf("%v: the agent could %s", got.Level, found)
				}
			}
			if got.Proof != "new\n" {
				t.Errorf("%v: the workspace says %q", got.Level, got.Proof)
			}
		})
	}
}

// TestNested puts an agent's own agents in a sandbox.
func TestNested(t *testing.T) {
	t.Parallel()
	need(t, Full)
	g := newFixture(t, outside(t))
	inner := newFixture(t, mustMkdir(t, filepath.Join(g.Up, "inner")))
	// The agent finds it in its workspace.
	text, err := json.Marshal(inner)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.ReplaceAll(string(text), g.Up, g.Repo)
	w := compose(t, Full, g.place())
	out, err := inside(job{Walls: w, Argv: []string{self, "limited", "nothing", moved}})
	if os.Getuid() == 0 {
		// The kernel lets root map itself once only.
		if err == nil && strings.Contains(out, `"full"`) {
			t.Error("root has nested walls: the documentation says otherwise")
		}
		return
	}
	var got answer
	if err := errors.Join(err, json.Unmarshal([]byte(out), &got)); err != nil {
		t.Fatal(err)
	}
	if got.Level != NoOverlay || got.Proof != "new\n" || len(lines(got.Out)) > 0 {
		t.Errorf("walls in walls: %+v, want %v", got, NoOverlay)
	}
}

func mustMkdir(t *testing.T, dir string) string {
	t.Helper()
	mkdir(t, dir)
	return dir
}
