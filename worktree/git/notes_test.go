package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNotes: notes are added beside those that are there, also where git has split them
// into folders, and git reads all of them.
func TestNotes(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	first, second := g.commit("f", "1"), g.commit("f", "2")
	const ref = "refs/notes/swarm/test"
	q := g.quarantine(g.frozen())
	write := func(text string, commits ...Hash) {
		t.Helper()
		_, err := q.WriteNotes(t.Context(), NoteRequest{
			Ref: ref, Commits: commits, Text: []byte(text), Message: "note\n", By: Swarm(time.Unix(1, 0)), Have: commits,
		})
		g.ok(err)
	}
	read := func(c Hash) string {
		t.Helper()
		note, err := g.repo().Note(t.Context(), ref, c)
		g.ok(err)
		return string(note)
	}
	if got := read(first); got != "" {
		t.Errorf("without notes: Note = %q, want none", got)
	}
	write("both\n", first, second)
	write("new\n", second)
	if read(first) != "both\n" || read(second) != "new\n" {
		t.Errorf("notes are %q and %q, want both and new", read(first), read(second))
	}

	// A note of git's own lies in a folder: the next note replaces it there.
	name := string(first)
	blob := g.git("rev-parse", ref+":"+name)
	below := g.mktree("100644 blob " + blob + "\t" + name[2:] + "\n")
	tree := g.mktree("040000 tree " + below + "\t" + name[:2] + "\n")
	g.git("update-ref", ref, g.git("commit-tree", "-m", "fan", tree))
	if got := read(first); got != "both\n" {
		t.Fatalf("a note in a folder: Note = %q, want both", got)
	}
	write("replaced\n", first)
	if got := g.git("notes", "--ref="+ref, "show", name); got != "replaced" {
		t.Errorf("git shows %q, want only the new text", got)
	}
	between, err := g.repo().Between(t.Context(), first, second)
	if err != nil || len(between) != 1 || between[0] != second {
		t.Errorf("Between = %v, %v; want the second commit", between, err)
	}
}

// mktree makes a tree of a listing.
func (g *fixture) mktree(listing string) string {
	g.Helper()
	file := filepath.Join(g.home, "listing")
	g.ok(os.WriteFile(file, []byte(listing), 0o600))
	return g.in(g.root, "-c", "alias.mk=!git mktree < \""+file+"\"", "mk")
}

// TestSigning: only the settings of the user count. The repository's configuration is not
// read, as agents can write it.
func TestSigning(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	signing := func() string {
		t.Helper()
		s, err := g.repo().Signing(t.Context())
		g.ok(err)
		if s == nil {
			return "none"
		}
		return strings.Join(s.config, " ")
	}
	for _, step := range []struct{ scope, key, value, want string }{
		{"--local", "commit.gpgSign", "true", "none"},
		{"--local", "gpg.program", "evil", "none"},
		{"--global", "gpg.program", "mine", "none"},
		{"--global", "commit.gpgSign", "yes", "gpg.program=mine"},
		{"--local", "gpg.ssh.defaultKeyCommand", "evil", "gpg.program=mine"},
		{"--local", "user.signingKey", "evil", "gpg.program=mine"},
		{"--global", "user.signingKey", "key", "gpg.program=mine user.signingkey=key"},
		{"--local", "commit.gpgSign", "false", "gpg.program=mine user.signingkey=key"},
		{"--global", "commit.gpgSign", "0", "none"},
	} {
		g.git("config", step.scope, step.key, step.value)
		if got := signing(); got != step.want {
			t.Errorf("after %s %s = %s: Signing = %q, want %q", step.scope, step.key, step.value, got, step.want)
		}
	}
}
