package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NoteRequest is a text for commits, as git notes keep it.
type NoteRequest struct {
	Ref     string   // of the notes, below refs/notes/; required
	Commits []Hash   // each gets the text, which replaces an older note; required
	Text    []byte   // required
	Message string   // of the commit on the ref; required
	By      Person   // of that commit; required
	Have    []Hash   // commits that the repository has
	Signing *Signing // nil: the commit is not signed
}

// WriteNotes adds a text to commits and moves the ref of the notes. It returns the new
// commit of the ref. It begins again a few times if others move the ref meanwhile; the
// error is a [*RefMovedError] after that.
func (q *Quarantine) WriteNotes(ctx context.Context, r NoteRequest) (Hash, error) {
	const tries = 5
	for n := 1; ; n++ {
		commit, err := q.writeNotes(ctx, r)
		if _, moved := errors.AsType[*RefMovedError](err); moved && n < tries {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("write notes: %w", err)
		}
		return commit, nil
	}
}

func (q *Quarantine) writeNotes(ctx context.Context, r NoteRequest) (_ Hash, err error) {
	old, err := q.repo.Ref(ctx, r.Ref)
	if err != nil {
		return "", err
	}
	objects := q.Objects()
	defer func() { err = errors.Join(err, objects.Close()) }()
	tree := q.repo.EmptyTree()
	have := slices.Clone(r.Have)
	var parents []Hash
	if old != "" {
		if tree, _, err = objects.Commit(ctx, old); err != nil {
			return "", err
		}
		parents, have = []Hash{old}, append(have, old)
	}
	blob, err := objects.WriteBlob(ctx, r.Text)
	if err != nil {
		return "", err
	}
	for _, c := range r.Commits {
		if tree, err = objects.withNote(ctx, tree, string(c), blob); err != nil {
			return "", err
		}
	}
	commit := CommitRequest{Tree: tree, Parents: parents, Message: r.Message, Author: r.By, Committer: r.By}
	id, err := q.signedCommit(ctx, objects, commit, r.Signing)
	if err != nil {
		return "", err
	}
	return id, q.Publish(ctx, PublishRequest{
		Refs: []RefUpdate{{Ref: r.Ref, Old: old, New: id}}, Have: have, Message: strings.TrimSpace(r.Message),
	})
}

// withNote puts a blob at the name of a commit. Git splits the names into folders of two
// characters once there are many notes; the blob goes where the folders are.
func (o *Objects) withNote(ctx context.Context, tree Hash, name string, blob Hash) (Hash, error) {
	var entries []TreeEntry
	if tree != o.q.repo.EmptyTree() {
		there, err := o.Tree(ctx, tree)
		if err != nil {
			return "", err
		}
		entries = slices.Clone(there)
	}
	set := TreeEntry{Name: name, Mode: "100644", ID: blob}
	if len(name) > 2 {
		at := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.IsTree() && e.Name == name[:2] })
		if at >= 0 {
			below, err := o.withNote(ctx, entries[at].ID, name[2:], blob)
			if err != nil {
				return "", err
			}
			entries[at].ID = below
			return o.WriteTree(ctx, entries)
		}
	}
	entries = append(slices.DeleteFunc(entries, func(e TreeEntry) bool { return e.Name == name }), set)
	slices.SortFunc(entries, CompareEntries)
	return o.WriteTree(ctx, entries)
}

// signedCommit writes a commit, signed by the settings if there are some.
func (q *Quarantine) signedCommit(ctx context.Context, o *Objects, c CommitRequest, s *Signing) (Hash, error) {
	if s == nil {
		return o.WriteCommit(ctx, c)
	}
	args := []string{"commit-tree", "-S"}
	for _, p := range c.Parents {
		args = append(args, "-p", string(p))
	}
	out, err := q.Run(ctx, Cmd{
		Args: append(args, string(c.Tree)), Config: append([]string{"i18n.commitEncoding=UTF-8"}, s.config...),
		Env: append(c.Author.env("AUTHOR"), c.Committer.env("COMMITTER")...), Stdin: strings.NewReader(c.Message),
	})
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return Hash(strings.TrimSpace(string(out))), nil
}

// Note is the note of a commit; nil if it has none.
func (r *Repo) Note(ctx context.Context, ref string, commit Hash) ([]byte, error) {
	if at, err := r.Ref(ctx, ref); err != nil || at == "" {
		return nil, err
	}
	out, err := r.Run(ctx, Cmd{Args: []string{"notes", "--ref=" + ref, "show", string(commit)}})
	if missing, ok := errors.AsType[*Error](err); ok && missing.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read note: %w", err)
	}
	return out, nil
}

// Between lists the commits after from up to to by first parents, the oldest first.
func (r *Repo) Between(ctx context.Context, from, to Hash) ([]Hash, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{"rev-list", "--first-parent", "--reverse", string(from) + ".." + string(to), "--"}})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var all []Hash
	for line := range strings.FieldsSeq(string(out)) {
		all = append(all, Hash(line))
	}
	return all, nil
}

// Signing are the user's settings for signatures.
type Signing struct{ config []string } // as in Cmd

// Signing reads the user's settings for signatures: those of the user and of the system.
// It is nil if they do not have commits signed. Agents can change the configuration of the
// repository, whose settings name programs that a signature runs; none of them is read.
func (r *Repo) Signing(ctx context.Context) (*Signing, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"config", "-z", "--includes", "--show-scope", "--get-regexp", `^(commit\.gpgsign|gpg\..*|user\.signingkey)$`,
	}})
	if none, ok := errors.AsType[*Error](err); ok && none.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings for signatures: %w", err)
	}
	s, sign := &Signing{}, false
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		if scope := string(fields[i]); scope != "system" && scope != "global" {
			continue
		}
		key, value, set := strings.Cut(string(fields[i+1]), "\n")
		if key == "commit.gpgsign" {
			sign = !set || isTrue(value)
			continue
		}
		s.config = append(s.config, key+"="+value)
	}
	if !sign {
		return nil, nil
	}
	return s, nil
}

// isTrue reads a boolean of git's configuration.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// Said is the message of a commit in parts.
type Said struct {
	Author, Subject string
	Trailers        []string // such as "Swarm-Run: k3x9q2"
}

// Said reads the message of a commit.
func (r *Repo) Said(ctx context.Context, commit Hash) (Said, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"log", "-1", "--no-notes", "--no-mailmap", "--no-show-signature", "--encoding=UTF-8",
		"--format=%an <%ae>%x00%s%x00%(trailers:only,unfold)", "--end-of-options", string(commit), "--",
	}})
	if err != nil {
		return Said{}, fmt.Errorf("read commit %s: %w", commit.Short(), err)
	}
	author, rest, _ := strings.Cut(string(out), "\x00")
	subject, trailers, _ := strings.Cut(rest, "\x00")
	return Said{Author: author, Subject: subject, Trailers: slices.DeleteFunc(strings.Split(strings.TrimSpace(trailers), "\n"), func(t string) bool { return t == "" })}, nil
}
