package opencode

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
)

func request(change func(*agent.Request)) agent.Request {
	r := agent.Request{
		Spec: &agent.Spec{Command: []string{"/bin/opencode"}}, Prompt: "Do\n\"it\"", PromptFile: "/prompt", State: "/state", Dir: "/tree",
	}
	change(&r)
	return r
}

// TestOptions holds which flags an option becomes, or why it is refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*agent.Request)
		want   string // words of the command line, or of the error
	}{
		{"nothing", func(*agent.Request) {}, "/bin/opencode run --format json --title swarm --auto --dir=/tree"},
		{"another program", func(r *agent.Request) { r.Command = []string{"/x", "y"} }, "/x y run --format"},
		{"model", func(r *agent.Request) { r.Spec.Model = "p/m" }, "--model=p/m"},
		{"model of nobody", func(r *agent.Request) { r.Spec.Model = "m" }, `error: model "m": opencode wants PROVIDER/MODEL`},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "high" }, `error: effort "high": opencode says nothing where`},
		{"read-only that writes", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} },
			"error: tools read,bash: an agent that is read-only can have only read,grep,find,ls"},
		{"half of what writes", func(r *agent.Request) { r.Spec.Tools = []string{"read", "edit"} },
			"error: tools read,edit: opencode allows edit and write together, or neither"},
		{"fork", func(r *agent.Request) { r.Parent = "p1" }, "--session=p1 --fork"},
		{"broken configuration", func(r *agent.Request) {
			r.Login.Files = []agent.File{{Name: configFile, Data: []byte("{")}}
		}, "error: the user's opencode.json: unexpected end of JSON input"},
	} {
		l, err := Adapter{}.Launch(request(test.change))
		got := strings.Join(l.Argv, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s in it", test.name, got, test.want)
		}
	}
}

// TestTools checks that an agent's excluded tools are denied, and that no tool
// asks a person.
func TestTools(t *testing.T) {
	t.Parallel()
	const never = `"plan_enter":"deny","plan_exit":"deny","question":"deny"`
	for _, test := range []struct {
		name, want string
		change     func(*agent.Spec)
	}{
		{"all", `{"*":"allow",` + never + `}`, func(*agent.Spec) {}},
		{"read-only", `{"*":"deny","external_directory":"allow","glob":"allow","grep":"allow","list":"allow",` +
			`"plan_enter":"deny","plan_exit":"deny","question":"deny","read":"allow"}`, func(s *agent.Spec) { s.ReadOnly = true }},
		{"some", `{"*":"deny","bash":"allow","edit":"allow","external_directory":"allow",` + never + `}`,
			func(s *agent.Spec) { s.Tools = []string{"edit", "write", "bash"} }},
	} {
		l, err := Adapter{}.Launch(request(func(r *agent.Request) { test.change(r.Spec) }))
		if err != nil || !slices.Contains(l.Env, "OPENCODE_PERMISSION="+test.want) {
			t.Errorf("%s: %v, %v; want %s", test.name, l.Env, err, test.want)
		}
	}
}

// TestLaunch checks the launch apart from the options: the prompt on stdin and
// nowhere else, a separate state, and nothing of the repository's.
func TestLaunch(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(*agent.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Stdin != "/prompt" || strings.Contains(strings.Join(l.Argv, " "), "Do\n") {
		t.Errorf("the prompt is not on stdin alone: %+v", l)
	}
	for _, kv := range []string{
		"XDG_CONFIG_HOME=/state/config", "XDG_DATA_HOME=/state/data", "XDG_STATE_HOME=/state/state", "OPENCODE_DISABLE_PROJECT_CONFIG=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	} {
		if !slices.Contains(l.Env, kv) {
			t.Errorf("%s is not in its environment", kv)
		}
	}
	for _, name := range []string{"OPENCODE_PURE", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DB"} {
		if !slices.Contains(l.Unset, name) {
			t.Errorf("%s is left to it", name)
		}
	}
	want := []string{
		"config/opencode/node_modules/.keep", "config/opencode/opencode.json", "config/opencode/package-lock.json", "config/swarm.js",
		"places/afd5c6c18d3b7d23",
	}
	if got := slices.Sorted(maps.Keys(agenttest.Files(l))); len(got) != len(want) || !slices.Equal(got[:4], want[:4]) {
		t.Errorf("files are %q, want some as %q", got, want)
	}
	known, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.Login.Files = []agent.File{{Name: authFile, Data: []byte(`{"a":{"type":"oauth"}}`)}}
	}))
	if err != nil || slices.Contains(known.Env, "OPENCODE_DISABLE_DEFAULT_PLUGINS=1") {
		t.Errorf("nothing logs in to an account: %v, %v", known.Env, err)
	}
}

