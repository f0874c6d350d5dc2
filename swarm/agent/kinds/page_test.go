package kinds

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

var update = flag.Bool("update", false, "rewrite the table of the documentation")

const page = "../../../docs/agents.md"

// TestPage holds the table of kinds to the kinds there are.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- kinds -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q with an %q", page, begin, end)
	}
	want := before + begin + rows(All()) + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not what the kinds say; rewrite it with -update", page)
	}
}

func rows(all List) string {
	var b strings.Builder
	b.WriteString("| kind | installed by | versions tried | memory of one | options |\n|---|---|---|---|---|\n")
	for _, k := range all {
		install, versions := "it is swarm itself", ""
		if k.Program != "" {
			install, versions = "`"+k.Install+"`", k.Version.Oldest+" to "+k.Version.Newest
		}
		if k.Version.Oldest == k.Version.Newest {
			versions = k.Version.Oldest
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d MiB | %s |\n", k.Name, install, versions, k.Footprint>>20, told(k.Can))
	}
	return b.String()
}

// told lists the options of a kind, in the words of the page.
func told(can agent.Abilities) string {
	var all []string
	for _, ability := range []struct {
		name string
		has  bool
	}{
		{"model", can.Model}, {"effort", can.Effort}, {"max_thinking_tokens", can.Thinking}, {"tools", can.Tools}, {"read_only", can.ReadOnly},
		{"schema", can.Schema}, {"fork", can.Fork}, {"steer", can.Steer}, {"turns", can.Turns}, {"hook", can.Hook},
	} {
		if ability.has {
			all = append(all, ability.name)
		}
	}
	return strings.Join(all, ", ")
}

// TestRows shows a table that is not empty.
func TestRows(t *testing.T) {
	t.Parallel()
	got := rows(List{
		{Name: "pi", Program: "pi", Install: "npm i pi", Version: agent.Versions{Oldest: "1.0.0", Newest: "1.2.0"}, Footprint: 56 << 20,
			Can: agent.Abilities{Model: true, ReadOnly: true, Hook: true}},
		{Name: "builtin", Footprint: 20 << 20, Can: agent.Abilities{Fork: true}},
	})
	for _, want := range []string{
		"\n| `pi` | `npm i pi` | 1.0.0 to 1.2.0 | 56 MiB | model, read_only, hook |\n",
		"\n| `builtin` | it is swarm itself |  | 20 MiB | fork |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("rows =\n%swant among them%s", got, want)
		}
	}
}

// TestLists: each CLI lists its models, or says why it cannot.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, k := range All() {
		if k.Program != "" && (k.List == nil) == (k.Unlisted == "") {
			t.Errorf("%s: lists: %t, says why not: %q", k.Name, k.List != nil, k.Unlisted)
		}
	}
}
