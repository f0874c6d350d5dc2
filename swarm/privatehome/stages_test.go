package privatehome

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func stages(dir string) Stages {
	return Stages{Dir: dir, Own: func(name string) bool { return name == "home" || name == "tmp" }}
}

// put writes a file below a folder.
func (u *user) put(dir, name, text string) {
	u.Helper()
	path := filepath.Join(dir, name)
	u.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// has fails unless a file below a folder has a text; empty: unless it is missing.
func (u *user) has(dir, name, want string) {
	u.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if string(got) != want || want == "" && !errors.Is(err, fs.ErrNotExist) {
		u.Errorf("%s = %q, %v, want %q", name, got, err, want)
	}
}

// TestStages: a check finds the folders as the setup left them, at the same
// paths, and no file of the agent's.
func TestStages(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.path("attempt")
	u.put(dir, "home/.local/bin/tool", "installed")
	u.put(dir, "home/locked/f", "text")
	u.put(dir, "tmp/x", "of setup")
	u.put(dir, "state/login", "not a stage's")
	u.must(os.Symlink(filepath.Join(dir, "home/.local/bin/tool"), filepath.Join(dir, "home/link")),
		os.Chmod(filepath.Join(dir, "home/.local/bin/tool"), 0o555), os.Chmod(filepath.Join(dir, "home/locked"), 0o555),
		os.Chmod(filepath.Join(dir, "tmp"), 0o777|fs.ModeSticky))
	t.Cleanup(func() { u.must(openAll(dir)) })
	s := stages(dir)

	adopted := 0
	adopt := func() error { adopted++; return nil }
	u.must(s.BeforeAgent(adopt))
	u.must(os.Remove(filepath.Join(dir, "home/.local/bin/tool")))
	u.put(dir, "home/.local/bin/tool", "poisoned")
	u.put(dir, "home/.config/go/env", "GOFLAGS=-run=NONE")
	u.put(dir, "tmp/x", "poisoned")
	u.must(s.BeforeAgent(adopt)) // the next round
	if adopted != 1 {
		t.Fatalf("%d agents adopted the setup's HOME, want 1", adopted)
	}
	u.must(os.Chmod(filepath.Join(dir, "tmp"), 0))
	u.must(s.BeforeCheck())

	u.has(dir, "home/.local/bin/tool", "installed")
	u.has(dir, "home/link", "installed")
	u.has(dir, "home/locked/f", "text")
	u.has(dir, "tmp/x", "of setup")
	u.has(dir, "home/.config/go/env", "")
	u.has(dir, "state/login", "not a stage's")
	for name, want := range map[string]fs.FileMode{"home/.local/bin/tool": 0o555, "home/locked": 0o555, "tmp": 0o777 | fs.ModeSticky} {
		if at, err := os.Stat(filepath.Join(dir, name)); err != nil || at.Mode()&modeBits != want {
			t.Errorf("the mode of %s is %v, %v, want %v", name, at, err, want)
		}
	}
	// Nor does a check leave files to the next, or to the next agent.
	u.put(dir, "home/.bashrc", "of check")
	u.must(s.BeforeCheck())
	u.has(dir, "home/link", "installed")
	u.has(dir, "home/.bashrc", "")
	u.put(dir, "home/.bashrc", "of check")
	u.must(s.BeforeAgent(adopt))
	u.has(dir, "home/.bashrc", "")
	u.has(dir, "home/.local/bin/tool", "poisoned")
	u.must(s.BeforeCheck())
	u.has(dir, "home/link", "installed")
}

// TestStagesDie checks that a process after a crash at any point finds the
// folders as if there had been no crash.
func TestStagesDie(t *testing.T) {
	t.Parallel()
	const homeFile, tmpFile = "home/.rc", "tmp/x"
	for _, check := range []bool{false, true} { // that comes after the crash
		for dies, over := 0, false; !over; dies++ {
			u := newUser(t)
			dir := u.path("attempt")
			u.put(dir, homeFile, "setup")
			u.put(dir, tmpFile, "setup")
			killed, left := errors.New("killed"), dies
			s := stages(dir)
			s.Step = func(string) error {
				if left--; left == -1 {
					return killed
				}
				return nil
			}
			adopt := func() error { u.put(dir, "home/adopted", "by agent"); return nil }
			// wants enters a stage, after the crash also another, and looks at its files.
			wants, agents := "setup", "setup"
			enter := func(toCheck bool) {
				before := func() error {
					if wants = "setup"; toCheck {
						return s.BeforeCheck()
					}
					wants = agents
					return s.BeforeAgent(adopt)
				}
				err := before()
				if errors.Is(err, killed) {
					toCheck = check
					err = before()
				}
				u.must(err)
				u.has(dir, homeFile, wants)
				u.has(dir, tmpFile, wants)
				text, adopted := "check", ""
				if !toCheck {
					text, agents, adopted = "agent", "agent", "by agent"
				}
				u.has(dir, "home/adopted", adopted)
				u.put(dir, homeFile, text)
				u.put(dir, tmpFile, text)
			}
			for _, toCheck := range []bool{false, true, true, false} {
				enter(toCheck)
			}
			if over = left >= 0; t.Failed() {
				t.Fatalf("killed at step %d, then a check: %t", dies, check)
			}
		}
	}
}

// TestStagesWithoutSetup: where no setup was, a check gets no folder.
func TestStagesWithoutSetup(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.path("attempt")
	u.must(os.Mkdir(dir, 0o700))
	s := stages(dir)
	u.must(s.BeforeAgent(func() error { return nil }))
	u.put(dir, "home/.bashrc", "poisoned")
	u.must(s.BeforeCheck())
	if _, err := os.Lstat(filepath.Join(dir, "home")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the agent's HOME is there: %v", err)
	}
	u.put(dir, "home/.profile", "of check")
	u.must(s.BeforeAgent(nil))
	u.has(dir, "home/.bashrc", "poisoned")
	u.has(dir, "home/.profile", "")
}

// TestStagesCheckFirst: an agent gets no file of a check that was there before it.
func TestStagesCheckFirst(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.path("attempt")
	u.put(dir, "home/.rc", "setup")
	s := stages(dir)
	u.must(s.BeforeCheck())
	u.has(dir, "home/.rc", "setup")
	u.put(dir, "home/.rc", "check")
	adopted := false
	u.must(s.BeforeAgent(func() error { adopted = true; return nil }))
	u.has(dir, "home/.rc", "setup")
	if !adopted {
		t.Error("the agent's HOME was not adopted")
	}
}

func openAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
}

