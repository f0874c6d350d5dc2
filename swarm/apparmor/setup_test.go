package apparmor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a machine in a temporary folder. Its parser keeps the list of
// loaded profiles, as a kernel does, and fails while a file "broken" is there.
type fixture struct {
	dir string
	Request
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	x := &fixture{dir: dir, Request: Request{
		Action:  Install,
		Program: "/bin/sh",      // only root can write to it, unlike t.TempDir
		State:   "/no/such/dir", // and no user can make this
		Machine: Machine{
			Profiles: filepath.Join(dir, "apparmor.d"), Kernel: filepath.Join(dir, "kernel"),
			Restriction: filepath.Join(dir, "restriction"), Parser: filepath.Join(dir, parserName),
		},
	}}
	for _, folder := range []string{x.Machine.Profiles, x.Machine.Kernel} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	x.write(t, "restriction", "1\n", 0o644)
	x.write(t, "kernel/profiles", "chrome (unconfined)\n", 0o644)
	x.write(t, parserName, `#!/bin/sh
echo "$@" >> `+dir+`/calls
name=$(sed -n 's/^profile \([^ ]*\) .*/\1/p' "$3")
if [ -e `+dir+`/broken ]; then echo "AppArmor parser error in $3"; exit 1; fi
list=`+dir+`/kernel/profiles
sed -i.old "/^$name /d" "$list"
if [ "$1" = --replace ]; then echo "$name (unconfined)" >> "$list"; fi
`, 0o755)
	return x
}

