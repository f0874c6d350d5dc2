package risk

import (
	"fmt"
	"slices"
	"strings"
)

// Authority is all that was granted for a run.
type Authority struct {
	Root *Grants // of AGENTS.md at the top, of the run's base; nil: there is none
	// Nested are those of other AGENTS.md. They may narrow and never widen.
	Nested  []*Grants
	Allowed []Grant // by the task itself
}

// Decision is the verdict on an action, with its reason.
type Decision struct {
	Verdict Verdict
	Reason  string // why it does not proceed; empty: it does
	Instead string // an action that could replace it; empty: none is known
	Used    []Use  // the grants it proceeds by
	Missing []int  // the parts that nothing grants, by their index
}

// Use is a grant that a part of an action proceeds by.
type Use struct {
	Part  int
	Grant Grant
}

// Decide decides on a finding at a place. Nothing lifts the refusal of an
// action that reaches other work trees. No grant is looked up for an action
// that is DESTRUCTIVE or could not be read.
func (a *Authority) Decide(f *Finding, p *Place) *Decision {
	switch {
	case f.Blocked:
		part := f.first(func(part *Part) bool { return part.Blocked })
		return &Decision{Verdict: Deny, Reason: part.Reason, Instead: part.Instead}
	case f.Tier == Safe && !f.Opaque:
		return &Decision{Verdict: Proceed}
	case f.Opaque, f.Tier == Unclassified, f.Tier > HardToReverse:
		part := f.first(func(part *Part) bool { return part.Opaque || part.Tier == f.Tier })
		d := &Decision{Verdict: Ask, Reason: part.Reason, Instead: part.Instead}
		for i := range f.Parts {
			d.Missing = append(d.Missing, i)
		}
		return d
	}
	d := &Decision{Verdict: Proceed}
	if len(f.Parts) == 0 { // no grant can cover a tier without a reason
		d.Verdict = Ask
	}
	for i := range f.Parts {
		part := &f.Parts[i]
		if part.Tier == Safe {
			continue
		}
		used, why := a.grants(part, p)
		if why == "" {
			for _, g := range used {
				d.Used = append(d.Used, Use{Part: i, Grant: g})
			}
			continue
		}
		if d.Verdict = Ask; len(d.Missing) == 0 {
			d.Reason, d.Instead = part.Reason, part.Instead
			if why != nothingGrants {
				d.Reason += "; " + why
			}
		}
		d.Missing = append(d.Missing, i)
	}
	return d
}

// first returns the first part that passes a test, or an empty part if there is
// none.
func (f *Finding) first(of func(*Part) bool) *Part {
	if i := slices.IndexFunc(f.Parts, func(part Part) bool { return of(&part) }); i >= 0 {
		return &f.Parts[i]
	}
	return &Part{Reason: "it could not be classified"}
}

// nothingGrants is why most parts ask.
const nothingGrants = "nothing grants it"

// grants are those that a part proceeds by; why says that there are none, or
// that something forbids it.
func (a *Authority) grants(part *Part, p *Place) (used []Grant, why string) {
	why = nothingGrants
	for _, op := range operations(part) {
		found, err := a.forOperation(op, p)
		if err != "" {
			why = err
			if err != nothingGrants {
				return nil, err // an item that forbids a reading forbids the part
			}
			continue
		}
		used = found
	}
	if used == nil {
		return nil, why
	}
	return used, ""
}

// operations returns the operations that a grant could cover: that of the part,
// and the command line where it is all of the text.
func operations(part *Part) []Operation {
	if part.Opaque || part.Blocked {
		return nil
	}
	var all []Operation
	if part.Operation != nil {
		all = append(all, part.Operation)
	}
	if part.Plain && len(part.Argv) > 0 {
		all = append(all, &Run{Argv: part.Argv})
	}
	return all
}

// forOperation are the grants for all details of an operation: every branch,
// every path.
func (a *Authority) forOperation(op Operation, p *Place) ([]Grant, string) {
	var used []Grant
	for _, detail := range details(op) {
		if g, ok := a.find(op, detail, p, true); ok {
			return nil, fmt.Sprintf("%s says: %s", g.Where, g.Text)
		}
		g, ok := a.find(op, detail, p, false)
		if !ok {
			return nil, nothingGrants
		}
		if !slices.ContainsFunc(used, func(u Grant) bool { return u.Where == g.Where && u.Text == g.Text }) {
			used = append(used, g)
		}
	}
	return used, ""
}

// details returns the names that each need a grant. An operation that lacks the
// names it should have is never granted.
func details(op Operation) []string {
	switch op := op.(type) {
	case *Push:
		return orNothing(op.Branches)
	case *Modify:
		return orNothing(op.Paths)
	case *Forge, *Run, *Amend, *Downgrade:
		return []string{""}
	}
	panic(fmt.Sprintf("unhandled %T", op))
}

// orNothing is a list that is not empty: nothing covers the empty name.
func orNothing(all []string) []string {
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// find looks up a grant for an operation, or an item that forbids it.
func (a *Authority) find(op Operation, detail string, p *Place, never bool) (Grant, bool) {
	remote := p.pushRemote()
	for _, g := range a.items(never) {
		c := g.Covers
		if to, ok := c.(*PushTo); ok {
			c = to.onRemote(remote, op, never)
		}
		if g.Never == never && c.covers(op, detail) {
			return g, true
		}
	}
	return Grant{}, false
}

// onRemote adds the default remote to a grant that names no remote. An item
// that forbids and names no remote covers every remote. Items that forbid also
// cover forced pushes.
func (c *PushTo) onRemote(remote string, op Operation, never bool) *PushTo {
	if c.Remote != "" && !never {
		return c
	}
	meant := *c
	if c.Remote == "" {
		meant.Remote = remote
	}
	if push, ok := op.(*Push); ok && never {
		if c.Remote == "" {
			meant.Remote = push.Remote
		}
		meant.Force = c.Force || push.Force
	}
	return &meant
}

// items returns the grants that count, or the items that forbid. If an item
// that forbids could not be read, only the grants of a.Allowed count.
func (a *Authority) items(never bool) []Grant {
	all := slices.Clone(a.Allowed)
	if a.Root != nil && (never || a.Root.Suspended == "") {
		all = append(all, a.Root.Items...)
	}
	if never {
		for _, n := range a.Nested {
			all = append(all, n.Items...)
		}
	}
	if !never && a.suspended() {
		return slices.DeleteFunc(all, func(g Grant) bool {
			return !slices.ContainsFunc(a.Allowed, func(b Grant) bool { return b.Where == g.Where })
		})
	}
	return all
}

// suspended reports whether the top file, or a file below it, has an item that
// forbids and could not be read.
func (a *Authority) suspended() bool {
	return a.Root != nil && a.Root.Suspended != "" ||
		slices.ContainsFunc(a.Nested, func(n *Grants) bool { return n.Suspended != "" })
}

// pushRemote is where a push goes that names no remote.
func (p *Place) pushRemote() string {
	if p.PushDefault != "" {
		return p.PushDefault
	}
	for _, r := range p.Remotes {
		if strings.HasPrefix(p.Upstream, r.Name+"/") {
			return r.Name
		}
	}
	if len(p.Remotes) == 1 {
		return p.Remotes[0].Name
	}
	return "origin"
}

// Granted returns the items that hold, as they were written. An agent may be
// told that it need not ask for these.
func (a *Authority) Granted() []string {
	var lines []string
	for _, g := range a.items(false) {
		if !g.Never {
			lines = append(lines, g.Text)
		}
	}
	return lines
}
