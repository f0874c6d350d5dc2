package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// NamedRequest asks for all files with a given name, in any folder.
type NamedRequest struct {
	Commit Hash   // required
	Name   string // required; without a folder
	Max    int    // required; how many files there may be
	Limit  int    // required; how long they may be together, in bytes
}

// NamedFile is a file with the requested name.
type NamedFile struct {
	Entry
	Text []byte // nil: it is no plain file
}

// Named reads the files with a given name in a commit, ordered by their paths.
// It returns a [*ManyError] if they are too many, or a [*LongError] if they are
// too long. It does not search submodules, as these are other repositories.
func (r *Repo) Named(ctx context.Context, q NamedRequest) ([]NamedFile, error) {
	found := namedEntries{name: q.Name, most: q.Max}
	err := r.findEntries(ctx, q.Commit, nil, &found)
	if err != nil {
		return nil, fmt.Errorf("look for %s in %s: %w", q.Name, q.Commit.Short(), err)
	}
	files, err := r.texts(ctx, found.all, q.Limit, (*Entry).plain)
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", q.Name, q.Commit.Short(), err)
	}
	return files, nil
}

// UnderRequest asks for files by where they are.
type UnderRequest struct {
	Commit Hash     // required
	Paths  []string // required; files, or folders with all that is below them
	Max    int      // required; how many files there may be
	Limit  int      // required; how long they may be together, in bytes
}

// Under reads the files at some paths of a commit, ordered by those, as far as
// there are such. The text of a link is where it leads. Where they are too
// many, or too long, the error is a [*ManyError] or a [*LongError].
func (r *Repo) Under(ctx context.Context, q UnderRequest) ([]NamedFile, error) {
	found := namedEntries{most: q.Max}
	err := r.findEntries(ctx, q.Commit, q.Paths, &found)
	var files []NamedFile
	if err == nil {
		files, err = r.texts(ctx, found.all, q.Limit, func(e *Entry) bool { return e.plain() || e.Mode == linkMode })
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", strings.Join(q.Paths, ", "), q.Commit.Short(), err)
	}
	return files, nil
}

// findEntries adds the entries of a commit, or those at some paths and below.
func (r *Repo) findEntries(ctx context.Context, commit Hash, paths []string, found *namedEntries) error {
	if entries, ok := r.memo.kept(commit); ok {
		for _, e := range entries {
			if len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return within(e.Path, p) }) {
				continue
			}
			if err := found.add(e); err != nil {
				return err
			}
		}
		return nil
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree", string(commit)}
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}
	_, err := r.Run(ctx, Cmd{Args: args, Stdout: found})
	return cmp.Or(found.err, err) // for found.err git broke off
}

// within reports whether a path is equal to dir or below it.
func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" && !strings.HasSuffix(dir, "/") || strings.HasPrefix(rest, "/"))
}

// linkMode is that of symbolic links.
const linkMode = "120000"

// texts are files with the content of those that are wanted.
func (r *Repo) texts(ctx context.Context, entries []Entry, limit int, wanted func(*Entry) bool) ([]NamedFile, error) {
	files := make([]NamedFile, len(entries))
	var ids strings.Builder
	for i := range entries {
		if files[i].Entry = entries[i]; wanted(&entries[i]) {
			ids.WriteString(string(entries[i].ID) + "\n")
		}
	}
	if ids.Len() == 0 {
		return files, nil
	}
	out := Bounded{Limit: limit}
	_, err := r.Run(ctx, Cmd{
		Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(ids.String()), Stdout: &out,
	})
	text, err := out.Bytes(err)
	for i := range files {
		if err == nil && wanted(&files[i].Entry) {
			files[i].Text, text, err = batched(text, files[i].ID)
		}
	}
	if err != nil {
		return nil, err
	}
	return files, nil
}

// plain reports whether an entry is a file with content of its own.
func (e *Entry) plain() bool { return strings.HasPrefix(e.Mode, "100") }

// batched cuts a blob off the answer of `cat-file --batch`: "id blob
// size\ncontent\n".
func batched(text []byte, id Hash) (blob, rest []byte, err error) {
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	size := 0
	if n, err := fmt.Sscanf(string(head), string(id)+" blob %d", &size); n != 1 || err != nil || size < 0 || size >= len(rest) {
		return nil, nil, fmt.Errorf("unexpected answer %.80q for %s", head, id.Short())
	}
	return rest[:size:size], rest[size+1:], nil
}

// ManyError says that there is more of something than the caller wants.
type ManyError struct{ Most int }

func (e *ManyError) Error() string { return fmt.Sprintf("more than %d of them", e.Most) }

// namedEntries keeps the matching entries from the answer of `ls-tree -z`,
// which may be very long.
type namedEntries struct {
	name string // empty: any
	most int
	all  []Entry
	part []byte // of a record that has not ended
	err  error
}

func (n *namedEntries) Write(p []byte) (int, error) {
	taken := len(p)
	for n.err == nil {
		record, rest, ended := bytes.Cut(p, []byte{0})
		n.part = append(n.part, record...)
		if !ended {
			return taken, nil
		}
		p = rest
		if bytes.HasSuffix(n.part, []byte(n.name)) {
			n.err = n.take(n.part)
		}
		n.part = n.part[:0]
	}
	return 0, n.err
}

// take keeps the entry of a record.
func (n *namedEntries) take(record []byte) error {
	entries, err := parseTree(record)
	if err != nil {
		return err
	}
	return n.add(entries[0])
}

// add keeps an entry of the name.
func (n *namedEntries) add(e Entry) error {
	if n.name != "" && path.Base(e.Path) != n.name {
		return nil
	}
	if len(n.all) == n.most {
		return &ManyError{Most: n.most}
	}
	n.all = append(n.all, e)
	return nil
}
