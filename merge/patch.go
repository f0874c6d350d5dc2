package merge

import (
	"fmt"
	"strings"
	"unicode"

	"agentswarm/worktree/git"
)

// Patch is a change from its own base.
type Patch struct {
	ID     string   // required, unique in a request
	Label  string   // the name that people use; ID if empty
	Base   git.Hash // required; the commit the work started from
	Commit git.Hash // required; its only parent is Base
	// Above is a commit with Base as its only parent that Commit improves. Where the
	// target has the changes of Above already, only the rest of Commit is merged.
	// Empty: none.
	Above git.Hash
	// Origin is the commit that the work began from, if Base is later. The
	// patch is left out if it takes back lines that landed in between; see
	// [Undoing]. Empty: no check is made.
	Origin git.Hash
	// Resolves is the conflict that the patch resolves. It may change landed lines only
	// where the conflict is. Nil: none.
	Resolves *Resolution
	// Markers are the conflict markers that the work began with. The patch is
	// in conflict while its files have any of them. Nil: there are none.
	Markers *Markers
	Subject string // first line of the commit made of it; cut to 72
	Body    string // text after the subject; may be empty
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
	// Squash makes a single commit of all patches that land; nil: each has its own.
	Squash *Squash
}

// Squash is the single commit of a merge. Its message lists the subjects of the
// patches and holds the trailers of each.
type Squash struct {
	Subject  string     // empty: that of the first patch that lands
	Body     string     // empty: the subjects of the patches, where there are several
	Author   git.Person // without a name: that of the first patch that lands
	Trailers []string
}

// Outcome is the result of a request: each patch has landed, is in conflict,
// takes landed lines back, or was contained already.
type Outcome struct {
	// Commit is the last commit made, Onto where none was; Tree is its tree.
	Commit, Tree git.Hash
	Landed       []Landed
	Conflicts    []Conflict
	Undoing      []Undoing
	// Empty are the ids of patches that change nothing any more.
	Empty []string
}

// Landed is a patch that became a commit.
type Landed struct {
	ID      string
	Commit  git.Hash
	Spliced bool // merged in process
}

// name is the patch's name for people.
func (p Patch) name() string {
	if p.Label != "" {
		return p.Label
	}
	return p.ID
}

// maxSubject is how many characters the first line of a commit may have.
const maxSubject = 72

// message is the complete text of the commit: a subject, the body if given, and
// trailers.
func (p Patch) message() (string, error) {
	var b strings.Builder
	b.WriteString(p.subject() + "\n")
	if body := bodyText(p.Body); body != "" {
		b.WriteString("\n" + body + "\n")
	}
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

// squashed is a patch with the message and the author of the single commit.
func (s *Squash) squashed(landed []Patch) Patch {
	first := landed[0]
	out := Patch{ID: first.ID, Label: first.Label, Subject: first.Subject, Body: s.Body, Author: s.Author}
	if s.Subject != "" {
		out.Subject = s.Subject
	}
	if out.Author.Name == "" {
		out.Author = first.Author
	}
	if out.Author.When.IsZero() {
		out.Author.When = landed[len(landed)-1].Author.When
	}
	if out.Body == "" && len(landed) > 1 {
		var lines []string
		for _, p := range landed {
			lines = append(lines, "* "+p.subject())
		}
		out.Body = strings.Join(lines, "\n")
	}
	seen := map[string]bool{}
	add := func(trailers []string) {
		for _, t := range trailers {
			if !seen[t] {
				seen[t] = true
				out.Trailers = append(out.Trailers, t)
			}
		}
	}
	add(s.Trailers)
	for _, p := range landed {
		add(p.Trailers)
	}
	return out
}

// bodyText is a body as a commit holds it: printable, without blank lines at
// its ends.
func bodyText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return strings.Trim(text, "\n")
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
