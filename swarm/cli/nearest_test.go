package cli

import "testing"

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
