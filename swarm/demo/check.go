package demo

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// facts are the results of a demo.
type facts struct {
	runCode   int    // of `swarm run`
	mergeCode int    // of `swarm merge`
	peak      int    // the most agents that were alive at once
	run       report // after the merge
	checkout  files  // the user's, afterwards
	landed    files  // the merged branch
}

// agent returns the agent of a package.
func (f *facts) agent(name string) (reportAgent, bool) {
	for _, a := range f.run.Agents {
		if path.Base(strings.TrimSuffix(a.Item, "/")) == name {
			return a, true
		}
	}
	return reportAgent{}, false
}

// deviations compares the facts with the plan, and returns a line for each
// deviation.
func (d *demo) deviations(f *facts) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if f.runCode != exitDegraded {
		say("swarm run exited %d, want %d", f.runCode, exitDegraded)
	}
	if f.run.Status != "degraded" {
		say("the run is %q, want %q", f.run.Status, "degraded")
	}
	if f.mergeCode != exitConflict {
		say("swarm merge exited %d, want %d", f.mergeCode, exitConflict)
	}
	if got, want := len(f.run.Agents), len(d.packages); got != want {
		say("there were %d agents, want %d", got, want)
	}
	for _, p := range d.packages {
		a, ok := f.agent(p.Name)
		if !ok {
			say("%s: no agent worked on it", p.Name)
			continue
		}
		if why := a.deviates(planned(p.Name)); why != "" {
			say("%s: agent %s %s, want it %s", p.Name, a.ID, why, planned(p.Name))
		}
	}
	wrong = append(wrong, d.conflictDeviations(f)...)
	want, err := d.merged()
	if err != nil {
		say("compute what must land: %v", err)
	} else {
		wrong = append(wrong, differences("branch "+landed, f.landed, want)...)
	}
	return append(wrong, differences("your checkout", f.checkout, d.before)...)
}

// deviates says in which way an agent did not end as planned; "" if it did.
func (a reportAgent) deviates(plan outcome) string {
	verified := a.Verified != nil && *a.Verified
	kind := ""
	if a.Error != nil {
		kind = a.Error.Kind
	}
	ok := false
	switch plan {
	case lands, keptBack:
		ok = a.Status == "completed" && a.Changed && verified
	case unverified:
		ok = a.Status == "completed" && a.Changed && a.Verified != nil && !verified
	case refused:
		ok = a.Status == "failed" && kind != "" && kind != "idle_timeout"
	case timedOut:
		ok = a.Status == "failed" && kind == "idle_timeout"
	case unplanned:
	}
	if ok {
		return ""
	}
	is := "is " + a.Status
	if a.Error != nil {
		is += fmt.Sprintf(" (%s: %s)", a.Error.Kind, a.Error.Message)
	}
	if a.Verified != nil {
		is += fmt.Sprintf(", verified %t", verified)
	}
	if !a.Changed {
		is += ", without a change"
	}
	return is
}

// conflictDeviations checks that precisely one patch was kept back, and why.
func (d *demo) conflictDeviations(f *facts) (wrong []string) {
	second, _ := f.agent(comesSecond)
	first, _ := f.agent(landsFirst)
	kept := false
	for _, c := range f.run.Landing.Conflicts {
		if c.Agent == second.ID && c.With == first.ID && slices.Equal(c.Paths, []string{callersFile}) {
			kept = true
			continue
		}
		wrong = append(wrong, fmt.Sprintf("agent %s conflicts with %s in %s, which the demo does not plan",
			c.Agent, c.With, strings.Join(c.Paths, ", ")))
	}
	if !kept {
		wrong = append(wrong, fmt.Sprintf("%s does not conflict with %s in %s", comesSecond, landsFirst, callersFile))
	}
	return wrong
}

// merged computes the tree that must have landed, without git and without
// agents: every planned change in turn on the agents' base.
func (d *demo) merged() (files, error) {
	tree := maps.Clone(d.tree)
	for _, p := range d.packages {
		if planned(p.Name) != lands {
			continue
		}
		changed, _, err := migrate(tree, "packages/"+p.Name)
		if err != nil {
			return nil, err
		}
		maps.Copy(tree, changed)
	}
	return tree, nil
}

// differences names the files in which a tree differs from the expected tree:
// the first few by name.
func differences(what string, got, want files) []string {
	const few = 5
	var differ []string
	for _, rel := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[rel]; !ok {
			differ = append(differ, rel+" is missing")
		} else if text != want[rel] {
			differ = append(differ, rel+" has wrong content")
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[rel]; !ok {
			differ = append(differ, rel+" must not be there")
		}
	}
	more := len(differ) - few
	if more > 0 {
		differ = append(differ[:few], fmt.Sprintf("and %d more files", more))
	}
	for i := range differ {
		differ[i] = what + ": " + differ[i]
	}
	return differ
}
