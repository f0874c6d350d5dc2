package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Hash is the full hexadecimal name of an object.
type Hash string

// Short is the form for people: 10 digits, as git abbreviates in large
// repositories.
func (h Hash) Short() string { return string(h[:min(10, len(h))]) }

// RevError says that a name does not lead to a commit.
type RevError struct {
	Rev    string
	Reason string
}

func (e *RevError) Error() string { return fmt.Sprintf("%q %s", e.Rev, e.Reason) }

// Commit resolves a revision to a commit.
// A name that does not resolve is a [*RevError].
func (r *Repo) Commit(ctx context.Context, rev string) (Hash, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", &RevError{Rev: rev, Reason: "is not a revision"}
	}
	if s := r.hidden(rev); s != nil && s.refs.Exists() {
		var wrong *RevError
		if at, err := s.refs.Commit(ctx, rev); !errors.As(err, &wrong) {
			return at, err
		}
	}
	out, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	var bad *Error
	if errors.As(err, &bad) {
		if damaged := r.damagedRef(ctx, rev); damaged != nil {
			return "", damaged
		}
		if lost := r.lostCommit(ctx, rev); lost != nil {
			return "", fmt.Errorf("resolve %q: %w", rev, lost)
		}
		return "", &RevError{Rev: rev, Reason: "is not a commit of this repository"}
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	return Hash(out), nil
}

// TreeOf is the tree of a commit.
func (r *Repo) TreeOf(ctx context.Context, commit Hash) (Hash, error) {
	out, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", string(commit)+"^{tree}")
	if err != nil {
		if lost := r.lostTree(ctx, commit); lost != nil {
			err = lost
		}
		return "", fmt.Errorf("find the tree of %s: %w", commit.Short(), err)
	}
	r.memo.addTree(commit, Hash(out))
	return Hash(out), nil
}

// lostCommit returns a [MissingObjectError] if a ref leads to an object that is not
// there, and nil otherwise. A typed id may never have been there.
func (r *Repo) lostCommit(ctx context.Context, rev string) error {
	id, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if err != nil || strings.HasPrefix(id, strings.ToLower(rev)) {
		return nil
	}
	if _, err := r.line(ctx, "cat-file", "-t", id); err != nil {
		return &MissingObjectError{ID: Hash(id), Damaged: r.isDamaged(ctx, Hash(id))}
	}
	return nil
}

// lostTree returns a [MissingObjectError] if a commit can be read and its tree is not
// there, and nil otherwise. Git names no object here.
func (r *Repo) lostTree(ctx context.Context, commit Hash) error {
	text, err := r.Run(ctx, Cmd{Args: []string{"cat-file", "commit", string(commit)}})
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	tree, ok := strings.CutPrefix(first, "tree ")
	if _, err := r.line(ctx, "cat-file", "-t", tree); !ok || err == nil {
		return nil
	}
	return &MissingObjectError{ID: Hash(tree), Damaged: r.isDamaged(ctx, Hash(tree))}
}

// Branch is the full ref that HEAD of this checkout points at, born or not;
// empty when HEAD is detached.
func (r *Repo) Branch(ctx context.Context) (string, error) {
	if name := r.headFile(); name != "" {
		return name, nil
	}
	out, err := r.line(ctx, "symbolic-ref", "--quiet", "HEAD")
	var bad *Error
	if errors.As(err, &bad) && bad.Code == 1 {
		return "", nil
	}
	return out, err
}

// Ref is the commit a full ref name points at; empty where there is none.
func (r *Repo) Ref(ctx context.Context, name string) (Hash, error) {
	if s := r.hidden(name); s != nil {
		return s.ref(ctx, name)
	}
	out, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	var bad *Error
	if errors.As(err, &bad) && bad.Code == 1 {
		return "", nil
	}
	return Hash(out), err
}

// CheckRef reports whether name may be the full name of a ref.
func (r *Repo) CheckRef(ctx context.Context, name string) error {
	_, err := r.line(ctx, "check-ref-format", name)
	var bad *Error
	if errors.As(err, &bad) {
		return &RevError{Rev: strings.TrimPrefix(name, "refs/heads/"), Reason: "is not a name a branch can have"}
	}
	return err
}

// RefUpdate moves a ref by compare-and-swap.
type RefUpdate struct {
	Ref string // full name, required
	New Hash   // empty deletes
	Old Hash   // the required present value; empty: the ref must not exist
	Any bool   // do not compare with Old
}

// RefMovedError says that refs did not have the values that a transaction
// expected.
type RefMovedError struct {
	Refs   []string
	Reason string // git's own words
}

func (e *RefMovedError) Error() string {
	if lock := lockIn(e.Reason); lock != "" {
		return fmt.Sprintf("%s cannot move: another git command holds %s: wait for its end, or remove that file if none runs here", strings.Join(e.Refs, ", "), lock)
	}
	return fmt.Sprintf("%s moved underneath: %s", strings.Join(e.Refs, ", "), oneLine(e.Reason))
}

// lockIn returns the path of the lock that stood in git's way, by git's own
// words.
func lockIn(reason string) string {
	_, after, _ := strings.Cut(reason, "Unable to create '")
	lock, end, _ := strings.Cut(after, "'")
	if !strings.HasSuffix(lock, ".lock") || !strings.HasPrefix(end, ": File exists") {
		return ""
	}
	return lock
}

// RefClashError is a ref that cannot be made since another has a part of its
// name, or has its name as a part: both would be a file and a folder.
type RefClashError struct{ Ref, With string } // full names

