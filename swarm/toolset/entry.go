// Package toolset owns the entries of lists of tools: their grammar, their
// names, and the choice of those that a kind of agent can be given.
//
// An entry is a tool ("read", "WebSearch"), a part of a tool ("Bash(git log
// *)"), a tool of an MCP server ("mcp__server__tool"), or "*" for all tools.
// The package knows no kind: each kind states its [Rules], and maps the names
// itself.
package toolset

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"agentswarm/swarm/nearest"
)

// All is the entry that stands for every tool of an agent.
const All = "*"

// Names of tools that have no name in swarm's own lists.
const (
	WebSearch = "WebSearch"
	WebFetch  = "WebFetch"
	Skill     = "Skill"
	Task      = "Task"
	TodoWrite = "TodoWrite"
)

// Entry is an entry of a list of tools.
type Entry struct {
	// Name is "*", a name of [Basic], a constant above, or mcp__SERVER, with or
	// without __TOOL.
	Name string
	// Part is the text in parentheses; empty for the whole tool.
	Part string
}

// String returns the entry in its canonical form, which [Parse] reads.
func (e Entry) String() string {
	if e.Part == "" {
		return e.Name
	}
	return e.Name + "(" + e.Part + ")"
}

// Reading lists the basic tools that change nothing.
func Reading() []string { return []string{"read", "grep", "find", "ls"} }

// Basic lists the tools that every kind of agent has.
func Basic() []string { return append(Reading(), "edit", "write", "bash") }

// Reads reports whether none of the entries can change anything. A part of a
// tool that writes counts as a tool that writes, and so does a skill.
func Reads(list []string) bool {
	return !slices.ContainsFunc(list, func(text string) bool {
		e, err := Parse(text)
		return err != nil || !slices.Contains(append(Reading(), WebSearch, WebFetch), e.Name)
	})
}

// aliases are names of Claude Code for tools that have another name here.
func aliases() map[string]string {
	return map[string]string{
		"Read": "read", "NotebookRead": "read", "Grep": "grep", "Glob": "find", "LS": "ls",
		"Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "Write": "write",
		"Bash": "bash", "BashOutput": "bash", "KillShell": "bash", "KillBash": "bash",
		"Agent": Task, "TodoRead": TodoWrite, "SlashCommand": Skill,
		WebSearch: WebSearch, WebFetch: WebFetch, Skill: Skill, Task: Task, TodoWrite: TodoWrite,
	}
}

const (
	mcpPrefix = "mcp__"
	// maxEntry is the longest entry in bytes. Entries become command-line words.
	maxEntry = 1000
	// mcpPattern matches the name of a server or of its tool.
	mcpPattern = `^mcp__[A-Za-z0-9_.-]+(?:\*)?$`
)

// UnknownError is an entry that names no tool.
type UnknownError struct{ Entry string }

func (e *UnknownError) Error() string {
	name, _, _ := strings.Cut(e.Entry, "(")
	reason := fmt.Sprintf("there is no tool %q", clip(name))
	known := append(Basic(), WebSearch, WebFetch, Skill, Task, TodoWrite)
	if near := nearest.Word(name, known); near != "" {
		return reason + fmt.Sprintf("; did you mean %q?", near)
	}
	return reason + "; the tools are " + strings.Join(known, ", ") + ", mcp__SERVER__TOOL, *"
}

// Parse reads an entry. The error is an [*UnknownError] if the entry is well
// formed and names no tool.
func Parse(text string) (Entry, error) {
	text = strings.TrimSpace(text)
	name, part, parted := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	switch {
	case text == "":
		return Entry{}, errors.New("an entry is empty")
	case len(text) > maxEntry:
		return Entry{}, fmt.Errorf("%q is longer than %d bytes", clip(text), maxEntry)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Entry{}, fmt.Errorf("%q holds a control character", clip(text))
	case parted && !strings.HasSuffix(part, ")"):
		return Entry{}, fmt.Errorf("%q has no ) at its end", clip(text))
	}
	part = strings.TrimSpace(strings.TrimSuffix(part, ")"))
	if part == "*" {
		part = "" // all of the tool
	}
	switch {
	case name == All && !parted:
		return Entry{Name: All}, nil
	case strings.HasPrefix(name, mcpPrefix) && !parted && regexp.MustCompile(mcpPattern).MatchString(name):
		return Entry{Name: name}, nil
	case slices.Contains(Basic(), name):
		return Entry{name, part}, nil
	}
	if known := aliases()[name]; known != "" {
		return Entry{known, part}, nil
	}
	return Entry{}, &UnknownError{text}
}

// Canonical returns the entries in canonical form, each once. A text may hold
// several entries with commas between them. The error names the first entry that
// cannot be read.
func Canonical(list []string) ([]string, error) {
	var all []string
	for _, text := range list {
		words := Split(text)
		if len(words) == 0 {
			words = []string{""} // which is an error
		}
		for _, word := range words {
			e, err := Parse(word)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(all, e.String()) {
				all = append(all, e.String())
			}
		}
	}
	return all, nil
}

// Split parts a text with entries at its commas. A comma in parentheses belongs to
// its entry.
func Split(text string) []string {
	var all []string
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			all = append(all, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	all = append(all, strings.TrimSpace(text[begin:]))
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

// clip shortens a foreign text for a message.
func clip(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}
