// Package risk judges actions of agents. It finds how grave an action is and
// whether it is granted. From that it decides whether the action proceeds,
// waits for a person, or is refused. It runs nothing and reads no files: its
// caller passes the facts of the place.
package risk

import "fmt"

// Tier is how grave an action is.
type Tier uint8

// The tiers, in their order. The zero value is no tier: an action that has not
// been classified asks.
const (
	Unclassified  Tier = iota
	Safe               // it needs no report
	Visible            // other people see it
	HardToReverse      // it can be taken back with effort, or not by us
	Destructive        // it destroys data that cannot be brought back
)

// names are the tiers' words, as records and rules have them.
func (t Tier) names() [5]string {
	return [5]string{"", "SAFE", "VISIBLE", "HARD_TO_REVERSE", "DESTRUCTIVE"}
}

// String is the word of a tier; empty for none of them.
func (t Tier) String() string {
	if names := t.names(); int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// MarshalText is the word of a tier. It is an error to write none of them.
func (t Tier) MarshalText() ([]byte, error) {
	if t == Unclassified || t > Destructive {
		return nil, fmt.Errorf("%d is not a tier", uint8(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText reads the word of a tier.
func (t *Tier) UnmarshalText(text []byte) error {
	for i, name := range t.names() {
		if i > 0 && name == string(text) {
			*t = Tier(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a tier; want SAFE, VISIBLE, HARD_TO_REVERSE or DESTRUCTIVE", text)
}

// Verdict is the decision about an action.
type Verdict uint8

// The verdicts. The zero value is the refusal.
const (
	Deny Verdict = iota
	Ask
	Proceed
)

// String is the word of a verdict.
func (v Verdict) String() string {
	switch v {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Proceed:
		return "proceed"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText is the word of a verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word of a verdict.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Deny, Ask, Proceed} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("%q is not a verdict; want deny, ask or proceed", text)
}
