package wire

import (
	"slices"
	"strconv"
	"strings"

	"agentswarm/swarm/task"
)

// wording is what a text must hold, in lower case, to be of a kind.
type wording struct {
	kind task.ErrorKind
	any  []string
}

// wordings are those that are known, those that tell more first: a quota that
// is used up is told with the status of a rate limit.
func wordings() []wording {
	return []wording{
		{task.Quota, []string{
			"insufficient_quota", "quota exceeded", "exceeded your current quota", "usage limit", "usagelimit",
			"credit balance", "billing", "out of budget", "available balance", "insufficient balance",
			"insufficient credits", "have exhausted your", "spending limit", "payment required", "usage_limit_reached",
		}},
		{task.Auth, []string{
			"authentication_error", "permission_error", "invalid api key", "invalid_api_key", "invalid x-api-key", "api key not valid", "api_key_invalid",
			"incorrect api key", "no api key", "authentication failed", "unauthorized", "oauth", "token refresh",
			"re-authenticate", "credentials may have expired", "could not resolve authentication",
		}},
		{task.RateLimit, []string{"rate_limit", "rate limit", "ratelimit", "too many requests", "resource_exhausted", "resourceexhausted", "retry delay"}},
		{task.Overloaded, []string{
			"overloaded", "service unavailable", "service_unavailable", "high demand", "internal server error", "server had an error", "server_error",
			"internal_error", "api_error", "bad gateway", "gateway timeout", "timed out", "timeout", "connection error",
			"connection refused", "connection lost", "econnrefused", "econnreset", "fetch failed", "socket hang up",
			"socket connection was closed", "other side closed", "terminated", "network error", "ended without",
			"stream ended before", "enotfound", "eai_again", "getaddrinfo", "upstream connect", "reset before headers",
		}},
		{task.Refused, []string{"content policy", "content_policy", "content filter", "content_filter", "safety", "refused to", "refusal", "usage policy"}},
		{task.Invalid, []string{
			"invalid_request", "bad request", "context length", "context_length", "context window", "prompt is too long", "maximum context",
			"too many tokens", "not_found_error", "model not found", "does not exist", "no model", "not supported", "unsupported",
		}},
	}
}

// ErrorKind is the kind of an error: by its words, where they are known, else
// by the status that the provider answered with, or that stands first in them.
func ErrorKind(status int, text string) task.ErrorKind {
	lower := strings.ToLower(text)
	if status == 0 {
		status = leading(lower)
	}
	// A refused login is one whatever else is said of it, and where the status
	// says that something is wrong with the request, words in it may quote it.
	switch status {
	case 401, 403:
		if has(lower, task.Quota) {
			return task.Quota
		}
		return task.Auth
	case 402:
		return task.Quota
	case 429:
		if has(lower, task.Quota) {
			return task.Quota
		}
		return task.RateLimit
	case 408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529:
		return task.Overloaded
	}
	for _, w := range wordings() {
		if has(lower, w.kind) {
			return w.kind
		}
	}
	if status >= 500 {
		return task.Overloaded
	}
	if status >= 400 {
		return task.Invalid
	}
	return task.Other
}

func has(lower string, kind task.ErrorKind) bool {
	for _, w := range wordings() {
		if w.kind != kind {
			continue
		}
		for _, words := range w.any {
			if strings.Contains(lower, words) {
				return true
			}
		}
	}
	return false
}

// leading is the status of HTTP that a text begins with, or that stands near
// its beginning behind a word that says it is one; 0 for none.
func leading(lower string) int {
	words := strings.FieldsFunc(lower, func(r rune) bool { return strings.ContainsRune(" :(),\n", r) })
	for i, word := range words[:min(len(words), 8)] {
		if i > 0 && !slices.Contains([]string{"error", "http", "status", "code"}, words[i-1]) {
			continue
		}
		if n, err := strconv.Atoi(word); err == nil && len(word) == 3 && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}
