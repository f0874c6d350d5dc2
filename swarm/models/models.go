// Package models finds out which models there are, by asking those who have
// them.
//
// It owns how providers are asked for their lists, how these are read, and the
// file that keeps them for a day. What is read is foreign text: it is bounded,
// and a name that is none is left out. It knows no prices of its own and starts
// no programs.
package models

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agentswarm/roles"
)

// Model is one that somebody said there is.
type Model struct {
	Name   string       `json:"name"` // as it is called there
	Window roles.Window `json:"window,omitzero"`
	// Price is what its provider says it costs; nil where it does not say.
	Price *roles.Price `json:"price,omitempty"`
}

// Bounds of what is read.
const (
	mostBytes  = 8 << 20 // of one answer
	mostPages  = 20
	mostModels = 5000
	mostName   = 200
)

// MaxAge is how long an answer is as good as a new one.
const MaxAge = 24 * time.Hour

// Named reports whether a text may be the name of a model: it can be typed, and
// shown on a terminal.
func Named(text string) bool {
	return text != "" && len(text) <= mostName && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

// Tidy is a list in the order of names, each of them once, without what has no
// name.
func Tidy(all []Model) []Model {
	all = slices.DeleteFunc(slices.Clone(all), func(m Model) bool { return !Named(m.Name) })
	slices.SortStableFunc(all, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b Model) bool { return a.Name == b.Name })
	for i := range all {
		w := &all[i].Window
		w.Context, w.Output = max(0, w.Context), max(0, w.Output)
	}
	return all[:min(len(all), mostModels)]
}
