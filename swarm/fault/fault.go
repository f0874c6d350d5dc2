// Package fault classifies the errors of providers of models, and of the CLIs
// that call them. It owns the words and statuses of each kind of error, and the
// errors that another model may not have. It waits for nothing and retries
// nothing.
package fault

import (
	"slices"
	"strconv"
	"strings"

	"agentswarm/swarm/task"
)

// wording are the texts of a kind of error, in lower case.
type wording struct {
	kind task.ErrorKind
	any  []string
}

// wordings are those that are known, those that tell more first: a quota that
// is used up is told with the status of a rate limit.
func wordings() []wording {
	return []wording{
		{task.Quota, usedUp()},
		{task.Auth, []string{
			"authentication_error", "permission_error", "invalid api key", "invalid_api_key", "invalid x-api-key", "api key not valid", "api_key_invalid",
			"incorrect api key", "no api key", "authentication failed", "unauthorized", "token refresh",
			"re-authenticate", "credentials may have expired", "could not resolve authentication",
			"not logged in", "log in again", "refresh token", "missing environment variable",
		}},
		{task.RateLimit, append(throttled(),
			"rate_limit", "rate limit", "ratelimit", "too many requests", "resource_exhausted", "resourceexhausted", "status: 429", "retry delay")},
		{task.Overloaded, []string{
			"overloaded", "service unavailable", "service_unavailable", "high demand", "internal server error", "server had an error", "server_error",
			"internal_error", "api_error", "bad gateway", "gateway timeout", "timed out", "timeout", "connection error",
			"connection refused", "connection reset", "connection lost", "connection failed", "error sending request", "stream disconnected", "at capacity", "econnrefused", "econnreset", "fetch failed", "socket hang up",
			"socket connection was closed", "other side closed", "network error", "ended without",
			"stream ended before", "enotfound", "eai_again", "getaddrinfo", "upstream connect", "reset before headers",
		}},
		{task.Refused, []string{"content policy", "content_policy", "content filter", "content_filter", "safety", "refused to", "refusal", "usage policy"}},
		{task.Invalid, append(tooLong(),
			"invalid_request", "invalid request", "invalid_prompt", "bad request", "not_found_error", "model not found", "does not exist", "no model",
			"not supported", "unsupported", "invalid_json_schema", "no rollout found", "unknown variant", "thread not found")},
	}
}

// usedUp are the words for a quota that is used up.
func usedUp() []string {
	return []string{
		"insufficient_quota", "quota exceeded", "exceeded your current quota", "usage limit", "usagelimit",
		"credit balance", "billing", "out of budget", "available balance", "insufficient balance",
		"insufficient credits", "out of credits", "have exhausted your", "spending limit", "payment required", "usage_limit_reached",
	}
}

// tooLong are the words for a conversation that does not fit into a model.
func tooLong() []string {
	return []string{
		"context length", "context_length", "context window", "context size", "context limit", "prompt is too long", "input is too long",
		"maximum context", "maximum prompt length", "maximum number of tokens", "reduce the length", "request_too_large", "too many tokens",
		"contextwindow", "contextoverflow", "longer than what the model takes",
	}
}

// throttled are the words by which Bedrock says that there were too many tokens
// for now, and not for the model.
func throttled() []string { return []string{"throttl", "please wait before trying again"} }

// TooLong reports whether an error says that a conversation does not fit into
// its model. Providers say some of these words of a rate limit, too.
func TooLong(status int, text string) bool {
	return status == 413 || status != 429 && Mentions(text, tooLong()...) && !Mentions(text, throttled()...)
}

// down begins the message about a server that is not there.
const down = "no server answers at "

// Down returns the message that no server listens at an address.
func Down(address string) string { return down + address + ": is the server started?" }

// OfModel reports by the words of a refusal whether the request was refused for
// its model or for its size. Another model may take the same request then; a
// malformed request fails with every model. A server that is not there has only
// its own models.
func OfModel(text string) bool {
	return TooLong(0, text) || Mentions(text, down, "no endpoints found", "modelnotfound", "model_not_found") ||
		Mentions(text, "model") && Mentions(text,
			"not found", "not_found", "not exist", "unknown", "invalid model", "not a valid", "no such", "no model", "not supported", "not support",
			"unsupported", "not available", "unavailable", "deprecated", "decommissioned", "retired", "access", "not allowed", "cannot think")
}

// Kind is the kind of an error: by its words, where they are known, else by the
// status that the provider answered with, or that stands first in them.
func Kind(status int, text string) task.ErrorKind {
	lower := strings.ToLower(text)
	if status == 0 {
		status = leading(lower)
	}
	// A refused login stays a refused login, whatever else the text says.
	switch status {
	case 401, 403:
		if Mentions(lower, usedUp()...) {
			return task.Quota
		}
		return task.Auth
	case 402:
		return task.Quota
	case 429:
		if Mentions(lower, usedUp()...) && !forNow(lower) {
			return task.Quota
		}
		return task.RateLimit
	case 408, 409, 425:
		return task.Overloaded
	}
	switch {
	case status > 0 && TooLong(status, lower): // some local servers say it with 500
		return task.Invalid
	case status >= 500:
		return task.Overloaded
	}
	for _, w := range wordings() {
		// Where something is wrong with the request, words may quote it.
		if status >= 400 && w.kind == task.Overloaded {
			continue
		}
		if w.kind == task.Quota && status == 0 && forNow(lower) {
			w.kind = task.RateLimit
		}
		if Mentions(lower, w.any...) || w.kind == task.Auth && loginFailed().MatchString(lower) ||
			w.kind == task.Overloaded && terminated(lower) {
			return w.kind
		}
	}
	if status >= 400 {
		return task.Invalid
	}
	return task.Other
}

// forNow reports whether a text is about a limit for a minute or a second, and
// not for a day. For both Google reports an exceeded quota, advises to check
// the billing, and names a time to retry.
func forNow(lower string) bool {
	return per(lower, "min", "sec") && !per(lower, "day", "month") && !strings.Contains(lower, "daily")
}

// per reports whether a text has something for each of some units of time, in
// whichever way that is written.
func per(lower string, units ...string) bool {
	return slices.ContainsFunc(units, func(unit string) bool {
		return Mentions(lower, "per"+unit, "per "+unit, "per_"+unit, "per-"+unit)
	})
}

// Mentions reports whether a text contains one of some words, which are in
// lower case. It ignores the case of the text.
func Mentions(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// leading returns the HTTP status that a text begins with, or that follows a
// word such as "status" near its beginning; 0 for none.
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
