package cmdline

import (
	"unicode/utf8"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/exit"
)

// CheckMessage refuses what no agent can be told. what is how a message calls it.
func CheckMessage(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return exit.Usagef("%s is not UTF-8", what)
	case len(text) > MaxFeedback:
		return exit.Usagef("%s is longer than %s", what, termtext.Bytes(MaxFeedback))
	}
	return nil
}

// MaxFeedback bounds what an agent is told, in bytes: it travels in one
// request and stays in every later prompt of the agent.
const MaxFeedback = 100 << 10
