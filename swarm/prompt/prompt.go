// Package prompt composes the instructions of agents before their task, in the
// same order for all kinds.
//
// First comes the part that is the same for all agents of a kind with the same
// model and tools, so that a provider reads it once. It says who they are,
// which text is data, the instructions of the repository, and how actions are
// judged. Then comes the part of a single agent: the stages and its own stage,
// its tools, its role, and last the variants for the family of its model. The
// task is not here, nor long texts about the workspace: both go into the user's
// message.
//
// It owns the order and the words between the parts. It reads nothing, and
// knows no kind of agent: its caller passes the parts.
package prompt

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/task"
	"agentswarm/variants"
)

//go:embed core.md
var core string

//go:embed untrusted.md
var untrusted string

// Core returns the identity of agents that have a system prompt of another
// maker, after which it stands.
func Core() string { return core }

// Parts are the parts at the beginning of a prompt. Empty parts are left out.
type Parts struct {
	Core     string             `json:"-"`
	Memory   []File             `json:"memory,omitempty"`
	Contract string             `json:"-"` // how actions are judged
	Stage    *task.Stage        `json:"stage,omitempty"`
	Tools    Tools              `json:"-"`
	Role     string             `json:"-"` // more of the role than its stage says
	Variants []variants.Variant `json:"variants,omitempty"`
}

// File is a file with a repository's instructions for all agents.
type File struct {
	Name string `json:"name"` // below the top of the repository
	Text string `json:"text"`
}

// Tools are those that an agent is offered.
type Tools struct {
	Names []string // empty: they cannot be told beforehand
	All   bool     // there are no others
}

// Shared returns the text that agents on the same base share, whatever they may
// do: no path, date, id or label is in it.
func (p *Parts) Shared() string { return join(p.Core, untrusted, p.memory()) }

// Own returns the text after the shared text.
func (p *Parts) Own() string { return join(p.Contract, p.Suffix()) }

// Text is all of it.
func (p *Parts) Text() string { return join(p.Shared(), p.Own()) }

// Suffix returns the text that depends on the part of an agent.
func (p *Parts) Suffix() string {
	return join(p.roster(), p.tools(), p.Part(), p.variants())
}

// Part returns the instructions for an agent's own part.
func (p *Parts) Part() string {
	if p.Stage == nil || strings.TrimSpace(p.Stage.Words) == "" {
		return join(p.Role)
	}
	return join("# Your part: "+oneLine(p.Stage.Name), p.Stage.Words, p.Role)
}

// Commission returns the instructions for a program with a prompt of its own:
// the roster and its role.
func (p *Parts) Commission() string { return join(p.roster(), p.Part()) }

func (p *Parts) memory() string {
	var all []string
	for _, f := range Bound(p.Memory) {
		all = append(all, "# "+oneLine(f.Name)+" of this repository\n\n"+f.Text)
	}
	return join(all...)
}

func (p *Parts) roster() string {
	if p.Stage == nil || len(p.Stage.Roster) == 0 {
		return ""
	}
	lines := []string{"# Stages", "", "This work is done in stages, each by an agent with a conversation of its own, in this order:", ""}
	for i, name := range p.Stage.Roster {
		line := fmt.Sprintf("%d. %s", i+1, oneLine(name))
		if name == p.Stage.Name {
			line += " (this is you)"
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "", "Do your own stage, and leave the others' to them."), "\n")
}

// strangers are names that tools have elsewhere, in the order in which models
// are heard to invent them.
func strangers() []string {
	return []string{"read_file", "write_file", "apply_patch", "bash", "edit", "read", "str_replace"}
}

// maxStrangers is how many of them are warned against.
const maxStrangers = 3

func (p *Parts) tools() string {
	t := p.Tools
	names := strings.Join(t.Names, ", ")
	switch {
	case len(t.Names) > 0 && t.All:
		others := slices.DeleteFunc(strangers(), func(name string) bool { return slices.Contains(t.Names, name) })
		others = others[:min(maxStrangers, len(others))]
		return "# Available tools\n\nYour tools are exactly these: " + names + ". There are no others: do not invent names such as " +
			strings.Join(others, ", ") + ", which other programs have. Only a tool for your answer may be offered beside them, where one of a given form is asked for."
	case len(t.Names) > 0:
		return "# Available tools\n\nAmong the tools that you are offered are " + names +
			". Call only those that you are offered, by exactly their names: do not invent others."
	case t.All:
		return "# Available tools\n\nYou have no tools: do not invent any."
	default:
		return "# Available tools\n\nCall only the tools that you are offered, by exactly their names: do not invent others."
	}
}

func (p *Parts) variants() string {
	var all []string
	for _, v := range p.Variants {
		all = append(all, v.Text)
	}
	if all = sections(all...); len(all) == 0 {
		return ""
	}
	return "# Take care\n\n" + strings.Join(all, "\n\n")
}

// join joins sections with a blank line between them.
func join(texts ...string) string { return strings.Join(sections(texts...), "\n\n") }

func sections(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// oneLine is a name that ends no heading.
func oneLine(name string) string { return strings.Join(strings.Fields(name), " ") }
