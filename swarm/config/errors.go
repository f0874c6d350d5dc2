package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/nearest"
)

// Error is a fault at a place of a configuration file.
type Error struct {
	File   string
	Line   int    // 0: the file as a whole
	Key    string // dotted; empty where no key is to blame
	Reason string // the fault, and the right form
}

// Error returns a line with the place, the key and the reason.
func (e *Error) Error() string {
	text := Origin{File: e.File, Line: e.Line}.String() + ": "
	if e.Key != "" {
		text += printable(e.Key) + ": "
	}
	return text + printable(e.Reason)
}

// UnknownAgentError says that no configuration defines an agent.
type UnknownAgentError struct {
	Name   string   // empty: none was chosen, and there is no default
	Known  []string // the agents there are
	Origin Origin   // of run.default_agent, where the name came from there
}

// Error names the agent, the origin of its name, and the right form.
func (e *UnknownAgentError) Error() string {
	if e.Name == "" || e.Origin.Layer == LayerUnset {
		return e.Reason()
	}
	return e.Origin.String() + ": " + agentKey + ": " + e.Reason()
}

// Reason returns the fault and the right form, without the place.
func (e *UnknownAgentError) Reason() string {
	if e.Name == "" {
		return "no agent is chosen: name one, or set run.default_agent in the configuration"
	}
	name := strconv.Quote(clip(e.Name))
	if near := nearest.Word(e.Name, slices.Concat(e.Known, agent.KindNames())); near != "" {
		return fmt.Sprintf("agent %s is not configured; did you mean %q?", name, near)
	}
	hint := "`swarm agents` lists the agents"
	if len(e.Known) > 0 {
		hint = "configured: " + quotedList(e.Known, "and")
	}
	return "agent " + name + " is not configured; " + hint
}

// printable makes foreign text safe for a terminal and fits it on a single
// line. It writes every rune that does not print as an escape.
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, width := utf8.DecodeRuneInString(s)
		broken := r == utf8.RuneError && width == 1
		if strconv.IsPrint(r) && !broken {
			b.WriteString(s[:width])
		} else {
			escaped := strconv.Quote(s[:width])
			b.WriteString(escaped[1 : len(escaped)-1])
		}
		s = s[width:]
	}
	return b.String()
}

// clip shortens text that a message repeats; a key may be a megabyte long.
func clip(s string) string { return clipTo(s, 60) }

func clipTo(s string, longest int) string {
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// quotedList is: "a", "b" or "c".
func quotedList(words []string, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// didYouMean is the end of a message about a word that is not known.
func didYouMean(word string, known []string) string {
	if near := nearest.Word(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
