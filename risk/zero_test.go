package risk

import "testing"

// TestZeroAsks: an action that was never classified, or a finding without
// parts, never proceeds, whatever is granted.
func TestZeroAsks(t *testing.T) {
	t.Parallel()
	g, err := ParseGrant("push to feature/*")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*Finding{
		"nothing": {}, "a part without a tier": {Parts: []Part{{Operation: &Push{Remote: "origin", Branches: []string{"feature/x"}}}}},
		"a tier without a part": {Tier: Visible}, "opaque": {Opaque: true},
		"opaque beside what is granted": {Tier: Visible, Opaque: true, Parts: []Part{{
			Tier: Visible, Operation: &Push{Remote: "origin", Branches: []string{"feature/x"}},
		}}},
	} {
		d := (&Authority{Allowed: []Grant{g}}).Decide(f, &Place{})
		if d.Verdict != Ask || d.Reason == "" && len(f.Parts) == 0 && f.Tier == Unclassified {
			t.Errorf("%s: %+v, want it asked about", name, d)
		}
	}
	var tier Tier
	var verdict Verdict
	if tier != Unclassified || tier == Safe || verdict != Deny {
		t.Errorf("the zero values are %v and %v", tier, verdict)
	}
}
