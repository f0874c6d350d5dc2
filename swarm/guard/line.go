package guard

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line returns the call as text for a shell, with the variables that change
// where the program works or which programs it runs.
func (r *Request) line() string {
	var words []string
	for _, kv := range r.Environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && matters(r.Name, name) {
			words = append(words, name+"="+quote(value))
		}
	}
	slices.Sort(words) // in no order of the environment's: the same is asked once
	words = append(words, quote(r.Name))
	for _, word := range r.Argv[1:] {
		words = append(words, quote(word))
	}
	return strings.Join(words, " ")
}

// matters reports whether a variable changes the judgement of a program. Only
// the agent, or git itself, puts variables of git into the environment of an
// agent.
func matters(program, name string) bool {
	if !isName(name) {
		return false
	}
	switch program {
	case "git":
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_AUTHOR_") &&
			!strings.HasPrefix(name, "GIT_COMMITTER_") && name != "GIT_TERMINAL_PROMPT"
	case "gh":
		return name == "GH_REPO" || name == "GH_HOST"
	case "glab":
		return name == "GITLAB_HOST" || name == "GITLAB_REPO"
	}
	return false
}

func isName(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// quote returns a word as a shell reads it, in the plainest form. Characters
// that the text of a question cannot hold are written as bytes.
func quote(word string) string {
	switch {
	case word == "":
		return "''"
	case !utf8.ValidString(word) || strings.ContainsFunc(word, hidden):
		return bytesOf(word)
	case strings.ContainsFunc(word, special):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// hidden reports whether a character is not to be seen in a text.
func hidden(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsPrint(c) }

// special reports whether a shell may take a character for more than itself.
func special(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./:,@%+=", c)
}

// bytesOf is a word by the numbers of its bytes, but for letters.
func bytesOf(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(word) {
		if c < utf8.RuneSelf && !special(rune(c)) {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, `\%03o`, c)
	}
	b.WriteString("'")
	return b.String()
}
