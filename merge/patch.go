package merge

import (
	"fmt"
	"strings"
	"unicode"

	"agentswarm/worktree/git"
)

// Patch is a change from its own base.
type Patch struct {
	ID      string   // required, unique in a request
	Label   string   // what people call it; ID where empty
	Base    git.Hash // required; the commit the work started from
	Commit  git.Hash // required; its only parent is Base
	Subject string   // first line of the commit made of it; cut to 72
	Author  git.Person
	// Trailers are lines such as "Swarm-Run: k3x9q2".
	Trailers []string
}

// Request is a list of patches to be merged, in plan order, onto a commit.
// The same request gives the same commits: people's times are the caller's.
type Request struct {
	Onto      git.Hash // required
	Patches   []Patch
	Committer git.Person
}

// Outcome is what became of the patches of a request: each has landed, is in
// conflict, or was contained already.
type Outcome struct {
	// Commit is the last commit made, Onto where none was; Tree is its tree.
	Commit, Tree git.Hash
	Landed       []Landed
	Conflicts    []Conflict
	// Empty are the ids of patches that change nothing any more.
	Empty []string
}

// Landed is a patch that became a commit.
type Landed struct {
	ID      string
	Commit  git.Hash
	Spliced bool // merged in process
}

// name is what people call the patch.
func (p Patch) name() string {
	if p.Label != "" {
		return p.Label
	}
	return p.ID
}

// maxSubject is how many characters the first line of a commit may have.
const maxSubject = 72

// message is the whole text of the commit: a subject and trailers, nothing
// of a prompt.
func (p Patch) message() (string, error) {
	var b strings.Builder
	b.WriteString(p.subject() + "\n")
	for i, t := range p.Trailers {
		if key, value, ok := strings.Cut(t, ": "); !ok || key == "" || value == "" ||
			strings.ContainsFunc(t, unicode.IsControl) {
			return "", fmt.Errorf("patch %s: %q is not a trailer; want one line \"Key: value\"", p.ID, t)
		}
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(t + "\n")
	}
	return b.String(), nil
}

// subject is the first line of the subject that was given, in characters
// that a log can show.
func (p Patch) subject() string {
	line := func(text string) string {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		printable := func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}
		text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
		return strings.Join(strings.Fields(text), " ")
	}
	for _, text := range []string{line(p.Subject), line(p.Label), "patch " + line(p.ID)} {
		if text == "" {
			continue
		}
		if runes := []rune(text); len(runes) > maxSubject {
			return strings.TrimSpace(string(runes[:maxSubject-1])) + "…"
		}
		return text
	}
	panic("a text that is never empty was empty")
}
