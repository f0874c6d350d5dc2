package pi

import (
	"bytes"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// events reads the lines of RPC mode.
type events struct {
	wire.Lines
	run run
}

func newEvents(spec *agent.Spec) *events {
	s := &events{run: run{spec: spec}}
	s.Lines = wire.Lines{Pass: passed, Read: s.run.read, Cut: s.run.cut}
	return s
}

// Brief drops the input and output of tools, and the text of unknown events.
func (s *events) Brief() { s.run.brief = true }

// passed reports by its beginning whether a line can be skipped. Most of pi's
// lines are pieces of its model's text and repeated messages. Other lines have
// all that counts of them.
func passed(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(`{"type":"`))
	if !ok {
		return false
	}
	name, rest, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return false
	}
	switch string(name) {
	case "message_update", "message_start", "turn_end", "agent_end", "tool_execution_update", "entry_appended":
		return true
	case "message_end":
		role, ok := bytes.CutPrefix(rest, []byte(`,"message":{"role":"`))
		return ok && !strings.HasPrefix("assistant", upToQuote(role))
	default:
		return false
	}
}

// upToQuote returns the text before the next quote.
func upToQuote(b []byte) string {
	name, _, _ := bytes.Cut(b, []byte{'"'})
	return string(name)
}
