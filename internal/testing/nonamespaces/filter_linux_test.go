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
