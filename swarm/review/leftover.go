package review

import "slices"

// Removed are the words that the class takes away and does not put back: they
// should be nowhere in a tree that the class was fully applied to. Each entry
// is a sequence of words of a line. Edits that only add have none, as have
// those of white space.
func (c *Class) Removed() [][]string {
	var all [][]string
	for _, change := range c.Example.Changes() {
		if len(change.Removed) > 0 && len(change.Added) > 0 && hasWord(change.Removed) && !contains(change.Added, change.Removed) {
			all = append(all, change.Removed)
		}
	}
	return all
}

func hasWord(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		t, space := firstToken(w)
		return !space && t.sort == word
	})
}

// contains reports whether some words stand next to each other in a list.
func contains(list, words []string) bool {
	for i := 0; i+len(words) <= len(list); i++ {
		if slices.Equal(list[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// Holds reports whether a line holds a sequence of words, whatever white space
// is between them.
func Holds(line string, words []string) bool {
	tokens := appendTokens(nil, line)
	for i := 0; i+len(words) <= len(tokens); i++ {
		at := 0
		for at < len(words) && tokens[i+at].text == words[at] {
			at++
		}
		if at == len(words) {
			return true
		}
	}
	return false
}
