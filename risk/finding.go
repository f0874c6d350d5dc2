package risk

import (
	"agentswarm/risk/shell"
	"agentswarm/risk/verb"
)

// Finding is the result of classifying an action.
type Finding struct {
	Tier Tier // the worst of its parts
	// Opaque says that a part of it could not be read, or that it was more than
	// is read. It is DESTRUCTIVE, and no grant holds.
	Opaque bool
	// Blocked says that a part of it reaches files shared with other work
	// trees. Such an action is refused, and no grant holds.
	Blocked bool
	Parts   []Part // those above SAFE, in the order of the text
	// Losses are the files that the action deletes or overwrites, also where that
	// is SAFE, in the order of the text. Those that are not known are left out.
	Losses []Loss
	judged int // command lines
	// Unlisted are programs that no rule knows, in the order of the text.
	Unlisted []string
	// Readings are how the grammar of verbs read the command lines that no rule
	// judged, in the order of the text.
	Readings []verb.Reading
}

// Part is a single effect of an action.
type Part struct {
	Rule   string // the id of the rule that found it
	Tier   Tier
	Reason string // why, as a sentence without its end
	// Instead is an action that the agent can take in place of this one; empty:
	// none is known.
	Instead string
	Argv    []string // the command line, if there is one
	Via     []string // the programs it stands within, outermost first
	Opaque  bool
	Blocked bool
	// Within says that every effect lies in the work tree, in the temporary
	// folders, or in the agent's own processes.
	Within bool
	// Plain says that the whole text is this command line and that it runs at
	// the top of the work tree: a grant for a command can mean it.
	Plain     bool
	Operation Operation // the operation that a grant could cover; nil: none
	// Kind is the kind of grant that the rule takes: push, forge, modify, amend
	// or downgrade. It is empty if there is no such kind, or only a grant for
	// the command.
	Kind string
	// Ungranted says why Operation is not of that kind; empty: it is.
	Ungranted string
	Span      shell.Span
}

// Operation is an action that a grant can cover: [*Push], [*Forge], [*Run],
// [*Modify], [*Amend] or [*Downgrade]. A part has an Operation only if all of
// it is known and ordinary. A wrapper, another folder, configuration on the
// command line or a URL is not ordinary.
//
//sumtype:decl
type Operation interface{ operation() string }

// Push is a push of branches.
type Push struct {
	Remote   string
	Branches []string // the destinations, without refs/heads/
	Force    bool
}

// Forge is something done to an issue or a pull request.
type Forge struct {
	Verb string // create, close, comment, merge, edit, reopen
	What string // "pull-request" or "issue"
}

// Run is a command, by its words, at the top of the work tree.
type Run struct{ Argv []string }

// Modify is a change of a file, by its path below the top.
type Modify struct{ Paths []string }

// Amend is a change of commits that are published.
type Amend struct{}

// Downgrade is a change of a dependency to an older version.
type Downgrade struct{}

func (*Push) operation() string      { return "push" }
func (*Forge) operation() string     { return "forge" }
func (*Run) operation() string       { return "run" }
func (*Modify) operation() string    { return "modify" }
func (*Amend) operation() string     { return "amend" }
func (*Downgrade) operation() string { return "downgrade" }
