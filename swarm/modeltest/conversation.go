package modeltest

import (
	"crypto/sha256"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// conversation is the content of a request, in no dialect.
type conversation struct {
	model  string
	stream bool
	system string
	said   []said
	tools  []offer
	// schema is there where the request asks for an answer of that form.
	schema json.RawMessage
	// prompt is the text that a provider looks up in its cache, in its order:
	// tools, system, messages.
	prompt []byte
	// counted is that the stream is to end with its usage (Chat Completions).
	counted bool
	// uncached says that the request does not ask for the cache although the
	// API needs it.
	uncached bool
}

func (c *conversation) append(by speaker, texts ...string) {
	for _, text := range texts {
		c.said = append(c.said, said{by: by, text: text})
	}
}

// said is an item of a conversation, in order.
type said struct {
	by   speaker
	text string
	// tool is the name of the called tool, if it is known.
	tool string
}

type speaker int

const (
	byUser speaker = iota + 1
	byModel
	byCall
	byResult
)

// offer is a tool that a request offers.
type offer struct {
	name string
	// space is the namespace it is in (Responses).
	space string
	// free is that it takes a text and not JSON.
	free   bool
	schema shape
}

// user is the last words of the user, and how many results came since.
func (c *conversation) user() (text string, since int) {
	for i := len(c.said) - 1; i >= 0; i-- {
		switch s := c.said[i]; {
		case s.by == byResult:
			since++
		case s.by == byUser && !added(s.text):
			return s.text, since
		}
	}
	return "", since
}

// added reports whether a client added a text to the words of the user on its
// own.
func added(text string) bool {
	text = strings.TrimSpace(text)
	for _, begin := range []string{
		"<system-reminder>", "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<session_context>",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return text == ""
}

func (c *conversation) results() int {
	n := 0
	for _, s := range c.said {
		if s.by == byResult {
			n++
		}
	}
	return n
}

// result is the text of the last result.
func (c *conversation) result() string {
	for i := len(c.said) - 1; i >= 0; i-- {
		if c.said[i].by == byResult {
			return c.said[i].text
		}
	}
	return ""
}

// called tells whether the last call was of the tool and has its result.
func (c *conversation) called(tool string) bool {
	done := false
	for i := len(c.said) - 1; i >= 0; i-- {
		switch s := c.said[i]; s.by {
		case byResult:
			done = true
		case byCall:
			return done && s.tool == tool
		case byUser:
			if !done && !added(s.text) {
				return false
			}
		case byModel:
		}
	}
	return false
}

func (c *conversation) offered(name string) *offer {
	for i := range c.tools {
		if c.tools[i].name == name {
			return &c.tools[i]
		}
	}
	return nil
}

// folder is where the client says that it works, as each of them words it.
func (c *conversation) folder() string {
	for _, text := range c.words() {
		if m := folderPattern().FindStringSubmatch(text); m != nil {
			return strings.TrimRight(m[1], ".")
		}
	}
	return ""
}

// folderPattern: pi and claude, codex, gemini and qwen, opencode.
var folderPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		"(?i)(?:<cwd>|working directory: *|working in the directory: *|workspace directories:\\*{0,2}\\s*-? *)`?(/[^\\s<`\"]*)")
})

func (c *conversation) words() []string {
	words := []string{c.system}
	for _, s := range c.said {
		if s.by == byUser {
			words = append(words, s.text)
		}
	}
	return words
}

// digest is the same for a conversation that is sent again.
func (c *conversation) digest() [sha256.Size]byte {
	return sha256.Sum256(append([]byte(c.model+"\x00"), c.prompt...))
}