// TestBuildDies: a HOME that a process was killed in is not taken for whole.
func TestBuildDies(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".gitconfig", "[user]\n")
	u.write("given/f", "x")
	killed := errors.New("killed")
	var dies bool
	template, err := Prepare(Request{
		Home: u.path("home"), Shared: u.path("shared"), Getenv: func(string) string { return "" },
		Step: func(string) error {
			if dies {
				return killed
			}
			return nil
		},
	})
	u.must(err)
	dies = true
	if err := template.Build(u.path("private"), nil); !errors.Is(err, killed) {
		t.Fatalf("Build = %v, want %v", err, killed)
	}
	if _, err := os.Lstat(u.path("private")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a HOME is there: %v", err)
	}
	dies = false
	u.must(template.Build(u.path("private"), []string{u.path("home/given")}))
	u.has(u.path("private"), ".gitconfig", "[user]\n")
	if to, err := os.Readlink(u.path("private/given")); to != u.path("home/given") {
		t.Errorf("given leads to %q, %v", to, err)
	}
	if err := template.Build(u.path("private"), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Build over a HOME = %v, want %v", err, fs.ErrExist)
	}
	if left, _ := filepath.Glob(u.path("private.*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestWithin: no part of a path below a trusted folder is followed.
func TestWithin(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.put(u.path("."), "secrets/token", secret)
	u.put(u.path("."), "trusted/plain/token", "plain")
	for at, to := range map[string]string{
		"trusted/link": "secrets", "trusted/plain/up": "trusted/..", "trusted/plain/file": "secrets/token",
	} {
		u.must(os.Symlink(u.path(to), u.path(at)))
	}
	to, err := os.OpenRoot(u.path("home"))
	u.must(err)
	defer to.Close()
	for _, tc := range []struct {
		rel  string
		want error
	}{
		{"plain/token", nil}, {"link/token", fs.ErrNotExist}, {"plain/up/secrets/token", fs.ErrNotExist},
		{"plain/file", fs.ErrNotExist}, {"plain", fs.ErrNotExist}, {"plain/none", fs.ErrNotExist}, {"../secrets/token", fs.ErrInvalid},
	} {
		if err := copyWithin(u.path("trusted"), tc.rel, to, "copy", 0o600); !errors.Is(err, tc.want) {
			t.Errorf("copyWithin(%s) = %v, want %v", tc.rel, err, tc.want)
		}
		if text, _, err := readWithin(u.path("trusted"), tc.rel, 100); !errors.Is(err, tc.want) || err != nil && len(text) > 0 {
			t.Errorf("readWithin(%s) = %q, %v, want %v", tc.rel, text, err, tc.want)
		}
	}
	// Nor does a copy leave the folder that it goes to.
	u.must(os.Symlink(u.path("secrets"), u.path("home/out")))
	if err := copyWithin(u.path("trusted"), "plain/token", to, "out/new", 0o600); err == nil {
		t.Error("a copy was written outside of its folder")
	}
	u.has(u.path("secrets"), "new", "")
}

// TestOver: caches that lie over others start with those, take new entries from
// there, and give none back.
func TestOver(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".cache/go-build/00/user-d", "user")
	getenv := func(name string) string { return u.env[name] }
	prepare := func(name string, over *Template) *Template {
		template, err := Prepare(Request{Home: u.path("home"), Hidden: []string{u.path("commands")}, Shared: u.path(name), Over: over, Getenv: getenv})
		u.must(err)
		return template
	}
	commands := prepare("commands", nil)
	agents := prepare("agents", commands)
	u.has(u.path("agents"), "go-build/00/user-d", "user")

	home := u.path("private")
	u.must(commands.Build(home, nil))
	u.put(u.path("commands"), "go-build/01/setup-d", "setup")
	u.put(u.path("agents"), "go-build/02/agent-d", "poisoned")
	left, err := agents.Adopt(home)
	u.must(agents.Refresh(), err)
	if len(left) > 0 {
		t.Errorf("Adopt left %q", left)
	}
	u.has(u.path("agents"), "go-build/01/setup-d", "setup")
	u.has(u.path("commands"), "go-build/02/agent-d", "")
	if to, err := os.Readlink(filepath.Join(home, ".cargo/registry/cache")); to != u.path("agents/cargo/registry/cache") {
		t.Errorf("crates lead to %q, %v", to, err)
	}
	// An agent cannot have a refresh write elsewhere.
	u.put(u.path("commands"), "go-build/03/new-a", "setup")
	u.must(os.Symlink(u.path("home"), u.path("agents/go-build/03")))
	u.put(u.path("commands"), "go-build/04/new-a", "setup")
	u.must(agents.Refresh())
	u.has(u.path("agents"), "go-build/04/new-a", "setup")
	u.has(u.path("home"), "new-a", "")
}

// TestAdoptLinks: folders that a setup made links out of HOME, or files, stay as they are.
func TestAdoptLinks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(u *user, cargo string) error
		want   []string
	}{
		"none":    {func(*user, string) error { return nil }, nil},
		"missing": {func(_ *user, cargo string) error { return os.RemoveAll(cargo) }, nil},
		"link in HOME": {func(_ *user, cargo string) error {
			return errors.Join(os.Rename(cargo, cargo+"-2"), os.Symlink(".cargo-2", cargo))
		}, nil},
		"link out": {func(u *user, cargo string) error {
			return errors.Join(os.RemoveAll(cargo), os.Symlink(u.path("elsewhere"), cargo))
		}, []string{".cargo"}},
		"dangling link": {func(_ *user, cargo string) error { return errors.Join(os.RemoveAll(cargo), os.Symlink("none", cargo)) }, []string{".cargo"}},
		"file": {func(_ *user, cargo string) error {
			return errors.Join(os.RemoveAll(cargo), os.WriteFile(cargo, nil, 0o600))
		}, []string{".cargo"}},
		"part is link out": {func(u *user, cargo string) error {
			return errors.Join(os.RemoveAll(cargo+"/registry"), os.Symlink(u.path("elsewhere"), cargo+"/registry"))
		}, []string{".cargo/registry"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.must(os.Mkdir(u.path("elsewhere"), 0o700))
			prepare := func(shared string) *Template {
				template, err := Prepare(Request{Home: u.path("home"), Shared: u.path(shared), Getenv: func(string) string { return "" }})
				u.must(err)
				return template
			}
			home := u.path("private")
			u.must(prepare("commands").Build(home, nil), tc.change(u, filepath.Join(home, ".cargo")))
			left, err := prepare("agents").Adopt(home)
			if err != nil || !slices.Equal(left, tc.want) {
				t.Errorf("Adopt = %q, %v, want %q", left, err, tc.want)
			}
			if all, err := os.ReadDir(u.path("elsewhere")); len(all) > 0 || err != nil {
				t.Errorf("outside of HOME are %v, %v", all, err)
			}
			to, err := os.Readlink(filepath.Join(home, ".cargo/git/db"))
			if want := u.path("agents/cargo/git/db"); !slices.Contains(tc.want, ".cargo") && to != want {
				t.Errorf(".cargo/git/db leads to %q, %v, want %q", to, err, want)
			}
		})
	}
}

