package shim

import (
	"os"
	"strings"
	"testing"
)

// TestAdviceIsGiven: the instructions of agents have the words of this package.
func TestAdviceIsGiven(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"../../docs/agent-protocol.md",
		"../workflow/builtin_types/general-purpose.md",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), Advice) {
			t.Errorf("%s does not say: %s", file, Advice)
		}
	}
}
