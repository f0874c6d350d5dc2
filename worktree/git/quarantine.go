package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Quarantine is a private object folder that borrows from the repository.
//
// Every object swarm makes is born in one. It enters the repository in a
// pack that is kept until a ref holds it, so that no `git gc --prune=now` or
// `git repack -ad` of the user, at whatever moment, can take it away; and a
// swarm that dies before leaves the repository as it was.
type Quarantine struct {
	repo *Repo
	env  []string
	// Dir is the object folder itself.
	Dir string
}

// Quarantine makes the object folder dir, or reopens it.
func (r *Repo) Quarantine(dir string) (*Quarantine, error) {
	for _, d := range []string{"info", "pack"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("make a quarantine: %w", err)
		}
	}
	borrow := quotePath(filepath.Join(r.CommonDir, "objects")) + "\n"
	err := os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(borrow), 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	env := []string{"GIT_OBJECT_DIRECTORY=" + dir}
	return &Quarantine{repo: r, Dir: dir, env: env}, nil
}

// Run runs git on the repository with its new objects going here.
func (q *Quarantine) Run(ctx context.Context, c Cmd) ([]byte, error) {
	c.Env = append(slices.Clone(q.env), c.Env...)
	c.Writes = true
	return q.repo.Run(ctx, c)
}

// Repo is the repository the quarantine borrows from.
func (q *Quarantine) Repo() *Repo { return q.repo }

// Discard removes the folder and all that was not published.
func (q *Quarantine) Discard() error { return os.RemoveAll(q.Dir) }

// PublishRequest says what enters the repository, and under which names.
type PublishRequest struct {
	Refs    []RefUpdate // required; their New commits are what is packed
	Have    []Hash      // commits the repository is known to have
	Message string      // for reflogs
}

// Publish moves what the refs need into the repository, then moves the refs
// in one transaction. Objects of Have and their ancestors are not packed.
func (q *Quarantine) Publish(ctx context.Context, p PublishRequest) (err error) {
	var revs bytes.Buffer
	fresh := false
	for _, u := range p.Refs {
		if u.New != "" && !slices.Contains(p.Have, u.New) {
			fmt.Fprintln(&revs, u.New)
			fresh = true
		}
	}
	if fresh {
		for _, h := range p.Have {
			fmt.Fprintf(&revs, "^%s\n", h)
		}
		keep, err := q.transfer(ctx, &revs)
		if err != nil {
			return fmt.Errorf("publish objects: %w", err)
		}
		if keep != "" {
			defer func() { err = errors.Join(err, os.Remove(keep)) }()
		}
	}
	return q.repo.UpdateRefs(ctx, p.Message, p.Refs...)
}

// transfer packs revs and indexes the pack in the repository. It returns the
// path of the .keep file it made, or "" where such a pack was kept already.
func (q *Quarantine) transfer(ctx context.Context, revs io.Reader) (string, error) {
	pr, pw := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		_, err := q.Run(ctx, Cmd{
			Args:  []string{"pack-objects", "--revs", "--stdout", "-q", "--missing=allow-promisor"},
			Stdin: revs, Stdout: pw,
			Config: []string{"pack.useBitmaps=false", "pack.threads=1", "pack.window=0"},
		})
		pw.CloseWithError(err)
		packed <- err
	}()
	out, err := q.repo.Run(ctx, Cmd{
		Args:  []string{"index-pack", "--stdin", "--keep=" + KeepMark, "--threads=1"},
		Stdin: pr, Writes: true,
		Config: []string{"pack.writeReverseIndex=false"},
	})
	pr.CloseWithError(io.ErrClosedPipe)
	if perr := <-packed; perr != nil {
		return "", perr
	}
	if err != nil {
		return "", err
	}
	verb, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if verb != "keep" {
		return "", nil
	}
	return filepath.Join(q.repo.CommonDir, "objects", "pack", "pack-"+name+".keep"), nil
}

// KeepMark is what the .keep file of a pack in transit holds, by which one
// that a crash left behind is known as ours.
const KeepMark = "swarm-in-transit"

// quotePath quotes a path for an alternates file, where a leading quote or
// hash sign and a line end would be read as something else.
func quotePath(p string) string {
	if !strings.ContainsAny(p, "\"\n\\") && !strings.HasPrefix(p, "#") {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
