package codex

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/schema"
)

// The ids of requests to the agent, which its answers repeat.
const (
	idHello  = 0 // initialize
	idThread = 1 // a new conversation, or a fork
	idTurn   = 2 // the prompt, or a later prompt
	idSteer  = 3 // a word while it works
)

// talk is the sender of messages to one agent. The messages depend on the
// agent's reports of its conversation.
type talk struct {
	request agent.Request

	mu     sync.Mutex // guards the fields below: people steer from other goroutines
	thread string     // the conversation; empty until it is known
}

// message is a message of JSON-RPC, which codex speaks without a version.
type message struct {
	ID     any    `json:"id,omitempty"`
	Method string `json:"method,omitempty"`
	Params any    `json:"params,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  any    `json:"error,omitempty"`
}

// object is an object of JSON.
type object map[string]any

// unwanted are notices that repeat known facts, some of them at length.
func unwanted() []string {
	return []string{
		"thread/started", "thread/status/changed", "thread/settings/updated", "turn/diff/updated",
		"remoteControl/status/changed", "skills/changed", "hook/started", "rawResponseItem/completed", "item/fileChange/outputDelta",
	}
}

// begin asks for a conversation.
func (t *talk) begin() []byte {
	r := &t.request
	can := object{"optOutNotificationMethods": unwanted()}
	if _, parts := policy(r).(table); parts {
		can["experimentalApi"] = true // a policy in parts needs it
	}
	hello := line(message{ID: idHello, Method: "initialize", Params: object{
		"clientInfo": object{"name": "swarm", "title": "swarm", "version": "1"}, "capabilities": can,
	}})
	// The settings of config.toml do not reach a fork, which continues with its
	// parent's.
	params := object{"approvalPolicy": policy(r), "sandbox": sandbox(r)}
	if r.Spec.Model != "" {
		params["model"] = r.Spec.Model
	}
	if len(r.Hook) > 0 {
		params["config"] = object{"bypass_hook_trust": true}
	}
	method := "thread/start"
	if r.Parent != "" {
		method = "thread/fork"
		params["threadId"], params["excludeTurns"], params["cwd"] = r.Parent, true, "."
	}
	return append(append(hello, line(message{Method: "initialized"})...),
		line(message{ID: idThread, Method: method, Params: params})...)
}

// respond gives the agent its prompt once there is a conversation. It refuses
// requests of the agent that swarm cannot answer, and ends the agent after an
// error.
func (t *talk) respond(e event.Event) (text []byte, last bool) {
	switch e := e.(type) {
	case *event.Session:
		t.mu.Lock()
		begun := t.thread != ""
		if !begun {
			t.thread = e.ID
		}
		t.mu.Unlock()
		if begun {
			return nil, false
		}
		return t.turn(idTurn, t.request.Prompt), false
	case *event.Erred:
		return nil, true
	case *event.Raw:
		return answerAlone(e.Line), false
	default:
		return nil, false
	}
}

// turn is something for the model to do. While it does something already it is
// a word about that.
func (t *talk) turn(id int, text string) []byte {
	t.mu.Lock()
	thread := t.thread
	t.mu.Unlock()
	params := object{"threadId": thread, "input": []object{{"type": "text", "text": text}}}
	if effort := t.request.Spec.Effort; effort != "" {
		params["effort"] = effort
	}
	// A schema that is not strict is asked for in the prompt alone.
	if schema.Strict(t.request.Schema) {
		params["outputSchema"] = t.request.Schema
	}
	return line(message{ID: id, Method: "turn/start", Params: params})
}

func (t *talk) again(text string) []byte { return t.turn(idTurn, text) }

func (t *talk) steer(text string) []byte { return t.turn(idSteer, text) }

// approvals returns the values of yes and no for the agent's requests that ask
// for permission. Codex asks about commands that a rule names, see [policy],
// and about nothing else.
func approvals(method string) (yes, no string, known bool) {
	switch method {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		return "accept", "decline", true
	case "execCommandApproval", "applyPatchApproval":
		return "approved", "denied", true
	default:
		return "", "", false
	}
}

// asked returns the key of a question: its method and its id.
func asked(method string, id json.RawMessage) string { return method + " " + string(id) }

// reply answers a question. Codex takes no text with a yes, so that is a
// message of its own.
func (t *talk) reply(r agent.Reply) []byte {
	method, id, _ := strings.Cut(r.Ask, " ")
	if method == inquiryMethod {
		return t.replyInquiry(id, r)
	}
	yes, no, known := approvals(method)
	if !known || !json.Valid([]byte(id)) {
		return nil
	}
	decision := no
	if r.Allow {
		decision = yes
	}
	text := line(message{ID: json.RawMessage(id), Result: object{"decision": decision}})
	if r.Text != "" {
		text = append(text, t.steer(r.Text)...)
	}
	return text
}

// answerAlone answers a request of codex that no person is asked about: it accepts
// a command that the hook has passed, and refuses anything unknown, which would
// wait for its answer. It is nil where the line is no request.
func answerAlone(text []byte) []byte {
	var asks struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(text, &asks) != nil || len(asks.ID) == 0 || asks.Method == "" {
		return nil
	}
	if yes, _, known := approvals(asks.Method); known {
		return line(message{ID: asks.ID, Result: object{"decision": yes}})
	}
	return line(message{ID: asks.ID, Error: object{"code": -32601, "message": "no person can be asked here"}})
}

func line(m message) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("codex: a message of plain values does not marshal: %v", err))
	}
	return append(text, '\n')
}

func (o object) json() json.RawMessage {
	text, err := json.Marshal(o)
	if err != nil {
		return nil // a part of it was no JSON
	}
	return text
}