func (x *fixture) write(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// calls are the command lines of the parser so far.
func (x *fixture) calls(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.dir, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// files are the names in the folder of profiles.
func (x *fixture) files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(x.Machine.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (x *fixture) setup(t *testing.T, action Action) *Result {
	t.Helper()
	x.Action = action
	done, err := Setup(t.Context(), x.Request)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestSetup(t *testing.T) {
	t.Parallel()
	x := newFixture(t)
	check := func(step string, done *Result, change Change, there bool) {
		t.Helper()
		if done.Change != change || done.Installed != there || done.Loaded == nil || *done.Loaded != there {
			t.Errorf("%s: %s, installed: %v, loaded: %v, want %s and %v", step, done.Change, done.Installed, done.Loaded, change, there)
		}
	}
	done := x.setup(t, Inspect)
	check("inspect", done, Unchanged, false)
	if real, _ := filepath.EvalSymlinks("/bin/sh"); done.Program != real || !strings.Contains(done.Text, real[1:]) {
		t.Errorf("the profile is of %s, want %s:\n%s", done.Program, real, done.Text)
	}
	check("remove nothing", x.setup(t, Remove), Unchanged, false)
	if calls := x.calls(t); calls != "" || len(x.files(t)) != 0 {
		t.Fatalf("nothing was to be done, but %s", calls)
	}

	check("install", x.setup(t, Install), Installed, true)
	text, err := os.ReadFile(done.File)
	info, serr := os.Stat(done.File)
	if err != nil || serr != nil || string(text) != done.Text || info.Mode() != 0o644 {
		t.Errorf("the file has %s, %v, %v:\n%s", info.Mode(), err, serr, text)
	}
	check("inspect again", x.setup(t, Inspect), Unchanged, true)
	check("install again", x.setup(t, Install), Unchanged, true)

	x.State = "/no/such/other"
	replaced := x.setup(t, Install)
	check("replace", replaced, Replaced, true)
	if replaced.File != done.File || !slices.Equal(x.files(t), []string{done.Name}) {
		t.Errorf("another state folder made %v, want %s alone", x.files(t), done.Name)
	}

	check("remove", x.setup(t, Remove), Removed, false)
	if names := x.files(t); len(names) != 0 {
		t.Errorf("%v is left", names)
	}
	for line := range strings.Lines(x.calls(t)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "--replace" && words[0] != "--remove" || words[1] != "--skip-cache" || filepath.Dir(words[2]) != x.Machine.Profiles {
			t.Errorf("the parser was called with %q", words)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(x.Machine.Kernel, "profiles")); string(text) != "chrome (unconfined)\n" {
		t.Errorf("the kernel has\n%s", text)
	}
}

// TestSetupHalves: a profile of which only the file or only the loaded half is
// there is removed and installed all the same.
func TestSetupHalves(t *testing.T) {
	t.Parallel()
	x := newFixture(t)
	file := x.setup(t, Install).File
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if done := x.setup(t, Inspect); done.Installed || !*done.Loaded {
		t.Errorf("without the file: %+v", done)
	}
	if done := x.setup(t, Remove); done.Change != Removed || *done.Loaded || len(x.files(t)) != 0 {
		t.Errorf("remove without the file: %+v, %v is left", done, x.files(t))
	}
	x.setup(t, Install)
	x.write(t, "kernel/profiles", "", 0o644) // another start of the system
	before := x.calls(t)
	if done := x.setup(t, Remove); done.Change != Removed || x.calls(t) != before || len(x.files(t)) != 0 {
		t.Errorf("remove of a profile that is not loaded: %+v, %v is left", done, x.files(t))
	}
	x.setup(t, Install)
	if err := os.RemoveAll(x.Machine.Kernel); err != nil { // AppArmor was switched off
		t.Fatal(err)
	}
	x.Machine.Parser = ""
	if done := x.setup(t, Remove); done.Change != Removed || len(x.files(t)) != 0 {
		t.Errorf("remove without AppArmor: %+v, %v is left", done, x.files(t))
	}
	// A crash has left a temporary file, or somebody a link in its place.
	x = newFixture(t)
	victim := filepath.Join(x.dir, "victim")
	x.write(t, "victim", "mine", 0o600)
	if err := os.Symlink(victim, filepath.Join(x.Machine.Profiles, "."+filepath.Base(file)+".new")); err != nil {
		t.Fatal(err)
	}
	x.setup(t, Install)
	if text, err := os.ReadFile(victim); string(text) != "mine" || len(x.files(t)) != 1 {
		t.Errorf("the victim has %q, %v; there is %v", text, err, x.files(t))
	}
}

// TestSetupRefuses: a refusal changes nothing.
func TestSetupRefuses(t *testing.T) {
	t.Parallel()
	path := func(err error) bool { _, ok := errors.AsType[*PathError](err); return ok }
	machine := func(err error) bool { _, ok := errors.AsType[*UnavailableError](err); return ok }
	exposed := func(err error) bool { _, ok := errors.AsType[*ExposedError](err); return ok }
	other := func(err error) bool { return err != nil && !path(err) && !machine(err) && !exposed(err) }
	for _, tt := range []struct {
		name  string
		spoil func(*testing.T, *fixture, string)
		kind  func(error) bool
		want  string
	}{
		{"AppArmor is off", func(_ *testing.T, x *fixture, _ string) { x.Machine.Kernel += "x" }, machine, "AppArmor is off"},
		{"no restriction", func(_ *testing.T, x *fixture, _ string) { x.Machine.Restriction += "x" }, machine, "does not restrict"},
		{"no parser", func(_ *testing.T, x *fixture, _ string) { x.Machine.Parser = "" }, machine, "apparmor_parser is not in PATH"},
		{"go run", func(t *testing.T, x *fixture, _ string) {
			dir := filepath.Join(x.dir, "go-build1", "b001")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			x.Program = filepath.Join(dir, "swarm")
			x.write(t, "go-build1/b001/swarm", "", 0o755)
		}, path, "go run"},
		{"no program", func(t *testing.T, x *fixture, _ string) { x.Program = filepath.Join(x.dir, "none") }, other, "find the running program"},
		{"a program for everyone", func(t *testing.T, x *fixture, _ string) {
			x.write(t, "swarm", "", 0o755)
			x.Program = filepath.Join(x.dir, "swarm")
			if err := os.Chmod(x.dir, 0o1777); err != nil {
				t.Fatal(err)
			}
		}, exposed, "everyone can write to"},
		{"a state folder for everyone", func(t *testing.T, x *fixture, _ string) {
			x.State = filepath.Join(x.dir, "none", "swarm")
			if err := os.Chmod(x.dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}, exposed, "everyone can write to"},
		{"a file of somebody else", func(t *testing.T, x *fixture, name string) {
			x.write(t, "apparmor.d/"+name, "profile mine {}\n", 0o644)
		}, other, "was not written by swarm"},
		{"a link", func(t *testing.T, x *fixture, name string) {
			x.write(t, "victim", marker+"\nprofile mine {}\n", 0o644)
			if err := os.Symlink(filepath.Join(x.dir, "victim"), filepath.Join(x.Machine.Profiles, name)); err != nil {
				t.Fatal(err)
			}
		}, other, "is not a regular file"},
		{"a folder", func(t *testing.T, x *fixture, name string) {
			if err := os.Mkdir(filepath.Join(x.Machine.Profiles, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}, other, "is not a regular file"},
		{"no folder", func(_ *testing.T, x *fixture, _ string) { x.Machine.Profiles += "/none" }, other, "write AppArmor profile"},
		{"the parser fails", func(t *testing.T, x *fixture, _ string) { x.write(t, "broken", "", 0o600) }, other, "AppArmor parser error in "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newFixture(t)
			name := x.setup(t, Inspect).Name
			tt.spoil(t, x, name)
			folder := strings.TrimSuffix(x.Machine.Profiles, "/none")
			before, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			x.Action = Install
			done, err := Setup(t.Context(), x.Request)
			if err == nil || !tt.kind(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Setup = %v, %v, want %q", done, err, tt.want)
			}
			if got, err := os.ReadDir(folder); err != nil || len(got) != len(before) {
				t.Errorf("there is %v, want %v", got, before)
			}
			if tt.want != "AppArmor parser error in " && x.calls(t) != "" {
				t.Errorf("the parser was called: %s", x.calls(t))
			}
		})
	}
}

// TestSetupKeeps checks that the old profile stays if the new profile, or the
// removal, is refused.
func TestSetupKeeps(t *testing.T) {
	t.Parallel()
	x := newFixture(t)
	done := x.setup(t, Install)
	x.write(t, "broken", "", 0o600)
	x.State = "/no/such/other"
	for _, x.Action = range []Action{Install, Remove} {
		if _, err := Setup(t.Context(), x.Request); err == nil {
			t.Errorf("action %d = nil, want an error", x.Action)
		}
		if text, err := os.ReadFile(done.File); string(text) != done.Text || !slices.Equal(x.files(t), []string{done.Name}) {
			t.Errorf("action %d left %v, %v:\n%s", x.Action, x.files(t), err, text)
		}
	}
}

// TestLinux finds the parser in absolute folders only, and none is a fact
// and not an error.
func TestLinux(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if m := Linux(".:" + dir + "/none::relative"); m.Parser != "" || m.Profiles != "/etc/apparmor.d" {
		t.Errorf("Linux = %+v, want no parser", m)
	}
	for _, mode := range []fs.FileMode{0o644, 0o755} {
		if err := os.WriteFile(parserName, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(parserName, mode); err != nil {
			t.Fatal(err)
		}
		want := ""
		if mode == 0o755 {
			want = filepath.Join(dir, parserName)
		}
		if m := Linux(".:" + dir); m.Parser != want {
			t.Errorf("with mode %o the parser is %q, want %q", mode, m.Parser, want)
		}
	}
}

func TestRestricts(t *testing.T) {
	t.Parallel()
	x := newFixture(t)
	for text, want := range map[string]bool{"1\n": true, "0\n": false, "": false} {
		x.write(t, "restriction", text, 0o644)
		if got := x.Machine.Restricts(); got != want {
			t.Errorf("Restricts of %q = %v, want %v", text, got, want)
		}
	}
	x.write(t, "restriction", "1\n", 0o644)
	x.Machine.Kernel += "x" // as in a container, where nothing can be loaded
	if x.Machine.Restricts() {
		t.Error("Restricts without AppArmor = true, want false")
	}
}

func TestWeaknesses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const user, stranger = 4001, 4002

	for _, tt := range []struct {
		name     string
		uid, gid int
		mode     fs.FileMode
		want     string
	}{
		{"root's", 0, 0, 0o755, ""},
		{"root's, with root's group", 0, 0, 0o775, ""},
		{"the user's", user, user, 0o700, ""},
		{"the user's, with a private group", user, user, 0o775, ""},
		{"a stranger's", stranger, stranger, 0o755, "user 4002"},
		{"with a shared group", user, 50, 0o775, "group 50"},
		{"with a shared group that only reads", user, 50, 0o755, ""},
		{"everyone's", user, user, 0o777, "everyone"},
		{"everyone's and sticky", 0, 0, os.ModeSticky | 0o777, "everyone"},
	} {
		dir := filepath.Join(t.TempDir(), "a")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, tt.uid, tt.gid), os.Chmod(dir, tt.mode)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, dir + "/b", dir + "/b/c"} {
			got := ""
			for _, w := range weaknesses(path, user) {
				if w.Path == dir {
					got = w.Who
				}
			}
			if got != tt.want {
				t.Errorf("%s: weaknesses(%s) = %q, want %q", tt.name, path, got, tt.want)
			}
		}
	}
}

func TestRemedy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ program, state, xdg, want string }{
		{"/opt/swarm", "", "", "sudo /opt/swarm setup apparmor"},
		{"/opt/a b/it's", "", "", `sudo '/opt/a b/it'\''s' setup apparmor`},
		{"/opt/swarm", "/s", "/x", "sudo env SWARM_STATE_DIR=/s /opt/swarm setup apparmor"},
		{"/opt/swarm", "", "/x;y", "sudo env 'XDG_STATE_HOME=/x;y' /opt/swarm setup apparmor"},
		{"/opt/swarm", "", "relative", "sudo /opt/swarm setup apparmor"},
		{"/tmp/go-build1/b001/exe/swarm", "", "", "go build -o FOLDER/swarm . && sudo FOLDER/swarm setup apparmor"},
	} {
		getenv := func(name string) string {
			return map[string]string{"SWARM_STATE_DIR": tt.state, "XDG_STATE_HOME": tt.xdg}[name]
		}
		if got := Remedy(tt.program, getenv); got != tt.want {
			t.Errorf("Remedy(%s) = %s, want %s", tt.program, got, tt.want)
		}
	}
}
