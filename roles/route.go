package roles

import (
	"slices"
	"strings"
	"unicode"
)

// explores are the first words of phases that look around.
func explores() []string {
	return []string{
		"explore", "exploring", "exploration", "search", "searching", "research", "researching",
		"find", "finding", "discover", "discovery", "investigate", "investigation", "locate", "survey", "scout",
	}
}

// route gives a call a role by its declared kind, and returns the reason. It
// does not read prompts, because their demands would be a guess. It never
// chooses a role without configuration.
func (o *Orders) route(a Asked) (role, why string) {
	if a.Stays || a.Model != (Spec{}) || a.TypeModel != (Spec{}) {
		return "", ""
	}
	for _, rule := range o.Rules() {
		if why := rule.fits(o, a); why != "" {
			return rule.Role, why
		}
	}
	return "", ""
}

// Rule is a rule by which calls are routed.
type Rule struct {
	Role string
	What string // the calls it is for, as people are told
	fits func(*Orders, Asked) string
}

// Routes reports whether routing can change a call: by another role than it
// named, or by the model after two failures. A flag that names the role or the
// model of all calls leaves no routing.
func (o *Orders) Routes() bool { return o.Route && o.Model == (Spec{}) && o.Role == "" }

// Rules are those that hold, in the order in which they are asked.
func (o *Orders) Rules() []Rule {
	if !o.Routes() {
		return nil
	}
	return slices.DeleteFunc([]Rule{
		{Plan, "planning", planning},
		{Smol, "read-only work and exploration", exploring},
	}, func(r Rule) bool {
		_, ok := o.Table[r.Role]
		return !ok
	})
}

// Subjects reports whether a model is asked for the subjects of commits: where
// somebody said which.
func (o *Orders) Subjects() bool {
	_, configured := o.Table[Commit]
	_, named := o.Models[Commit]
	return o.Route && (configured || named)
}

// Naming returns the orders for the agents that name commits. The model flag of
// all calls is for the work. If the commit role names a model or an agent, the
// role wins: the run pays for no other model, and no agent gets a model that it
// cannot reach.
func (o *Orders) Naming() *Orders {
	if role := o.Table[Commit]; role.Spec == (Spec{}) && role.Kind == "" {
		return o // it bounds only
	}
	naming := *o
	naming.Model = Spec{}
	return &naming
}

func planning(_ *Orders, a Asked) string {
	switch {
	case a.Stage == "planner":
		return "stage planner"
	case strings.EqualFold(a.Type, "plan"):
		return "type " + a.Type
	}
	return ""
}

// exploring returns the sign by which a call only looks around. A read-only
// stage of a pipeline judges the work of another stage, which is no
// exploration.
func exploring(o *Orders, a Asked) string {
	switch {
	case a.Stage != "":
		return ""
	case a.Reads:
		return "read-only"
	case slices.Contains(o.Phases, a.Phase) && slices.Contains(explores(), firstWord(a.Phase)):
		return "phase " + a.Phase
	}
	return ""
}

// firstWord is the first word of a title, in lower case.
func firstWord(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
