package modeltest

import (
	"fmt"
	"strings"
)

// answer is a turn for a single request.
type answer struct {
	serial   int
	model    string
	thinking string
	text     []string
	calls    []call
	usage    Usage
	stop     Stop
}

// newAnswer makes an answer to the request with this number out of a turn.
func newAnswer(c *conversation, turn Turn, serial int) *answer {
	a := &answer{serial: serial, model: turn.As, thinking: turn.Thinking, text: turn.Text, stop: turn.Stop}
	if a.model == "" {
		a.model = c.model
	}
	for _, to := range turn.Calls {
		a.calls = append(a.calls, resolve(c, to))
	}
	if turn.Answer != nil {
		a.give(c, string(turn.Answer))
	}
	switch {
	case a.stop != "":
	case len(a.calls) > 0:
		a.stop = StopCalls
	default:
		a.stop = StopEnd
	}
	return a
}

func (a *answer) give(c *conversation, value string) {
	for _, name := range answerTools() {
		switch {
		case c.offered(name) == nil || c.schema != nil:
		case c.called(name):
			a.text = []string{"answered"}
			return
		default:
			a.calls = append(a.calls, call{name: name, args: value})
			return
		}
	}
	a.text = []string{value}
}

func (a *answer) words() string { return strings.Join(a.text, "") }

func (a *answer) id(prefix string) string { return fmt.Sprintf("%s%08d", prefix, a.serial) }

// callID returns an id that no other answer of this server has.
func (a *answer) callID(prefix string, i int) string {
	return fmt.Sprintf("%s%08d%02d", prefix, a.serial, i)
}

// size returns the size of the model's output.
func (a *answer) size() int {
	n := len(a.thinking) + len(a.words())
	for _, c := range a.calls {
		n += len(c.name) + len(c.args)
	}
	return n
}

// count sets the usage of an answer: that of the script, or an estimate. The
// estimate counts the cached bytes of the prompt as read from the cache.
func (a *answer) count(c *conversation, turn Turn, cached int) {
	if turn.Usage != nil {
		a.usage = *turn.Usage
		return
	}
	a.usage = Usage{
		Input:     max(1, tokens(len(c.prompt))-tokens(cached)),
		CacheRead: tokens(cached),
		Output:    max(1, tokens(a.size())),
	}
}

func tokens(bytes int) int { return bytes / 4 }
