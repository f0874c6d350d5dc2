package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentswarm/swarm/event"
)

// silent are parts of a turn that are no tools and say nothing of their own.
func silent(kind string) bool {
	switch kind {
	case "", "userMessage", "hookPrompt", "reasoning", "plan", "contextCompaction", "enteredReviewMode", "exitedReviewMode":
		return true
	}
	return false
}

// started reads the beginning of a part. All parts except the user's messages
// are the model's.
func (p *parser) started(i *item) []event.Event {
	if i.Type == "" || i.Type == "userMessage" || i.Type == "hookPrompt" {
		return nil
	}
	found := p.models(nil)
	if i.Type == "agentMessage" || silent(i.Type) {
		return found
	}
	return p.begin(found, i)
}

// begin tells of a tool.
func (p *parser) begin(found []event.Event, i *item) []event.Event {
	if p.tools == nil {
		p.tools = map[string]bool{}
	}
	p.tools[i.ID] = true
	start := &event.ToolStart{ID: i.ID, Name: i.name()}
	if !p.brief {
		start.Input = i.input()
	}
	return append(found, start)
}

// completed is the end of a part.
func (p *parser) completed(i *item) []event.Event {
	if i.Type == "agentMessage" {
		found := p.models(nil)
		p.answer = i.Text
		if i.Text == "" {
			return found
		}
		return append(found, &event.Text{Text: i.Text})
	}
	if silent(i.Type) {
		return nil
	}
	var found []event.Event
	if !p.tools[i.ID] {
		found = p.begin(p.models(nil), i)
	}
	delete(p.tools, i.ID)
	end := &event.ToolEnd{ID: i.ID, OK: i.ok()}
	if !p.brief {
		end.Output = i.outcome()
	}
	return append(found, end)
}

// name is the tool's. Those that all agents have go by our name.
func (i *item) name() string {
	switch i.Type {
	case "commandExecution":
		return "bash"
	case "fileChange":
		return "edit"
	case "mcpToolCall":
		return "mcp__" + i.Server + "__" + i.Tool
	case "webSearch":
		return "web_search"
	case "imageView":
		return "read"
	}
	if i.Tool != "" {
		return i.Tool
	}
	return i.Type
}

// input returns the input of the tool.
func (i *item) input() json.RawMessage {
	switch i.Type {
	case "commandExecution":
		return object{"command": i.Command, "cwd": i.Cwd}.json()
	case "fileChange":
		return object{"changes": i.Changes}.json()
	case "webSearch":
		return object{"query": i.Query}.json()
	}
	return bytes.Clone(i.Arguments)
}

// ok reports whether it went well. Tools without a status just end.
func (i *item) ok() bool {
	return (i.Status == "completed" || i.Status == "") && (i.Exit == nil || *i.Exit == 0) && empty(i.Error)
}

// outcome returns the result of the tool.
func (i *item) outcome() json.RawMessage {
	switch {
	case i.Type == "commandExecution":
		output := i.Output
		if empty(output) {
			output = json.RawMessage(`""`)
		}
		return object{"output": output, "exit_code": i.Exit, "status": i.Status}.json()
	case !empty(i.Error):
		return object{"error": i.Error}.json()
	case !empty(i.Result):
		return bytes.Clone(i.Result)
	case i.Status != "":
		return object{"status": i.Status}.json()
	}
	return nil
}

func empty(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// cut reads the beginning of a line that was too long to be kept: as a rule the
// tool that ended, and its status.
func (p *parser) cut(head []byte) []event.Event {
	if len(bytes.TrimSpace(head)) == 0 {
		return nil
	}
	field := func(name string) string {
		_, rest, _ := bytes.Cut(head, []byte(`"`+name+`":"`))
		value, _, ended := bytes.Cut(rest, []byte{'"'})
		if !ended {
			return ""
		}
		return string(value)
	}
	i := item{Type: field("type"), ID: field("id"), Status: field("status")}
	switch method := field("method"); {
	case method == "item/started" && i.ID != "":
		return p.started(&i)
	case method == "item/completed" && i.ID != "":
		return p.completed(&i)
	case method == "" || known(method):
		return nil
	}
	return []event.Event{&event.Text{Text: strings.ToValidUTF8(string(head[:min(len(head), 1024)]), "\uFFFD") + " … (line too long)"}}
}
