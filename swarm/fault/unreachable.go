package fault

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
)

// Unreachable reports whether an error says that no server listens at the
// address of the model. It returns the address, or "" where the error has none.
func Unreachable(text string) (address string, ok bool) {
	if _, after, said := strings.Cut(text, down); said {
		address, _, _ = strings.Cut(after, ": ")
		return address, true
	}
	lower := strings.ToLower(text)
	if !Mentions(lower,
		"connection refused", "econnrefused", "connectionrefused", "unable to connect. is the computer able to access the url",
		// Codex and gemini keep the reason to themselves.
		"connection failed: error sending request", "fetch failed sending request",
	) {
		return "", false
	}
	m := addressed().FindStringSubmatch(text)
	if m == nil {
		return "", true
	}
	return strings.TrimRight(cmp.Or(m[1], m[2]), ".,;:)"), true
}

// addressed finds a URL or a host with a port.
var addressed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(https?://[^\s"'()<>]+)|\b((?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|localhost|\[[0-9a-f:]+\]):[0-9]{1,5})\b`)
})

// Nobody returns the message about a server that does not listen, from an error
// about it. It calls configured for the server's address where the error has
// none.
func Nobody(text string, configured func() string) string {
	address, ok := Unreachable(text)
	if !ok || strings.Contains(text, down) {
		return text
	}
	if address == "" {
		address = cmp.Or(configured(), "the address of its model")
	}
	return Down(address) + " (" + text + ")"
}

// loginFailed finds words about OAuth that say that a login failed. Addresses and
// the names of providers hold the word too.
var loginFailed = sync.OnceValue(func() *regexp.Regexp {
	const fails = `(?:expired|fail(?:ed|ure)|invalid|revoked|missing|required|not found|denied|rejected|could not|unable)`
	return regexp.MustCompile(`oauth[ -]?(?:2(?:\.0)? )?(?:access |refresh )?(?:token|session|authentication|authorization|login|credentials?)\b[^.\n]{0,60}\b` + fails +
		`|\b` + fails + `\b[^.\n]{0,20}\boauth\b|\boauth error\b`)
})
