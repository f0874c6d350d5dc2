package gemini

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
)

func request(change func(*agent.Request)) agent.Request {
	r := agent.Request{
		Spec: &agent.Spec{Command: []string{"/bin/gemini"}}, Prompt: "Do\n\"it\"", PromptFile: "/prompt", State: "/state", Dir: "/tree",
		Walled: true, Session: "11111111-2222-4333-8444-555555555555",
	}
	change(&r)
	return r
}

// TestOptions holds which flags an option becomes, or why it is refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	const policy = "--policy /state/.gemini/swarm-policy.toml"
	for _, test := range []struct {
		name   string
		change func(*agent.Request)
		want   string // words of the command line, or of the error
	}{
		{"nothing", func(*agent.Request) {}, "--output-format stream-json --approval-mode default " + policy},
		{"no walls", func(r *agent.Request) { r.Walled = false }, "--approval-mode default " + policy},
		{"another program", func(r *agent.Request) { r.Command = []string{"/x", "y"} }, "/x y --output-format"},
		{"model", func(r *agent.Request) { r.Spec.Model = "gemini-3" }, "--model=gemini-3"},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "high" }, `error: effort "high": gemini has no option for it`},
		{"read-only that writes", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} },
			"error: tools read,bash: an agent that is read-only can have only read,grep,find,ls"},
		{"too long", func(r *agent.Request) { r.Prompt = strings.Repeat("x", maxPrompt+1) }, "error: a prompt of 8388609 bytes: gemini reads 8388608"},
		{"session", func(*agent.Request) {}, "--session-id=11111111-2222-4333-8444-555555555555"},
		{"fork", func(r *agent.Request) { r.Parent = "p1" }, "--resume=p1"},
		{"broken settings", func(r *agent.Request) {
			r.Login.Files = []agent.File{{Name: settingsFile, Data: []byte("{")}}
		}, "error: the user's settings.json of gemini: unexpected end of JSON input"},
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
			t.Errorf("%s: %s: it refuses both at once", test.name, got)
		}
	}
}

// TestTools checks that an agent's excluded tools are neither offered nor
// allowed, and that git is not refused where the folder is not trusted.
func TestTools(t *testing.T) {
	t.Parallel()
	allow := func(what, priority, more string) string {
		return "[[rule]]\ntoolName = " + what + "\ndecision = \"allow\"\npriority = " + priority + "\n" + more
	}
	aside := "[[rule]]\ntoolName = [\"enter_plan_mode\", \"exit_plan_mode\", \"ask_user\"]\ndecision = \"deny\"\npriority = 900\n"
	deny := "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 800\n"
	bash := allow(`"run_shell_command"`, "820", "argsPattern = \".*\"\nallowRedirection = true\n")
	reads := `"read_file","read_many_files","grep_search","glob","list_directory"`
	for _, test := range []struct {
		name, policy, core string
		change             func(*agent.Request)
	}{
		{"all", allow(`"*"`, "800", "") + bash, "", func(*agent.Request) {}},
		{"read-only", deny + allow("["+strings.ReplaceAll(reads, ",", ", ")+"]", "810", ""), `"core":[` + reads + `]`,
			func(r *agent.Request) { r.Spec.ReadOnly = true }},
		{"read-only with one", deny + allow(`["glob"]`, "810", ""), `"core":["glob"]`,
			func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"find"} }},
		{"some", deny + allow(`["replace", "write_file", "run_shell_command"]`, "810", "") + bash, `"core":["replace","write_file","run_shell_command"]`,
			func(r *agent.Request) { r.Spec.Tools = []string{"edit", "write", "bash"} }},
	} {
		l, err := Adapter{}.Launch(request(test.change))
		files := agenttest.Files(l)
		if err != nil || files[policyFile] != aside+test.policy {
			t.Errorf("%s: the policy is\n%s\n%v, want\n%s", test.name, files[policyFile], err, aside+test.policy)
		}
		if !strings.Contains(files[settingsFile], test.core) || strings.Contains(files[settingsFile], `"core"`) != (test.core != "") {
			t.Errorf("%s: settings are %s, want %s in them", test.name, files[settingsFile], test.core)
		}
	}
}

