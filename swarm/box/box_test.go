package box

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRung(t *testing.T) {
	t.Parallel()
	if None != 0 {
		t.Error("the zero value promises walls")
	}
	for r := None; r <= Full; r++ {
		text, _ := r.MarshalText()
		var got Level
		if err := got.UnmarshalText(text); err != nil || got != r {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", text, got, err, r)
		}
	}
	words := map[string]bool{}
	for r := None; r <= Full; r++ {
		words[r.Limits()] = true
		if text := r.Guarantee(nil); text == "" || strings.Contains(text, "kernel ends") != r.Namespaces() {
			t.Errorf("%v guarantees %q", r, text)
		}
	}
	if len(words) != len(levelNames()) {
		t.Errorf("limits are %v", words)
	}
	if err := new(Level).UnmarshalText([]byte("bricks")); err == nil {
		t.Error("unknown walls are accepted")
	}
	if got := Level(99).String(); got != "level(99)" {
		t.Errorf("String = %q", got)
	}
}

// TestGuarantee: the folders that agents write to, and those that they do not, are named.
func TestGuarantee(t *testing.T) {
	t.Parallel()
	for want, shared := range map[string][]string{
		"TMPDIR and the machine's /tmp and /var/tmp":     {"/tmp", "/var/tmp"},
		"TMPDIR and the machine's /var/tmp (not to /tmp": {"/var/tmp"},
		"TMPDIR (not to /tmp":                            nil,
	} {
		if got := Landlock.Guarantee(shared); !strings.Contains(got, want) {
			t.Errorf("Guarantee(%q) = %q, want %q in it", shared, got, want)
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	no := errors.New("mount a new /proc: no")
	for best := range len(ladder()) + 1 {
		tried := 0
		got, err := Probe(func(r Level) error {
			if r != ladder()[tried] {
				t.Errorf("try %d was of %v, want %v", tried, r, ladder()[tried])
			}
			tried++
			if tried-1 < best {
				return no
			}
			return nil
		})
		want := None
		if best < len(ladder()) {
			want = ladder()[best]
		}
		if got != want || errors.Is(err, no) != (best > 0) {
			t.Errorf("Probe, %d refused = %v, %v, want %v", best, got, err, want)
		}
		var refusal *Refusal
		if best > 0 && (!errors.As(err, &refusal) || refusal.Level != ladder()[0] ||
			strings.Count(err.Error(), no.Error()) != 1 || len(refusal.More) != best-1) {
			t.Errorf("Probe explains itself with %v", err)
		}
	}
}

func TestNoneIsNothing(t *testing.T) {
	t.Parallel()
	if attr := Attr(None); attr != nil {
		t.Errorf("Attr(None) = %+v, want nil", attr)
	}
	if err := Enter(Sandbox{}); err != nil {
		t.Errorf("Enter(Walls{}) = %v", err)
	}
	if err := Enter(Sandbox{Level: Full}); err == nil {
		t.Error("Enter succeeds outside of a namespace")
	}
}

// TestPieceOnTheWire: a path that is not text arrives as it is.
func TestPieceOnTheWire(t *testing.T) {
	t.Parallel()
	give := Sandbox{Level: Full, Open: true, Pieces: []Piece{
		{At: "/\xff", From: "/a\xfe", Write: true, Optional: true},
		{At: "/b", Lower: []string{"/\xfd", "/c"}, Upper: "/u\x80", Work: "/w", Sealed: true},
		{At: "/s", Scratch: true}, {At: "/e", Empty: true},
	}}
	text, err := json.Marshal(give)
	if err != nil {
		t.Fatal(err)
	}
	var got Sandbox
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, give) {
		t.Errorf("Unmarshal(Marshal) = %+v, %v, want %+v", got, err, give)
	}
}
