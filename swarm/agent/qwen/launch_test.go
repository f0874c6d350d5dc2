package qwen

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
)

func request(change func(*agent.Request)) agent.Request {
	r := agent.Request{
		Spec: &agent.Spec{Command: []string{"/bin/qwen"}}, Prompt: "Do\n\"it\"", PromptFile: "/prompt", State: "/state", Dir: "/tree",
		Walled: true, Session: "11111111-2222-4333-8444-555555555555",
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
		{"nothing", func(*agent.Request) {}, "--output-format stream-json --approval-mode default --chat-recording --extensions=none --allowed-mcp-server-names=none"},
		{"no walls", func(r *agent.Request) { r.Walled = false }, "--approval-mode default"},
		{"another program", func(r *agent.Request) { r.Command = []string{"/x", "y"} }, "/x y --output-format"},
		{"model", func(r *agent.Request) { r.Spec.Model = "qwen3" }, "--model=qwen3"},
		{"another effort", func(r *agent.Request) { r.Spec.Effort = "huge" }, `error: effort "huge": qwen knows low, medium, high, xhigh, max`},
		{"read-only that writes", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} },
			"error: tools read,bash: an agent that is read-only can have only read,grep,find,ls"},
		{"too long", func(r *agent.Request) { r.Prompt = strings.Repeat("x", maxPrompt+1) }, "error: a prompt of 8388609 bytes: qwen reads 8388608"},
		{"system", func(r *agent.Request) { r.System = "Be kind.\n- a" }, "--append-system-prompt=Be kind.\n- a"},
		{"a system that is too long", func(r *agent.Request) { r.System = strings.Repeat("x", maxSystem+1) },
			"error: 122881 bytes for the system prompt: qwen takes 122880"},
		{"schema", func(r *agent.Request) { r.Schema = json.RawMessage(`{"type":"object"}`) }, "--json-schema=@/state/swarm-schema.json"},
		{"session", func(*agent.Request) {}, "--session-id=11111111-2222-4333-8444-555555555555"},
		{"fork", func(r *agent.Request) { r.Parent = "p1" }, "--resume=p1 --fork-session"},
		{"a way to log in", func(r *agent.Request) { r.Login.Files = []agent.File{{Name: wayFile, Data: []byte("openai")}} }, "--auth-type=openai"},
		{"broken settings", func(r *agent.Request) {
			r.Login.Files = []agent.File{{Name: settingsFile, Data: []byte("{")}}
		}, "error: the user's settings.json of qwen: unexpected end of JSON input"},
		{"broken settings of the machine", func(r *agent.Request) {
			r.Login.Files = []agent.File{{Name: enforcedFile, Data: []byte("{")}}
		}, "error: the settings of qwen for this machine: unexpected end of JSON input"},
	} {
		l, err := Adapter{}.Launch(request(test.change))
		got := strings.Join(l.Argv, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s in it", test.name, got, test.want)
		}
		if strings.Contains(got, "--resume") && strings.Contains(got, "--session-id") {
			t.Errorf("%s: %s: one says which id the other has", test.name, got)
		}
	}
}

// TestObjects holds which schemas the CLI can be asked for: it refuses others
// at its start.
func TestObjects(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":"array"}`: false, `{"type":["object","null"]}`: false, `{}`: false, ``: false,
		`{"type":"object","$ref":"#/x"}`: false, `true`: false,
	} {
		l, err := Adapter{}.Launch(request(func(r *agent.Request) { r.Schema = json.RawMessage(give) }))
		text, ok := agenttest.Files(l)[schemaFile]
		if err != nil || ok != want || ok && text != give {
			t.Errorf("%s: %t %s, %v; want %t", give, ok, text, err, want)
		}
	}
}

