package cmdline

import (
	"unicode/utf8"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/exit"
)

// CheckMessage returns a usage error for a text that no agent can get. what is
// the name of the text in the message.
func CheckMessage(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return exit.Usagef("%s is not UTF-8", what)
	case len(text) > MaxFeedback:
		return exit.Usagef("%s is longer than %s", what, termtext.Bytes(MaxFeedback))
	}
	return nil
}

// MaxFeedback bounds a message to an agent, in bytes: it travels in a single
// request and stays in every later prompt of the agent.
const MaxFeedback = 100 << 10
