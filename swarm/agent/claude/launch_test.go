package claude

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk/argv"
	"agentswarm/swarm/agent"
)

func request(change func(*agent.Request)) agent.Request {
	r := agent.Request{
		Spec: &agent.Spec{Command: []string{"/bin/claude"}}, Prompt: "Do\n\"it\"", State: "/state", Walled: true,
		Session: "11111111-2222-8333-8444-555555555555",
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
		{"nothing", func(*agent.Request) {}, "--setting-sources user --permission-mode bypassPermissions"},
		{"no walls", func(r *agent.Request) { r.Walled = false }, "--setting-sources user --permission-mode acceptEdits --allowed-tools=Read,Grep,Glob,Edit,Write,Bash,"},
		{"model", func(r *agent.Request) { r.Spec.Model = "opus" }, "--model=opus"},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "high" }, "--effort high"},
		{"another effort", func(r *agent.Request) { r.Spec.Effort = "huge" }, `error: effort "huge": claude knows low, medium, high, xhigh, max`},
		{"tools", func(r *agent.Request) { r.Spec.Tools = []string{"read", "find", "ls", "bash"} }, "--tools=Read,Glob,Bash"},
		{"read-only", func(r *agent.Request) { r.Spec.ReadOnly = true }, "--tools=Read,Grep,Glob"},
		{"read-only with some", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read"} }, "--tools=Read"},
		{"read-only that writes", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} },
			"error: tools read,bash: an agent that is read-only can have only read,grep,find,ls"},
		{"system", func(r *agent.Request) { r.System = "Be kind." }, "--append-system-prompt-file /state/swarm-system.md"},
		{"schema", func(r *agent.Request) { r.Schema = json.RawMessage(`{"type":"object"}`) }, `--json-schema={"type":"object"}`},
		{"a long schema", func(r *agent.Request) { r.Schema = json.RawMessage(`"` + strings.Repeat("x", 130<<10) + `"`) },
			"error: schema: 133122 bytes, and claude takes it as an argument of at most 131057"},
		{"session", func(*agent.Request) {}, "--session-id=11111111-2222-8333-8444-555555555555"},
		{"fork", func(r *agent.Request) { r.Parent = "p1" }, "--resume=p1 --fork-session"},
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

// TestThinking checks that the limit of thoughts goes into the environment, and
// that no variable is set without a limit.
func TestThinking(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]bool{0: false, 2000: true} {
		l, err := Adapter{}.Launch(request(func(r *agent.Request) { r.Spec.MaxThinking = n }))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(l.Env, "MAX_THINKING_TOKENS=2000"); got != want {
			t.Errorf("with %d the environment is %q", n, l.Env)
		}
	}
}

// TestLaunch checks the launch apart from the options: the prompt on stdin and
// nowhere else, and a separate state.
func TestLaunch(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(*agent.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"message":{"content":[{"type":"text","text":"Do\n\"it\""}],"role":"user"},"type":"user"}` + "\n"; string(l.Feed) != want {
		t.Errorf("it is fed %s, want %s", l.Feed, want)
	}
	if strings.Contains(strings.Join(l.Argv, " "), "Do\n") {
		t.Error("the prompt is in the command line")
	}
	if !l.Open || l.Respond == nil || l.Steer == nil || l.Again == nil {
		t.Errorf("it cannot be told more: %+v", l)
	}
	for _, kv := range []string{"CLAUDE_CONFIG_DIR=/state", "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1"} {
		if !slices.Contains(l.Env, kv) {
			t.Errorf("%s is not in its environment", kv)
		}
	}
	open, err := Adapter{}.Launch(request(func(r *agent.Request) { r.Walled = false }))
	if err != nil || slices.Contains(open.Env, "IS_SANDBOX=1") {
		t.Errorf("without walls it is told that it stands in a sandbox, %v", err)
	}
}

// TestSettings checks the settings that are kept of the user's, and that the
// hook is written as a single command.
func TestSettings(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.Hook = []string{"/a b/it's", "hook"}
		r.Login.Files = []agent.File{
			{Name: settingsFile, Data: []byte(`{"model":"m","hooks":{"Stop":[]},"permissions":{"allow":["Bash"]},"apiKeyHelper":"k"}`)},
			{Name: memoryFile, Data: []byte("memory")},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range l.Files {
		files[f.Name] = string(f.Data)
	}
	command, err := json.Marshal(argv.Quoted([]string{"/a b/it's", "hook", "--agent", "claude"}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"disableAllHooks":false,"hooks":{"PreToolUse":[{"hooks":[{"command":` + string(command) +
		`,"timeout":604800,"type":"command"}],"matcher":"*"}]}}`
	if files[hooksFile] != want || files[settingsFile] != `{"apiKeyHelper":"k","model":"m"}` || files[memoryFile] != "memory" {
		t.Errorf("files are %q, want the hooks %s", files, want)
	}
	if at := slices.Index(l.Argv, "--settings"); at < 0 || l.Argv[at+1] != "/state/"+hooksFile {
		t.Errorf("its settings are not given where they win: %q", l.Argv)
	}
	if _, err := (Adapter{}).Launch(request(func(r *agent.Request) {
		r.Login.Files = []agent.File{{Name: settingsFile, Data: []byte("{")}}
	})); err == nil {
		t.Error("settings that cannot be read are taken")
	}
}

