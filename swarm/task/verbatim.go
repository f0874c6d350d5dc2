package task

import (
	"encoding/json"
	"unicode/utf8"
)

// Verbatim is a string that may not be UTF-8, as arguments and the names of
// files may not. JSON would replace invalid bytes, so such a string is written
// as an object that holds its bytes.
type Verbatim string

type verbatimBytes struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON writes v without the loss of a byte.
func (v Verbatim) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(v)) {
		return json.Marshal(string(v))
	}
	return json.Marshal(verbatimBytes{[]byte(v)})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (v *Verbatim) UnmarshalJSON(text []byte) error {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		*v = Verbatim(plain)
		return nil
	}
	var b verbatimBytes
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	*v = Verbatim(b.Bytes)
	return nil
}

// Verbatims are strings as JSON is to keep them.
func Verbatims(all []string) []Verbatim {
	var kept []Verbatim
	for _, s := range all {
		kept = append(kept, Verbatim(s))
	}
	return kept
}

// Strings is the reverse of [Verbatims].
func Strings(kept []Verbatim) []string {
	var all []string
	for _, v := range kept {
		all = append(all, string(v))
	}
	return all
}
