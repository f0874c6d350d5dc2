package wire

import "strings"

// OfModel reports whether a request was refused for the model that it names or
// for how much that takes, by the words of the refusal. Another model may take
// the same request then; one that is malformed is so for all.
func OfModel(text string) bool {
	lower := strings.ToLower(text)
	if hasAny(lower, "no endpoints found", "modelnotfound", "model_not_found", "context length", "context_length", "context window", "contextwindow",
		"maximum context", "prompt is too long", "input is too long", "too many tokens", "longer than what the model takes", "contextoverflow") {
		return true
	}
	return strings.Contains(lower, "model") && hasAny(lower,
		"not found", "not_found", "not exist", "unknown", "invalid model", "not a valid", "no such", "no model", "not supported", "not support",
		"unsupported", "not available", "unavailable", "deprecated", "decommissioned", "retired", "access", "not allowed", "cannot think")
}

func hasAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
