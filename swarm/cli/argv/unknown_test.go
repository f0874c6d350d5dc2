package argv

import "testing"

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
