package agenttest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// Recording is the recorded output of a CLI, and its meaning.
type Recording struct {
	Name string     // the file in testdata, without its ending
	Want []string   // the events, as [Read] returns them
	Used task.Usage // the sum of its usage
}

// Check reads the recording in pieces of several sizes, each time with a new
// parser, and reports each difference from its meaning.
func (r Recording) Check(t *testing.T, parser func() agent.Parser) {
	t.Helper()
	text := recorded(t, r.Name)
	for _, size := range []int{1 << 20, 1000, 7} {
		got, used := Read(parser(), text, size)
		if !slices.Equal(got, r.Want) {
			t.Errorf("in pieces of %d:\n%s\nwant\n%s", size, strings.Join(got, "\n"), strings.Join(r.Want, "\n"))
		}
		if used != r.Used {
			t.Errorf("in pieces of %d: it used %+v, want %+v", size, used, r.Used)
		}
	}
}

// Fuzz checks that a stream in pieces has the events and the usage of the whole
// stream, and that no part of its usage is below zero. Its seeds are
// recordings.
func Fuzz(f *testing.F, parser func() agent.Parser, names ...string) {
	for _, name := range names {
		f.Add(recorded(f, name), 100)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if size < 1 {
			return
		}
		want, used := Read(parser(), text, max(1, len(text)))
		if got, again := Read(parser(), text, size); !slices.Equal(got, want) || again != used {
			t.Errorf("in pieces of %d: %q and %+v, want %q and %+v", size, got, again, want, used)
		}
		if min(used.Input, used.Output, used.CacheRead, used.CacheWrite) < 0 || used.CostUSD < 0 {
			t.Errorf("a part of its usage is below zero: %+v", used)
		}
	})
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return text
}
