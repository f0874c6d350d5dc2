package roles

import (
	"math"
	"testing"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	p := load(t)
	var offers []Offer // all of the table
	for _, by := range p.Providers() {
		for name, price := range by.Models {
			if p.Aside(by.Name + "/" + name) {
				continue
			}
			offers = append(offers, Offer{Spec{Provider: by.Name, Model: name}, price})
		}
	}
	offers = append(offers,
		Offer{Spec{Provider: "ollama", Model: "free"}, Price{}}, Offer{Spec{Provider: "odd", Model: "gpt-5-x"}, Price{Input: math.NaN()}},
		Offer{Spec{Provider: "odd", Model: "gpt-5-y"}, Price{Input: math.Inf(1)}})
	for _, tt := range []struct{ role, beside, want string }{
		{Smol, "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"},
		{Slow, "anthropic/claude-sonnet-4-5:low", "anthropic/claude-opus-4-6"},
		{Smol, "openai/gpt-5-2025-08-07", "openai/gpt-5-mini"},
		{Slow, "openai/gpt-5", "openai/gpt-5.2"},
		{Smol, "google/gemini-2.5-pro", "google/gemini-2.5-flash"},
		{Plan, "openai/gpt-5", ""},
	} {
		spec, err := ParseSpec(tt.beside)
		if err != nil {
			t.Fatal(err)
		}
		price, _ := p.Of(Spec{Provider: spec.Provider, Model: spec.Model}.String())
		got, ok := Suggest(tt.role, Offer{spec, price}, offers)
		if got.Spec.String() != tt.want || ok != (tt.want != "") {
			t.Errorf("Suggest(%s, %s) = %s, %t, want %q", tt.role, tt.beside, got.Spec, ok, tt.want)
		}
	}
	// Only available models, of another provider if the same has none. There is
	// none beside a model that costs nothing.
	mine := Offer{Spec{Provider: "mine", Model: "x"}, Price{Input: 1, Output: 1}}
	some := []Offer{mine, {Spec{Provider: "b", Model: "half"}, Price{Input: .5, Output: .5}}, {Spec{Provider: "b", Model: "most"}, Price{Input: .9}}}
	if got, ok := Suggest(Smol, mine, some); !ok || got.Spec.String() != "b/half" {
		t.Errorf("Suggest = %s, %t, want b/half", got.Spec, ok)
	}
	if got, ok := Suggest(Smol, mine, some[:1]); ok {
		t.Errorf("Suggest = %s, want none", got.Spec)
	}
	free := Offer{Spec{Provider: "b", Model: "free"}, Price{}}
	if got, ok := Suggest(Smol, mine, []Offer{free}); ok {
		t.Errorf("Suggest = %s, want none: what costs nothing may be slow", got.Spec)
	}
	dear := []Offer{{Spec{Provider: "b", Model: "a"}, Price{Input: 2.5}}, {Spec{Provider: "b", Model: "b"}, Price{Input: 2}}, {Spec{Provider: "b", Model: "c"}, Price{Input: 30}}}
	if got, ok := Suggest(Slow, mine, dear); !ok || got.Spec.String() != "b/b" {
		t.Errorf("Suggest = %s, %t, want b/b, the next above", got.Spec, ok)
	}
	if got, ok := Suggest(Slow, mine, dear[2:]); ok {
		t.Errorf("Suggest = %s, want none: it costs far more", got.Spec)
	}
	for _, role := range []string{Smol, Slow} {
		if got, ok := Suggest(role, Offer{}, some); ok {
			t.Errorf("Suggest(%s) beside one that costs nothing = %s, want none", role, got.Spec)
		}
	}
}
