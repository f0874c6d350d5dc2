package variants

import (
	"slices"
	"strings"
	"unicode"
)

// Families are all that are known, in the order of their names.
func Families() []Family {
	return []Family{Claude, DeepSeek, Gemini, GPT, Llama, Mistral, Qwen}
}

// beginnings are the beginnings of models' names by family. Each part of a name
// counts on its own, such as the qwen of Qwen3-Coder.
func beginnings() map[string]Family {
	return map[string]Family{
		"claude": Claude, "deepseek": DeepSeek, "gemini": Gemini, "chatgpt": GPT, "qwen": Qwen,
		"llama": Llama, "mistral": Mistral, "mixtral": Mistral,
	}
}

// words are names of models, or parts of those, as they are before any digits.
func words() map[string]Family {
	return map[string]Family{
		"gpt": GPT, "codex": GPT, "davinci": GPT,
		"qwq": Qwen, "qvq": Qwen, "codeqwen": Qwen,
		"pixtral": Mistral, "voxtral": Mistral,
	}
}

// aliases are whole names that an agent CLI has for models of its family.
func aliases() map[string]Family {
	return map[string]Family{"opus": Claude, "sonnet": Claude, "haiku": Claude, "opusplan": Claude}
}

// Of returns the family of a model by its name, with or without providers,
// regions and makers before it. Only the last part between slashes counts,
// because a provider may serve the models of many.
//
// If a name has two families, the first counts. So a distilled model belongs to
// the family of the model it was distilled from: deepseek-r1-distill-qwen-32b
// writes as DeepSeek taught it to.
func Of(model string) Family {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndexByte(name, '/')+1:]
	parts := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(parts) == 0 {
		return ""
	}
	if family, ok := aliases()[parts[0]]; ok && !strings.HasPrefix(name, "opus-mt") { // which translates
		return family
	}
	starts, known := beginnings(), words()
	for i, part := range parts {
		if reasoner(part) && (i == 0 || slices.Contains([]string{"openai", "ft"}, parts[i-1])) {
			return GPT
		}
		word := part[:letters(part)]
		if family, ok := known[word]; ok && !namesake(parts, i) {
			return family
		}
		if family := taught(word); family != "" {
			return family
		}
		for start, family := range starts {
			if strings.HasPrefix(word, start) {
				return family
			}
		}
	}
	return ""
}

// taught is the family of a model whose name only ends as those of the family
// do: people call a model so that they have taught more, such as medllama2.
func taught(word string) Family {
	switch {
	case strings.HasSuffix(word, "llama") && word != "ollama": // a server of models
		return Llama
	case strings.HasSuffix(word, "stral"):
		return Mistral
	default:
		return ""
	}
}

// letters is how much of a part comes before its first digit.
func letters(part string) int {
	if i := strings.IndexFunc(part, unicode.IsDigit); i >= 0 {
		return i
	}
	return len(part)
}

// reasoner reports whether a part is a name such as o3, of the family of GPT.
func reasoner(part string) bool {
	digits, ok := strings.CutPrefix(part, "o")
	return ok && len(digits) == 1 && digits[0] >= '1' && digits[0] <= '9'
}

// namesake reports whether the part at i only looks like a name of the family:
// other people called their models GPT as well.
func namesake(parts []string, i int) bool {
	name, next := parts[i], ""
	if i+1 < len(parts) {
		next = parts[i+1]
	}
	switch name {
	case "gpt4all", "gpt2":
		return true
	case "gpt4":
		return next == "x" || next == "alpaca"
	case "gpt":
		return slices.Contains([]string{"2", "j", "neo", "neox", "sw3", "bigcode"}, next) || i > 0 && parts[i-1] == "cerebras"
	default:
		return false
	}
}
