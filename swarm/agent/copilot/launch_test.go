package copilot

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
		Spec: &agent.Spec{Command: []string{"/bin/copilot"}}, Prompt: "Do\n\"it\"", PromptFile: "/prompt", State: "/state", Dir: "/tree",
		Walled: true, Session: "11111111-2222-4333-8444-555555555555",
	}
	change(&r)
	return r
}

// TestOptions holds the flags of an option, or the reason of its refusal.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*agent.Request)
		want   string // words of the command line, or of the error
	}{
		{"nothing", func(*agent.Request) {}, "/bin/copilot --output-format=json --allow-all-tools --allow-all-paths --no-ask-user"},
		{"another program", func(r *agent.Request) { r.Command = []string{"/x", "y"} }, "/x y --output-format"},
		{"model", func(r *agent.Request) { r.Spec.Model = "gpt-5.5" }, "--model=gpt-5.5"},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "high" }, "--reasoning-effort=high"},
		{"another effort", func(r *agent.Request) { r.Spec.Effort = "huge" },
			`error: effort "huge": copilot knows none, minimal, low, medium, high, xhigh, max`},
		{"read-only", func(r *agent.Request) { r.Spec.ReadOnly = true }, "--available-tools=view,grep,rg,glob --excluded-tools=task,"},
		{"read-only that writes", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} },
			"error: tools read,bash: an agent that is read-only can have only read,grep,find,ls"},
		{"words", func(r *agent.Request) { r.System = "Be kind." }, "--agent=swarm"},
		{"too long", func(r *agent.Request) { r.Prompt = strings.Repeat("x", maxPrompt+1) }, "error: a prompt of 8388609 bytes: copilot is given at most 8388608"},
		{"session", func(*agent.Request) {}, "--session-id=11111111-2222-4333-8444-555555555555"},
		{"fork", func(r *agent.Request) { r.Parent = "p1" }, "--resume=p1"},
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
			t.Errorf("%s: %s: a conversation that is continued keeps its id", test.name, got)
		}
	}
}

// TestLaunch holds the rest of a launch: the prompt on stdin alone, a state of
// its own, the hook, and no request to GitHub for a provider of the user.
func TestLaunch(t *testing.T) {
	t.Parallel()
	l, err := Adapter{}.Launch(request(func(r *agent.Request) {
		r.System, r.Hook = "Be kind.", []string{"/a b/it's", "hook"}
		r.Login = agent.Login{Name: "provider at http://h/v1"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Stdin != "/prompt" || strings.Contains(strings.Join(l.Argv, " "), "Do\n") {
		t.Errorf("the prompt is not on stdin alone: %+v", l)
	}
	for _, kv := range []string{"COPILOT_HOME=/state", "COPILOT_AUTO_UPDATE=false", "COPILOT_OFFLINE=true", "COPILOT_OTEL_FILE_EXPORTER_PATH=/proc/self/fd/1"} {
		if !slices.Contains(l.Env, kv) {
			t.Errorf("%s is not in its environment", kv)
		}
	}
	for _, name := range []string{"COPILOT_ALLOW_ALL", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if !slices.Contains(l.Unset, name) {
			t.Errorf("it keeps $%s", name)
		}
	}
	files := agenttest.Files(l)
	if text := files[agentFile]; !strings.HasPrefix(text, "---\nname: swarm\n") || !strings.HasSuffix(text, "---\nBe kind.") {
		t.Errorf("%s is %s", agentFile, text)
	}
	const hook = `"hooks":{"preToolUse":[{"bash":"'/a b/it'\\''s' 'hook' '--agent' 'copilot'","timeoutSec":604800,"type":"command"}]}`
	for _, part := range []string{hook, `"disableAllHooks":false`, `"autoUpdate":false`, `"memory":false`, `"includeCoAuthoredBy":false`} {
		if !strings.Contains(files[settingsFile], part) {
			t.Errorf("settings are %s, want %s in them", files[settingsFile], part)
		}
	}
	github, err := Adapter{}.Launch(request(func(r *agent.Request) { r.Login = agent.Login{Name: "by $GH_TOKEN"} }))
	if err != nil || slices.Contains(github.Env, "COPILOT_OFFLINE=true") {
		t.Errorf("with GitHub's models it is offline: %v, %v", github.Env, err)
	}
}

// TestLogin holds which login counts.
func TestLogin(t *testing.T) {
	t.Parallel()
	const config = "// managed\n" + `{"firstLaunchAt":"x","copilotTokens":{"https://github.com:me":"t"},"lastLoggedInUser":{"login":"me"}}`
	for _, test := range []struct {
		name       string
		env, files map[string]string
		want       string
		needs      string
		provider   string
		has        string // the names and contents of files
	}{
		{"none", nil, map[string]string{"/home/.copilot/config.json": `{"firstLaunchAt":"x"}`}, "", "", "", ""},
		{"a token", map[string]string{"GITHUB_TOKEN": "t", "GH_TOKEN": "t"}, nil, "by $GH_TOKEN", "GH_TOKEN", "", ""},
		{"its own token first", map[string]string{"COPILOT_GITHUB_TOKEN": "t", "GH_TOKEN": "t"}, nil, "by $COPILOT_GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "", ""},
		{"stored", nil, map[string]string{"/home/.copilot/config.json": config}, "GitHub account, of /home/.copilot/config.json", "", "",
			`config.json={"copilotTokens":{"https://github.com:me":"t"},"lastLoggedInUser":{"login":"me"}}`},
		{"stored elsewhere", map[string]string{"COPILOT_HOME": "/c"}, map[string]string{"/c/config.json": config}, "GitHub account, of /c/config.json", "", "",
			`config.json={"copilotTokens":{"https://github.com:me":"t"},"lastLoggedInUser":{"login":"me"}}`},
		{"a provider", map[string]string{"COPILOT_PROVIDER_BASE_URL": "http://u:p@127.0.0.1:1234/v1", "COPILOT_PROVIDER_API_KEY": "k", "GH_TOKEN": "t"}, nil,
			"provider at http://127.0.0.1:1234/v1", "COPILOT_PROVIDER_API_KEY", "127.0.0.1:1234", ""},
		{"Anthropic", map[string]string{"COPILOT_PROVIDER_BASE_URL": "https://api.anthropic.com", "COPILOT_PROVIDER_TYPE": "anthropic"}, nil,
			"provider at https://api.anthropic.com", "", "anthropic", ""},
		{"Azure", map[string]string{"COPILOT_PROVIDER_BASE_URL": "https://x.openai.azure.com", "COPILOT_PROVIDER_TYPE": "azure"}, nil,
			"provider at https://x.openai.azure.com", "", "azure", ""},
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
		if l.Name != test.want || strings.Join(l.Env, " ") != test.needs || l.Provider != test.provider || strings.Join(has, " ") != test.has {
			t.Errorf("%s: login is %+v with %q", test.name, l, has)
		}
		if l.Name == "" && l.Missing == "" {
			t.Errorf("%s: nothing says which login is missing", test.name)
		}
	}
}

// TestUnnamed checks that a provider of the user's own needs the name of a
// model.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"":                   {},
		"set $COPILOT_MODEL": {baseURL: "http://h"},
	} {
		if got := unnamed(agent.Surroundings{Getenv: func(name string) string { return env[name] }}); got != want {
			t.Errorf("with %v: %q, want %q", env, got, want)
		}
	}
	named := map[string]string{baseURL: "http://h", "COPILOT_MODEL": "m"}
	if got := unnamed(agent.Surroundings{Getenv: func(name string) string { return named[name] }}); got != "" {
		t.Errorf("with a model: %q", got)
	}
}
