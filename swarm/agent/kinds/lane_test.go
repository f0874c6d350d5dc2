package kinds_test

import (
	"io/fs"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/agent/kinds"
)

// TestLane holds which agents share a window: those that the same provider
// answers with the same model, whatever their kinds call it.
func TestLane(t *testing.T) {
	t.Parallel()
	type m = map[string]string
	codexFile := "/h/.codex/config.toml"
	for _, test := range []struct {
		kind, model string
		env, files  m
		want        string
	}{
		{"claude", "claude-opus-4-6", nil, nil, "anthropic/opus"},
		{"claude", "opus", nil, nil, "anthropic/opus"},
		{"claude", "opus[1m]", nil, nil, "anthropic/opus"},
		{"claude", "anthropic/claude-opus-4-6", nil, nil, "anthropic/opus"},
		{"builtin", "anthropic/claude-opus-4-6:high", nil, nil, "anthropic/opus"},
		{"builtin", "claude-opus-4-6", m{"ANTHROPIC_API_KEY": "k"}, nil, "anthropic/opus"},
		{"builtin", "", m{"SWARM_BUILTIN_MODEL": "anthropic/claude-opus-4-6"}, nil, "anthropic/opus"},
		{"pi", "anthropic/claude-opus-4-6", nil, nil, "anthropic/opus"},
		{"opencode", "anthropic/claude-opus-4-6", nil, nil, "anthropic/opus"},
		{"qwen", "claude-opus-4-6", m{"ANTHROPIC_API_KEY": "k"}, nil, "anthropic/opus"},
		{"claude", "opusplan", nil, nil, "anthropic/opusplan"},
		{"claude", "", nil, nil, "anthropic"},
		{"claude", "opus", m{"CLAUDE_CODE_USE_BEDROCK": "1"}, nil, "amazon-bedrock/opus"},

		{"codex", "gpt-5.5", nil, nil, "openai/gpt-5.5"},
		{"codex", "openai/gpt-5.5", nil, nil, "openai/gpt-5.5"},
		{"codex", "gpt-5.5", nil, m{codexFile: `model_provider = "ollama"`}, "ollama/gpt-5.5"},
		{"codex", "a/b", nil, nil, "openai/a/b"}, // a model with this name
		{"builtin", "openai/gpt-5.5:low", nil, nil, "openai/gpt-5.5"},
		{"builtin", "openai-chat/gpt-5.5", nil, nil, "openai/gpt-5.5"},
		{"qwen", "gpt-5.5", m{"OPENAI_API_KEY": "k"}, nil, "openai/gpt-5.5"},
		{"pi", "openai/gpt-5.5", nil, nil, "openai/gpt-5.5"},

		{"gemini", "gemini-3-pro", nil, nil, "google/gemini-3-pro"},
		{"pi", "google/gemini-3-pro", nil, nil, "google/gemini-3-pro"},
		{"qwen", "gemini-3-pro", m{"GEMINI_API_KEY": "k"}, nil, "google/gemini-3-pro"},

		{"qwen", "qwen3-coder", m{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://dashscope.aliyuncs.com/v1"}, nil, "qwen/qwen3-coder"},
		{"qwen", "q", m{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:8099/v1"}, nil, "127.0.0.1:8099/q"},
		{"qwen", "q", nil, nil, "qwen/q"},
		{"copilot", "gpt-5.5", m{"GH_TOKEN": "t"}, nil, "github/gpt-5.5"},
		{"copilot", "gpt-5.5", m{"COPILOT_PROVIDER_BASE_URL": "https://api.openai.com/v1"}, nil, "openai/gpt-5.5"},
		{"copilot", "q", m{"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:8099/v1"}, nil, "127.0.0.1:8099/q"},

		// Unknown models stay apart.
		{"pi", "opus", nil, nil, "pi/opus"},
		{"pi", "", nil, nil, "pi"},
		{"builtin", "m", nil, nil, "builtin/m"},
		{"builtin", "ollama/qwen3:8b", nil, nil, "ollama/qwen3:8b"},
		{"builtin", "/", nil, nil, "builtin//"},
	} {
		kind, ok := kinds.All().Find(test.kind)
		if !ok {
			t.Fatal(test.kind)
		}
		in := agent.Surroundings{
			Home: "/h", Getenv: func(name string) string { return test.env[name] },
			Read: func(path string) ([]byte, error) {
				if text, ok := test.files[path]; ok {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			},
		}
		spec := kind.Spec
		spec.Model = test.model
		if got := kind.Lane(&spec, in); got != test.want {
			t.Errorf("%s %q %v: lane %q, want %q", test.kind, test.model, test.env, got, test.want)
		}
		spec.Lane = "mine"
		if got := kind.Lane(&spec, in); got != "mine" {
			t.Errorf("%s: lane %q, want the one that it was given", test.kind, got)
		}
	}
	if got := command.Kind().Lane(&agent.Spec{Kind: agent.KindCommand, Model: "a/b"}, agent.Surroundings{}); got != "" {
		t.Errorf("a command has the lane %q", got)
	}
}