// TestLogin checks the choice of the login, and that no agent gets a refresh
// token.
func TestLogin(t *testing.T) {
	t.Parallel()
	const credentials = `{"version":1,"claudeAiOauth":{"accessToken":"at","refreshToken":"rt","expiresAt":1795215371326,"scopes":["s"]}}`
	for _, test := range []struct {
		name  string
		env   map[string]string
		files map[string]string
		want  string
		needs string
		file  string
	}{
		{"none", nil, nil, "", "", ""},
		{"key", map[string]string{"ANTHROPIC_API_KEY": "k"}, map[string]string{"/home/.claude/.credentials.json": credentials},
			"by $ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", ""},
		{"token", map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "k"}, nil, "by $CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", ""},
		{"subscription", nil, map[string]string{"/home/.claude/.credentials.json": credentials},
			"subscription, of /home/.claude/.credentials.json", "", `{"claudeAiOauth":{"accessToken":"at","expiresAt":1795215371326,"scopes":["s"]}}`},
		{"elsewhere", map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, map[string]string{"/c/.credentials.json": credentials},
			"subscription, of /c/.credentials.json", "", `{"claudeAiOauth":{"accessToken":"at","expiresAt":1795215371326,"scopes":["s"]}}`},
		{"a key in the settings", nil, map[string]string{"/home/.claude/settings.json": `{"env":{"ANTHROPIC_API_KEY":"k"}}`},
			"ANTHROPIC_API_KEY in /home/.claude/settings.json", "", `{"env":{"ANTHROPIC_API_KEY":"k"}}`},
		{"a program that prints it", map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "k"}, map[string]string{"/home/.claude/settings.json": `{"apiKeyHelper":"/bin/key"}`},
			"apiKeyHelper of /home/.claude/settings.json", "", `{"apiKeyHelper":"/bin/key"}`},
		{"a key before the program", map[string]string{"ANTHROPIC_API_KEY": "k"}, map[string]string{"/home/.claude/settings.json": `{"apiKeyHelper":"/bin/key"}`},
			"by $ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", `{"apiKeyHelper":"/bin/key"}`},
		{"a cloud", map[string]string{"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_API_KEY": "k"}, nil,
			"by $CLAUDE_CODE_USE_VERTEX", "GOOGLE_APPLICATION_CREDENTIALS ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION GOOGLE_CLOUD_PROJECT", ""},
		{"a cloud in the settings", nil, map[string]string{"/home/.claude/settings.json": `{"env":{"CLAUDE_CODE_USE_BEDROCK":1,"AWS_REGION":"eu"}}`},
			"CLAUDE_CODE_USE_BEDROCK in /home/.claude/settings.json", strings.Replace(strings.Join(clouds()[0].needs, " "), " AWS_REGION", "", 1),
			`{"env":{"CLAUDE_CODE_USE_BEDROCK":1,"AWS_REGION":"eu"}}`},
		{"no cloud", nil, map[string]string{"/home/.claude/settings.json": `{"env":{"CLAUDE_CODE_USE_BEDROCK":"0"}}`}, "", "", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"0"}}`},
		{"broken", nil, map[string]string{"/home/.claude/.credentials.json": "{}"}, "", "", ""},
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
		file := ""
		for _, f := range l.Files {
			file += string(f.Data)
		}
		if l.Name != test.want || strings.Join(l.Env, " ") != test.needs || file != test.file {
			t.Errorf("%s: login is %+v", test.name, l)
		}
		if strings.Contains(file, "rt") || l.Name == "" && l.Missing == "" {
			t.Errorf("%s: login is %+v", test.name, l)
		}
	}
}
