package task

import "cmp"

// Options are what an agent is to use. What is empty is left to it.
type Options struct {
	Model  string   `json:"model,omitempty"`
	Effort string   `json:"effort,omitempty"`
	Tools  []string `json:"tools,omitempty"`
	// ReadOnly leaves it only the tools that change nothing.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Any reports whether anything is asked for.
func (o Options) Any() bool {
	return o.Model != "" || o.Effort != "" || len(o.Tools) > 0 || o.ReadOnly
}

// Over lays o over what is asked for where o says nothing. Nothing takes a
// ReadOnly back.
func (o Options) Over(under Options) Options {
	o.Model, o.Effort = cmp.Or(o.Model, under.Model), cmp.Or(o.Effort, under.Effort)
	if len(o.Tools) == 0 {
		o.Tools = under.Tools
	}
	o.ReadOnly = o.ReadOnly || under.ReadOnly
	return o
}

// sum is the part of a key that says so; nil where there is nothing to say, so
// that the keys of runs that an older version began stay the same.
func (o Options) sum() *Options {
	if !o.Any() {
		return nil
	}
	return &o
}