// enforcedOf are the settings of a launch that win.
func enforcedOf(t *testing.T, change func(*agent.Request)) (all struct {
	Hooks       json.RawMessage
	Disable     bool `json:"disableAllHooks"`
	Tools       struct{ Core, Disabled []string }
	Permissions struct{ Allow, Deny []string }
	Model       struct {
		Effort     string                   `json:"reasoningEffort"`
		Generation struct{ MaxRetries int } `json:"generationConfig"`
	}
	Security struct{ FolderTrust struct{ Enabled bool } }
}) {
	t.Helper()
	l, err := Adapter{}.Launch(request(change))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(agenttest.Files(l)[enforcedFile]), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTools checks that an agent's excluded tools are neither offered nor
// allowed, in any of the lists.
func TestTools(t *testing.T) {
	t.Parallel()
	reads := []string{"read_file", "grep_search", "glob", "list_directory"}
	for _, walled := range []bool{true, false} {
		all := enforcedOf(t, func(r *agent.Request) { r.Walled, r.Spec.ReadOnly = walled, true })
		if !slices.Equal(all.Tools.Core, reads) {
			t.Errorf("walls %t: it has %v, want %v", walled, all.Tools.Core, reads)
		}
		for _, list := range [][]string{all.Tools.Disabled, all.Permissions.Deny} {
			for _, name := range []string{"edit", "write_file", "run_shell_command", "agent", "skill", "monitor", "notebook_edit", "web_fetch"} {
				if !slices.Contains(list, name) {
					t.Errorf("walls %t: %s is not kept away by %v", walled, name, list)
				}
			}
			if slices.Contains(list, "read_file") {
				t.Errorf("walls %t: it cannot read: %v", walled, list)
			}
		}
		if allow := all.Permissions.Allow; !slices.Equal(allow, reads) {
			t.Errorf("walls %t: it may %v", walled, allow)
		}
		if !all.Security.FolderTrust.Enabled {
			t.Errorf("walls %t: trust in folders does not matter", walled)
		}
	}
	some := enforcedOf(t, func(r *agent.Request) { r.Spec.Tools = []string{"edit", "bash"} })
	if want := []string{"edit", "run_shell_command"}; !slices.Equal(some.Tools.Core, want) || slices.Contains(some.Tools.Disabled, "edit") {
		t.Errorf("it has %v, want %v", some.Tools.Core, want)
	}
	free := enforcedOf(t, func(r *agent.Request) { r.Walled = false })
	if free.Tools.Core != nil || !slices.Contains(free.Permissions.Allow, "run_shell_command") || !slices.Contains(free.Tools.Disabled, "ask_user_question") {
		t.Errorf("one that may use all tools has %+v and %+v", free.Tools, free.Permissions)
	}
}

// TestEnforced checks the settings that win over those of the user, the machine
// and the repository.
func TestEnforced(t *testing.T) {
	t.Parallel()
	all := enforcedOf(t, func(r *agent.Request) {
		r.Spec.Effort = "high"
		r.Hook = []string{"/a b/it's", "hook"}
		r.Login.Files = []agent.File{{Name: enforcedFile, Data: []byte(`{"disableAllHooks":true,"model":{"generationConfig":{"maxRetries":9,"timeout":5}}}`)}}
	})
	const hook = `{"PreToolUse":[{"hooks":[{"command":"'/a b/it'\\''s' 'hook' '--agent' 'qwen'","name":"swarm","timeout":604800000,"type":"command"}],"matcher":"*"}]}`
	if string(all.Hooks) != hook || all.Disable || all.Model.Effort != "high" || all.Model.Generation.MaxRetries != 0 {
		t.Errorf("what wins is %+v with the hook %s", all, all.Hooks)
	}
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.Walled = false
		r.Login.Files = []agent.File{
			{Name: enforcedFile, Data: []byte(`{"mine":1}`)},
			{Name: memoryFile, Data: []byte("memory")},
			{Name: settingsFile, Data: []byte(`{"model":{"name":"m"},"modelProviders":{"openai":[]},"env":{"K":"v"}, // mine
				"hooks":{"Stop":[]},"mcpServers":{"a":{}},"permissions":{"allow":["x"]},"security":{"auth":{"selectedType":"openai"},"folderTrust":{}},
				"general":{"outputStyle":"Concise","vimMode":true},"context":{"fileName":"AGENTS.md","includeDirectories":["/"]}}`)},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	files := agenttest.Files(l)
	want := `{"context":{"fileName":"AGENTS.md"},"env":{"K":"v"},"general":{"outputStyle":"Concise"},"model":{"name":"m"},"modelProviders":{"openai":[]},` +
		`"security":{"auth":{"selectedType":"openai"}}}`
	if files[settingsFile] != want || files[memoryFile] != "memory" || files[trustFile] != `{"/tree":"DO_NOT_TRUST"}` || !strings.Contains(files[enforcedFile], `"mine":1`) {
		t.Errorf("files are %q, want the settings %s", files, want)
	}
}

// TestLaunch checks the launch apart from the options: the prompt on stdin and
// nowhere else, and a separate state.
func TestLaunch(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.Login.Files = []agent.File{{Name: envFile, Data: []byte("A_API_KEY=k\nA_MODEL=m")}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Stdin != "/prompt" || strings.Contains(strings.Join(l.Argv, " "), "Do\n") {
		t.Errorf("the prompt is not on stdin alone: %+v", l)
	}
	for _, kv := range []string{
		"QWEN_HOME=/state", "QWEN_CODE_SYSTEM_SETTINGS_PATH=/state/swarm-settings.json", "QWEN_TELEMETRY_ENABLED=false", "A_API_KEY=k", "A_MODEL=m",
	} {
		if !slices.Contains(l.Env, kv) {
			t.Errorf("%s is not in its environment", kv)
		}
	}
	if !slices.Contains(l.Unset, "QWEN_CODE_UNATTENDED_RETRY") || !slices.Contains(l.Unset, "QWEN_CODE_SAFE_MODE") {
		t.Errorf("it is not kept from %v", l.Unset)
	}
	files := agenttest.Files(l)
	if _, ok := files[envFile]; ok || files[trustFile] != `{"/tree":"DO_NOT_TRUST"}` {
		t.Errorf("files are %q", files)
	}
}

// TestLogin holds which login counts.
func TestLogin(t *testing.T) {
	t.Parallel()
	const own = `{"security":{"auth":{"selectedType":"openai"}},"modelProviders":{"openai":[{"envKey":"MY_KEY"},{"envKey":"MY_KEY"}]}}`
	const inside = `{"security":{"auth":{"selectedType":"openai"}},"modelProviders":{"openai":[{"envKey":"MY_KEY"}]},"env":{"MY_KEY":"k"}}`
	for _, test := range []struct {
		name       string
		env, files map[string]string
		want       string
		needs      string
		has        string // names of files
	}{
		{"none", nil, nil, "", "", ""},
		{"key", map[string]string{"OPENAI_API_KEY": "k"}, nil, "by $OPENAI_API_KEY", "OPENAI_API_KEY", "way=openai"},
		{"another key", map[string]string{"ANTHROPIC_API_KEY": "k"}, nil, "by $ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "way=anthropic"},
		{"a key of a provider", map[string]string{"MY_KEY": "k", "OPENAI_API_KEY": "l"}, map[string]string{"/home/.qwen/settings.json": own},
			"by $OPENAI_API_KEY", "OPENAI_API_KEY MY_KEY", "settings.json=" + own},
		{"a key of a provider alone", map[string]string{"MY_KEY": "k"}, map[string]string{"/home/.qwen/settings.json": own},
			"by $MY_KEY", "MY_KEY", "settings.json=" + own},
		{"a key in settings", nil, map[string]string{"/home/.qwen/settings.json": inside}, "MY_KEY in /home/.qwen/settings.json", "", "settings.json=" + inside},
		{"a key in a file", nil, map[string]string{"/q/.env": "OPENAI_API_KEY=k\nOPENAI_MODEL=m\nPATH=/x"},
			"", "", ""},
		{"a key in a file elsewhere", map[string]string{"QWEN_HOME": "/q"}, map[string]string{"/q/.env": "OPENAI_API_KEY=k\nOPENAI_MODEL=m\nPATH=/x"},
			"OPENAI_API_KEY in /q/.env", "", ".env=OPENAI_API_KEY=k\nOPENAI_MODEL=m way=openai"},
		{"another way than the key", map[string]string{"OPENAI_API_KEY": "k"},
			map[string]string{"/etc/qwen-code/settings.json": `{"security":{"auth":{"selectedType":"anthropic"}}}`},
			"", "", `swarm-settings.json={"security":{"auth":{"selectedType":"anthropic"}}}`},
		{"an account", map[string]string{"OPENAI_API_KEY": "k"}, map[string]string{"/home/.qwen/settings.json": `{"security":{"auth":{"selectedType":"qwen-oauth"}}}`},
			"", "", `settings.json={"security":{"auth":{"selectedType":"qwen-oauth"}}}`},
		{"broken settings", map[string]string{"OPENAI_API_KEY": "k"}, map[string]string{"/home/.qwen/settings.json": "{"},
			"by $OPENAI_API_KEY", "OPENAI_API_KEY", "settings.json={ way=openai"},
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
			has = append(has, f.Name+"="+string(f.Data))
		}
		if l.Name != test.want || strings.Join(l.Env, " ") != test.needs || strings.Join(has, " ") != test.has {
			t.Errorf("%s: login is %+v with %q", test.name, l, has)
		}
		if l.Name == "" && l.Missing == "" {
			t.Errorf("%s: nothing says what is missing", test.name)
		}
	}
}
