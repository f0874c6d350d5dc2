package roles

// Providers are the names by which agents know those who answer models, as far
// as they are known here. They tell a slip of the pen from a name of somebody's
// own.
func Providers() []string {
	return []string{
		"amazon-bedrock", "anthropic", "azure", "cerebras", "deepseek", "fireworks", "github-copilot", "google", "groq",
		"huggingface", "lmstudio", "mistral", "moonshotai", "ollama", "openai", "openrouter", "togetherai", "vertex", "xai", "zai",
	}
}
