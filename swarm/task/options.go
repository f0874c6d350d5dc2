package task

import (
	"cmp"
	"slices"
)

// Options are the settings of an agent. Empty settings are left to the agent.
type Options struct {
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
	// Tools are the only tools it has, and Without those it does not have, as
	// entries of package toolset.
	Tools   []string `json:"tools,omitempty"`
	Without []string `json:"without,omitempty"`
	// ReadOnly leaves it only the tools that change nothing.
	ReadOnly bool `json:"read_only,omitempty"`
	// MaxThinking bounds the tokens that the model thinks for each answer; 0
	// leaves that to the agent.
	MaxThinking int64 `json:"max_thinking,omitempty"`
	// Variant is VariantOff where nothing is to be added to the prompt for the
	// family of the model.
	Variant string `json:"variant,omitempty"`
}

// VariantOff leaves out the texts against the failure modes of a family.
const VariantOff = "off"

// Any reports whether anything is asked for.
func (o Options) Any() bool {
	return o.Model != "" || o.Effort != "" || len(o.Tools) > 0 || len(o.Without) > 0 || o.ReadOnly || o.MaxThinking != 0 || o.Variant != ""
}

// Over lays o over the options of under: a set option of o wins. ReadOnly is
// never taken back, nor an entry of Without.
func (o Options) Over(under Options) Options {
	o.Model, o.Effort = cmp.Or(o.Model, under.Model), cmp.Or(o.Effort, under.Effort)
	if len(o.Tools) == 0 {
		o.Tools = under.Tools
	}
	o.Without = union(o.Without, under.Without)
	o.ReadOnly = o.ReadOnly || under.ReadOnly
	o.MaxThinking = cmp.Or(o.MaxThinking, under.MaxThinking)
	o.Variant = cmp.Or(o.Variant, under.Variant)
	return o
}

// union returns a list with the further entries of another.
func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, word := range more {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// Choice is the model of an attempt, where it is not that of its call.
type Choice struct {
	Model  string `json:"model"`
	Effort string `json:"effort,omitempty"`
}

// sum is the part of a key that says so; nil where there is nothing to say, so
// that the keys of runs that an older version began stay the same.
func (o Options) sum() *Options {
	if !o.Any() {
		return nil
	}
	return &o
}
