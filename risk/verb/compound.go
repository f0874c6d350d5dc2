package verb

import (
	"strings"
	"unicode"
)

// maxWord is the longest word that is read as a verb, in bytes.
const maxWord = 80

// parts splits a compound at dashes, colons, dots, underscores and humps, in
// lower case: "admin-delete-user", "apps:destroy", "deleteBucket".
func parts(word string) []string {
	var all []string
	start, before := 0, rune(0)
	end := func(at int) {
		if at > start {
			all = append(all, strings.ToLower(word[start:at]))
		}
	}
	for i, r := range word {
		switch {
		case r == '-' || r == ':' || r == '.' || r == '_':
			end(i)
			start = i + 1
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end(i)
			start = i
		}
		before = r
	}
	end(len(word))
	return all
}

// compound reads a word of several parts. It returns the verb in it, and the
// parts that are its object.
func (c *class) compound(t *Tables, word string, all []string) (verb string, object []string) {
	if strings.Contains(word, "_") && !c.strong[all[0]] { // "release_name" is a placeholder
		return "", nil
	}
	if t.compounds[all[0]] && !t.before[all[0]] && !c.first[all[0]] {
		return "", nil
	}
	n := len(all) - 1
	switch {
	case c.strong[all[0]], c.first[all[0]]:
		return all[0], all[1:]
	case n > 0 && t.before[all[0]] && (c.strong[all[1]] || c.first[all[1]] || c.last[all[1]]):
		return all[1], all[2:]
	case c.strong[all[n]], c.last[all[n]]:
		return all[n], all[:n]
	}
	return "", nil
}

// gluedVerb reads a word that begins or ends with a verb without a separator:
// "deletevm", "rrdelete", "delsnapshot".
func (c *class) gluedVerb(word string) (verb string, object []string) {
	for _, v := range c.glued {
		rest, ok := strings.CutPrefix(word, v)
		if ok && len(rest) > 1 && rest != "rs" {
			return v, []string{rest}
		}
	}
	for _, v := range c.behind {
		rest, ok := strings.CutSuffix(word, v)
		if ok && len(rest) > 1 && rest != "un" {
			return v, []string{rest}
		}
	}
	for _, v := range c.short {
		for _, cut := range []func(string, string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
			if rest, ok := cut(word, v); ok && c.nouns[rest] {
				return v, []string{rest}
			}
		}
	}
	return "", nil
}
