package pi

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

// around are surroundings made of variables and files below /home/u/.pi/agent.
func around(env, files map[string]string) agent.Surroundings {
	return agent.Surroundings{
		Home:   "/home/u",
		Getenv: func(name string) string { return env[name] },
		Read: func(path string) ([]byte, error) {
			for _, dir := range []string{"/home/u/.pi/agent/", "/home/u/elsewhere/"} {
				if name, ok := strings.CutPrefix(path, dir); ok && (dir == "/home/u/.pi/agent/") == (env["PI_CODING_AGENT_DIR"] == "") {
					if text, ok := files[name]; ok {
						return []byte(text), nil
					}
				}
			}
			return nil, errors.New("no such file")
		},
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		env, files map[string]string
		want       string // its name
		pass       string // variables
		risk       string // a text that it must hold
		copied     string // names of files
	}{
		{name: "nothing", copied: "swarm-home"},
		{name: "key", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, want: "key in $ANTHROPIC_API_KEY", pass: "ANTHROPIC_API_KEY", copied: "swarm-home"},
		{
			name: "several, one by default", env: map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"},
			files:  map[string]string{"settings.json": `{"defaultProvider":"openai"}`},
			want:   "key in $OPENAI_API_KEY (and 1 more: key in $ANTHROPIC_API_KEY)",
			pass:   "ANTHROPIC_API_KEY OPENAI_API_KEY",
			copied: "settings.json swarm-home",
		},
		{
			name: "with what belongs to it", env: map[string]string{"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_BASE_URL": "u"},
			want: "key in $AZURE_OPENAI_API_KEY", pass: "AZURE_OPENAI_API_KEY AZURE_OPENAI_BASE_URL", copied: "swarm-home",
		},
		{name: "not for a model alone", env: map[string]string{"AWS_ACCESS_KEY_ID": "k", "HF_TOKEN": "t"}, copied: "swarm-home"},
		{
			name: "but where it was chosen", env: map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "HF_TOKEN": "t"},
			files: map[string]string{"settings.json": `{"defaultProvider":"amazon-bedrock"}`},
			want:  "key in $AWS_ACCESS_KEY_ID", pass: "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY", copied: "settings.json swarm-home",
		},
		{
			name: "own provider", env: map[string]string{"MY_KEY": "k", "MY_HEADER": "h"},
			files: map[string]string{"models.json": `{"providers": {"mine": {"apiKey": "${MY_KEY}", // said so
				"headers": {"x": "$MY_HEADER", "y": "$$NOT", "z": "$NOT_SET"}},}}`},
			want: "mine in ~/.pi/agent/models.json", pass: "MY_KEY MY_HEADER", copied: "models.json swarm-home",
		},
		{
			name:   "own provider without its variable",
			files:  map[string]string{"models.json": `{"providers": {"mine": {"apiKey": "$MY_KEY"}}}`},
			copied: "models.json swarm-home",
		},
		{
			name: "local provider", files: map[string]string{"models.json": `{"providers": {"ollama": {"apiKey": "ollama"}}}`},
			want: "ollama in ~/.pi/agent/models.json", copied: "models.json swarm-home",
		},
		{
			name: "command", files: map[string]string{"auth.json": `{"openai": {"type": "api_key", "key": "!pass openai"}}`},
			want: "key of openai in ~/.pi/agent/auth.json", risk: `each agent runs "pass openai" for the key of openai`, copied: "auth.json swarm-home",
		},
		{
			name: "stored key", files: map[string]string{"auth.json": `{"openai": {"type": "api_key", "key": "k"}}`},
			want: "key of openai in ~/.pi/agent/auth.json", copied: "auth.json swarm-home",
		},
		{
			name: "subscription", files: map[string]string{
				"auth.json": `{"anthropic": {"type": "oauth", "access": "a", "refresh": "renews", "expires": 1795213932729}}`,
			},
			want: "login of anthropic in ~/.pi/agent/auth.json", copied: "auth.json swarm-home",
			risk: "agents cannot renew the login of anthropic, which ends at 2026-11-20 22:32 UTC: run pi once before that, or use a key",
		},
		{
			name: "subscription that lasts", files: map[string]string{
				"auth.json": `{"github-copilot": {"type": "oauth", "access": "a", "refresh": "stays", "expires": 1}}`,
			},
			want: "login of github-copilot in ~/.pi/agent/auth.json", copied: "auth.json swarm-home",
		},
		{
			name: "broken files", files: map[string]string{"auth.json": `{`, "settings.json": `[`, "models.json": `{"providers":`},
			want: "providers in ~/.pi/agent/models.json", risk: "~/.pi/agent/settings.json cannot be read", copied: "models.json swarm-home",
		},
		{
			name: "instructions", env: map[string]string{"GEMINI_API_KEY": "k"}, files: map[string]string{
				"AGENTS.md": "a", "CLAUDE.md": "c", "SYSTEM.md": "s", "APPEND_SYSTEM.md": "p", "models-store.json": "{}",
			},
			want: "key in $GEMINI_API_KEY", pass: "GEMINI_API_KEY", copied: "models-store.json AGENTS.md SYSTEM.md APPEND_SYSTEM.md swarm-home",
		},
		{
			name: "elsewhere", env: map[string]string{"PI_CODING_AGENT_DIR": "~/elsewhere"},
			files: map[string]string{"auth.json": `{"openai": {"type": "api_key", "key": "k"}}`},
			want:  "key of openai in ~/elsewhere/auth.json", copied: "auth.json swarm-home",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := login(around(c.env, c.files))
			if got.Name != c.want || (got.Missing == "") != (c.want != "") {
				t.Errorf("name %q, missing %q; want %q", got.Name, got.Missing, c.want)
			}
			if pass := strings.Join(got.Env, " "); pass != c.pass {
				t.Errorf("variables %q, want %q", pass, c.pass)
			}
			if (c.risk == "") != (got.Risk == "") || !strings.Contains(got.Risk, c.risk) {
				t.Errorf("risk %q, want %q", got.Risk, c.risk)
			}
			var names []string
			for _, f := range got.Files {
				names = append(names, f.Name)
			}
			if all := strings.Join(names, " "); all != c.copied {
				t.Errorf("files %q, want %q", all, c.copied)
			}
		})
	}
}

// TestLoginRotates checks that no agent gets a refresh token that works once.
func TestLoginRotates(t *testing.T) {
	t.Parallel()
	got := login(around(nil, map[string]string{"auth.json": `{
		"anthropic": {"type": "oauth", "access": "a1", "refresh": "renews", "expires": 7, "extra": {"x": 1}},
		"github-copilot": {"type": "oauth", "access": "a2", "refresh": "stays", "expires": 7},
		"new-one": {"type": "oauth", "access": "a3", "refresh": "renews", "expires": 7},
		"openai": {"type": "api_key", "key": "k"}}`}))
	i := slices.IndexFunc(got.Files, func(f agent.File) bool { return f.Name == "auth.json" })
	var copied map[string]map[string]any
	if i < 0 || json.Unmarshal(got.Files[i].Data, &copied) != nil {
		t.Fatalf("files %+v", got.Files)
	}
	for provider, want := range map[string]any{"anthropic": "", "github-copilot": "stays", "new-one": ""} {
		if copied[provider]["refresh"] != want || copied[provider]["access"] == "" {
			t.Errorf("%s: %v", provider, copied[provider])
		}
	}
	if copied["openai"]["key"] != "k" || copied["anthropic"]["extra"] == nil {
		t.Errorf("it lost something: %v", copied)
	}
}
