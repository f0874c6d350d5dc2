package nearest

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"item", "item", 0},
		{"itme", "item", 1}, // a swap is a single slip
		{"items", "item", 1},
		{"count", "cuont", 1},
		{"x", "index", 4},
		{"rnu", "run", 1},
		{"urn", "run", 1},
		{"kitten", "sitting", 3},
		{"größe", "grösse", 2},
		{"ca", "abc", 3}, // no edits inside a swap
	}
	for _, tt := range tests {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	known := []string{"id", "prompt", "command", "depends_on", strings.Repeat("p", 200)}
	tests := []struct{ give, want string }{
		{"promt", "prompt"},
		{"prompt", ""}, // it is known: nothing else was meant
		{"depend_on", "depends_on"},
		{"dependsOn", "depends_on"},
		{"ids", "id"},
		{"x", ""},
		{"", ""},
		{"comand", "command"},
		{"deploy", ""},
		{strings.Repeat("p", 201), ""},
	}
	for _, tt := range tests {
		if got := Word(tt.give, known); got != tt.want {
			t.Errorf("Word(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestName(t *testing.T) {
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
		if got := Name(tt.give, names); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}
