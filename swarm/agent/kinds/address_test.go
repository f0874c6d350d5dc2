package kinds

import (
	"errors"
	"testing"

	"agentswarm/swarm/agent"
)

// TestAddresses checks that each login names the server of a model that the
// user set up, without credentials: CLIs often do not name it in their errors.
func TestAddresses(t *testing.T) {
	t.Parallel()
	type m = map[string]string
	const secret, want = "http://ada:secret@127.0.0.1:8080/v1?key=secret", "http://127.0.0.1:8080"
	for _, test := range []struct {
		name, kind, model string
		env, files        m
		want              string
	}{
		{"variable", agent.KindClaude, "sonnet", m{"ANTHROPIC_BASE_URL": secret, "ANTHROPIC_API_KEY": "k"}, nil, want},
		{"settings", agent.KindClaude, "sonnet", m{"ANTHROPIC_BASE_URL": "http://other"}, m{".claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"` + secret + `"}}`}, want},
		{"cloud", agent.KindClaude, "sonnet", m{"ANTHROPIC_BASE_URL": secret, "CLAUDE_CODE_USE_BEDROCK": "1"}, nil, ""},
		{"none", agent.KindCodex, "m", m{"OPENAI_API_KEY": "k"}, nil, ""},
		{"base of OpenAI", agent.KindCodex, "a/b", nil, m{".codex/config.toml": "openai_base_url = \"" + secret + "\""}, want},
		{"its provider", agent.KindCodex, "m", nil, m{".codex/config.toml": "model_provider = \"p\"\nopenai_base_url = \"http://other\"\n" +
			"[model_providers.p]\nbase_url = \"" + secret + "\"\n[model_providers.q]\nbase_url = \"http://other\""}, want},
		{"variable", agent.KindGemini, "gemini-2.5-pro", m{"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": secret}, nil, want},
		{"its .env", agent.KindGemini, "gemini-2.5-pro", nil, m{".gemini/.env": "GEMINI_API_KEY=k\nGOOGLE_GEMINI_BASE_URL=" + secret}, want},
		{"Vertex", agent.KindGemini, "m", m{"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GEMINI_BASE_URL": "http://other", "GOOGLE_VERTEX_BASE_URL": secret}, nil, want},
		{"provider of the model", agent.KindOpencode, "p/m", nil, m{".config/opencode/opencode.json": `{"provider":{"p":{"options":{"baseURL":"` + secret + `"}},"q":{"options":{"baseURL":"http://other"}}}}`}, want},
		{"other provider", agent.KindOpencode, "anthropic/m", nil, m{".config/opencode/opencode.json": `{"provider":{"p":{"options":{"baseURL":"` + secret + `"}}}}`}, ""},
		{"variable in settings", agent.KindOpencode, "p/m", m{"BASE": "http://127.0.0.1:8080"}, m{".config/opencode/opencode.json": `{"provider":{"p":{"options":{"baseURL":"{env:BASE}/v1"}}}}`}, want},
		{"variable", agent.KindQwen, "m", m{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": secret}, nil, want},
		{"its .env", agent.KindQwen, "m", m{"OPENAI_API_KEY": "k"}, m{".qwen/.env": "OPENAI_BASE_URL=" + secret}, want},
		{"settings", agent.KindQwen, "m", m{"OPENAI_API_KEY": "k"}, m{".qwen/settings.json": `{"env":{"OPENAI_BASE_URL":"` + secret + `"}}`}, want},
		{"model", agent.KindQwen, "m", m{"K": "k"}, m{".qwen/settings.json": `{"modelProviders":{"openai":[{"id":"m","envKey":"K","baseUrl":"` + secret + `"}]}}`}, want},
		{"provider", agent.KindCopilot, "m", m{"COPILOT_PROVIDER_BASE_URL": secret}, nil, want},
		{"GitHub", agent.KindCopilot, "m", m{"GH_TOKEN": "t"}, nil, ""},
		{"provider of the model", agent.KindPi, "p/m", nil, m{".pi/agent/models.json": `{"providers":{"p":{"baseUrl":"` + secret + `","apiKey":"k"}}}`}, want},
		{"other provider", agent.KindPi, "anthropic/m", nil, m{".pi/agent/models.json": `{"providers":{"p":{"baseUrl":"` + secret + `","apiKey":"k"}}}`}, ""},
	} {
		kind, _ := All().Find(test.kind)
		got := kind.Login(agent.Surroundings{
			Home: "/home", Getenv: func(name string) string { return test.env[name] },
			Read: func(path string) ([]byte, error) {
				for name, text := range test.files {
					if path == "/home/"+name {
						return []byte(text), nil
					}
				}
				return nil, errors.New("not there")
			},
		}).Address(test.model)
		if got != test.want {
			t.Errorf("%s, %s: the address is %q, want %q", test.kind, test.name, got, test.want)
		}
	}
}
