package risk

import (
	"fmt"
	"strings"
	"testing"
)

// TestOptionsThatDestroy holds that each rule about an option of a subcommand finds
// it, wherever the option stands: each program, subcommand and option of the tables.
func TestOptionsThatDestroy(t *testing.T) {
	t.Parallel()
	r := load(t)
	tried := 0
	for _, one := range r.all {
		for _, m := range one.Match {
			if len(m.Flags) == 0 || len(m.With)+len(m.When)+len(m.First)+len(m.Second)+len(m.Words)+len(m.Operand)+len(m.Effect) > 0 {
				continue
			}
			subs := m.Sub
			if len(subs) == 0 {
				subs = []string{""}
			}
			for _, program := range m.Program {
				for _, sub := range subs {
					for _, flag := range m.Flags {
						if strings.HasSuffix(flag, "*") {
							continue // no whole option
						}
						for _, form := range []string{"%s %s %s x y", "%s %s x y %s"} {
							give := fmt.Sprintf(form, program, sub, flag)
							tried++
							// A rule that says more may stand in its place.
							if f := r.Classify(&Shell{Text: give}, place()); f.Tier < min(one.Tier, HardToReverse) {
								t.Errorf("%s: %s is %s", one.ID, give, f.Tier)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d command lines", tried)
}
