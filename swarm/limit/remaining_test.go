package limit

import (
	"testing"
	"time"
)

func TestRemaining(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const requests, reset = "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"
	for _, test := range []struct {
		name   string
		given  map[string]string
		tokens int64
		want   int
	}{
		{"none", nil, 10, 0},
		{"OpenAI", map[string]string{requests: "4999", reset: "12ms"}, 10, 4999},
		{"tokens are less", map[string]string{
			requests: "4999", reset: "12ms", "x-ratelimit-remaining-tokens": "30000", "x-ratelimit-reset-tokens": "1m2s",
		}, 1000, 30},
		{"a limit a day", map[string]string{requests: "14000", reset: "6h0m0s"}, 10, 0},
		{"seconds", map[string]string{requests: "7", reset: "59.5"}, 10, 7},
		{"Anthropic", map[string]string{
			"anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": "2026-01-02T03:05:00Z",
			"anthropic-ratelimit-input-tokens-remaining": "20000", "anthropic-ratelimit-input-tokens-reset": "2026-01-02T03:05:00Z",
		}, 1000, 20},
		{"nothing is left", map[string]string{requests: "0", reset: "1s"}, 10, 1},
		{"without a time", map[string]string{requests: "100"}, 10, 0},
		{"odd ones", map[string]string{requests: "many", reset: "1s"}, 10, 0},
		{"less than none", map[string]string{requests: "-5", reset: "1s"}, 10, 0},
		{"an odd time", map[string]string{requests: "5", reset: "NaN"}, 10, 0},
		{"more than a number holds", map[string]string{requests: "9223372036854775807", reset: "1s"}, 10, 0},
	} {
		if got := Remaining(func(name string) string { return test.given[name] }, test.tokens, now); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// A window of which its provider says that much is left widens at once, unless a
// request was refused before.
func TestWidens(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		refused bool
		held    int
		left    int
		want    int
	}{
		{"much is left", false, firstSize, 2000, 100},
		{"very much is left", false, firstSize, 1 << 30, maxSize},
		{"little is left", false, firstSize, 40, firstSize},
		{"nothing is said", false, firstSize, 0, firstSize},
		{"nobody waits", false, firstSize - 1, 2000, firstSize},
		{"it was refused", true, firstSize, 2000, firstSize / 2},
	} {
		w := &Window{}
		w.begin(noon, 0)
		if test.refused {
			w.Refuse(noon, Refusal{Since: noon}, firstSize, func(time.Duration) time.Duration { return 0 })
		}
		w.Passed(noon, Success{Held: test.held, Fresh: 1, First: true, Left: test.left})
		if w.Size != test.want {
			t.Errorf("%s: %d places, want %d", test.name, w.Size, test.want)
		}
	}
}

func FuzzRemaining(f *testing.F) {
	f.Add("10", "1s", int64(3))
	f.Add("9223372036854775807", "1e300", int64(-1))
	f.Fuzz(func(t *testing.T, left, reset string, tokens int64) {
		got := Remaining(func(name string) string {
			if name[len(name)-5:] == "reset" || name == "x-ratelimit-reset-requests" {
				return reset
			}
			return left
		}, tokens, time.Unix(0, 0))
		if got < 0 {
			t.Errorf("%q, %q, %d: %d", left, reset, tokens, got)
		}
	})
}
