package cli

import (
	"strings"
	"testing"
)

func TestCalledAs(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0123456789abcdef", 4)
	for self, want := range map[string]string{
		"/tmp/go-build214959430/b001/exe/agentswarm":        "go run .",
		"/home/u/.cache/go-build/63/" + digest + "-d/swarm": "go run .",
		"/gocache/63/" + digest + "-d/agentswarm":           "go run .",
		"/home/u/go-builds/swarm":                           "typed",
		"/usr/local/bin/swarm":                              "typed",
	} {
		if got := calledAs("typed", self); got != want {
			t.Errorf("calledAs(%s) = %q, want %q", self, got, want)
		}
	}
}
