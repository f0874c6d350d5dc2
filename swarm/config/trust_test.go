package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const repository = `
workspace.setup = '''
npm ci
echo done'''
workspace.verify = "make test"
[agents.a]
command = ["x", "--yes"]
env = { KEY = "$KEY", B = "c" }
[agents.b]
command = ["y"]
`

const checked = `
workspace.verify = "make test"
run.notify = "beep"
[checks]
unit = "make unit"
lint = "make lint"
`

func everything() Use {
	return Use{Setup: true, Verify: true, Agents: []string{"a", "b"}}
}

func keys(items []Item) string {
	var all []string
	for _, i := range items {
		all = append(all, i.Key)
	}
	return strings.Join(all, " ")
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give []Source
		use  Use
		want string
	}{
		{"all of the project", []Source{project(repository)}, everything(), "workspace.setup agents.a agents.b workspace.verify"},
		{"all of the local file", []Source{local(repository)}, everything(), "workspace.setup agents.a agents.b workspace.verify"},
		{"nothing of the user", []Source{user(repository)}, everything(), ""},
		{"nothing used", []Source{project(repository)}, Use{}, ""},
		{"one agent", []Source{project(repository)}, Use{Agents: []string{"b"}}, "agents.b"},
		{"setup alone", []Source{project(repository)}, Use{Setup: true}, "workspace.setup"},
		{"verify alone", []Source{project(repository)}, Use{Verify: true}, "workspace.verify"},
		{"notify alone", []Source{project(repository), local("run.notify = 'x'")}, Use{Notify: true}, "run.notify"},
		{"notify last", []Source{project(repository), local("run.notify = 'x'")}, Use{Setup: true, Verify: true, Notify: true, Agents: []string{"a"}}, "workspace.setup agents.a workspace.verify run.notify"},
		{"notify of the user", []Source{project(repository), user("run.notify = 'x'")}, Use{Notify: true}, ""},
		{"checks after verify", []Source{project(checked)}, Use{Verify: true, Notify: true, Checks: true}, "workspace.verify checks.lint checks.unit run.notify"},
		{"checks not used", []Source{project(checked)}, Use{Verify: true}, "workspace.verify"},
		{"checks of the user", []Source{user(checked)}, Use{Checks: true}, ""},
		{"a check of the user replaced", []Source{user(checked), project("checks.unit = 'evil'")}, Use{Checks: true}, "checks.unit"},
		{"a check switched off", []Source{project(checked), local("checks.unit = ''")}, Use{Checks: true}, "checks.lint"},
		{"an agent twice", []Source{project(repository)}, Use{Agents: []string{"b", "b"}}, "agents.b"},
		{"an unknown agent", []Source{project(repository)}, Use{Agents: []string{"c", ""}}, ""},
		{"the default agent", []Source{user("run.default_agent = 'a'"), project(repository)}, Use{Agents: []string{"", "a"}}, "agents.a"},
		{"not there", []Source{project("limits.jobs = 3")}, everything(), ""},
		{"switched off", []Source{project(repository), local("workspace.setup = ''")}, everything(), "agents.a agents.b workspace.verify"},
		{"an agent of the user replaced", []Source{user(repository), project("[agents.a]\ncommand = ['evil']")}, everything(), "agents.a"},
		{"a project's setup replaced", []Source{project("workspace.setup = 'x'"), local("workspace.setup = 'y'")}, Use{Setup: true}, "workspace.setup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := keys(mustLoad(t, tt.give...).Needs(tt.use)); got != tt.want {
				t.Errorf("Needs = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestItemText shows the text that a person approves.
func TestItemText(t *testing.T) {
	t.Parallel()
	items := mustLoad(t, project(repository)).Needs(Use{Setup: true, Agents: []string{"a"}})
	var got strings.Builder
	for _, i := range items {
		got.WriteString(i.String())
	}
	const want = `workspace.setup (.swarm/config.toml:2)
    "npm ci\n"
    "echo done"
agents.a (.swarm/config.toml:6)
    command = ["x", "--yes"]
    kind = "command"
    input = "stdin"
    format = "text"
    success = "exit"
    env.B = "c"
    env.KEY = "$KEY"
`
	if got.String() != want {
		t.Errorf("items =\n%s, want\n%s", got.String(), want)
	}
}

// TestItemTextOfAKind shows everything that an agent of a kind is given, and
// nothing that it does not have.
func TestItemTextOfAKind(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, project("[agents.pi]\nmodel = 'm'\neffort = 'low'\ntools = ['read', 'ls']\nread_only = true\nmax_turns = 3\n"+
		"env.A = 'b'\n[agents.mine]\nkind = 'codex'\ncommand = ['x', '-y']"))
	var got strings.Builder
	for _, i := range c.Needs(Use{Agents: []string{"pi", "mine", "qwen"}}) {
		got.WriteString(i.String())
	}
	const want = `agents.pi (.swarm/config.toml:1)
    kind = "pi"
    model = "m"
    effort = "low"
    tools = ["read", "ls"]
    read_only = true
    env.A = "b"
agents.mine (.swarm/config.toml:8)
    command = ["x", "-y"]
    kind = "codex"
`
	if got.String() != want {
		t.Errorf("items =\n%s, want\n%s", got.String(), want)
	}
	const settings = "[agents.mine]\nkind = \"codex\"\ncommand = [\"x\", \"-y\"]\n# model is not set\n# effort is not set\n" +
		"# tools is not set\nread_only = false\nmax_turns = 0\ntimeout = \"0s\""
	if got := written(t, c, false); !strings.Contains(got, settings) {
		t.Errorf("the settings are\n%s, want among them\n%s", got, settings)
	}
	again := mustLoad(t, user(written(t, c, false)))
	for _, name := range c.AgentNames() {
		want, _ := c.Agent(name)
		got, _ := again.Agent(name)
		got.Origin = want.Origin
		if !reflect.DeepEqual(got, want) {
			t.Errorf("agent %s is %+v, read back from what is shown of it, want %+v", name, got, want)
		}
	}
}

// TestItemHostile proves that no control character reaches the terminal of
// the person who is asked.
func TestItemHostile(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, project(`
workspace.setup = "rm -rf x\r\u001b[2K\u001b[1Aecho harmless\u0007\u202e\n\"\\n"
[agents.a]
command = ["\u001b]0;x\u0007", "\nsetup (user)", "\u200b"]
env.A = "\u0085\n"
`))
	got := ""
	for _, i := range c.Needs(Use{Setup: true, Agents: []string{"a"}}) {
		got += i.Text + "\n"
	}
	const want = `"rm -rf x\r\x1b[2K\x1b[1Aecho harmless\a\u202e\n"
"\"\\n"
command = ["\x1b]0;x\a", "\nsetup (user)", "\u200b"]
kind = "command"
input = "stdin"
format = "text"
success = "exit"
env.A = "\u0085\n"
`
	if got != want {
		t.Errorf("texts =\n%s, want\n%s", got, want)
	}
}

// TestDigest: a change of the command or its input changes the digest, and
// nothing else does.
func TestDigest(t *testing.T) {
	t.Parallel()
	const base = "[agents.a]\ncommand = ['x', 'y']\nformat = 'jsonl'\nenv.A = 'b'\n"
	digest := func(s Source) string {
		items := mustLoad(t, s).Needs(Use{Setup: true, Verify: true, Notify: true, Checks: true, Agents: []string{"a", "b"}})
		if len(items) != 1 {
			t.Fatalf("Needs of %q = %v, want one item", s.Text, items)
		}
		return items[0].Digest()
	}
	seen := map[string]string{}
	for _, text := range []string{
		base,
		strings.Replace(base, "'x', 'y'", "'x', 'z'", 1),
		strings.Replace(base, "'x', 'y'", `'x", "y'`, 1),
		strings.Replace(base, "'x', 'y'", "'x y'", 1),
		strings.Replace(base, "'b'", "'$b'", 1),
		strings.Replace(base, "env.A", "env.B", 1),
		strings.Replace(base, "agents.a", "agents.b", 1),
		base + "input = 'none'", base + "input = 'jsonl'", base + "success = 'exit'", base + "env.C = ''",
		strings.Replace(base, "'jsonl'", "'text'", 1),
		"[agents.a]\ncommand = ['x', 'y']\ninput = 'none'\nenv.A = 'b'\n",
		"[agents.a]\ncommand = ['x', 'y']\npty = true\nenv.A = 'b'\n",
		base + "write = ['/w']", // after env.A
		base + "write = ['/w', '/x']", base + "write = ['/w\", \"/x']", base + "write = ['~/w']",
		"checks.a = 'x'", "checks.b = 'x'", "checks.a = 'y'", "workspace.setup = 'x'", "workspace.verify = 'x'", "run.notify = 'x'", "workspace.setup = \"x\\n\"", `workspace.setup = 'x\n'`, "workspace.setup = \"x\\ny\"", "workspace.setup = \"x\\r\\ny\"",
	} {
		d := digest(project(text))
		if other, ok := seen[d]; ok {
			t.Errorf("Digest of %q = that of %q", text, other)
		}
		seen[d] = text
	}
	same := digest(project(base))
	for _, s := range []Source{
		local(base), project("# moved\n\nlimits.jobs = 3\n" + base), project(base + "timeout = '3s'"), project(base + "pty = false"), project(base + "write = []"),
		project("[agents]\na = { env = { A = \"b\" }, format = 'jsonl', command = [ \"x\",\"y\" ] }"),
	} {
		if got := digest(s); got != same {
			t.Errorf("Digest of %q changed, want that of the same text elsewhere", s.Text)
		}
	}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo", "trust")
	trust := Trust{Dir: dir}
	items := mustLoad(t, project(repository)).Needs(everything())

	pending, err := trust.Pending(items)
	if err != nil || !reflect.DeepEqual(pending, items) {
		t.Fatalf("Pending = %v, %v, want all items", pending, err)
	}
	if err := trust.Approve(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Fatalf("Lstat = %v, want that nothing was created", err)
	}

	if err := trust.Approve(items[:2]); err != nil {
		t.Fatal(err)
	}
	if pending, err = trust.Pending(items); err != nil || keys(pending) != "agents.b workspace.verify" {
		t.Errorf("Pending = %q, %v, want what was not approved", keys(pending), err)
	}
	if ok, err := trust.Approved(items[1]); !ok || err != nil {
		t.Errorf("Approved of one of two = %t, %v, want true", ok, err)
	}
	if err := trust.Approve(items); err != nil { // some of them again
		t.Fatal(err)
	}
	if pending, err = trust.Pending(items); err != nil || len(pending) != 0 {
		t.Errorf("Pending = %v, %v, want none", pending, err)
	}

	// Each changed text is asked about again, and only that.
	for old, next := range map[string]string{
		"npm ci": "workspace.setup", `"--yes"`: "agents.a", `"y"`: "agents.b", "make test": "workspace.verify", `"$KEY"`: "agents.a",
	} {
		changed := mustLoad(t, project(strings.Replace(repository, old, strings.ToUpper(old[:len(old)-1])+"!"+old[len(old)-1:], 1)))
		pending, err := trust.Pending(changed.Needs(everything()))
		if err != nil || keys(pending) != next {
			t.Errorf("Pending after %s changed = %q, %v, want %s", old, keys(pending), err, next)
		}
	}
}

func TestTrustFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "trust")
	items := mustLoad(t, project(repository)).Needs(Use{Setup: true})
	if err := (Trust{Dir: dir}).Approve(items); err != nil {
		t.Fatal(err)
	}
	stat, err := os.Lstat(dir)
	if err != nil || stat.Mode() != os.ModeDir|0o700 {
		t.Errorf("folder = %v, %v, want 0700", stat.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != items[0].Digest() {
		t.Fatalf("files = %v, %v, want one named by the digest", files, err)
	}
	path := filepath.Join(dir, files[0].Name())
	if stat, err = os.Lstat(path); err != nil || stat.Mode() != 0o600 {
		t.Errorf("file = %v, %v, want 0600", stat.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if want := "approved 1: workspace.setup\n\"npm ci\\n\"\n\"echo done\"\n"; err != nil || string(text) != want {
		t.Errorf("file = %q, %v, want %q", text, err, want)
	}

	// Half a file is no approval, and approving repairs it.
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	if ok, err := (Trust{Dir: dir}).Approved(items[0]); ok || err != nil {
		t.Errorf("Approved of half a file = %t, %v, want false", ok, err)
	}
	if err := (Trust{Dir: dir}).Approve(items); err != nil {
		t.Fatal(err)
	}
	if ok, err := (Trust{Dir: dir}).Approved(items[0]); !ok || err != nil {
		t.Errorf("Approved = %t, %v, want true", ok, err)
	}
}

// TestTrustUnsafe: a folder that is not the user's alone approves nothing.
func TestTrustUnsafe(t *testing.T) {
	t.Parallel()
	items := mustLoad(t, project(repository)).Needs(Use{Setup: true})
	open := filepath.Join(t.TempDir(), "trust")
	if err := (Trust{Dir: open}).Approve(items); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(open), "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, link, "", "relative"} {
		trust := Trust{Dir: dir}
		if ok, err := trust.Approved(items[0]); ok || err == nil {
			t.Errorf("Approved in %q = %t, %v, want an error", dir, ok, err)
		}
		if _, err := trust.Pending(items); err == nil {
			t.Errorf("Pending in %q = nil, want an error", dir)
		}
		if err := trust.Approve(items); err == nil {
			t.Errorf("Approve in %q = nil, want an error", dir)
		}
	}
}

// TestPassEnvNeedsApproval: a repository's patterns need approval, except those
// that the user has too. A new pattern needs approval again.
func TestPassEnvNeedsApproval(t *testing.T) {
	t.Parallel()
	pass := func(names string) string { return "[sandbox]\npass_env = [" + names + "]\n" }
	for _, tt := range []struct {
		name  string
		files []Source
		want  string // the text; empty: nothing is asked
	}{
		{"the user's", []Source{user(pass("'A', 'B_*'"))}, ""},
		{"the repository's", []Source{project(pass("'B', 'A'"))}, `["A", "B"]`},
		{"both have it", []Source{user(pass("'A'")), project(pass("'A'"))}, ""},
		{"one more", []Source{user(pass("'A'")), project(pass("'A'")), local(pass("'C'"))}, `["C"]`},
		{"covered by no pattern", []Source{user(pass("'A_*'")), project(pass("'A_B'"))}, `["A_B"]`},
	} {
		c := mustLoad(t, tt.files...)
		items := c.Needs(Use{PassEnv: true})
		if got := c.Needs(Use{}); len(got) != 0 {
			t.Errorf("%s: %v is asked where nothing is used", tt.name, got)
		}
		switch {
		case tt.want == "" && len(items) != 0, tt.want != "" && len(items) != 1:
			t.Errorf("%s: Needs = %v, want %q", tt.name, items, tt.want)
		case tt.want != "" && (items[0].Key != "sandbox.pass_env" || items[0].Text != tt.want || items[0].Origin.Layer == User):
			t.Errorf("%s: Needs = %+v, want %q", tt.name, items[0], tt.want)
		}
	}
	over, err := mustLoad(t, project(pass("'A', 'B'"))).Over(func(name string) (string, bool) {
		return map[string]string{PassEnvVariable: "A,  X_*"}[name], name == PassEnvVariable
	})
	if err != nil || !slices.Equal(over.PassEnvPatterns(), []string{"A", "B", "X_*"}) {
		t.Fatalf("Over = %v, %v", over.PassEnvPatterns(), err)
	}
	if items := over.Needs(Use{PassEnv: true}); len(items) != 1 || items[0].Text != `["B"]` {
		t.Errorf("over a variable: Needs = %v", items)
	}
}
