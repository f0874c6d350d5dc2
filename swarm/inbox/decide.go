package inbox

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"agentswarm/swarm/event"
)

// Decision is the meaning of a text that answers a question.
type Decision struct {
	Allow  bool
	Text   string // for the asking agent: an answer, or a remark beside a yes
	Reason string // for the agent, beside a no
}

// UnclearError is an answer to a request for permission that is neither a yes nor
// a no.
type UnclearError struct{ ID, Text string }

func (e *UnclearError) Error() string {
	return fmt.Sprintf("question %s asks for permission, and %q is neither yes nor no", e.ID, e.Text)
}

// Hint names the forms of an answer.
func (e *UnclearError) Hint() string {
	return "answer yes or no; `yes, TEXT` and `no, TEXT` also pass the text to the agent"
}

// Decide reads the text of an answer. A request for permission is allowed by an
// explicit yes alone, denied by a clear no, and anything else is an
// [*UnclearError]. Any text answers a question that asks for words.
func Decide(q *event.Questioned, text string) (Decision, error) {
	text = strings.TrimSpace(text)
	word, rest := cutWord(text)
	_, inquiry := InquiryOf(q)
	switch {
	case rest == "" && slices.Contains(yeses(), word):
		return Decision{Allow: true}, nil
	case rest == "" && slices.Contains(nos(), word) && (!inquiry || slices.Contains([]string{"n", "no"}, word)):
		return Decision{}, nil
	case inquiry:
		return Decision{Allow: true, Text: text}, nil
	case slices.Contains(nos(), word):
		if word == "no" || word == "n" {
			text = rest
		}
		return Decision{Reason: text}, nil
	case (word == "yes" || word == "y") && strings.ContainsAny(text[len(word):len(word)+1], ",.;:!"):
		return Decision{Allow: true, Text: rest}, nil
	default:
		return Decision{}, &UnclearError{ID: q.ID, Text: text}
	}
}

// yeses are the words that allow.
func yeses() []string { return []string{"y", "yes", "allow", "approve"} }

// nos are the words that deny, also at the beginning of a sentence: a wrong no
// does no harm.
func nos() []string {
	return []string{
		"n", "no", "nope", "nah", "never", "not", "dont", "don't", "don’t", "stop", "cancel", "abort", "deny", "denied", "reject", "refuse",
		"false", "wait", "hold",
	}
}

// cutWord is the first word of a text in lower case, and the text behind it and
// the punctuation that follows it. "do not" is the word "dont".
func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if end < 0 {
		return strings.ToLower(text), ""
	}
	word, rest = strings.ToLower(text[:end]), strings.TrimLeft(text[end:], " \t\n,.;:!-")
	if next, after := "", ""; word == "do" {
		if next, after = cutWord(rest); next == "not" {
			return "dont", after
		}
	}
	return word, rest
}
