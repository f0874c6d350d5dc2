package risk_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"agentswarm/risk"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// golden is a file of commands, each with its finding. A command begins with "$
// ", or with "shared$ " if the git dir is shared. Further lines of a command
// begin with "> ". Lines that begin with "#" stay as they are.
const golden = "testdata/golden.txt"

func TestFindingsAreAsWritten(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	rules := loadRules(t)
	var now strings.Builder
	count := 0
	for block := range strings.SplitSeq(strings.TrimRight(string(old), "\n"), "\n\n") {
		if now.Len() > 0 {
			now.WriteString("\n")
		}
		if strings.HasPrefix(block, "#") {
			now.WriteString(block + "\n")
			continue
		}
		count++
		first, more, _ := strings.Cut(block, "\n")
		command, shared := strings.CutPrefix(first, "shared$ ")
		command = strings.TrimPrefix(command, "$ ")
		fmt.Fprintln(&now, first)
		for line := range strings.SplitSeq(more, "\n") {
			if next, ok := strings.CutPrefix(line, "> "); ok {
				command += "\n" + next
				fmt.Fprintln(&now, line)
			}
		}
		place := corpusPlace(shared, true)
		explain(&now, rules.Classify(&risk.Shell{Text: command, Cwd: place.Root}, place))
	}
	if count < 50 {
		t.Errorf("%d commands, want 50", count)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := strings.Split(now.String(), "\n"), strings.Split(string(old), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d is %q, want %q; -update rewrites %s", i+1, got[i], want[i], golden)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d; -update rewrites %s", len(got), len(want), golden)
	}
}

// explain writes all of a finding that people are told.
func explain(b *strings.Builder, f *risk.Finding) {
	fmt.Fprintf(b, "= %s", f.Tier)
	if f.Opaque {
		b.WriteString(" opaque")
	}
	if f.Blocked {
		b.WriteString(" blocked")
	}
	if len(f.Unlisted) > 0 {
		fmt.Fprintf(b, ", unlisted %s", strings.Join(f.Unlisted, " "))
	}
	b.WriteString("\n")
	for i := range f.Parts {
		p := &f.Parts[i]
		fmt.Fprintf(b, "  %s %s", p.Rule, p.Tier)
		if p.Opaque {
			b.WriteString(" opaque")
		}
		if p.Blocked {
			b.WriteString(" blocked")
		}
		if p.Within {
			b.WriteString(" within")
		}
		fmt.Fprintf(b, " [%d:%d] %s\n", p.Span.Start, p.Span.End, p.Reason)
		if len(p.Argv) > 0 {
			fmt.Fprintf(b, "    %q", p.Argv)
			if len(p.Via) > 0 {
				fmt.Fprintf(b, " via %s", strings.Join(p.Via, ", "))
			}
			b.WriteString("\n")
		}
		if p.Operation != nil {
			fmt.Fprintf(b, "    grant: %T%+v\n", p.Operation, p.Operation)
		}
		if p.Instead != "" {
			fmt.Fprintf(b, "    instead: %s\n", p.Instead)
		}
	}
}
