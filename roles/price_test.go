package roles

import (
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T) *Prices {
	t.Helper()
	p, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTable checks the facts of the table that need no provider.
func TestTable(t *testing.T) {
	t.Parallel()
	p := load(t)
	seen := map[string]string{}
	for _, by := range p.Providers() {
		if u, err := url.Parse(by.Source); err != nil || u.Scheme != "https" {
			t.Errorf("%s: source %q is no address", by.Name, by.Source)
		}
		if _, err := time.Parse(time.DateOnly, by.Date); err != nil {
			t.Errorf("%s: %v", by.Name, err)
		}
		for model, price := range by.Models {
			if seen[model] != "" {
				t.Errorf("%s is a model of %s and of %s", model, seen[model], by.Name)
			}
			seen[model] = by.Name
			if price.Input <= 0 || price.Output < price.Input || price.MostInput < 0 || !by.Aside && price.Output == price.Input {
				t.Errorf("%s costs %+v", model, price)
			}
			if price.CacheRead == nil && !by.Aside {
				t.Errorf("%s has no price for reads from a cache", model)
			}
			if price.CacheRead != nil && (*price.CacheRead <= 0 || *price.CacheRead >= price.Input) {
				t.Errorf("%s: what is read from a cache does not cost less than what is not", model)
			}
			if price.CacheWrite != nil && *price.CacheWrite < price.Input {
				t.Errorf("%s: what is written to a cache costs less than what is not", model)
			}
			if got, ok := p.Of(model); !ok || got.Input != price.Input {
				t.Errorf("Of(%s) = %+v, %t", model, got, ok)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("the table has %d models", len(seen))
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	p := load(t).With(map[string]Price{"mine/local": {Input: 1}, "gpt-5-nano": {Input: 9}})
	for give, want := range map[string]float64{
		"gpt-5": 1.25, "GPT-5": 1.25, "openai/gpt-5": 1.25, "gpt-5-2025-08-07": 1.25, "openai/gpt-5:high": 1.25,
		"gpt-5-latest:low": 1.25, "claude-opus-4-5-20251101": 5, "anthropic/claude-opus-4-5": 5, "claude-3-5-haiku-latest": 0.8,
		"mine/local": 1, "gpt-5-nano": 9, "mine/local:high": 1, "gpt-5-nano:low": 9,
		// Another model, another seller, or nothing at all.
		"gpt-5-turbo": 0, "gpt": 0, "anthropic/gpt-5": 0, "openrouter/openai/gpt-5": 0, "azure/gpt-5": 0, "gpt-5:free": 0,
		"us.anthropic.claude-opus-4-5-20251101-v1:0": 0, "local": 0, "/gpt-5": 0, "openai/": 0, "": 0, "\n": 0, "-latest": 0,
		"gpt-5-20250807-20250807": 0, "MINE/local": 0,
	} {
		got, ok := p.Of(give)
		if got.Input != want || ok != (want != 0) {
			t.Errorf("Of(%q) = %+v, %t, want an input of %v", give, got, ok, want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	read, write := 0.1, 2.0
	whole := Price{Input: 1, Output: 10, CacheRead: &read, CacheWrite: &write}
	bounded := whole
	bounded.MostInput = 1000
	for _, tt := range []struct {
		name  string
		price Price
		give  Usage
		want  float64
		ok    bool
	}{
		{"nothing", whole, Usage{}, 0, true},
		{"a million of each", whole, Usage{1e6, 1e6, 1e6, 1e6}, 13.1, true},
		{"some", whole, Usage{Input: 1000, Output: 100}, 0.002, true},
		{"cache that has no price", Price{Input: 1, Output: 1}, Usage{CacheRead: 1}, 0, false},
		{"writes that have no price", Price{Input: 1, Output: 1, CacheRead: &read}, Usage{CacheWrite: 1}, 0, false},
		{"no such tokens", Price{Input: 1, Output: 1}, Usage{Input: 1e6}, 1, true},
		{"as much as may be", bounded, Usage{Input: 500, CacheRead: 300, CacheWrite: 200}, 0.00093, true},
		{"more input", bounded, Usage{Input: 1001}, 0, false},
		{"more with what was cached", bounded, Usage{Input: 500, CacheRead: 501}, 0, false},
		{"more with what was written", bounded, Usage{Input: 500, CacheRead: 300, CacheWrite: 201}, 0, false},
		{"too large to add up", bounded, Usage{Input: 1, CacheRead: math.MaxInt64}, 0, false},
		{"less than nothing", whole, Usage{Output: -1}, 0, false},
	} {
		got, ok := tt.price.Cost(tt.give)
		if ok != tt.ok || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: Cost = %v, %t, want %v, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"gpt-5", "openai/gpt-5-2025-08-07:high", strings.Repeat("-20250101", 100)} {
		f.Add(seed)
	}
	p, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, model string) {
		if price, ok := p.Of(model); ok != (price != Price{}) {
			t.Errorf("Of(%q) = %+v, %t", model, price, ok)
		}
	})
}

// TestPricesOfProviders holds that each model has a price that `swarm models`
// lists for these six providers. testdata/listed.txt is its list with pi 0.87.1
// and codex 0.169.0, where a key of each provider is set.
func TestPricesOfProviders(t *testing.T) {
	t.Parallel()
	prices, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]string{
		"google/gemma-4-26b-a4b-it":        "pi has no price",
		"google/gemma-4-31b-it":            "pi has no price",
		"mistral/labs-devstral-small-2512": "pi has no price",
		"openai/gpt-6.1-sol":               "codex lists it, and no list of prices has it",
		"openai/gpt-6.1-terra":             "codex lists it, and no list of prices has it",
	}
	text, err := os.ReadFile("testdata/listed.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for model := range strings.FieldsSeq(string(text)) {
		provider, _, _ := strings.Cut(model, "/")
		listed[provider]++
		price, ok := prices.Of(model)
		if reason := without[model]; ok == (reason != "") || ok && (price.Input <= 0 || price.Output <= 0) {
			t.Errorf("%s: %+v, %v, want none because: %q", model, price, ok, reason)
		}
	}
	for _, provider := range []string{"anthropic", "openai", "google", "deepseek", "xai", "mistral"} {
		if listed[provider] == 0 {
			t.Errorf("no model of %s is listed", provider)
		}
	}
	for _, by := range prices.Providers() {
		if by.Source == "" || len(by.Date) != len("2006-01-02") {
			t.Errorf("%s: source %q, date %q", by.Name, by.Source, by.Date)
		}
	}
}
