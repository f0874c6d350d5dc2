package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentswarm/swarm/stage"
)

// Namer is what a model is told of its part that names the commit of a change.
const Namer = "You name the commit of another agent's change and do nothing else. Answer at once from what you are shown; " +
	"use no tool."

// MaxSubject is how many characters a subject may have.
const MaxSubject = 72

// How much of a task a model is shown that names a change: its first lines, and
// of these so many tokens.
const (
	namedLines = 8
	namedMost  = 250
)

// SubjectPrompt asks for the subject of the commit of a change that somebody
// made for a task.
func SubjectPrompt(task string, m *Manifest) string {
	lines := strings.SplitN(strings.TrimSpace(task), "\n", namedLines+1)
	first := stage.Head(strings.TrimSpace(strings.Join(lines[:min(len(lines), namedLines)], "\n")), namedMost)
	return fmt.Sprintf("Name the commit of a change that another agent made: one line in the imperative of at most %d "+
		"characters that says what the change does, without a full stop, a trailer or a list of files.\n\n", MaxSubject) +
		"What it was asked:\n" + first + "\n\n" + m.changes()
}

// SubjectSchema is the JSON Schema of a subject.
func SubjectSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"subject":{"type":"string","description":"the first line of the commit message"}},` +
		`"required":["subject"],"additionalProperties":false}`)
}

// ReadSubject is the subject that a structured answer is. A model wrote it, who
// may have read anything: it is one line of characters that a log can show, and
// says nothing that git or a forge acts upon.
func ReadSubject(answer json.RawMessage) (string, error) {
	var a struct {
		Subject *string `json:"subject"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", errors.New("its answer is no subject")
	}
	if a.Subject == nil {
		return "", errors.New("its answer has no subject")
	}
	text := strings.Trim(*a.Subject, " ")
	if why := unfit(text); why != "" {
		return "", fmt.Errorf("the subject %s %s", strconv.QuoteToASCII(stage.Head(text, MaxSubject)), why)
	}
	return text, nil
}

// unfit says why a text is no subject; empty where it is one.
func unfit(text string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	switch {
	case text == "":
		return "is empty"
	case strings.ContainsFunc(text, hidden):
		return "has characters that a log cannot show, or more than a line"
	case utf8.RuneCountInString(text) > MaxSubject:
		return fmt.Sprintf("has more than %d characters", MaxSubject)
	case !strings.ContainsFunc(text, unicode.IsLetter):
		return "has no word"
	case strings.ContainsRune("-#", rune(text[0])):
		return "begins with " + text[:1]
	case trailer(text):
		return "is a trailer"
	case instructs(text):
		return "tells a tool what to do"
	case closes(text):
		return "closes an issue"
	}
	return ""
}

// trailer reports whether a line looks like one: a key of words with dashes
// between them, such as Signed-off-by, and a colon. What conventional commits
// begin with, such as fix(api):, has none.
func trailer(text string) bool {
	key, _, ok := strings.Cut(text, ":")
	return ok && strings.Contains(key, "-") && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// closes reports whether a forge would close an issue by a subject that lands:
// a word such as Fixes, and the number or the address of one behind it. Nobody
// asked the model to decide that.
func closes(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	for i, word := range words[:max(0, len(words)-1)] {
		switch strings.TrimRight(word, ":") {
		case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved", "implement", "implements":
			if issue(words[i+1]) {
				return true
			}
		}
	}
	return false
}

// issue reports whether a word in lower case names an issue: #1, me/it#1, gh-1,
// or an address.
func issue(word string) bool {
	for _, mark := range []string{"#", "gh-", "/issues/"} {
		_, number, ok := strings.Cut(word, mark)
		if ok && number != "" && unicode.IsDigit(rune(number[0])) {
			return true
		}
	}
	return false
}

// instructs reports whether tools read more in a subject than a name: a rebase
// that squashes by itself, or a server that leaves checks out.
func instructs(text string) bool {
	low := strings.ToLower(text)
	for _, word := range []string{"fixup!", "squash!", "amend!"} {
		if strings.HasPrefix(low, word) {
			return true
		}
	}
	for _, word := range []string{"[skip ", "[no ci]", "[ci skip]", "skip]", "***no_ci***", "skip-checks"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
