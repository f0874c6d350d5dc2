package tui

import (
	"slices"
	"strings"

	"agentswarm/internal/termtext"
)

// Binding is a key with its meaning.
type Binding struct {
	Keys []Key
	// Short is a word for the last line; empty: it is only in the help.
	Short string
	Help  string // required
	// Do carries it out. nil: the key is handled elsewhere.
	Do func() Effect
}

// Bindings are the keys of a screen.
type Bindings []Binding

// Find returns the binding of a key; nil where it has none.
func (b Bindings) Find(k Key) *Binding {
	for i := range b {
		if slices.Contains(b[i].Keys, k) {
			return &b[i]
		}
	}
	return nil
}

// Line is the short help, of as many keys as fit.
func (b Bindings) Line(width int) string {
	line := ""
	for _, k := range b {
		if k.Short == "" {
			continue
		}
		part := string(k.Keys[0]) + " " + k.Short
		if line != "" {
			part = "  " + part
		}
		if termtext.Columns(line+part) > width {
			break
		}
		line += part
	}
	return line
}

// Help lists all keys in as many columns as fit, at most height lines from the
// line that is scrolled to. Total is the number of all lines.
func (b Bindings) Help(width, height, from int) (lines []string, total int) {
	var all []string
	keyWidth := 0
	for _, k := range b {
		keyWidth = max(keyWidth, termtext.Columns(k.names()))
	}
	for _, k := range b {
		for i, part := range termtext.Wrap(k.Help, width-keyWidth-4) {
			name := ""
			if i == 0 {
				name = k.names()
			}
			all = append(all, termtext.CutEnd("  "+termtext.Pad(name, keyWidth)+"  "+part, width))
		}
	}
	from = min(max(from, 0), max(0, len(all)-height))
	return all[from:min(len(all), from+height)], len(all)
}

func (b Binding) names() string {
	var all []string
	for _, k := range b.Keys {
		all = append(all, string(k))
	}
	return strings.Join(all, " ")
}
