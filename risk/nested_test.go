package risk

import (
	"strings"
	"testing"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// Programs inside the words of other programs are searched within bounds. A
// text that reaches a bound needs approval. The bounds count command lines, not
// time.
func TestNestedPrograms(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, word := range []string{
		"git", "env", "sudo", "xargs", "nice", "timeout 5", "find . -exec", "sh -c", "kubectl", "docker run x", "npx", "yadm", "vcsh x", "chezmoi git", "nix run x --",
		"parallel", "eval", "git submodule foreach", "ssh h", "flock x", "strace", "ip netns exec x", "machinectl shell x",
	} {
		for _, around := range []string{"", "frobnicate ", "for i in 1 2; do frobnicate "} {
			for _, n := range []int{3, 40, 300} {
				text := around + strings.Repeat(word+" ", n) + "git push --force"
				if strings.HasSuffix(around, "do ") {
					text += "; done"
				}
				f := r.Classify(&Shell{Text: text}, place())
				if f.judged > 2*(maxSuspects+1)*(maxSuspects+1) {
					t.Errorf("%s%s × %d: %d command lines are judged, which is more than a bound of suspects allows", around, word, n, f.judged)
				}
				if f.Tier == Safe && around != "" {
					t.Errorf("%s%s × %d is %s", around, word, n, f.Tier)
				}
			}
		}
	}
	p := place()
	inv := shell.Invocation{Program: "ls", Path: argv.Known("ls")}
	for _, c := range []struct{ judged, want int }{{0, 0}, {maxJudged - 1, 0}, {maxJudged, 1}, {maxJudged + 1, 0}} {
		parts := r.judgeAmong(&inv, &p, &siblings{judged: c.judged})
		if len(parts) != c.want || len(parts) > 0 && !parts[0].Opaque {
			t.Errorf("after %d command lines: %+v", c.judged, parts)
		}
	}
}
