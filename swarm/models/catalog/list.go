// Package catalog lists the models that a user can ask for: by providers, by agent CLIs
// and by configuration, with the size and price of each. It keeps answers for a day.
package catalog

import (
	"time"

	"agentswarm/roles"
)

// List is the answer of a source.
type List struct {
	Name   string     `json:"name"`
	Kind   string     `json:"kind"` // [FromProvider], or [FromAgent] for a CLI
	URL    string     `json:"url,omitempty"`
	Asked  *time.Time `json:"asked,omitempty"`
	Cached bool       `json:"cached,omitempty"`
	Failed string     `json:"failed,omitempty"`
	Models []Model    `json:"models"`

	// Unkeyed is the variable of a missing key, if several sources were asked
	// and this is not a main source.
	Unkeyed string `json:"-"`
}

// Model is a model with the origin of each of its facts.
type Model struct {
	Model     string       `json:"model"` // as --model takes it
	From      string       `json:"from"`
	Context   int64        `json:"context_window,omitempty"` // tokens
	Output    int64        `json:"max_output,omitempty"`     // tokens
	WindowOf  string       `json:"window_from,omitempty"`
	WindowDay string       `json:"window_date,omitempty"`
	Price     *roles.Price `json:"price,omitempty"`
	PriceOf   string       `json:"price_from,omitempty"`
	PriceDay  string       `json:"price_date,omitempty"`
}

// The origins of facts about models.
const (
	FromConfiguration = "configuration"
	FromProvider      = "provider"
	FromAgent         = "agent"
	FromTable         = "table"
)
