package git

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
)

// NamedRequest asks for all files of one name, in whatever folder.
type NamedRequest struct {
	Commit Hash   // required
	Name   string // required; without a folder
	Max    int    // required; how many files there may be
	Limit  int    // required; how long they may be together, in bytes
}

// NamedFile is one of them.
type NamedFile struct {
	Entry
	Text []byte // nil: it is no plain file
}

// Named reads the files of one name that a commit has, ordered by their paths.
// Where they are too many, or too long, the error is a [*ManyError] or a
// [*LongError]. Submodules are other repositories: nothing in them is found.
func (r *Repo) Named(ctx context.Context, q NamedRequest) ([]NamedFile, error) {
	found := namedEntries{name: q.Name, most: q.Max}
	_, err := r.Run(ctx, Cmd{
		Args:   []string{"ls-tree", "-r", "-z", "--full-tree", string(q.Commit)},
		Stdout: &found,
	})
	if found.err != nil {
		err = found.err // for which git broke off
	}
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
	_, err := r.Run(ctx, Cmd{
		Args:   append([]string{"ls-tree", "-r", "-z", "--full-tree", string(q.Commit), "--"}, q.Paths...),
		Stdout: &found,
	})
	if found.err != nil {
		err = found.err // for which git broke off
	}
	var files []NamedFile
	if err == nil {
		files, err = r.texts(ctx, found.all, q.Limit, func(e *Entry) bool { return e.plain() || e.Mode == linkMode })
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", strings.Join(q.Paths, ", "), q.Commit.Short(), err)
	}
	return files, nil
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

// batched takes one blob off the answer of `cat-file --batch`:
// "id blob size\ncontent\n".
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

// namedEntries keeps what it wants of the answer of `ls-tree -z`, which may be
// very long.
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

// take keeps an entry of the name.
func (n *namedEntries) take(record []byte) error {
	entries, err := parseTree(record)
	if err != nil || n.name != "" && path.Base(entries[0].Path) != n.name {
		return err
	}
	if len(n.all) == n.most {
		return &ManyError{Most: n.most}
	}
	n.all = append(n.all, entries[0])
	return nil
}
