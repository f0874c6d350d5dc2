package guard

import (
	"strings"
	"testing"
)

func TestWithout(t *testing.T) {
	t.Parallel()
	g := newFixture(t, byWord)
	guards := g.guards("one", "frob")
	g.write("two/guards/own/frob", "") // of somebody who has never heard of swarm
	own := g.dir + "/two/guards/own"
	for give, want := range map[string]string{
		guards + ":/bin": "/bin", "/bin:" + guards + "/:" + guards: "/bin", own + ":/bin": own + ":/bin",
		"/bin::/x": "/bin::/x", "": "", guards: "", guards + "/..:/bin": guards + "/..:/bin",
	} {
		if got := Without(give); got != want {
			t.Errorf("Without(%q) = %q, want %q", strings.ReplaceAll(give, g.dir, "…"), got, want)
		}
	}
}
