package activity

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxTarget bounds the target of a tool, in bytes.
const maxTarget = 400

// targets are the keys under which tools of agent CLIs name their targets, the
// most telling first.
func targets() []string {
	return []string{
		"file_path", "filePath", "path", "notebook_path", "absolute_path", "command", "cmd", "script",
		"pattern", "query", "url", "description", "prompt", "text",
	}
}

// toolText is a tool and its target on a single line.
func toolText(name string, input json.RawMessage) string {
	return strings.TrimSpace(strings.Join(strings.Fields(name), " ") + " " + target(input))
}

// target is the target of a tool; empty where its input does not name it.
func target(input json.RawMessage) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return oneLine(text)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, key := range targets() {
		if found := value(fields[key]); found != "" {
			return oneLine(found)
		}
	}
	return ""
}

// value is a text, or a list of texts joined by blanks, as commands are.
func value(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var words []string
	if json.Unmarshal(raw, &words) == nil && !slices.Contains(words, "") {
		return strings.Join(words, " ")
	}
	return ""
}

// oneLine is a text without line breaks, at most maxTarget bytes.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxTarget)], "")
	return strings.Join(strings.Fields(text), " ")
}
