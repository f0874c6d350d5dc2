package engine

import (
	"encoding/json"
	"strings"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/hook"
)

// actionOf reads an action that can be judged, as it is read from a hook; false
// where it is of some other form, or could be read in two ways.
func actionOf(text json.RawMessage) (ask.Action, bool) {
	all, err := hook.Plain.Read(text)
	if err != nil {
		return ask.Action{}, false
	}
	return all[0], true // the plain form names a single action
}

// veiled is an action as the journal has it and as people see it: without the
// secrets that can be told by their form. It is as it was where there are none.
func veiled(text json.RawMessage) json.RawMessage {
	a, ok := actionOf(text)
	if !ok {
		return text
	}
	hidden := a
	hidden.Command, hidden.Write, hidden.Target = veil(a.Command), veil(a.Write), veil(a.Target)
	hidden.Git = veilWords(a.Git)
	if whole, _ := json.Marshal(a); string(whole) == marshal(hidden) {
		return text
	}
	return json.RawMessage(marshal(hidden))
}

func marshal(a ask.Action) string {
	text, _ := json.Marshal(a) // texts always can be
	return string(text)
}

// active are the letters with a meaning to a shell or to git. Text with such a
// letter may be code that a person has to see before approval, even behind the
// name of a secret.
const active = "$`;|&<>(){}\\\"'!\n"

// veil takes the secrets out of a text for a shell, word by word.
func veil(text string) string {
	hidden := risk.Redact(text)
	if hidden == text {
		return text
	}
	var b strings.Builder
	last := ""
	for text != "" {
		blanks := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		b.WriteString(text[:blanks])
		if strings.Contains(text[:blanks], "\n") {
			last = "\n"
		}
		text, hidden = text[blanks:], hidden[blanks:]
		word, veiled := text[:wordEnd(text)], hidden[:wordEnd(hidden)]
		text, hidden = text[len(word):], hidden[len(veiled):]
		if shows(last, word, veiled) {
			veiled = word
		}
		b.WriteString(veiled)
		last = word
	}
	return b.String()
}

func wordEnd(text string) int {
	if at := strings.IndexAny(text, " \t\r\n"); at >= 0 {
		return at
	}
	return len(text)
}

// shows reports whether a word stays visible although it was taken for a
// secret: as code, or as the first word of a command. Text before it on the
// same line is no part of that command.
func shows(last, word, hidden string) bool {
	for _, letter := range active {
		if strings.Count(word, string(letter)) != strings.Count(hidden, string(letter)) {
			return true
		}
	}
	return risk.Redact(word) == word && (last == "\n" || strings.HasSuffix(last, "="))
}

// veilWords does the same for arguments: an argument may name the secret after
// it.
func veilWords(words []string) []string {
	var all []string
	for i, word := range words {
		hidden := veil(word)
		if i > 0 && !strings.ContainsAny(words[i-1]+word, " \t\r\n") {
			pair := strings.TrimPrefix(veil(words[i-1]+" "+word), veil(words[i-1])+" ")
			hidden = pair
		}
		all = append(all, hidden)
	}
	return all
}
