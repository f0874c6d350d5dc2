package risk

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// Mismatch is a grant of the kind that a part needs, and why it does not hold
// for it.
type Mismatch struct {
	Grant Grant
	Why   string // as a sentence without its end
}

// Mismatches returns the grants that resemble a part and do not hold for it.
// why is the reason that no grant can hold for the part; empty: a grant could
// hold.
func (a *Authority) Mismatches(part *Part, p *Place) (all []Mismatch, why string) {
	never := true
	switch {
	case part.Blocked:
		why = "no grant holds for what reaches other work trees"
	case part.Opaque:
		why = "no grant holds for what cannot be read"
	case part.Tier > HardToReverse:
		why = "no grant holds for what is DESTRUCTIVE"
	default:
		never = false
		if part.Operation == nil {
			why = part.Ungranted
		}
	}
	for _, g := range a.items(false) {
		if g.Never {
			continue
		}
		reason := ""
		run, ok := g.Covers.(*RunCommand)
		switch {
		case !never:
			reason = g.differs(part, p)
		case ok && slices.Equal(run.Argv, part.Argv):
			reason = why
		}
		if reason != "" {
			all = append(all, Mismatch{Grant: g, Why: reason})
		}
	}
	return all, why
}

// differs says why a grant does not hold for a part; empty: it holds, or it is
// about something else.
func (g *Grant) differs(part *Part, p *Place) string {
	switch c := g.Covers.(type) {
	case *PushTo:
		push, ok := part.Operation.(*Push)
		if !ok {
			return part.without("push")
		}
		return c.differs(push, p)
	case *ForgeActs:
		forge, ok := part.Operation.(*Forge)
		switch {
		case !ok:
			return part.without("forge")
		case forge.What != c.What || forge.Verb == c.Verb:
			return ""
		}
		return fmt.Sprintf("it is for %s, and this is %s", c.Verb, forge.Verb)
	case *ModifyPaths:
		change, ok := part.Operation.(*Modify)
		if !ok {
			return part.without("modify")
		}
		return c.differs(change)
	case *RunCommand:
		return c.differs(part)
	case *AmendPublished:
		if part.Kind == "amend" && part.Operation == nil {
			return part.without("amend")
		}
	case *DowngradeDependencies:
		if part.Kind == "downgrade" && part.Operation == nil {
			return part.without("downgrade")
		}
	default:
		panic(fmt.Sprintf("unhandled %T", c))
	}
	return ""
}

// without is why no grant of a kind holds for a part that has no operation of
// that kind; empty: the part needs another kind.
func (part *Part) without(kind string) string {
	if part.Kind != kind {
		return ""
	}
	return part.Ungranted
}

// differs says why a grant for pushes does not hold for a push.
func (c *PushTo) differs(push *Push, p *Place) string {
	remote := c.Remote
	if remote == "" {
		remote = p.pushRemote()
	}
	switch {
	case push.Force && !c.Force:
		return "it is not for forced pushes"
	case !push.Force && c.Force:
		return "it is for forced pushes alone"
	case push.Remote != remote:
		return fmt.Sprintf("it is for the remote %s, and this pushes to %s", remote, push.Remote)
	}
	for _, branch := range push.Branches {
		if !c.Branches.Match(branch) {
			return fmt.Sprintf("the branch %s is not in %s", branch, string(c.Branches))
		}
	}
	return ""
}

// differs says why a grant for files does not hold for a change.
func (c *ModifyPaths) differs(change *Modify) string {
	for _, file := range change.Paths {
		switch {
		case guarded(file):
			return fmt.Sprintf("no grant covers a change of %s", file)
		case c.covers(change, file):
		case c.Folder != "":
			return fmt.Sprintf("%s is not in %s below %s", file, string(c.Paths), c.Folder)
		default:
			return fmt.Sprintf("%s is not in %s", file, string(c.Paths))
		}
	}
	return ""
}

// differs returns the reason that a grant for a command does not hold for
// another command of the same program.
func (c *RunCommand) differs(part *Part) string {
	if len(part.Argv) == 0 || len(c.Argv) == 0 || part.Argv[0] != c.Argv[0] {
		return ""
	}
	switch {
	case !slices.Equal(part.Argv, c.Argv):
		return "it is for other words: " + strings.Join(c.Argv, " ")
	case !part.Plain:
		return "it is for the command alone, at the top of the work tree"
	}
	return ""
}

// ungranted returns the reason that the effect of a call is not known exactly,
// so that only a person can allow it.
func (c *call) ungranted() string {
	if _, known := argv.Text(c.inv.Args); !known {
		return "a part of its command line is not known"
	}
	if len(c.inv.Via) > 0 {
		return "it runs within " + strings.Join(c.inv.Via, ", ")
	}
	for _, a := range c.inv.Assigns {
		if !isHarmless(a.Name) {
			return fmt.Sprintf("the variable %s may change what it does", a.Name)
		}
	}
	switch {
	case c.inv.Remote:
		return "it runs on another machine"
	case !c.inv.Cwd.Known || c.inv.Cwd.Moved:
		return "a cd stands before it"
	}
	return "an option or a name in it may make it do more than the grant says"
}