func (e *RefClashError) Error() string {
	kind := "ref"
	ref, with := e.Ref, e.With
	if strings.HasPrefix(ref, "refs/heads/") && strings.HasPrefix(with, "refs/heads/") {
		kind, ref, with = "branch", strings.TrimPrefix(ref, "refs/heads/"), strings.TrimPrefix(with, "refs/heads/")
	}
	return fmt.Sprintf("the %s %q cannot be made while there is %q: delete or rename that one, or choose another name", kind, ref, with)
}

// CheckFree checks that a ref of that name can be made beside the existing
// refs. It returns a [*RefClashError] that names a ref in the way.
func (r *Repo) CheckFree(ctx context.Context, ref string) error {
	out, err := r.Run(ctx, Cmd{Args: append([]string{"for-each-ref", "--format=%(refname)"}, above(ref)...)})
	if err != nil {
		return fmt.Errorf("look for refs beside %s: %w", ref, err)
	}
	for other := range strings.Lines(string(out)) {
		other = strings.TrimSuffix(other, "\n")
		if strings.HasPrefix(ref, other+"/") || strings.HasPrefix(other, ref+"/") {
			return &RefClashError{Ref: ref, With: other}
		}
	}
	return nil
}

// above is a ref and all that its name is below, without refs and the folder
// in it: patterns for all that may be in its way.
func above(ref string) []string {
	parts := strings.Split(ref, "/")
	all := []string{ref}
	for n := len(parts) - 1; n > 1; n-- {
		if name := strings.Join(parts[:n], "/"); name != "refs/heads" {
			all = append(all, name)
		}
	}
	return all
}

// clash reads git's words about a ref that is in the way of another.
func clash(said string) *RefClashError {
	_, rest, found := strings.Cut(said, "cannot lock ref '")
	ref, rest, lock := strings.Cut(rest, "': '")
	with, rest, exists := strings.Cut(rest, "' exists; cannot create '")
	if !found || !lock || !exists || !strings.HasPrefix(rest, ref+"'") {
		return nil
	}
	return &RefClashError{Ref: ref, With: with}
}

// UpdateRefs moves refs in a single transaction: all or none. A kill of this
// process does not stop it half-way. It returns a [*RefMovedError] if a
// compare-and-swap fails, and a [*RefClashError] if a name clashes with another
// ref.
func (r *Repo) UpdateRefs(ctx context.Context, message string, updates ...RefUpdate) error {
	return r.UpdateRefsHolding(ctx, nil, message, updates...)
}

// UpdateRefsHolding is [Repo.UpdateRefs] by a git that keeps a file open, as in
// [Cmd.Hold]. A git that a signal ended is an [*Error] with the code -1.
func (r *Repo) UpdateRefsHolding(ctx context.Context, hold *os.File, message string, updates ...RefUpdate) error {
	for _, u := range updates {
		if s := r.hidden(u.Ref); s != nil {
			return s.update(ctx, hold, message, updates)
		}
	}
	var in bytes.Buffer
	zero := Hash(strings.Repeat("0", r.hexLen()))
	in.WriteString("start\x00")
	refs := make([]string, 0, len(updates))
	for _, u := range updates {
		refs = append(refs, u.Ref)
		old := u.Old
		if old == "" {
			old = zero
		}
		switch {
		case u.New == "" && u.Any:
			fmt.Fprintf(&in, "delete %s\x00\x00", u.Ref)
		case u.New == "":
			fmt.Fprintf(&in, "delete %s\x00%s\x00", u.Ref, old)
		case u.Any:
			fmt.Fprintf(&in, "update %s\x00%s\x00\x00", u.Ref, u.New)
		default:
			fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Ref, u.New, old)
		}
	}
	in.WriteString("prepare\x00commit\x00")
	_, err := r.Run(ctx, Cmd{
		Args:  []string{"update-ref", "-m", message, "--no-deref", "--stdin", "-z"},
		Stdin: &in, Writes: true, Lasting: true, Hold: hold,
		// Reflogs need a name; a user without a name has no other use of it.
		Env: []string{
			"GIT_COMMITTER_NAME=swarm", "GIT_COMMITTER_EMAIL=swarm@localhost",
		},
	})
	var bad *Error
	if errors.As(err, &bad) && bad.Code >= 0 {
		if in := clash(bad.Stderr); in != nil {
			return in
		}
		if cause := bad.Errno(); cause != 0 {
			return fmt.Errorf("move %s: %w", strings.Join(refs, ", "), cause)
		}
		return &RefMovedError{Refs: refs, Reason: strings.TrimPrefix(bad.Stderr, "fatal: ")}
	}
	return err
}

// RefsUnder lists the refs below a prefix ("refs/swarm/x/") and where they
// point.
func (r *Repo) RefsUnder(ctx context.Context, prefix string) (map[string]Hash, error) {
	if s := r.hidden(prefix); s != nil {
		return s.under(ctx, prefix)
	}
	out, err := r.Run(ctx, Cmd{Args: []string{
		"for-each-ref", "--format=%(objectname) %(refname)", prefix,
	}})
	if err != nil {
		return nil, fmt.Errorf("list refs under %s: %w", prefix, err)
	}
	refs := map[string]Hash{}
	for line := range strings.Lines(string(out)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok {
			refs[name] = Hash(hash)
		}
	}
	return refs, nil
}

func (r *Repo) hexLen() int {
	if r.ObjectFormat == "sha256" {
		return 64
	}
	return 40
}
