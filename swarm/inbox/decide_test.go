package inbox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
)

func permission() *event.Questioned {
	return &event.Questioned{ID: "r-1", Agent: "a1", Action: []byte(`{"command":"make"}`)}
}

func agentAsks() *event.Questioned {
	return &event.Questioned{ID: "r-2", Agent: "a1", Action: []byte(`{"question":"Which one?","choices":["a","b"]}`)}
}

// TestDecide checks that only an explicit yes allows, a clear no denies, and
// that anything else decides nothing.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want Decision
		bad  bool
	}{
		{"yes", Decision{Allow: true}, false},
		{" Y ", Decision{Allow: true}, false},
		{"Yes.", Decision{Allow: true}, false},
		{"approve", Decision{Allow: true}, false},
		{"yes, but only once", Decision{Allow: true, Text: "but only once"}, false},
		{"no", Decision{}, false},
		{"no.", Decision{}, false},
		{"NO!", Decision{}, false},
		{"nope", Decision{}, false},
		{"never", Decision{}, false},
		{"dont", Decision{}, false},
		{"don't", Decision{}, false},
		{"do not", Decision{}, false},
		{"stop", Decision{}, false},
		{"cancel", Decision{}, false},
		{"deny", Decision{}, false},
		{"false", Decision{}, false},
		{"wait", Decision{}, false},
		{"no, use make test", Decision{Reason: "use make test"}, false},
		{"wait until Friday", Decision{Reason: "wait until Friday"}, false},
		{"don't touch it", Decision{Reason: "don't touch it"}, false},
		{"the staging database", Decision{}, true},
		{"yes do it", Decision{}, true},
		{"ok", Decision{}, true},
		{"yesterday", Decision{}, true},
		{"nobody minds", Decision{}, true},
		{"true", Decision{}, true},
		{"7", Decision{}, true},
	} {
		got, err := Decide(permission(), test.text)
		unclear := (*UnclearError)(nil)
		if got != test.want || errors.As(err, &unclear) != test.bad {
			t.Errorf("Decide(%q) = %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
	for text, want := range map[string]Decision{
		"never": {Allow: true, Text: "never"}, "the staging database": {Allow: true, Text: "the staging database"},
		"No": {}, "yes": {Allow: true},
	} {
		if got, err := Decide(agentAsks(), text); got != want || err != nil {
			t.Errorf("to a question for words Decide(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// TestInquiryOfAgents checks that an agent's question asks for words only if it
// has no action.
func TestInquiryOfAgents(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]bool{
		`{"question":"Which?"}`:                     true,
		`{"question":"Which?","command":"rm -r x"}`: false,
		`{"question":"Which?","git":["push"]}`:      false,
		`{"question":" "}`:                          false,
		`{"command":"make"}`:                        false,
		`"make"`:                                    false,
	} {
		q := &event.Questioned{ID: "r-1", Agent: "a1", Action: []byte(action)}
		if _, got := InquiryOf(q); got != want {
			t.Errorf("InquiryOf(%s) = %t, want %t", action, got, want)
		}
	}
}

// FuzzDecide holds that a text which does not begin with a yes never allows.
func FuzzDecide(f *testing.F) {
	for _, text := range []string{"yes", "no", "yes, but", "do not", "don’t", "", "approve it"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, _ := Decide(permission(), text)
		if word, _ := cutWord(strings.TrimSpace(text)); d.Allow && !slices.Contains(yeses(), word) {
			t.Errorf("%q allows", text)
		}
	})
}
