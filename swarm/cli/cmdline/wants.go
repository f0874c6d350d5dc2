package cmdline

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/ask"
)

// AsTyped is an action as somebody would say it.
func AsTyped(a *ask.Action) string {
	switch {
	case a.Write != "" && a.Removes:
		return "remove " + a.Write
	case a.Write != "":
		return "write " + a.Write
	case len(a.Git) > 0:
		return "git " + strings.Join(a.Git, " ")
	case a.Tool != "":
		return strings.Join(strings.Fields(a.Tool+" "+a.Method+" "+a.Target), " ")
	default:
		return a.Command
	}
}

// WantsText is an action in a line: a text as it is, else compact JSON.
func WantsText(action json.RawMessage) string {
	text := ActionText(action)
	// No more than can be shown is looked at: an action may be megabytes.
	const most = 4 * WantsWidth
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + terminal.Ellipsis
	}
	return terminal.ShortenEnd(termtext.Line(text), WantsWidth)
}

// WantsWidth bounds an action in a line; in JSON it is whole.
const WantsWidth = 400

// ActionText is an action as it is to be shown: a text as it is, else JSON.
func ActionText(action json.RawMessage) string {
	text := ""
	if json.Unmarshal(action, &text) == nil { // null is an empty text
		text = strings.TrimSpace(text)
	} else {
		var b bytes.Buffer
		if json.Compact(&b, action) == nil && b.String() != "{}" {
			text = unescapeHTML(b.String())
		}
	}
	if text == "" {
		return "something it does not name"
	}
	return text
}

// unescapeHTML writes <, > and & of JSON as they are. Journals hold them as \u003c,
// \u003e and \u0026.
func unescapeHTML(text string) string {
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&",
		`\u003C`, "<", `\u003E`, ">").Replace(text)
}
