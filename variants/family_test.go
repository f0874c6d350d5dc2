package variants

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for family, names := range map[Family][]string{
		Claude: {
			"claude", "claude-3-5-sonnet-20241022", "claude-opus-4-1", "anthropic/claude-sonnet-4-5", "openrouter/anthropic/claude-opus",
			"anthropic/claude-3.7-sonnet:thinking", "anthropic.claude-3-5-sonnet-20241022-v2:0", "us.anthropic.claude-sonnet-4-20250514-v1:0",
			"amazon-bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-sonnet-4@20250514",
			"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-3-haiku-20240307-v1:0",
			"publishers/anthropic/models/claude-opus-4", "CLAUDE-2", "claude-instant-1.2", "sonnet", "opus", "haiku", "opus[1m]", "opusplan",
			"sonnet-4.5-thinking", "global.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic--claude-4-sonnet",
		},
		GPT: {
			"gpt-5", "gpt-4o-2024-08-06", "openai/gpt-4.1-mini", "openrouter/openai/gpt-5:high", "gpt-5.1-codex-max", "gpt-5-codex", "codex-mini-latest",
			"gpt-oss", "ollama/gpt-oss:20b", "openai/gpt-oss-120b", "openai.gpt-oss-120b-1:0", "gpt4o", "azure/our-gpt4-deployment", "chatgpt-4o-latest",
			"o1", "o3-mini", "openai/o4-mini:high", "o3-2025-04-16", "ft:gpt-4o-mini:acme::abc", "ft:o4-mini:acme", "gpt-35-turbo", "text-davinci-003", "unsloth/gpt-oss-20b-GGUF",
			"cerebras/gpt-oss-120b", "gpt-4-turbo", "azure/gpt-5.2-chat", "copilot-gpt-5",
		},
		Qwen: {
			"qwen", "qwen3-coder:30b", "ollama/qwen3-coder:30b", "openrouter/qwen/qwen3-coder-480b-a35b-instruct", "Qwen/Qwen2.5-Coder-32B-Instruct",
			"hf.co/unsloth/Qwen3-30B-A3B-GGUF:Q4_K_M", "lmstudio/qwen/qwen3.6-35b-a3b", "qwen-max-latest", "qwq:32b", "qvq-72b-preview", "codeqwen1.5-7b",
			"qwen.qwen3-coder-30b-a3b-v1:0", "qwen2-vl-7b", "QwenLM-7b",
		},
		DeepSeek: {
			"deepseek-chat", "deepseek/deepseek-r1:free", "deepseek-ai/DeepSeek-V3.1", "deepseek-coder-v2:16b", "us.deepseek.r1-v1:0",
			"accounts/fireworks/models/deepseek-v3", "deepseek-reasoner", "groq/deepseek-r1-distill-llama-70b", "deepseek-r1-distill-qwen-32b",
			"unsloth/DeepSeek-R1-Distill-Qwen-7B-GGUF",
		},
		Gemini: {"gemini-2.5-pro", "google/gemini-2.5-flash", "models/gemini-1.5-pro-002", "publishers/google/models/gemini-3-pro-preview", "openrouter/google/gemini-2.0-flash-001"},
		Llama: {
			"llama3.1:8b", "ollama/llama3.2", "meta-llama/Llama-3.3-70B-Instruct", "meta.llama3-70b-instruct-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0",
			"@cf/meta/llama-3-8b-instruct", "codellama:13b", "tinyllama", "nousresearch/hermes-3-llama-3.1-405b", "accounts/fireworks/models/llama-v3p1-405b-instruct", "llama-3.1-nemotron-70b",
			"nous-hermes-llama", "medllama2", "phind-codellama:34b", "llama-guard3:8b",
		},
		Mistral: {
			"mistral-large-latest", "mistralai/Mistral-7B-Instruct-v0.3", "mistral.mixtral-8x7b-instruct-v0:1", "open-mixtral-8x22b", "codestral-2508", "devstral:24b",
			"magistral-medium", "ministral-8b", "pixtral-12b", "voxtral-small", "nous-hermes-2-mixtral-8x7b", "dolphin-mistral",
			"BioMistral/BioMistral-7B", "leanstral", "arn:aws:bedrock:us-east-1::foundation-model/mistral.mistral-large-2407-v1:0",
		},
		"": {
			"", " ", "/", "claude/", "fake-model", "anthropic/fake-model", "openrouter/auto", "ollama/phi4", "gemma3:27b", "google/gemma-2-9b", "grok-4", "kimi-k2",
			"glm-4.6", "nvidia/nemotron-3-nano-omni", "command-r-plus", "amazon.nova-pro-v1:0", "gpt-neox-20b", "gpt-j-6b", "gpt4all", "gpt2", "gpt-2", "gpt-sw3-1.3b", "minigpt",
			"Helsinki-NLP/opus-mt-en-de", "cerebras-gpt-13b", "gpt_bigcode-santacoder", "gpt4-x-alpaca", "codegemma", "grok-code-fast-1",
			"ollama", "ollama/mine", "o", "o10", "foo-o3", "octo", "coder-model", "qwen/mine", "starcoder2", "公司-模型", "::", "---",
		},
	} {
		for _, name := range names {
			if got := Of(name); got != family {
				t.Errorf("Of(%q) = %q, want %q", name, got, family)
			}
		}
	}
}