// TestLive: in no sandbox configuration is as it was when the template was
// prepared, also after agents wrote to HOME. Folders of data are the user's.
func TestLive(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for name, text := range map[string]string{
		".gitconfig": "user", ".config/go/env": "GOPROXY=off\n", ".cargo/config.toml": "user", ".cache/pw/browser": "user", ".local/bin/tool": "user",
	} {
		u.write(name, text)
	}
	template, err := Prepare(Request{
		Home: u.path("home"), Hidden: []string{u.path("home/.local/state/swarm")}, Shared: u.path("home/.local/state/swarm/x"), Live: true,
		Getenv: func(name string) string { return u.env[name] },
	})
	u.must(err)
	for _, name := range []string{".gitconfig", ".config/go/env", ".cargo/config.toml", ".bashrc", ".newtool/rc"} {
		u.write(name, "poisoned")
	}
	u.write(".local/bin/later", "setup")
	home := u.build(template)
	u.has(home, ".gitconfig", "user")
	u.has(home, ".config/go/env", "GOPROXY=off\n")
	u.has(home, ".cargo/config.toml", "user")
	u.has(home, ".bashrc", "")
	u.has(home, ".newtool/rc", "")
	u.has(home, ".cache/pw/browser", "user")
	u.has(home, ".local/bin/later", "setup")
	if got := variable(t, template.Environ(home), "GOPROXY"); got != "off" {
		t.Errorf("GOPROXY = %q, want off", got)
	}
}
