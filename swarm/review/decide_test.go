package review

import (
	"testing"

	"agentswarm/swarm/task"
)

const twoFunctions = " func A() {\n-\tx := oldOne(alpha, beta)\n-\ty := oldTwo(gamma, delta)\n+\tx := newOne(alpha, beta)\n+\ty := newTwo(gamma, delta)\n"

func decided(t *testing.T, p *Patch, made []Decision) (*Decided, []choice) {
	t.Helper()
	x := &Index{}
	x.Put(p)
	return x.Decide(p.ID, made), x.patches[p.ID]
}

func verdicts(d *Decided, c choice) (whole task.Verdict, parts []task.Verdict) {
	of, _ := d.On(c.whole)
	for _, part := range c.parts {
		one, _ := d.On(part)
		parts = append(parts, one.Verdict)
	}
	return of.Verdict, parts
}

// TestDecideParts: decisions carry over between a run and its parts, the latest
// last.
func TestDecideParts(t *testing.T) {
	t.Parallel()
	p := patchOf(t, "a1", "a.go", twoFunctions)
	c := choices(p)[0]
	if len(c.parts) != 2 {
		t.Fatalf("it has %d parts", len(c.parts))
	}
	on := func(e *Edit, v task.Verdict) Decision { return Decision{Edit: e.Key(), Verdict: v} }
	for _, test := range []struct {
		name  string
		made  []Decision
		whole task.Verdict
		parts [2]task.Verdict
	}{
		{"nothing", nil, "", [2]task.Verdict{}},
		{"the run", []Decision{on(c.whole, task.Accepted)}, task.Accepted, [2]task.Verdict{task.Accepted, task.Accepted}},
		{"one part", []Decision{on(c.parts[1], task.Accepted)}, "", [2]task.Verdict{"", task.Accepted}},
		{"all parts", []Decision{on(c.parts[1], task.Accepted), on(c.parts[0], task.Accepted)}, task.Accepted, [2]task.Verdict{task.Accepted, task.Accepted}},
		{"a rejected part", []Decision{on(c.whole, task.Accepted), on(c.parts[0], task.Rejected)}, task.Rejected, [2]task.Verdict{task.Rejected, task.Accepted}},
		{"the run after a part", []Decision{on(c.parts[0], task.Rejected), on(c.whole, task.Accepted)}, task.Accepted, [2]task.Verdict{task.Accepted, task.Accepted}},
	} {
		d, all := decided(t, p, test.made)
		whole, parts := verdicts(d, all[0])
		if whole != test.whole || parts[0] != test.parts[0] || parts[1] != test.parts[1] || len(d.Outdated) > 0 {
			t.Errorf("%s: %q %q, outdated %v; want %q %q", test.name, whole, parts, d.Outdated, test.whole, test.parts)
		}
	}
}

// TestDecideLater: decisions on an earlier attempt hold for edits that remain,
// at any place, and the others are kept as outdated.
func TestDecideLater(t *testing.T) {
	t.Parallel()
	const kept, changed = " }\n-\tf(old)\n+\tf(new)\n", " {\n+\tx := 1\n"
	before := read(t, "a1", oneFile("pkg/a.go", kept+" between\n"+changed))
	var made []Decision
	for _, c := range choices(before) {
		made = append(made, Decision{Edit: c.whole.Key(), Verdict: task.Accepted})
	}
	for name, after := range map[string]*Patch{
		"other lines": read(t, "a1", oneFile("pkg/a.go", " more\n lines\n"+kept+" between\n {\n+\tx := 2\n")),
		"moved file":  read(t, "a1", oneFile("pkg/b.go", kept+" between\n {\n+\tx := 2\n")),
	} {
		d, all := decided(t, after, made)
		first, _ := verdicts(d, all[0])
		second, _ := verdicts(d, all[1])
		if first != task.Accepted || second != "" {
			t.Errorf("%s: the edit that is still there is %q, the other %q", name, first, second)
		}
		if len(d.Outdated) != 1 || d.Outdated[0].Edit != made[1].Edit {
			t.Errorf("%s: outdated %+v, want the second", name, d.Outdated)
		}
	}
	// Equal edits of a file are told apart, and another file's edit stays
	// undecided.
	twice := read(t, "a1", oneFile("a.go", kept+kept)+oneFile("z.go", kept))
	all := choices(twice)
	d, all := decided(t, twice, []Decision{{Edit: all[1].whole.Key(), Verdict: task.Rejected}})
	for i, want := range []task.Verdict{"", task.Rejected, ""} {
		if got, _ := verdicts(d, all[i]); got != want {
			t.Errorf("edit %d is %q, want %q", i, got, want)
		}
	}
}
