package kinds

import (
	"testing"

	"agentswarm/swarm/environ"
)

// TestVariables checks that the settings of each kind are patterns, and that a
// pattern among them passes no key: keys pass by the login that was found.
func TestVariables(t *testing.T) {
	t.Parallel()
	for name, kind := range All().ByName() {
		for _, pattern := range kind.Variables {
			if err := environ.CheckPattern(pattern); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		rules := environ.Rules{Settings: kind.Variables}
		for _, key := range []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY",
			"GOOGLE_CLOUD_API_KEY", "DASHSCOPE_API_KEY", "OPENCODE_API_KEY", "PI_API_KEY", "QWEN_TOKEN_PLAN_API_KEY", "OPENCODE_SERVER_PASSWORD", "COPILOT_PROVIDER_API_KEY", "COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_BEARER_TOKEN",
		} {
			if rules.Passes(key, "x") {
				t.Errorf("%s gets $%s by its settings", name, key)
			}
		}
	}
	claude, codex := environ.Rules{Settings: All().ByName()["claude"].Variables}, environ.Rules{Settings: All().ByName()["codex"].Variables}
	if !claude.Passes("ANTHROPIC_MODEL", "m") || !claude.Passes("MAX_THINKING_TOKENS", "1") || !claude.Passes("ANTHROPIC_BASE_URL", "https://u:p@h") ||
		!codex.Passes("OPENAI_BASE_URL", "http://h") || codex.Passes("ANTHROPIC_MODEL", "m") {
		t.Error("a kind does not get its own settings, or gets those of another")
	}
}
