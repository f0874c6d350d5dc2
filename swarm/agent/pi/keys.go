package pi

// key is a variable in which pi looks for the key of a provider.
type key struct {
	provider, name string
	// beside are others that such a login needs, where they are set.
	beside []string
	// general is set where the key opens more than a model: only agents of a
	// user who has chosen that provider get it.
	general bool
}

// keys are those that pi knows, the most usual first.
func keys() []key {
	all := []key{
		{provider: "anthropic", name: "ANTHROPIC_AUTH_TOKEN"},
		{provider: "anthropic", name: "ANTHROPIC_OAUTH_TOKEN"},
		{provider: "anthropic", name: "ANTHROPIC_API_KEY"},
		{provider: "openai", name: "OPENAI_API_KEY"},
		{provider: "google", name: "GEMINI_API_KEY"},
		{provider: "openrouter", name: "OPENROUTER_API_KEY"},
		{provider: "azure-openai-responses", name: "AZURE_OPENAI_API_KEY", beside: []string{
			"AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME", "AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
		}},
		{provider: "amazon-bedrock", name: "AWS_BEARER_TOKEN_BEDROCK", beside: []string{"AWS_REGION", "AWS_DEFAULT_REGION"}},
		{provider: "github-copilot", name: "COPILOT_GITHUB_TOKEN", general: true},
		{provider: "huggingface", name: "HF_TOKEN", general: true},
		{provider: "cloudflare-workers-ai", name: "CLOUDFLARE_API_KEY", general: true},
		{provider: "cloudflare-ai-gateway", name: "CLOUDFLARE_API_KEY", general: true},
		{provider: "google-vertex", name: "GOOGLE_CLOUD_API_KEY", general: true},
		{provider: "google-vertex", name: "GOOGLE_APPLICATION_CREDENTIALS", general: true},
	}
	for _, name := range []string{
		"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE",
	} {
		all = append(all, key{provider: "amazon-bedrock", name: name, general: true, beside: []string{
			"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
			"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN",
		}})
	}
	for _, k := range [][2]string{
		{"deepseek", "DEEPSEEK_API_KEY"}, {"groq", "GROQ_API_KEY"}, {"cerebras", "CEREBRAS_API_KEY"}, {"xai", "XAI_API_KEY"},
		{"mistral", "MISTRAL_API_KEY"}, {"nvidia", "NVIDIA_API_KEY"}, {"fireworks", "FIREWORKS_API_KEY"},
		{"together", "TOGETHER_API_KEY"}, {"baseten", "BASETEN_API_KEY"}, {"vercel-ai-gateway", "AI_GATEWAY_API_KEY"},
		{"zai", "ZAI_API_KEY"}, {"zai-coding-cn", "ZAI_CODING_CN_API_KEY"}, {"opencode", "OPENCODE_API_KEY"},
		{"kimi-coding", "KIMI_API_KEY"}, {"meta", "META_API_KEY"}, {"minimax", "MINIMAX_API_KEY"},
		{"minimax-cn", "MINIMAX_CN_API_KEY"}, {"moonshotai", "MOONSHOT_API_KEY"}, {"radius", "RADIUS_API_KEY"},
		{"ant-ling", "ANT_LING_API_KEY"}, {"qwen-token-plan", "QWEN_TOKEN_PLAN_API_KEY"},
		{"qwen-token-plan-cn", "QWEN_TOKEN_PLAN_CN_API_KEY"}, {"xiaomi", "XIAOMI_API_KEY"},
		{"xiaomi-token-plan-cn", "XIAOMI_TOKEN_PLAN_CN_API_KEY"}, {"xiaomi-token-plan-ams", "XIAOMI_TOKEN_PLAN_AMS_API_KEY"},
		{"xiaomi-token-plan-sgp", "XIAOMI_TOKEN_PLAN_SGP_API_KEY"},
	} {
		all = append(all, key{provider: k[0], name: k[1]})
	}
	return all
}
