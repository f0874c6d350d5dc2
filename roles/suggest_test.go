package roles

import "testing"

func TestSuggest(t *testing.T) {
	t.Parallel()
	p := load(t).With(map[string]Price{"mine/x": {Input: 1, Output: 1}})
	for _, tt := range []struct{ role, beside, want string }{
		{Smol, "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"},
		{Slow, "anthropic/claude-sonnet-4-5:low", "anthropic/claude-opus-4-6"},
		{Smol, "gpt-5", "openai/gpt-5-mini"},
		{Smol, "openai/gpt-5-2025-08-07", "openai/gpt-5-mini"},
		{Slow, "openai/gpt-5", "openai/gpt-5.2"},
		{Smol, "google/gemini-2.5-pro", "google/gemini-2.5-flash"},
		{Slow, "google/gemini-2.5-pro", ""}, // nothing costs more
		{Smol, "openai/gpt-5-nano", ""},
		{Plan, "openai/gpt-5", ""},
		{Smol, "openrouter/openai/gpt-5", ""}, // its prices are its own
		{Smol, "mine/x", ""},
		{Smol, "nobody", ""},
	} {
		spec, err := ParseSpec(tt.beside)
		if err != nil {
			t.Fatal(err)
		}
		got, price, ok := p.Suggest(tt.role, spec)
		if got.String() != tt.want || ok != (tt.want != "") {
			t.Errorf("Suggest(%s, %s) = %s, %t, want %q", tt.role, tt.beside, got, ok, tt.want)
		}
		if of, _ := p.Of(got.String()); ok && of.Input != price.Input {
			t.Errorf("Suggest(%s, %s): a price of %+v, want %+v", tt.role, tt.beside, price, of)
		}
	}
}
