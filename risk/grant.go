package risk

import (
	"fmt"
	"slices"
	"strings"
)

// Grant is an item that a person wrote. It allows an action without a question,
// or forbids it.
type Grant struct {
	Never  bool // covered actions ask, whatever else is granted
	Covers Covers
	Text   string // as it was written, blanks aside
	Where  string // such as "AGENTS.md:12", or "--allow"
	// Folder is the folder of the AGENTS.md that has the item, below the top of
	// the repository, with slashes; empty: the top.
	Folder string
}

// Covers is the subject of a grant: [*PushTo], [*ForgeActs], [*RunCommand],
// [*ModifyPaths], [*AmendPublished] or [*DowngradeDependencies].
//
//sumtype:decl
type Covers interface {
	// covers reports whether the grant covers an operation. For an operation
	// with several branches or paths, detail names the branch or path.
	covers(op Operation, detail string) bool
}

// PushTo covers pushes to branches.
type PushTo struct {
	Branches Scope
	Remote   string // empty: the default remote of pushes
	Force    bool   // forced pushes, and no others
}

// ForgeActs covers an act on issues or on pull requests.
type ForgeActs struct{ Verb, What string }

// RunCommand covers a command, word for word.
type RunCommand struct{ Argv []string }

// ModifyPaths covers changes of files, by their paths below the folder of the
// grant.
type ModifyPaths struct {
	Paths  Scope
	Folder string
}

// AmendPublished covers changes of commits that are published.
type AmendPublished struct{}

// DowngradeDependencies covers older versions of dependencies.
type DowngradeDependencies struct{}

func (c *PushTo) covers(op Operation, branch string) bool {
	push, ok := op.(*Push)
	return ok && push.Force == c.Force && push.Remote == c.Remote && c.Branches.Match(branch)
}

func (c *ForgeActs) covers(op Operation, _ string) bool {
	forge, ok := op.(*Forge)
	return ok && forge.Verb == c.Verb && forge.What == c.What
}

func (c *RunCommand) covers(op Operation, _ string) bool {
	run, ok := op.(*Run)
	return ok && slices.Equal(run.Argv, c.Argv)
}

func (c *ModifyPaths) covers(op Operation, path string) bool {
	if _, ok := op.(*Modify); !ok || guarded(path) {
		return false
	}
	if c.Folder != "" {
		below, ok := strings.CutPrefix(path, c.Folder+"/")
		if !ok {
			return false
		}
		path = below
	}
	return c.Paths.Match(path)
}

func (*AmendPublished) covers(op Operation, _ string) bool {
	_, ok := op.(*Amend)
	return ok
}

func (*DowngradeDependencies) covers(op Operation, _ string) bool {
	_, ok := op.(*Downgrade)
	return ok
}

// guarded reports whether a file decides which actions agents may take. No
// grant can cover its change.
func guarded(path string) bool {
	for element := range strings.SplitSeq(strings.ToLower(path), "/") {
		switch element {
		case "agents.md", ".swarm", ".claude", ".git", ".worktreeinclude":
			return true
		}
	}
	return false
}

// Scope is a pattern for branches or paths. "*" stands for any part of an
// element, "**" for any number of elements or parts of them.
type Scope string

// everything is the scope of a restriction of all there is.
const everything Scope = "**"

// checkScope returns an error for a pattern that covers too much or is
// malformed.
func checkScope(text string, never bool) error {
	if never && (text == "*" || text == "**") {
		return nil
	}
	switch {
	case text == "":
		return fmt.Errorf("it names nothing")
	case strings.HasPrefix(text, "*"):
		return fmt.Errorf("%q begins with a star; name at least the beginning, as in feature/*", text)
	case strings.HasPrefix(text, "-"), strings.HasPrefix(text, "/"), strings.HasSuffix(text, "/"):
		return fmt.Errorf("%q begins or ends as no branch or path does", text)
	case strings.HasPrefix(text, "refs/"):
		return fmt.Errorf("%q is a full ref; name the branch alone", text)
	case strings.Contains(text, "***"):
		return fmt.Errorf("%q has more than two stars in a row", text)
	}
	for element := range strings.SplitSeq(text, "/") {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%q has an empty element, \".\" or \"..\"", text)
		}
	}
	for _, c := range []byte(text) {
		if !letter(c) && !strings.ContainsRune("0123456789._/@+=#-*", rune(c)) {
			return fmt.Errorf("%q has the character %q, which no pattern here has", text, c)
		}
	}
	return nil
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Match reports whether a name is in the scope.
func (s Scope) Match(name string) bool {
	if s == everything || s == "*" {
		return name != ""
	}
	// The loop makes a single pass and keeps a place to fall back to for each
	// kind of star. A "**" takes over from a "*" before it, so the time is at
	// most quadratic in the length of a name.
	pattern := string(s)
	p, n := 0, 0
	star, starAt := -1, 0
	wide, wideAt := -1, 0
	for n < len(name) {
		switch {
		case strings.HasPrefix(pattern[p:], "**"):
			wide, wideAt, star = p, n, -1
			p += 2
		case p < len(pattern) && pattern[p] == '*':
			star, starAt = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0 && name[starAt] != '/':
			starAt++
			p, n = star+1, starAt
		case wide >= 0:
			wideAt++
			p, n, star = wide+2, wideAt, -1
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
