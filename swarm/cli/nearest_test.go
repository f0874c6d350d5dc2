package cli

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/nearest"
)

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
		if got := nearest.Name(tt.give, names); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

// TestForeignCommand: words of other programs lead to commands that exist, and no
// command of swarm is such a word.
func TestForeignCommand(t *testing.T) {
	t.Parallel()
	names := cmdline.VisibleNames(builtin(cmdline.Env{}))
	for give, want := range map[string]string{
		"top": "watch", "restart": "retry", "remove": "rm", "restore": "rm --undo", "questions": "inbox", "cost": "usage",
		"deploy": "", "": "",
	} {
		got := foreignCommand(give)
		if got != want {
			t.Errorf("foreignCommand(%q) = %q, want %q", give, got, want)
		}
		if first, _, _ := strings.Cut(got, " "); got != "" && !slices.Contains(names, first) {
			t.Errorf("%q leads to %q, which is not a command", give, got)
		}
	}
	for _, name := range names {
		if got := foreignCommand(name); got != "" {
			t.Errorf("the command %q is taken for %q", name, got)
		}
	}
}

// TestFlagsOfOtherPrograms: a flag of another program leads to the flag of ours with
// its meaning.
func TestFlagsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, known, want string }{
		{"--parallel", "--jobs", "--jobs"},
		{"--best-of", "--count", "--count"},
		{"--bg", "--detach", "--detach"},
		{"-n", "--tail", "--tail"},
		{"-n", "--dry-run", ""},
		{"--isolation", "--sandbox", "--sandbox"},
		{"--parallel", "--tail", ""},
	} {
		if got := elsewhere(tt.give, []string{tt.known}); got != tt.want {
			t.Errorf("elsewhere(%q) beside %s = %q, want %q", tt.give, tt.known, got, tt.want)
		}
	}
}
