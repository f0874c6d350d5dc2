package configcmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/cli"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/configcmd"
	"agentswarm/swarm/store"
)

// appArmorFixture is a machine with AppArmor in a temporary folder, whose
// parser takes any profile, and a user of it.
type appArmorFixture struct {
	dir     string
	machine apparmor.Machine
	uid     int
	environ map[string]string
}

func newAppArmorFixture(t *testing.T) *appArmorFixture {
	t.Helper()
	dir := t.TempDir()
	x := &appArmorFixture{dir: dir, environ: map[string]string{"HOME": "/no/such/home"}}
	// Without it, an ordinary user, who cannot make that HOME, has another folder.
	x.environ["SWARM_STATE_DIR"] = "/no/such/home/.local/state/swarm"
	x.machine = apparmor.Machine{
		Profiles: filepath.Join(dir, "apparmor.d"), Kernel: filepath.Join(dir, "kernel"),
		Restriction: filepath.Join(dir, "restriction"), Parser: filepath.Join(dir, "apparmor_parser"),
	}
	for _, folder := range []string{x.machine.Profiles, x.machine.Kernel} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{x.machine.Restriction: "1\n", x.machine.Parser: "#!/bin/sh\n"} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// run is `swarm setup apparmor WORDS` on this machine.
func (x *appArmorFixture) run(words ...string) outcome {
	var stdout, stderr bytes.Buffer
	env := cmdline.Env{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: x.dir, Self: "/bin/sh",
		Getenv: func(name string) string { return x.environ[name] },
	}
	command := configcmd.NewSetupAppArmorOn(env, x.machine, x.uid)
	command.Name = "testapparmor"
	env.Args = append([]string{command.Name}, words...)
	code := cli.Main(context.Background(), env, command)
	return outcome{code, stdout.String(), stderr.String()}
}

// object is the output with --json.
func (x *appArmorFixture) object(t *testing.T, words ...string) configcmd.AppArmorObject {
	t.Helper()
	got := x.run(append(words, "--json")...)
	var o configcmd.AppArmorObject
	if err := json.Unmarshal([]byte(got.stdout), &o); err != nil || got.code != 0 {
		t.Fatalf("%v --json = %+v: %v", words, got, err)
	}
	return o
}

func TestSetupAppArmorAsRoot(t *testing.T) {
	t.Parallel()
	x := newAppArmorFixture(t)
	o := x.object(t, "--print")
	real, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if o.Program != real || o.StateDir != "/no/such/home/.local/state/swarm" || o.Installed || o.Change != "none" || o.Command != "" || !o.Restricts {
		t.Errorf("--print = %+v", o)
	}
	for _, tt := range []struct {
		words []string
		want  outcome
	}{
		{[]string{"--print"}, outcome{0, o.Profile, ""}},
		{[]string{"--remove"}, outcome{0, "", "there is no profile of " + real + " in " + x.machine.Profiles + "\n"}},
		{nil, outcome{0, o.Profile, "installed " + o.Path + " and loaded it\n"}},
		{nil, outcome{0, o.Profile, o.Path + " was installed already; loaded it again\n"}},
		{[]string{"--print"}, outcome{0, o.Profile, ""}},
		{[]string{"--remove"}, outcome{0, "", "unloaded and removed " + o.Path + "\n"}},
		{[]string{"--remove", "--print"}, outcome{2, "", "swarm: setup apparmor: --print changes nothing, so it cannot --remove the profile\n"}},
	} {
		if got := x.run(tt.words...); got != tt.want {
			t.Errorf("setup apparmor %v = %+v, want %+v", tt.words, got, tt.want)
		}
	}
	if o := x.object(t); o.Change != "installed" || !o.Installed {
		t.Errorf("install = %+v", o)
	}
	if o := x.object(t, "--remove"); o.Change != "removed" || o.Installed {
		t.Errorf("--remove = %+v", o)
	}
	if files, err := os.ReadDir(x.machine.Profiles); err != nil || len(files) != 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}

func TestSetupAppArmorAsUser(t *testing.T) {
	t.Parallel()
	x := newAppArmorFixture(t)
	x.uid = 4001
	x.environ["SWARM_STATE_DIR"] = "/no/such/state dir"
	x.environ["SUDO_UID"] = "0" // left over from sudo -u, and not of interest
	real, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	const command = "sudo env 'SWARM_STATE_DIR=/no/such/state dir' "
	o := x.object(t)
	if o.StateDir != "/no/such/state dir" || o.Command != command+real+" setup apparmor" || !strings.Contains(o.Profile, ",no/such/state dir/*/bin/*/swarm}") {
		t.Errorf("as a user = %+v", o)
	}
	for _, tt := range []struct {
		words []string
		want  outcome
	}{
		{nil, outcome{0, o.Profile, "to install the profile, run: " + o.Command + "\n"}},
		{[]string{"--print"}, outcome{0, o.Profile, ""}},
		{[]string{"--remove"}, outcome{2, "", "swarm: setup apparmor: only root can remove a profile\nhint: " + o.Command + " --remove\n"}},
	} {
		if got := x.run(tt.words...); got != tt.want {
			t.Errorf("setup apparmor %v = %+v, want %+v", tt.words, got, tt.want)
		}
	}
	if files, err := os.ReadDir(x.machine.Profiles); err != nil || len(files) != 0 {
		t.Errorf("%v was written, %v", files, err)
	}
}

func TestSetupAppArmorRefused(t *testing.T) {
	t.Parallel()
	x := newAppArmorFixture(t)
	kernel := x.machine.Kernel
	x.machine.Kernel += "x"
	want := outcome{2, "", "swarm: AppArmor is off: " + kernel + "x is missing\n"}
	for _, x.uid = range []int{0, 4001} {
		if got := x.run(); got != want {
			t.Errorf("without AppArmor, as %d = %+v, want %+v", x.uid, got, want)
		}
		if got := x.run("--print"); got.code != 0 || got.stdout == "" || got.stderr != "" {
			t.Errorf("--print without AppArmor, as %d = %+v", x.uid, got)
		}
	}
	x.machine.Kernel, x.uid = kernel, 0
	x.environ["SWARM_STATE_DIR"] = filepath.Join(x.dir, "open", "state")
	if err := os.Mkdir(filepath.Join(x.dir, "open"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(x.dir, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := x.run(); got.code != 2 || !strings.Contains(got.stderr, "swarm: the profile was not installed: everyone can write to ") {
		t.Errorf("below a folder for everyone = %+v", got)
	}
	if o := x.object(t, "--print"); len(o.Warnings) == 0 {
		t.Errorf("below a folder for everyone --print = %+v, want a warning", o)
	}
	x.environ["SWARM_STATE_DIR"] = "/no\nsuch"
	if got := x.run(); got.code != 2 || strings.Count(got.stderr, "\n") != 2 || !strings.Contains(got.stderr, `"/no\nsuch"`) {
		t.Errorf("with a newline in a path = %+v", got)
	}
	x.environ["SWARM_STATE_DIR"] = "relative"
	if got := x.run(); got.code != 2 {
		t.Errorf("with a relative state folder = %+v", got)
	}
}

// TestSetupAppArmorSudo: under sudo the profile is for the state folder of the
// user who called it.
func TestSetupAppArmorSudo(t *testing.T) {
	t.Parallel()
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	home := me.HomeDir
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	writable, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(home, ".local", "state", "swarm")
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	for _, tt := range []struct {
		name    string
		environ map[string]string
		want    string
	}{
		{"by number", map[string]string{"HOME": "/no/such/root", "SUDO_UID": me.Uid}, own},
		{"by name", map[string]string{"HOME": "/no/such/root", "SUDO_USER": me.Username}, own},
		{"a state folder that was handed on", map[string]string{"SUDO_UID": me.Uid, "SWARM_STATE_DIR": "/no/such/state"}, "/no/such/state"},
		{"the same for all programs", map[string]string{"SUDO_UID": me.Uid, "XDG_STATE_HOME": "/no/such/state"}, "/no/such/state/swarm"},
		{"no sudo", map[string]string{"HOME": writable}, filepath.Join(writable, ".local", "state", "swarm")},
	} {
		x := newAppArmorFixture(t)
		x.environ = tt.environ
		if o := x.object(t, "--print"); o.StateDir != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, o.StateDir, tt.want)
		}
	}
	x := newAppArmorFixture(t)
	x.environ = map[string]string{"SUDO_UID": "4294967293", "SUDO_USER": "nobody-knows"}
	if got := x.run(); got.code != 2 || !strings.Contains(got.stderr, "the user who called sudo (nobody-knows) is unknown") || !strings.Contains(got.stderr, "hint: ") {
		t.Errorf("of an unknown user = %+v", got)
	}
}

// TestSetupAppArmorCopies: the profile is attached to the binary that runs keep.
func TestSetupAppArmorCopies(t *testing.T) {
	t.Parallel()
	x := newAppArmorFixture(t)
	x.environ["SWARM_STATE_DIR"] = "/no/such/state"
	profile := x.object(t, "--print").Profile
	_, pattern, _ := strings.Cut(profile, ",no/")
	pattern, _, _ = strings.Cut(pattern, "}")
	kept := store.Open("/no/such/state", "my repository", "/repo/.git").Bin("0123456789abcdef")
	if ok, err := filepath.Match("/no/"+pattern, kept); err != nil || !ok {
		t.Errorf("%s is not among /no/%s", kept, pattern)
	}
}