// TestLaunch checks the launch apart from the options: the prompt on stdin and
// nowhere else, and a separate state.
func TestLaunch(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.System = "Be kind."
		r.Login.Files = []agent.File{
			{Name: envFile, Data: []byte("GEMINI_API_KEY=k\nGOOGLE_CLOUD_PROJECT=p")}, {Name: memoryFile, Data: []byte("memory")},
			{Name: wayFile, Data: []byte(byKey)},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Stdin != "/prompt" || strings.Contains(strings.Join(l.Argv, " "), "Do\n") {
		t.Errorf("the prompt is not on stdin alone: %+v", l)
	}
	for _, kv := range []string{
		"GEMINI_CLI_HOME=/state", "GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=false", "GEMINI_TELEMETRY_ENABLED=false",
		"GEMINI_API_KEY=k", "GOOGLE_CLOUD_PROJECT=p",
	} {
		if !slices.Contains(l.Env, kv) {
			t.Errorf("%s is not in its environment", kv)
		}
	}
	files := agenttest.Files(l)
	for name, want := range map[string]string{
		projectsFile: `{"projects":{"/tree":"swarm"}}`, systemFile: "Be kind.", memoryFile: "memory",
	} {
		if files[name] != want {
			t.Errorf("%s is %s, want %s", name, files[name], want)
		}
	}
	for _, part := range []string{
		`"fileName":["GEMINI.md","swarm-system.md"]`, `"maxAttempts":1`, `"selectedType":"gemini-api-key"`, `"usageStatisticsEnabled":false`,
		`"telemetry":{"enabled":false}`, `"enableAutoUpdate":false`, `"sandbox":false`,
	} {
		if !strings.Contains(files[settingsFile], part) {
			t.Errorf("settings are %s, want %s in them", files[settingsFile], part)
		}
	}
	if _, ok := files[envFile]; ok {
		t.Error("variables are in a file, which one of the repository would hide")
	}
	open, err := Adapter{}.Launch(request(func(r *agent.Request) { r.Walled = false }))
	if err != nil || !slices.Contains(open.Env, "GEMINI_CLI_TRUST_WORKSPACE=false") {
		t.Errorf("without walls it trusts the repository: %v, %v", open.Env, err)
	}
}

// TestSettings checks the settings that are kept of the user's, and the place
// of the hook: nothing of the repository is trusted, so settings name no hook.
func TestSettings(t *testing.T) {
	t.Parallel()
	const hook = `{"BeforeTool":[{"hooks":[{"command":"'/a b/it'\\''s' 'hook' '--agent' 'gemini'","name":"swarm-11111111-2222-4333-8444-555555555555",` +
		`"timeout":604800000,"type":"command"}],"matcher":"*"}]}`
	for _, walled := range []bool{true, false} {
		l, err := Adapter{}.Launch(request(func(r *agent.Request) {
			r.Walled, r.System = walled, "x"
			r.Hook = []string{"/a b/it's", "hook"}
			r.Login.Files = []agent.File{{Name: settingsFile, Data: []byte(`{"model":{"name":"m"}, // mine
				"hooks":{"AfterTool":[]},"mcpServers":{"a":{}},"tools":{"allowed":["x"]},
				"security":{"auth":{"selectedType":"vertex-ai"},"disableYoloMode":true},"context":{"fileName":"AGENTS.md","includeDirectories":["/"]}}`)}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		files := agenttest.Files(l)
		settings := files[settingsFile]
		for part, want := range map[string]bool{
			`"name":"m"`: true, `"selectedType":"vertex-ai"`: true, `"fileName":["AGENTS.md","swarm-system.md"]`: true,
			"AfterTool": false, "mcpServers": false, `"allowed"`: false, "disableYoloMode": false, "includeDirectories": false,
			`"hooks":` + hook: false, `"hooksConfig":{"enabled":true}`: true,
		} {
			if strings.Contains(settings, part) != want {
				t.Errorf("walls %t: settings are %s; %s in them: want %t", walled, settings, part, want)
			}
		}
		want := `{"hooks":` + hook + `}`
		if files[extension+"hooks/hooks.json"] != want {
			t.Errorf("walls %t: the extension is %s, want %s", walled, files[extension+"hooks/hooks.json"], want)
		}
	}
}

// TestLogin holds which login counts.
func TestLogin(t *testing.T) {
	t.Parallel()
	const google = `{"security":{"auth":{"selectedType":"oauth-personal"}}}`
	for _, test := range []struct {
		name       string
		env, files map[string]string
		want       string
		needs      string
		has        string // names of files, in brief
	}{
		{"none", nil, nil, "", "", ""},
		{"key", map[string]string{"GEMINI_API_KEY": "k"}, nil, "by $GEMINI_API_KEY", "GEMINI_API_KEY", "way=gemini-api-key"},
		{"key in a file", nil, map[string]string{"/home/.gemini/.env": "# x\nexport GEMINI_API_KEY=\"k#1\"\nPATH=/x\nGOOGLE_X='a b'\nGEMINI_Y = z # why\nGEMINI_Z="},
			"key in /home/.gemini/.env", "", ".gemini/.env=GEMINI_API_KEY=k#1\nGEMINI_Y=z way=gemini-api-key"},
		{"both", map[string]string{"GEMINI_API_KEY": "k"}, map[string]string{"/home/.gemini/.env": "GEMINI_API_KEY=other"},
			"by $GEMINI_API_KEY", "GEMINI_API_KEY", "way=gemini-api-key"},
		{"Google", map[string]string{"GEMINI_API_KEY": "k"}, map[string]string{"/home/.gemini/settings.json": google, "/home/.gemini/oauth_creds.json": "{}"},
			"Google account, of /home/.gemini/oauth_creds.json", "", ".gemini/settings.json=" + google + " .gemini/oauth_creds.json={}"},
		{"Google without", nil, map[string]string{"/home/.gemini/settings.json": google}, "", "", ".gemini/settings.json=" + google},
		{"the machine's", map[string]string{"GEMINI_API_KEY": "k"}, map[string]string{"/etc/gemini-cli/settings.json": google, "/home/.gemini/oauth_creds.json": "{}"},
			"Google account, of /home/.gemini/oauth_creds.json", "", ".gemini/oauth_creds.json={}"},
		{"Vertex", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true"}, nil, "Vertex AI", "GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS", "way=vertex-ai"},
		{"elsewhere", map[string]string{"GEMINI_CLI_HOME": "/c"}, map[string]string{"/c/.gemini/.env": "GEMINI_API_KEY=k"},
			"key in /c/.gemini/.env", "", ".gemini/.env=GEMINI_API_KEY=k way=gemini-api-key"},
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
