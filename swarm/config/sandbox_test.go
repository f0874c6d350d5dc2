package config

import (
	"reflect"
	"strings"
	"testing"
)

// sandboxTest is the sandbox part of a file, and its effect.
type sandboxTest struct {
	give        string
	mode        Sandbox
	hide, write string
	agent       string // the folders that the agent a may write to
}

func sandboxTests() []sandboxTest {
	const a = "[agents.a]\ncommand = ['x']\n"
	return []sandboxTest{
		{give: "[sandbox]"},
		{give: "sandbox.mode = 'auto'", mode: SandboxAuto},
		{give: "sandbox = { mode = 'require' }", mode: SandboxRequire},
		{give: "[sandbox]\nmode = 'off'", mode: SandboxOff},
		{give: "[sandbox]\nhide = ['~/.netrc', '/srv/a b', '~/']", hide: "~/.netrc /srv/a b ~/"},
		{give: "[sandbox]\nhide = []\nwrite = []"},
		{give: "[sandbox]\nwrite = ['~/.cache/x/', '/srv/../data', '/...']", write: "~/.cache/x/ /srv/../data /..."},
		{give: a + "write = ['~/.cache/x', '/data']", agent: "~/.cache/x /data"},
		{give: a + "write = []"},
	}
}

func TestSandboxKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range sandboxTests() {
		c := mustLoad(t, user(tt.give))
		a, _ := c.Agent("a")
		got := sandboxTest{
			tt.give, c.Sandbox, strings.Join(texts(c.Hide), " "), strings.Join(texts(c.Write), " "), strings.Join(texts(a.Write), " "),
		}
		if got != tt {
			t.Errorf("Load = %+v, want %+v", got, tt)
		}
	}
}

// wrongPathTests are mistakes in files of any layer.
func wrongPathTests() []wrongTest {
	var all []wrongTest
	for _, list := range []struct {
		key, before string
		line        string
		home        bool // a folder that covers HOME is refused
	}{
		{"sandbox.hide", "[sandbox]\nhide = [\n'/fine',\n", "4", false},
		{"sandbox.write", "\n[sandbox]\nwrite = [\n'/fine',\n", "5", true},
		{"agents.a.write", "[agents.a]\ncommand = ['x']\nwrite = [\n'/fine',\n", "5", true},
	} {
		at := list.line + ": " + list.key + "[1]: "
		for name, mistake := range map[string][2]string{
			"relative": {`"a/b"`, `expected an absolute path, or one that begins with ~/, got "a/b"`},
			"empty":    {`""`, `expected an absolute path, or one that begins with ~/, got ""`},
			"tilde":    {`"~"`, `expected an absolute path, or one that begins with ~/, got "~"`},
			"user":     {`"~ada/x"`, `expected an absolute path, or one that begins with ~/, got "~ada/x"`},
			"variable": {`"$HOME/x"`, `expected an absolute path, or one that begins with ~/, got "$HOME/x"`},
			"number":   {`3`, `expected a string, got the number 3`},
			"NUL":      {`"/a\u0000"`, `holds a NUL character, which no program can be given`},
			"root":     {`"/"`, `"/" covers everything; name a folder`},
			"dots":     {`"//./.."`, `"//./.." covers everything; name a folder`},
		} {
			all = append(all, wrongTest{list.key + " " + name, list.before + mistake[0] + "]", at + mistake[1]})
		}
		for _, home := range []string{"~/", "~/./", "~/.."} {
			if list.home {
				all = append(all, wrongTest{
					list.key + " " + home, list.before + `"` + home + `"]`, at + `"` + home + `" covers HOME; name a folder in it`,
				})
			}
		}
	}
	return all
}

func TestPathsWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range wrongPathTests() {
		_, err := Load(user(tt.give))
		if want := "user.toml:" + tt.want; err == nil || err.Error() != want {
			t.Errorf("%s: Load(%q) =\n%v, want\n%s", tt.name, tt.give, err, want)
		}
	}
}

// TestSandboxOfRepository: a repository may tighten the sandbox and open
// nothing, in either of its two files.
func TestSandboxOfRepository(t *testing.T) {
	t.Parallel()
	const (
		off   = `sandbox.mode: "off" may stand in the user configuration only, or be given as --sandbox=off: a repository cannot switch off the sandbox of its agents`
		write = `sandbox.write: may stand in the user configuration only, or be given as --write DIR: a repository cannot open folders of yours to its agents`
	)
	for _, tt := range []struct{ give, want string }{
		{"[sandbox]\nmode = 'off'", ":2: " + off},
		{"limits.jobs = 1\nsandbox = { mode = 'off' }", ":2: " + off},
		{"[sandbox]\n\nwrite = ['/srv/x']", ":3: " + write},
		{"[sandbox]\nwrite = ['~/.cache/x']\nmode = 'require'", ":2: " + write},
		{"[sandbox]\nwrite = []", ""},
		{"[sandbox]\nmode = 'require'\nhide = ['~/x']", ""},
		{"[sandbox]\nmode = 'auto'", ""},
		{"workspace.backend = 'worktree'", ""},
		{"[agents.a]\ncommand = ['x']\nwrite = ['/srv/x']", ""}, // needs an approval
	} {
		for _, source := range []Source{project(tt.give), local(tt.give)} {
			_, err := Load(source)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Load of %s %q = %v, want it accepted", source.Layer, tt.give, err)
			case tt.want != "" && (err == nil || err.Error() != source.Name+tt.want):
				t.Errorf("Load of %s %q =\n%v, want\n%s%s", source.Layer, tt.give, err, source.Name, tt.want)
			}
		}
		mustLoad(t, user(tt.give))
	}
}

