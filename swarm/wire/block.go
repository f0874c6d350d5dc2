package wire

import (
	"encoding/json"

	"agentswarm/swarm/event"
)

// Block is a part of a message, as several CLIs write it: in the form of
// Anthropic's API.
type Block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	For     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError Flag            `json:"is_error"`
}

// Blocks are the parts of a message, which may also be no more than a text.
func Blocks(content json.RawMessage) []Block {
	var all []Block
	if !Decode(content, &all) {
		return nil
	}
	return all
}

// Start is a block that calls a tool. Brief readers do not get the input.
func (b *Block) Start(brief bool) *event.ToolStart {
	start := &event.ToolStart{ID: b.ID, Name: b.Name}
	if !brief {
		start.Input = Copy(b.Input)
	}
	return start
}

// Ends are the results of tools, among the parts of a message.
func Ends(content json.RawMessage, brief bool) (found []event.Event) {
	for _, b := range Blocks(content) {
		if b.Type != "tool_result" {
			continue
		}
		end := &event.ToolEnd{ID: b.For, OK: !bool(b.IsError)}
		if !brief {
			end.Output = Copy(b.Content)
		}
		found = append(found, end)
	}
	return found
}
