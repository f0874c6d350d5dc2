package nearest

import (
	"strings"
	"unicode/utf8"
)

// Name returns the name that word most likely means, or "" if none is near. A
// name that starts with the word counts as near if no other does. Otherwise a
// slip is allowed, and another for every four runes.
func Name(word string, names []string) string {
	if name := onlyPrefixed(word, names); name != "" {
		return name
	}
	length := utf8.RuneCountInString(strings.TrimLeft(word, "-"))
	best, limit := "", 1+length/4
	if length < 2 {
		return ""
	}
	for _, name := range names {
		if d := Distance(word, name); d <= limit && name != word {
			best, limit = name, d-1
		}
	}
	return best
}

func onlyPrefixed(word string, names []string) string {
	if len(strings.TrimLeft(word, "-")) < 2 {
		return ""
	}
	found := ""
	for _, name := range names {
		switch {
		case !strings.HasPrefix(name, word) || name == word:
		case found != "":
			return ""
		default:
			found = name
		}
	}
	return found
}
