package fanout

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// workflowJSON is a Workflow as it is recorded.
type workflowJSON struct {
	Prompt  string `json:"prompt,omitempty"`
	Command []word `json:"command,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Each    []word `json:"each,omitempty"`
	Prefix  word   `json:"prefix,omitzero"`
	Count   int    `json:"count,omitempty"`
}

// MarshalJSON writes w without the loss of a byte.
func (w Workflow) MarshalJSON() ([]byte, error) {
	return json.Marshal(workflowJSON{
		Prompt: w.Prompt, Command: asWords(w.Command), Agent: w.Agent,
		Each: asWords(w.Each), Prefix: word(w.Prefix), Count: w.Count,
	})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (w *Workflow) UnmarshalJSON(text []byte) error {
	var j workflowJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("read a workflow: %w", err)
	}
	*w = Workflow{
		Prompt: j.Prompt, Command: asStrings(j.Command), Agent: j.Agent,
		Each: asStrings(j.Each), Prefix: string(j.Prefix), Count: j.Count,
	}
	return nil
}

// word is a string that may not be UTF-8, as arguments and the names of
// files may not. JSON would replace what is not, so such a word is written as
// an object that holds its bytes.
type word string

type wordBytes struct {
	Bytes []byte `json:"bytes"`
}

func (s word) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal(wordBytes{[]byte(s)})
}

func (s *word) UnmarshalJSON(text []byte) error {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		*s = word(plain)
		return nil
	}
	var b wordBytes
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	*s = word(b.Bytes)
	return nil
}

func asWords(all []string) []word {
	var words []word
	for _, s := range all {
		words = append(words, word(s))
	}
	return words
}

func asStrings(words []word) []string {
	var all []string
	for _, s := range words {
		all = append(all, string(s))
	}
	return all
}
