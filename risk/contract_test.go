package risk

import (
	"strings"
	"testing"
)

func TestContract(t *testing.T) {
	t.Parallel()
	a := &Authority{Root: ReadGrants([]byte(heading+"\n- Push to feature/* branches\n- Never run make release\n- Push if you like\n"), "AGENTS.md")}
	text := a.Contract(true)
	for _, want := range []string{"in silence", "without asking:\n- Push to feature/* branches\n", "Always asks here: Never run make release\n", "share"} {
		if !strings.Contains(text, want) {
			t.Errorf("Contract lacks %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"if you like"} {
		if strings.Contains(text, not) {
			t.Errorf("Contract has %q", not)
		}
	}
	if alone := (&Authority{}).Contract(false); strings.Contains(alone, "Allowed") || strings.Contains(alone, "share") || len(alone) > 1500 {
		t.Errorf("Contract of nothing = %s", alone)
	}
}
