package nonamespaces

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv("NONAMESPACES") != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// under runs a shell script under the filter and returns its output.
func under(t *testing.T, script string, flags ...string) string {
	t.Helper()
	args := append(flags, "/bin/sh", "-c", script)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "NONAMESPACES=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestFilter(t *testing.T) {
	t.Parallel()
	const unshare = `unshare --user --map-current-user true 2>/dev/null && echo made || echo refused`
	const mount = `unshare --user --mount --map-root-user mount -t tmpfs none /mnt 2>/dev/null && echo mounted || echo refused`
	for _, tc := range []struct {
		name, script, want string
		flags              []string
	}{
		{"a program runs", `echo it; (echo below)`, "it\nbelow", nil},
		{"container: no user namespace", unshare, "refused", nil},
		{"container: no mount", mount, "refused", nil},
		{"apparmor: no mount", mount, "refused", []string{"-as", "apparmor"}},
		{"what is below is filtered, too", `sh -c '` + unshare + `'`, "refused", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := under(t, tc.script, tc.flags...); got != tc.want {
				t.Errorf("%s printed %q, want %q", tc.script, got, tc.want)
			}
		})
	}
}

func TestNoOverlays(t *testing.T) {
	if out, err := exec.Command("unshare", "--user", "--mount", "--map-root-user", "sh", "-c", `
mkdir "$0/below" "$0/above" "$0/work"
mount -t overlay -o "userxattr,lowerdir=$0/below,upperdir=$0/above,workdir=$0/work" none "$0/below"`, t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no overlay can be mounted here: %s", out)
	}
	dir := t.TempDir() + "/state"
	t.Setenv("SWARM_STATE_DIR", dir)
	if out := under(t, "mount || true", "-no-overlays"); !strings.Contains(out, " on "+dir+" type overlay") {
		t.Errorf("no overlay is mounted at %s:\n%s", dir, out)
	}
	cmd := exec.Command(os.Args[0], "-no-overlays", "sh", "-c", "echo x > $SWARM_STATE_DIR/f; exit 7")
	cmd.Env = append(os.Environ(), "NONAMESPACES=1")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the command ended with %v, want exit code 7", err)
	}
	if _, err := os.Stat(dir + "/f"); err == nil {
		t.Error("the file is not on the overlay")
	}
}

func TestBadUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-as", "moon", "true"}} {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "NONAMESPACES=1")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != Failed || !strings.HasPrefix(string(out), "nonamespaces: ") {
			t.Errorf("nonamespaces %q ended with %v: %s; want exit code 99 and a line", args, err, out)
		}
	}
}
