package quota

import (
	"testing"
	"time"

	"agentswarm/swarm/event"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, governed string
		q              event.Quota
		covers, not    []string // kind and lane
	}{
		{"claude", "anthropic/opus", event.Quota{Account: true}, []string{"claude anthropic/opus", "claude anthropic/sonnet", "claude anthropic"}, []string{"pi anthropic/opus", "claude bedrock/opus"}},
		{"claude", "anthropic/opus", event.Quota{Family: "opus"}, []string{"claude anthropic/opus"}, []string{"claude anthropic/sonnet", "claude anthropic"}},
		{"pi", "openai/gpt-5", event.Quota{}, []string{"pi openai/gpt-5"}, []string{"pi openai/gpt-5-mini", "pi openai"}},
		{"codex", "openai", event.Quota{}, []string{"codex openai"}, []string{"codex openai/gpt-5"}},
	} {
		l := LaneOf(test.kind, test.governed, &test.q)
		if again := ParseLane(l.String()); again != l {
			t.Errorf("ParseLane(%q) = %+v, want %+v", l.String(), again, l)
		}
		for want, lanes := range map[bool][]string{true: test.covers, false: test.not} {
			for _, text := range lanes {
				parsed := ParseLane(text)
				governed := parsed.Provider
				if parsed.Model != "" {
					governed += "/" + parsed.Model
				}
				if got := l.Covers(parsed.Kind, governed); got != want {
					t.Errorf("%s covers %s: %t", l, text, got)
				}
			}
		}
	}
}

// TestRefuse holds when a window opens after several refusals.
func TestRefuse(t *testing.T) {
	t.Parallel()
	lane := Lane{"claude", "anthropic", ""}
	type step struct {
		at    time.Duration // after noon
		probe bool
		until time.Duration // 0: not told
		text  bool
		want  time.Duration
	}
	const h = time.Hour
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"the same again", []step{{0, false, 5 * h, false, 5 * h}, {time.Minute, false, 5 * h, false, 5 * h}}},
		{"a later window", []step{{0, false, 5 * h, false, 5 * h}, {1, false, 50 * h, false, 50 * h}}},
		{"an earlier one", []step{{0, false, 50 * h, false, 50 * h}, {1, false, 5 * h, false, 50 * h}}},
		{"structure after text", []step{{0, false, 6 * h, true, 6 * h}, {1, false, 5 * h, false, 5 * h}}},
		{"text after structure", []step{{0, false, 5 * h, false, 5 * h}, {1, false, 6 * h, true, 5 * h}}},
		{"over", []step{{0, false, -h, false, 5 * time.Minute}}},
		{"late by an hour", []step{
			{0, false, 5 * h, true, 5 * h}, {5 * h, true, 29 * h, true, 5*h + 5*time.Minute},
			{5*h + 5*time.Minute, true, 29 * h, true, 5*h + 15*time.Minute}, {5*h + 15*time.Minute, true, 29 * h, true, 5*h + 30*time.Minute},
			{5*h + 30*time.Minute, true, 29 * h, true, 5*h + 45*time.Minute},
		}},
		{"a new window", []step{{0, false, 5 * h, true, 5 * h}, {5 * h, true, 10 * h, true, 10 * h}}},
		{"without a time", []step{{0, false, 5 * h, false, 5 * h}, {5 * h, true, 0, false, 5*h + 5*time.Minute}}},
	} {
		b := NewBook(Bounds{Wait: 8 * 24 * h})
		for i, s := range test.steps {
			now := noon.Add(s.at)
			if s.probe {
				w := b.Window(lane)
				if !b.Due(w, now) {
					t.Errorf("%s, %d: not due at %s", test.name, i, now)
				}
				w.Begin("a1")
			}
			r := Refusal{Lane: lane, Agent: "a1", Text: s.text}
			if s.until != 0 {
				r.Until = noon.Add(s.until)
			}
			w, _ := b.Refuse(now, r)
			if !w.Until.Equal(noon.Add(s.want)) || w.GivenUp != "" || w.Probe != "" {
				t.Errorf("%s, %d: until %s after noon, given up %q, want %s", test.name, i, w.Until.Sub(noon), w.GivenUp, s.want)
			}
		}
	}
}

// TestBounds checks which windows a run does not wait for.
func TestBounds(t *testing.T) {
	t.Parallel()
	lane := Lane{"k", "p", "m"}
	refusal := Refusal{Lane: lane, Agent: "a1", Until: noon.Add(5 * time.Hour)}
	for _, test := range []struct {
		bounds Bounds
		give   Refusal
		up     bool
	}{
		{Bounds{Wait: 5 * time.Hour}, refusal, false},
		{Bounds{Wait: 4 * time.Hour}, refusal, true},
		{Bounds{}, refusal, true},
		{Bounds{Wait: 5 * time.Hour}, Refusal{Lane: lane, Agent: "a1"}, true},
	} {
		b := NewBook(test.bounds)
		if w, _ := b.Refuse(noon, test.give); (w.GivenUp != "") != test.up {
			t.Errorf("%+v: given up %q", test.bounds, w.GivenUp)
		}
	}
	b := NewBook(Bounds{Wait: 8 * time.Hour, Windows: 2})
	for n := 1; n <= 3; n++ {
		now := noon.Add(time.Duration(n) * 10 * time.Hour)
		w, _ := b.Refuse(now, Refusal{Lane: lane, Agent: "a1", Until: now.Add(5 * time.Hour)})
		if (w.GivenUp != "") != (n > 2) {
			t.Errorf("window %d: given up %q", n, w.GivenUp)
		}
		w.Begin("a1")
		b.Answered("a1")
	}
	// Under a later owner they count anew, and a window without an end is left
	// out.
	b = NewBook(Bounds{Wait: 8 * time.Hour, Windows: 2})
	until := noon.Add(3 * time.Hour)
	b.Restore(noon, &event.QuotaClosed{Lane: lane.String(), Until: &until, N: 9})
	b.Restore(noon, &event.QuotaClosed{Lane: "k q"})
	if len(b.Windows()) != 1 || b.Windows()[0].GivenUp != "" || b.Holding("a2", "k", "p/m") == nil || b.Holding("a2", "k", "p/n") != nil {
		t.Errorf("restored: %+v", b.Windows())
	}
}
