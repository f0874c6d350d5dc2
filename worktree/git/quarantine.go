package git

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Quarantine is a private object folder that borrows from the repository.
//
// Swarm makes every object in a quarantine. The object enters the repository in
// a pack that is kept until a ref holds it. So no `git gc --prune=now` or `git
// repack -ad` of the user can remove it at any moment. A swarm that dies before
// leaves the repository as it was.
type Quarantine struct {
	repo *Repo
	env  []string
	// Dir is the object folder itself.
	Dir string

	made *sync.Once // its folders
	bad  *error     // why they could not be
	zips *sync.Pool // of *zlib.Writer, which are large
}

// Quarantine makes the object folder dir, or reopens it.
func (r *Repo) Quarantine(dir string) (*Quarantine, error) {
	q := r.lazy(dir)
	if err := q.Make(); err != nil {
		return nil, err
	}
	return q, nil
}

// lazy is a quarantine whose folders are made when they are needed: to make
// them costs as much as to run git.
func (r *Repo) lazy(dir string) *Quarantine {
	return &Quarantine{
		repo: r, Dir: dir, env: []string{"GIT_OBJECT_DIRECTORY=" + dir},
		made: new(sync.Once), bad: new(error), zips: new(sync.Pool),
	}
}

// Make makes the folders of the quarantine where they are not there yet. All
// that runs git in it, or packs, does so itself.
func (q *Quarantine) Make() error {
	q.made.Do(func() { *q.bad = q.repo.makeQuarantine(q.Dir) })
	if *q.bad != nil {
		return fmt.Errorf("make a quarantine: %w", *q.bad)
	}
	return nil
}

func (r *Repo) makeQuarantine(dir string) error {
	for _, d := range []string{"info", "pack"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	borrow := quotePath(filepath.Join(r.CommonDir, "objects")) + "\n"
	return os.WriteFile(filepath.Join(dir, "info", "alternates"), []byte(borrow), 0o600)
}

// Borrow makes the objects of another, trusted folder visible in the
// quarantine.
func (q *Quarantine) Borrow(objects string) error {
	if err := q.Make(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(q.Dir, "info", "alternates"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(quotePath(objects) + "\n")
	return errors.Join(err, f.Close())
}

// Run runs git on the repository with its new objects going here.
func (q *Quarantine) Run(ctx context.Context, c Cmd) ([]byte, error) {
	if err := q.Make(); err != nil {
		return nil, err
	}
	c.Env = append(slices.Clone(q.env), c.Env...)
	c.Writes = true
	return q.repo.Run(ctx, c)
}

// Repo is the repository the quarantine borrows from.
func (q *Quarantine) Repo() *Repo { return q.repo }

// Discard removes the folder and all that was not published.
func (q *Quarantine) Discard() error { return os.RemoveAll(q.Dir) }

// PublishRequest names the commits that enter the repository and their refs.
type PublishRequest struct {
	Refs    []RefUpdate // required; their New commits are packed
	Have    []Hash      // commits the repository is known to have
	Message string      // for reflogs
	// Pack is closed and holds all objects that the refs need beyond Have; nil:
	// they are searched.
	Pack *Pack
	// Landed is told of the pack, if a pack is made and a ref holds it. It may
	// be nil.
	Landed *Landed
	// Plain is set if neither reflogs of such refs nor other modes of files are
	// configured, so that a ref can be made without git.
	Plain bool
}

// Publish moves the objects that the refs need into the repository, then moves
// the refs in a single transaction. It does not pack objects of Have and their
// ancestors.
func (q *Quarantine) Publish(ctx context.Context, p PublishRequest) (err error) {
	for _, u := range p.Refs {
		if s := q.repo.hidden(u.Ref); s != nil {
			return s.publish(ctx, q, p)
		}
	}
	revs, _ := p.fresh()
	keep := ""
	if revs.Len() > 0 {
		if keep, err = q.bring(ctx, p, revs, ""); err != nil {
			return fmt.Errorf("publish objects: %w", err)
		}
	}
	err = q.nameAll(ctx, p)
	if keep == "" {
		return err
	}
	err = errors.Join(err, os.Remove(keep))
	if err == nil && p.Landed != nil {
		// Published packs stay so. Packs that lie apart do no harm.
		_ = p.Landed.note(stemOf(keep), "")
	}
	return err
}

// fresh lists the commits to pack, one a line, and those that the repository has.
func (p PublishRequest) fresh() (revs *bytes.Buffer, old []Hash) {
	revs = new(bytes.Buffer)
	for _, u := range p.Refs {
		switch {
		case u.New == "":
		case slices.Contains(p.Have, u.New):
			old = append(old, u.New)
		default:
			fmt.Fprintln(revs, u.New)
		}
	}
	return revs, old
}

// nameAll moves the refs.
func (q *Quarantine) nameAll(ctx context.Context, p PublishRequest) error {
	if len(p.Refs) == 1 && p.Plain {
		u := p.Refs[0]
		if u.Old == "" && !u.Any && q.repo.createRef(u.Ref, u.New) == nil {
			return nil
		}
	}
	return q.repo.UpdateRefs(ctx, p.Message, p.Refs...)
}

// bring moves the objects of new refs into the repository. The line is the text of
// the .keep file of a pack that stays kept; empty: the pack is kept until a ref holds
// it.
func (q *Quarantine) bring(ctx context.Context, p PublishRequest, revs *bytes.Buffer, line string) (keep string, err error) {
	if p.Pack != nil {
		return p.Pack.land(line)
	}
	for _, h := range p.Have {
		fmt.Fprintf(revs, "^%s\n", h)
	}
	return q.transfer(ctx, revs, line)
}

// transfer packs revs and indexes the pack in the repository. It returns the
// path of the .keep file it made, or "" where such a pack was kept already.
func (q *Quarantine) transfer(ctx context.Context, revs io.Reader, line string) (string, error) {
	began, mark := time.Now(), cmp.Or(line, KeepMark)+" "+rand.Text()
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
		Args:  []string{"index-pack", "--stdin", "--keep=" + mark, "--threads=1"},
		Stdin: pr, Writes: true,
		Config: []string{"pack.writeReverseIndex=false"},
	})
	pr.CloseWithError(io.ErrClosedPipe)
	if err := cause(<-packed, err); err != nil {
		err = fmt.Errorf("write a pack to %s: %w", filepath.Join(q.repo.CommonDir, "objects"), err)
		return "", errors.Join(err, q.repo.removeFailedPack(began, mark, indexesPack))
	}
	verb, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	path := filepath.Join(q.repo.CommonDir, "objects", "pack", "pack-"+name+".keep")
	switch {
	case verb != "keep" && line == "":
		return "", nil
	case verb != "keep":
		return "", q.repo.own.locked(func() error { return addKeep(path, line) })
	case line != "":
		return path, errors.Join(syncFile(path), syncDir(filepath.Dir(path)))
	default:
		return path, nil
	}
}

// KeepMark begins the .keep file of a pack in transit. A name of the transfer may
// follow it.
const KeepMark = "swarm-in-transit"

// InTransit reports whether a .keep file with this text is of a pack in transit,
// so that the mark of a crash is known as ours.
func InTransit(text []byte) bool {
	mark, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return mark == KeepMark
}

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

// Borrowing is an environment in which git sees the objects of a folder, too.
func Borrowing(objects string) []string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(objects)
	return []string{`GIT_ALTERNATE_OBJECT_DIRECTORIES="` + quoted + `"`}
}
