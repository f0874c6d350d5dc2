package script

import "encoding/json"

// Meta is the description that a script gives of itself.
type Meta struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	WhenToUse   string          `json:"whenToUse,omitempty"`
	Phases      []MetaPhase     `json:"phases,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"` // a JSON Schema
}

// MetaPhase is a phase that a script announces.
type MetaPhase struct {
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Model  string `json:"model,omitempty"` // for people; it decides nothing
}
