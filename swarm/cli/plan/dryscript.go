package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/script"
)

// plannedScript is the known part of a script's plan. Without a run the calls
// are unknown: they depend on its agents' answers.
type plannedScript struct {
	Name        string      `json:"name"` // the file, or the text that was typed
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	WhenToUse   string      `json:"when_to_use,omitempty"`
	Phases      []string    `json:"phases,omitempty"`
	Worst       worstObject `json:"worst"`

	// Names that its calls may use.
	Agent  string   `json:"agent,omitempty"` // for calls that name none
	Agents []string `json:"agents,omitempty"`
	Checks []string `json:"checks,omitempty"`
	Types  []string `json:"types,omitempty"`
	Lib    []string `json:"lib,omitempty"`
}

// worstObject is how many agents a script starts at most.
type worstObject struct {
	// Static is the number of agents by the text; nil if that has no bound.
	Static *int `json:"static,omitempty"`
	Limit  int  `json:"limit"`
}

func (w worstObject) String() string {
	if w.Static != nil {
		return fmt.Sprintf("%s by the text", termtext.Count(min(*w.Static, w.Limit), "agent", "agents"))
	}
	return fmt.Sprintf("no bound in the script; at most %s by --max-agents", termtext.Count(w.Limit, "agent", "agents"))
}

// plannedScript is nil where the plan has no script.
func (pl *Plan) plannedScript() *plannedScript {
	s := pl.Script
	if s == nil {
		return nil
	}
	o := &plannedScript{
		Name: s.Name, Worst: worstObject{Limit: pl.Config.MaxAgents}, Agent: s.Agent,
		Agents: slices.Sorted(maps.Keys(pl.Config.Agents)), Checks: slices.Sorted(maps.Keys(pl.Config.Checks)),
		Types: slices.Sorted(maps.Keys(s.Types)), Lib: pl.exports,
	}
	if n, bounded := script.CountAgents(script.Source{Name: s.Name, Text: s.Text}); bounded {
		o.Worst.Static = &n
	}
	if m := pl.meta; m != nil {
		o.Title, o.Description, o.WhenToUse = m.Name, m.Description, m.WhenToUse
		for _, phase := range m.Phases {
			o.Phases = append(o.Phases, phase.Title)
		}
	}
	return o
}

// lines are the plan of a script for people; none where there is no script.
func (o *plannedScript) lines() []planLine {
	if o == nil {
		return nil
	}
	about := o.Description
	if o.Title != "" {
		about = o.Title + ": " + about
	}
	agents := slices.Clone(o.Agents)
	for i, name := range agents {
		if name == o.Agent && len(agents) > 1 {
			agents[i] += " (default)"
		}
	}
	return []planLine{
		{"is", about}, {"use it", o.WhenToUse}, {"phases", strings.Join(o.Phases, ", ")},
		{"worst case", o.Worst.String()}, {"agents", strings.Join(agents, ", ")},
		{"checks", strings.Join(o.Checks, ", ")}, {"types", strings.Join(o.Types, ", ")},
		{"lib", strings.Join(o.Lib, ", ")},
	}
}
