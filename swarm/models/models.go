// Package models finds the available models by asking their providers.
//
// It owns the requests for the lists of providers, the reading of these lists,
// and the file that stores them for a day. The lists are foreign text: they are
// bounded, and an invalid name is left out. It knows no prices of its own and
// starts no programs.
package models

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agentswarm/roles"
)

// Model is a model that a provider lists.
type Model struct {
	Name   string       `json:"name"` // as it is called there
	Window roles.Window `json:"window,omitzero"`
	// Price is the provider's price; nil if it names none.
	Price *roles.Price `json:"price,omitempty"`
}

// Bounds of the lists.
const (
	mostBytes  = 8 << 20 // of an answer
	mostPages  = 20
	mostModels = 5000
	mostName   = 200
)

// MaxAge is the age up to which an answer counts as new.
const MaxAge = 24 * time.Hour

// Named reports whether a text may be the name of a model: it can be typed, and
// shown on a terminal.
func Named(text string) bool {
	return text != "" && len(text) <= mostName && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

// Tidy returns a list in the order of names, each of them once, without models
// that have no valid name.
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
