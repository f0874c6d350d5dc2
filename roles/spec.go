package roles

import (
	"fmt"
	"slices"
	"strings"
)

// Spec names a model: provider/model[:effort].
type Spec struct{ Provider, Model, Effort string }

// String writes a spec as it is read.
func (s Spec) String() string {
	text := s.Model
	if s.Provider != "" {
		text = s.Provider + "/" + text
	}
	if s.Effort != "" {
		text += ":" + s.Effort
	}
	return text
}

// Efforts are the words for how much a model should think.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// ParseSpec reads a spec. It is split at the first slash only, and a last word
// after a colon is an effort where it is one: others are part of the name.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Model: text}
	if provider, rest, ok := strings.Cut(text, "/"); ok {
		s.Provider, s.Model = provider, rest
	}
	if at := strings.LastIndexByte(s.Model, ':'); at >= 0 && slices.Contains(Efforts(), s.Model[at+1:]) {
		s.Model, s.Effort = s.Model[:at], s.Model[at+1:]
	}
	if s.Model == "" || s.Provider == "" && strings.Contains(text, "/") {
		return Spec{}, fmt.Errorf("model %q: want provider/model or provider/model:effort", text)
	}
	return s, nil
}

// MarshalText writes a spec as it is read; an empty one is an empty text.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what [Spec.MarshalText] wrote.
func (s *Spec) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*s = Spec{}
		return nil
	}
	*s, err = ParseSpec(string(text))
	return err
}
