package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"agentswarm/swarm/stage"
)

// Namer is the instruction for a model that names the commit of a change.
const Namer = "You name the commit of another agent's change and do nothing else. Answer at once from what you are shown; " +
	"use no tool."

// MaxSubject is the number of characters that a subject may have.
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

// ReadSubject returns the subject of a structured answer. A model wrote it, who
// may have read anything. So it must be a line of characters that a log can
// show, without text that git or a forge acts upon. It returns an error for any
// other answer.
func ReadSubject(answer json.RawMessage) (string, error) {
	var a struct {
		Subject *string `json:"subject"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", errors.New("its answer is not a subject")
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

// unfit returns why a text is no subject; empty: it is a subject.
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
	case instruction().MatchString(text):
		return "tells a tool what to do"
	case merging().MatchString(text):
		return "says that it merges something"
	case closing().MatchString(text), closesKey(text):
		return "closes an issue, or opens it again"
	case commands(text):
		return "tells a tracker what to do"
	}
	return ""
}

// trailer reports whether a line looks like a trailer: a key of words with
// dashes between them, such as Signed-off-by, and a colon. The start of a
// conventional commit, such as fix(api):, has no dashes.
func trailer(text string) bool {
	key, _, ok := strings.Cut(text, ":")
	return ok && strings.Contains(key, "-") && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// closing matches text that makes a forge close an issue, or open it again,
// once it lands: the words that GitHub, GitLab, Gitea and Bitbucket take for
// that, with any text around them, and behind them an issue such as #1,
// me/it#1, GH-1 or an address. The model has no authority to decide that.
var closing = sync.OnceValue(func() *regexp.Regexp {
	const (
		verb  = `(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|reopen(?:s|ed|ing)?)`
		noun  = `(?:(?:issue|bug)s?[^\pL\pN]+)?`
		issue = `(?:gh-\d|[\pL\pN/:.@~_%-]*(?:[#!]|/(?:issues|work_items|pulls?|merge_requests)/)\d)`
	)
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])` + verb + `[^\pL\pN]+` + noun + issue)
})

// merging matches the subjects of merges by git, GitHub, Bitbucket and Azure: a
// change without a review must not look like a reviewed change.
var merging = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:merge +(?:pull +request|branch|remote-tracking|(?:tag|commit) +')|merged +(?:in|pr) )`)
})

// key is an issue of a tracker beside the forge, such as PROJ-12. Such keys are
// of capitals, so a name such as level-2 is no key.
const key = `[A-Z][A-Z0-9_]+-\d+\b`

// closesKey reports whether a text closes an issue by its key: Jira, Linear and
// YouTrack find such keys in landed commits. A word may close many.
func closesKey(text string) bool {
	for _, keys := range closingKeys().FindAllStringSubmatch(text, -1) {
		if slices.ContainsFunc(oneKey().FindAllString(keys[1], -1), tracked) {
			return true
		}
	}
	return false
}

var closingKeys = sync.OnceValue(func() *regexp.Regexp {
	const (
		verb = `(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|complet(?:e[sd]?|ing)|reopen(?:s|ed|ing)?)`
		noun = `(?:(?:issue|bug|ticket)s?[^\pL\pN]+)?`
		more = `(?:[^\pL\pN]+(?:(?i:and)[^\pL\pN]+)?` + key + `)*`
	)
	return regexp.MustCompile(`(?:^|[^\pL\pN])(?i:` + verb + `[^\pL\pN]+` + noun + `)(` + key + more + `)`)
})

var oneKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b` + key) })

// commands reports whether a text has a tracker act on an issue: Jira takes a
// word such as #close anywhere behind a key, and YouTrack takes the words after
// a key that # or ^ marks.
func commands(text string) bool {
	for _, at := range oneKey().FindAllStringIndex(text, -1) {
		marked := at[0] > 0 && strings.ContainsRune("#^", rune(text[at[0]-1]))
		if tracked(text[at[0]:at[1]]) && (marked && ordered().MatchString(text[at[1]:]) || hashed().MatchString(text[at[1]:])) {
			return true
		}
	}
	return false
}

var (
	ordered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\pL\pN]* \pL`) })
	hashed  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\pL\pN])#\pL`) })
)

// tracked reports whether a text in the form of an issue's key may be such a
// key. A well-known name of that form is no key: to fix UTF-8 closes nothing.
func tracked(key string) bool {
	name, _, _ := strings.Cut(key, "-")
	switch name {
	case "UTF", "UCS", "ISO", "IEC", "IEEE", "ECMA", "ANSI", "ASCII", "LATIN", "CP", "RFC", "PEP", "CVE", "CWE", "BASE", "UTC", "GMT",
		"SHA", "SHA2", "SHA3", "MD", "CRC", "AES", "DES", "RSA", "ECDSA", "HMAC", "HTTP", "TLS", "IP", "IPV", "ARM", "X86", "GPT":
		return false
	}
	return true
}

// instruction matches text that makes a tool do more than show a subject: a
// rebase that squashes by itself, or a server that leaves checks out. Each
// server has spellings of its own, such as [skip ci], [skip-ci] and
// ***NO_CI***.
var instruction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:fixup|squash|amend)!|\[[^\[\]]*(?:skip|\bno[ _-]*ci\b)[^\[\]]*\]|` +
		`\*no[ _-]*ci\*|skip-checks|--(?:skip-ci|ci-skip)\b`)
})
