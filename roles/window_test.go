package roles

import (
	"net/url"
	"testing"
	"time"
)

func loadWindows(t testing.TB) *Windows {
	t.Helper()
	w, err := LoadWindows()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWindows checks the facts of the table that need no provider. It is dated,
// and knows the models that have prices, except those set aside.
func TestWindows(t *testing.T) {
	t.Parallel()
	w, p := loadWindows(t), load(t)
	for _, by := range w.Providers() {
		if u, err := url.Parse(by.Source); err != nil || u.Scheme != "https" {
			t.Errorf("%s: source %q is no address", by.Name, by.Source)
		}
		if _, err := time.Parse(time.DateOnly, by.Date); err != nil {
			t.Errorf("%s: %v", by.Name, err)
		}
		for model, is := range by.Models {
			if is.Output <= 0 || is.Context <= is.Output {
				t.Errorf("%s takes %+v", model, is)
			}
			if got, date, ok := w.Of(model); !ok || got != is || date != by.Date {
				t.Errorf("Of(%s) = %+v, %q, %t", model, got, date, ok)
			}
		}
	}
	for _, by := range p.Providers() {
		for model := range by.Models {
			if _, _, ok := w.Of(model); !by.Aside && !ok {
				t.Errorf("%s has a price and no window", model)
			}
			if _, date, ok := p.Priced(model); !ok || date != by.Date {
				t.Errorf("Priced(%s) = %q, %t, want the date %s", model, date, ok, by.Date)
			}
		}
	}
}

func TestWindowOf(t *testing.T) {
	t.Parallel()
	w := loadWindows(t)
	for give, want := range map[string]int64{
		"gpt-5": 272_000, "GPT-5": 272_000, "openai/gpt-5:high": 272_000, "claude-opus-4-5-20251101": 200_000,
		"openrouter/anthropic/claude-opus-4-5": 200_000, "gpt-4.1-latest": 1_047_576,
		"gpt-5-turbo": 0, "": 0, "\n": 0, "gpt-5/": 0, "mine": 0,
	} {
		got, _, ok := w.Of(give)
		if got.Context != want || ok != (want != 0) {
			t.Errorf("Of(%q) = %+v, %t, want a context of %d", give, got, ok, want)
		}
	}
}

// TestPricedOwn: a price that somebody set has no date.
func TestPricedOwn(t *testing.T) {
	t.Parallel()
	p := load(t).With(map[string]Price{"gpt-5": {Input: 9}})
	if price, date, ok := p.Priced("gpt-5"); !ok || date != "" || price.Input != 9 {
		t.Errorf("Priced = %+v, %q, %t, want one's own without a date", price, date, ok)
	}
	if _, _, ok := p.Priced("unknown"); ok {
		t.Error("Priced knows what has no price")
	}
}
