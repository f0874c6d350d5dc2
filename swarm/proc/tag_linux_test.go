package proc

import (
	"os"
	"testing"
)

// TestSupervised asks a process below a supervisor whether it is supervised,
// also after it has hidden its marks.
func TestSupervised(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		if Supervised(runName(t)) {
			t.Fatal("the test itself is below a supervisor")
		}
		s := m.spec(t, "supervised", runName(t))
		s.Run = runName(t)
		p, err := m.launcher().Start(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		exit := p.Wait()
		text, err := os.ReadFile(s.Stdout)
		if err != nil || string(text) != "true false\n" {
			t.Errorf("it said %q, %v, and ended with %+v", text, err, exit)
		}
	})
}
