package runcmd

import (
	"fmt"
	"strings"
	"testing"

	"agentswarm/internal/terminal"
)

// TestFirstSign holds that the line is there at once, is taken back before the
// first text, and is not there where the terminal cannot take it back.
func TestFirstSign(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		motion             bool
		first, then, clear string
	}{
		{true, "\rpreparing\x1b[K", "\rpreparing\x1b[K\r\x1b[Kone\ntwo\n", "\rpreparing\x1b[K\r\x1b[K"},
		{false, "", "one\ntwo\n", ""},
	} {
		var b strings.Builder
		s := sign(&b, terminal.Output{Motion: tt.motion}, "preparing")
		if b.String() != tt.first {
			t.Errorf("at first: %q, want %q", b.String(), tt.first)
		}
		fmt.Fprintln(s, "one")
		fmt.Fprintln(s, "two")
		s.clear()
		if b.String() != tt.then {
			t.Errorf("with text: %q, want %q", b.String(), tt.then)
		}
		b.Reset()
		sign(&b, terminal.Output{Motion: tt.motion}, "preparing").clear()
		if b.String() != tt.clear {
			t.Errorf("without text: %q, want %q", b.String(), tt.clear)
		}
	}
}
