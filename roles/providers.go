package roles

// Providers are the names by which agents know those who answer models, as far
// as they are known here. They tell a typing error from a name of somebody's
// own.
func Providers() []string {
	return []string{
		"aihubmix", "alibaba", "alibaba-cn", "amazon-bedrock", "anthropic", "azure", "azure-cognitive-services", "azure-openai-responses",
		"baseten", "cerebras", "chutes", "cloudflare-ai-gateway", "cloudflare-workers-ai", "cohere", "dashscope", "deepinfra",
		"deepseek", "fireworks", "fireworks-ai", "friendli", "github-copilot", "github-models", "google", "google-antigravity",
		"google-gemini-cli", "google-vertex", "google-vertex-anthropic", "groq", "helicone", "huggingface", "kimi-coding",
		"kimi-for-coding", "litellm", "llama.cpp", "lmstudio", "meta", "minimax", "minimax-cn", "mistral", "moonshotai",
		"moonshotai-cn", "nebius", "novita-ai", "nvidia", "ollama", "ollama-cloud", "openai", "openai-codex", "opencode", "openrouter",
		"perplexity", "poe", "requesty", "sap-ai-core", "scaleway", "siliconflow", "submodel", "synthetic", "together", "togetherai",
		"upstage", "v0", "venice", "vercel", "vercel-ai-gateway", "vertex", "vllm", "wandb", "xai", "xiaomi", "zai", "zai-coding-plan",
		"zenmux", "zhipuai", "zhipuai-coding-plan",
	}
}
