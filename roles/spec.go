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

// ParseSpec reads a spec. It splits the text at the first slash only. A last
// word after a colon is an effort if it is a known effort; otherwise it belongs
// to the name. ParseSpec returns an error if the spec is not valid.
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

// MarshalText writes a spec as it is read; an empty spec is an empty text. It
// returns no error.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of [Spec.MarshalText]. It returns an error for
// an invalid spec.
func (s *Spec) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*s = Spec{}
		return nil
	}
	*s, err = ParseSpec(string(text))
	return err
}