// TestSandboxPrecedence: the mode of the highest file holds, but no file
// loosens the requirement of another; lists add up.
func TestSandboxPrecedence(t *testing.T) {
	t.Parallel()
	mode := func(word string) string { return "[sandbox]\nmode = '" + word + "'" }
	for _, tt := range []struct {
		name   string
		give   []Source
		vars   map[string]string
		want   Sandbox
		origin string
	}{
		{"nothing", nil, nil, SandboxUnset, ""},
		{"project over user", []Source{user(mode("off")), project(mode("auto"))}, nil, SandboxAuto, ".swarm/config.toml:2"},
		{"local over project", []Source{local("\n" + mode("auto")), project(mode("auto"))}, nil, SandboxAuto, ".swarm/config.local.toml:3"},
		{"required by the user", []Source{user(mode("require")), project(mode("auto")), local(mode("auto"))}, nil, SandboxRequire, "user.toml:2"},
		{"required by the project", []Source{user(mode("off")), project(mode("require")), local(mode("auto"))}, nil, SandboxRequire, ".swarm/config.toml:2"},
		{"required by the local file", []Source{user(mode("off")), local(mode("require"))}, nil, SandboxRequire, ".swarm/config.local.toml:2"},
		{"environment", []Source{local(mode("auto"))}, map[string]string{"SWARM_SANDBOX": "off"}, SandboxOff, "SWARM_SANDBOX"},
		{"environment over what is required", []Source{project(mode("require"))}, map[string]string{"SWARM_SANDBOX": "auto"}, SandboxAuto, "SWARM_SANDBOX"},
		{"empty environment", []Source{project(mode("require"))}, map[string]string{"SWARM_SANDBOX": ""}, SandboxRequire, ".swarm/config.toml:2"},
	} {
		before := mustLoad(t, tt.give...)
		c, err := before.Over(vars(tt.vars))
		if err != nil {
			t.Errorf("%s: Over = %v", tt.name, err)
			continue
		}
		if o, _ := c.Origin("sandbox.mode"); c.Sandbox != tt.want || o.String() != tt.origin {
			t.Errorf("%s: the mode is %s from %q, want %s from %q", tt.name, c.Sandbox, o, tt.want, tt.origin)
		}
		if again := mustLoad(t, tt.give...); !reflect.DeepEqual(before, again) {
			t.Errorf("%s: Over changed the configuration it was asked of", tt.name)
		}
	}
	c := mustLoad(t, user("[sandbox]\nhide = ['/u']\nwrite = ['/w']"), local("[sandbox]\nhide = ['/l']"), project("[sandbox]\nhide = ['/p', '/q']"))
	if got := strings.Join(texts(c.Hide), " "); got != "/u /p /q /l" {
		t.Errorf("hidden is %q, want what all files say", got)
	}
}

func vars(all map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := all[name]; return value, ok }
}

func TestBackendPrecedence(t *testing.T) {
	t.Parallel()
	files := []Source{user("workspace.backend = 'overlay'"), project("workspace.backend = 'worktree'")}
	for value, want := range map[string]Backend{
		"": BackendWorktree, "auto": BackendAuto, "reflink": BackendReflink, "copy": BackendCopy, "overlay": BackendOverlay, "worktree": BackendWorktree,
	} {
		c, err := mustLoad(t, files...).Over(vars(map[string]string{"SWARM_BACKEND": value}))
		if err != nil || c.Backend != want {
			t.Errorf("Over(SWARM_BACKEND=%s) = %v, %v, want %s", value, c, err, want)
		}
	}
	if c := mustLoad(t, user("workspace.backend = 'overlay'"), local("workspace.backend = 'reflink'")); c.Backend != BackendReflink {
		t.Errorf("Backend = %s, want the local file's", c.Backend)
	}
}

func TestOverWrong(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"SWARM_SANDBOX": `SWARM_SANDBOX: expected "auto", "require" or "off", got "x\x1b"`,
		"SWARM_BACKEND": `SWARM_BACKEND: expected "auto", "overlay", "reflink", "copy" or "worktree", got "x\x1b"`,
	} {
		_, err := mustLoad(t).Over(vars(map[string]string{name: "x\x1b"}))
		if err == nil || err.Error() != want {
			t.Errorf("Over = %v, want %s", err, want)
		}
	}
}

// TestSettingsOfLists: each file that adds to a list is named.
func TestSettingsOfLists(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, user("[sandbox]\nhide = [\n'/u',\n'/v']\nwrite = ['/w']"), project("sandbox.hide = ['/p']"),
		local("[sandbox]\nmode = 'auto'\nhide = ['/l', '/m']"))
	c, err := c.Over(vars(map[string]string{"SWARM_BACKEND": "reflink"}))
	if err != nil {
		t.Fatal(err)
	}
	got := written(t, c, true)
	for _, want := range []string{
		"\nbackend = \"reflink\" # from SWARM_BACKEND\n",
		`
[sandbox]
mode = "auto" # from .swarm/config.local.toml:2
hide = ["/u", "/v", "/p", "/l", "/m"] # from .swarm/config.local.toml:3, .swarm/config.toml:1, user.toml:3
write = ["/w"] # from user.toml:5
`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("settings =\n%s, want in them\n%s", got, want)
		}
	}
	if again := mustLoad(t, user(got)); written(t, again, false) != written(t, c, false) {
		t.Errorf("settings read back =\n%s, want\n%s", written(t, again, false), written(t, c, false))
	}
}
