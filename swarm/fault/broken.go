package fault

import "strings"

// Broken reports whether an error says that a connection to a provider broke or
// fell silent, and says nothing of a refusal. Other requests may go well then.
func Broken(text string) bool {
	return leading(text) == 0 && (terminated(text) || Mentions(text,
		"connection reset", "connection lost", "connection closed", "connection was closed", "connection was dropped", "econnreset",
		"stream disconnected", "stream ended before", "ended without", "socket hang up", "other side closed",
		"unexpected eof", "error decoding response body", "idle timeout",
	)) && !Mentions(text,
		"overloaded", "high demand", "at capacity", "unavailable", "server error", "server had an error", "bad gateway", "gateway timeout",
		"connection refused", "upstream connect",
	)
}

// terminated reports whether a text ends with the whole message "terminated",
// by which undici, the HTTP client of Node.js, reports a response that was cut
// off. Inside of a sentence the word has other meanings.
func terminated(text string) bool {
	text = strings.ToLower(strings.TrimRight(text, " .)]\n"))
	return text == "terminated" || strings.HasSuffix(text, ": terminated") || strings.HasSuffix(text, "; terminated")
}
