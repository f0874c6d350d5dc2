package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/swarm/config"
	"agentswarm/swarm/event"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
)

// Checked is a script that was read and checked.
type Checked struct {
	Found
	Text string
	Meta *script.Meta // nil for a bare body
	Uses []script.Use // the tools that it spells out
	// Warnings name the parts of it that have no effect, each with its place.
	Warnings []string
	// Fault is the reason that no run would take it; nil: there is none.
	Fault    error
	Item     *config.Item // is approved by a person; nil: the script lies elsewhere
	Approved bool         // it is approved, or needs no approval
}

// CheckAll reads scripts and lets a process of its own check them. A fault of a script is in
// its value, and an error concerns all of them. verb is for messages.
func (l *Library) CheckAll(ctx context.Context, verb string, named []Found) ([]Checked, error) {
	if len(named) == 0 {
		return nil, nil
	}
	brought, err := l.Project.FilesAt(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	all := make([]Checked, len(named))
	var sources []script.Source
	var places []int
	for i, n := range named {
		all[i].Found = n
		file, err := l.ReadFile(verb, n.File, n.Path)
		if err != nil {
			all[i].Fault = refusal.New("%s", strings.TrimPrefix(err.Error(), verb+": "))
			continue
		}
		all[i].Text = file.Script.Text
		if err := all[i].readApproval(l, file, brought); err != nil {
			return nil, err
		}
		sources = append(sources, file.Script.Source())
		places = append(places, i)
	}
	if len(sources) == 0 {
		return all, nil
	}
	var s Script
	if err := l.gatherFunctions(&s); err != nil {
		return nil, err
	}
	var broken *Error
	loaded, err := l.load(ctx, sources, s.Lib)
	if errors.As(err, &broken) {
		// The project's own functions are: no run would begin.
		for _, at := range places {
			all[at].Fault = broken
		}
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		all[at].Meta, all[at].Uses, all[at].Warnings = loaded[i].Meta, loaded[i].Uses, loaded[i].Warnings
		if e := loaded[i].Error; e != nil {
			all[at].Fault = &Error{Err: e}
		} else if _, err := argsSchema(loaded[i].Meta); err != nil {
			all[at].Fault = refusal.New("%s: %v", all[at].File, err)
		}
	}
	return all, nil
}

// readApproval finds out whether a run of the script needs an approval. A
// workflow that another workflow calls may need it even if a run does not.
func (c *Checked) readApproval(l *Library, file *File, brought []string) error {
	if len(file.Paths) > 0 || file.Nested {
		item := Item(c.File, c.Text)
		c.Item = &item
	}
	missing, err := l.Project.Trust().Pending(file.Items(brought))
	c.Approved = err == nil && len(missing) == 0
	return err
}

// Contents are the facts that a script states about itself.
type Contents struct {
	Meta    *script.Meta // nil: it says nothing
	Exports []string     // the names of the project's own functions
	Uses    []script.Use // the tools that it spells out
}

// Read lets a process of its own read a script. The error for a text that is no script is
// an [*Error].
func (l *Library) Read(ctx context.Context, s *Script) (out Contents, err error) {
	loaded, err := l.load(ctx, []script.Source{s.Source()}, s.Lib)
	if err != nil {
		return out, err
	}
	if e := loaded[0].Error; e != nil {
		return out, &Error{Err: e}
	}
	for _, l := range loaded[1:] {
		out.Exports = append(out.Exports, l.Exports...)
	}
	slices.Sort(out.Exports)
	out.Meta, out.Uses = loaded[0].Meta, loaded[0].Uses
	return out, nil
}

// load lets a process of its own read scripts: a script may be anything, and may harm its
// reader. The files of functions come last.
func (l *Library) load(ctx context.Context, sources []script.Source, lib []event.ScriptFile) ([]script.Loaded, error) {
	h, err := process.Start(l.Self)
	if err != nil {
		return nil, err
	}
	loaded, err := script.LoadRemote(ctx, h, sources, functionSources(lib))
	var beyond *script.Error
	if errors.As(err, &beyond) {
		return nil, errors.Join(&Error{Err: beyond}, h.Close())
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	for _, l := range loaded[len(sources):] {
		if l.Error != nil {
			return nil, &Error{Err: l.Error}
		}
	}
	for i := range loaded {
		if loaded[i].Error == nil {
			loaded[i].Error = wrongAllow(loaded[i].Allow)
		}
	}
	return loaded, nil
}

// wrongAllow is the first item that grants nothing; nil for none.
func wrongAllow(items []script.Literal) *script.Error {
	for _, item := range items {
		if _, err := risk.ParseGrant(item.Text); err != nil {
			return item.Wrong(fmt.Errorf("allow: %q: %w", item.Text, err))
		}
	}
	return nil
}

func functionSources(lib []event.ScriptFile) []script.Source {
	var sources []script.Source
	for _, f := range lib {
		sources = append(sources, script.Source{Name: f.Name, Text: f.Text})
	}
	return sources
}

// Error is a script that is refused, or that threw.
type Error struct {
	Err    *script.Error
	Thrown bool // it ran
}

func (e *Error) Error() string {
	text := e.Err.Message
	if e.Err.Name != "" && e.Err.Name != "Error" && e.Thrown {
		text = e.Err.Name + ": " + text
	}
	if e.Err.Where != "" {
		text = e.Err.Where + ": " + text
	}
	return text
}

// Excerpt is the line of the script that it is about.
func (e *Error) Excerpt() string { return strings.TrimSpace(e.Err.Line) }
