package agent

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Origin returns the scheme, host and port of a URL, which hold no credentials; ""
// if the text is no such URL.
func Origin(text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Address returns the server of a model, as the user's set-up names it; "" if it
// names none.
func (l Login) Address(model string) string {
	provider, _, _ := strings.Cut(model, "/")
	return Origin(cmp.Or(l.Addresses[model], l.Addresses[provider], l.Addresses[""]))
}

// With returns the surroundings with variables of an agent's own. A value $NAME is
// that of another variable.
func (s Surroundings) With(own map[string]string) Surroundings {
	getenv := s.Getenv
	s.Getenv = func(name string) string {
		value, declared := own[name]
		if !declared {
			return getenv(name)
		}
		if ref, ok := strings.CutPrefix(value, "$"); ok && isName(ref) {
			return getenv(ref)
		}
		return value
	}
	return s
}

// Blocks reports whether the program of the kind refuses to connect to an address:
// fetch of node does so for ports of other protocols. It names no reason, and tries
// for minutes.
func (k Kind) Blocks(address string) bool {
	u, err := url.Parse(address)
	return err == nil && k.Fetches && slices.Contains(blockedPorts(), u.Port())
}

// blockedPorts returns the bad ports of the fetch standard.
func blockedPorts() []string {
	return strings.Fields(`1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113
		115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601
		636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`)
}
