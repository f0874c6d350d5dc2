package cli

import "testing"

func TestEditDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"run", "run", 0},
		{"rnu", "run", 1}, // a swap is one slip
		{"urn", "run", 1},
		{"kitten", "sitting", 3},
		{"größe", "grösse", 2},
		{"ca", "abc", 3}, // no edits inside a swap
	}
	for _, tt := range tests {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := editDistance(tt.b, tt.a); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"run", "ls", "logs", "rm", "resume", "status", "--max", "--max-agents", "--merge", "-j"}
	tests := []struct{ give, want string }{
		{"rnu", "run"},
		{"sl", "ls"},
		{"res", "resume"},
		{"r", ""},
		{"sattus", "status"},
		{"stauts", "status"},
		{"deploy", ""},
		{"--maxagents", "--max-agents"},
		{"--max-agent", "--max-agents"},
		{"--max-", "--max-agents"},
		{"--m", ""},
		{"--mreg", "--merge"},
		{"--verbose", ""},
		{"-x", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := nearest(tt.give, names); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}