// TestConfig checks the settings that are kept of the user's configuration.
func TestConfig(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.System = "Be kind."
		r.Login.Files = []agent.File{
			{Name: memoryFile, Data: []byte("memory")},
			{Name: configFile, Data: []byte(`{"model":"a/b", // mine
				"provider":{"a":{"x":1},"b":{"x":1}},"plugin":["p"],"mcp":{"m":{}},"permission":"allow","share":"auto","instructions":["/i.md"],}`)},
			{Name: otherFile, Data: []byte(`{"model":"b/c","provider":{"b":{"y":2}}}`)},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	files := agenttest.Files(l)
	want := `{"autoupdate":false,"instructions":["/i.md","/tree/AGENTS.md","/state/config/swarm-system.md"],"model":"b/c",` +
		`"plugin":["file:///state/config/swarm.js"],"provider":{"a":{"x":1},"b":{"y":2}},"share":"disabled","snapshot":false}`
	if files[configFile] != want || files[memoryFile] != "memory" || files[systemFile] != "Be kind." {
		t.Errorf("files are %q, want the configuration %s", files, want)
	}
}

// TestPlugin checks the parameters of the plugin, and that there is a single
// place for it.
func TestPlugin(t *testing.T) {
	t.Parallel()
	if strings.Count(plugin, "const given = null;") != 1 {
		t.Error("there is no place for what the plugin is told")
	}
	given := func(change func(*agent.Request)) string {
		l, err := Adapter{}.Launch(request(change))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(agenttest.Files(l)[pluginFile], "const given = ")
		text, _, _ := strings.Cut(rest, ";\n")
		if !json.Valid([]byte(text)) {
			t.Errorf("it is told %s", text)
		}
		return text
	}
	if got, want := given(func(*agent.Request) {}), `{"places":"/state/places","retries":1,"variables":{}}`; got != want {
		t.Errorf("without a hook it is told %s, want %s", got, want)
	}
	got := given(func(r *agent.Request) {
		r.Hook = []string{"/a b/it's", "hook"}
		r.Login.Files = []agent.File{{Name: variablesFile, Data: []byte(`{"XDG_DATA_HOME":null}`)}}
	})
	if want := `{"hook":["/a b/it's","hook","--agent","claude"],"places":"/state/places","retries":1,"variables":{"XDG_DATA_HOME":null}}`; got != want {
		t.Errorf("it is told %s, want %s", got, want)
	}
}

// TestLogin checks the choice of the login, and that no agent gets a refresh
// token.
func TestLogin(t *testing.T) {
	t.Parallel()
	const variables = `{"XDG_CONFIG_HOME":null,"XDG_DATA_HOME":null,"XDG_STATE_HOME":null}`
	const config = `{"provider":{"mine":{"options":{"baseURL":"u","apiKey":"{env:MY_KEY}"}},"other":{}}}`
	for _, test := range []struct {
		name       string
		env, files map[string]string
		want       string
		needs      string
		has        string // the files but for the variables
		risk       bool
	}{
		{"none", nil, nil, "", "", "", false},
		{"key", map[string]string{"ANTHROPIC_API_KEY": "k"}, nil, "by $ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "", false},
		{"keys that are kept", nil, map[string]string{"/home/.local/share/opencode/auth.json": `{"b":{"type":"api","key":"k"},"a":{"type":"api","key":"l"}}`},
			"a, b, of /home/.local/share/opencode/auth.json", "", `data/opencode/auth.json={"a":{"key":"l","type":"api"},"b":{"key":"k","type":"api"}}`, false},
		{"an account", nil, map[string]string{"/home/.local/share/opencode/auth.json": `{"openai":{"type":"oauth","refresh":"rt","access":"at","expires":1},"version":1}`},
			"openai, of /home/.local/share/opencode/auth.json", "",
			`data/opencode/auth.json={"openai":{"access":"at","expires":1,"refresh":"","type":"oauth"},"version":1}`, true},
		{"Copilot", nil, map[string]string{"/home/.local/share/opencode/auth.json": `{"github-copilot":{"type":"oauth","refresh":"gh"}}`},
			"github-copilot, of /home/.local/share/opencode/auth.json", "",
			`data/opencode/auth.json={"github-copilot":{"refresh":"gh","type":"oauth"}}`, false},
		{"broken", nil, map[string]string{"/home/.local/share/opencode/auth.json": `[`}, "", "", "", false},
		{"a provider of one's own", map[string]string{"MY_KEY": "k"}, map[string]string{"/home/.config/opencode/opencode.jsonc": config},
			"as opencode.json says for mine", "MY_KEY", "config/opencode/opencode.json=" + config, false},
		{"in variables", map[string]string{"OPENCODE_CONFIG": "/c", "OPENCODE_CONFIG_CONTENT": `{"model":"m"}`}, map[string]string{"/c": config},
			"as opencode.json says for mine", "", "other.json=" + config + ` other.json={"model":"m"}`, false},
		{"elsewhere", map[string]string{"XDG_DATA_HOME": "/d"}, map[string]string{"/d/opencode/auth.json": `{"a":{"type":"api"}}`},
			"a, of /d/opencode/auth.json", "", `data/opencode/auth.json={"a":{"type":"api"}}`, false},
	} {
		l := login(agent.Surroundings{
			Home: "/home", Getenv: func(name string) string { return test.env[name] },
			Read: func(path string) ([]byte, error) {
				if text, ok := test.files[path]; ok {
					return []byte(text), nil
				}
				return nil, errors.New("not there")
			},
		})
		var has []string
		for _, f := range l.Files {
			if f.Name != variablesFile {
				has = append(has, f.Name+"="+string(f.Data))
			} else if string(f.Data) != variables && test.name != "elsewhere" {
				t.Errorf("%s: variables are %s, want %s", test.name, f.Data, variables)
			}
		}
		if l.Name != test.want || strings.Join(l.Env, " ") != test.needs || strings.Join(has, " ") != test.has || (l.Risk != "") != test.risk {
			t.Errorf("%s: login is %+v with %q", test.name, l, has)
		}
		if l.Name == "" && l.Missing == "" {
			t.Errorf("%s: nothing says what is missing", test.name)
		}
	}
}
