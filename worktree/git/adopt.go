package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// AdoptRequest says which commits of an agent are taken in.
type AdoptRequest struct {
	Tip     Hash   // required
	Base    Hash   // a commit of the repository; empty: all of the history is taken in
	Objects string // required; the object folder that the agent wrote to
}

// Adopt takes the commits of an agent from its object folder into the
// quarantine: all objects that Tip needs beyond Base. It returns an error if an
// object is missing.
//
// The folder is not trusted, as an agent can store wrong content under any
// name. Adopt reads only plain files in it and follows no link. A single
// process reads them. Adopt computes each object's name from its content. The
// final check by git does not see the folder.
func (q *Quarantine) Adopt(ctx context.Context, r AdoptRequest) (err error) {
	if !q.repo.named(r.Tip) {
		return &MissingObjectError{ID: r.Tip}
	}
	dir := filepath.Join(q.Dir, "adopt")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	view, err := q.viewOf(dir, r.Objects)
	if err != nil {
		return err
	}
	if err := q.receive(ctx, view, r); err != nil {
		return fmt.Errorf("take in %s: %w", r.Tip.Short(), err)
	}
	_, err = q.Run(ctx, Cmd{
		Args: append([]string{"rev-list", "--objects", "--quiet", "--missing=allow-promisor", "--end-of-options"}, r.span()...),
		Env:  q.shallow(),
	})
	if err != nil {
		return fmt.Errorf("look for what %s needs: %w", r.Tip.Short(), err)
	}
	kind, err := q.Run(ctx, Cmd{Args: []string{"cat-file", "-t", string(r.Tip)}})
	if err == nil && strings.TrimSpace(string(kind)) != "commit" {
		err = fmt.Errorf("%s is no commit", r.Tip.Short())
	}
	return err
}

// span names the commits as git takes them: the tip, and the base to leave out.
func (r AdoptRequest) span() []string {
	if r.Base == "" {
		return []string{string(r.Tip)}
	}
	return []string{string(r.Tip), "^" + string(r.Base)}
}

// viewOf is where git sees the objects of a folder that is not believed: those
// of its plain files, by names of ours below dir.
func (q *Quarantine) viewOf(dir, objects string) (*Quarantine, error) {
	theirs := filepath.Join(dir, "theirs")
	if err := linkObjects(objects, theirs, q.repo.hexLen()); err != nil {
		return nil, fmt.Errorf("look at the objects of an agent: %w", err)
	}
	view, err := q.repo.Quarantine(filepath.Join(dir, "view"))
	if err != nil {
		return nil, err
	}
	if err := view.Borrow(theirs); err != nil {
		return nil, err
	}
	// The same git dir and configuration, with another object folder.
	view.env = append(slices.Clone(q.env), view.env...)
	return view, nil
}

// receive packs the commits where the agent's objects are seen, and gives each
// object its name where they are not.
func (q *Quarantine) receive(ctx context.Context, view *Quarantine, r AdoptRequest) error {
	return q.repack(ctx, view, Cmd{
		Args:  []string{"pack-objects", "--revs"},
		Stdin: strings.NewReader(strings.Join(r.span(), "\n") + "\n"), Env: q.shallow(),
	})
}

// repack runs c, a pack-objects, in the view and stores the objects of its pack
// in q.
func (q *Quarantine) repack(ctx context.Context, view *Quarantine, c Cmd) error {
	pr, pw := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		c.Args = append(c.Args, "--stdout", "-q", "--missing=allow-promisor")
		c.Config = []string{"pack.useBitmaps=false", "pack.threads=1", "pack.window=0"}
		c.Stdout = pw
		_, err := view.Run(ctx, c)
		pw.CloseWithError(err)
		packed <- err
	}()
	_, err := q.Run(ctx, Cmd{
		Args:  []string{"index-pack", "--stdin", "--strict", "--threads=1"},
		Stdin: pr, Config: []string{"pack.writeReverseIndex=false"},
	})
	pr.CloseWithError(io.ErrClosedPipe)
	return cause(<-packed, err)
}

// linkObjects hard-links the plain files of an object folder, those that can be
// objects, into a folder of ours. It follows no symlink and ignores the
// alternates of the folder.
func linkObjects(from, to string, hexLen int) error {
	if err := os.MkdirAll(filepath.Join(to, "pack"), 0o700); err != nil {
		return err
	}
	at, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !at.IsDir() {
		err = fmt.Errorf("%s is not a folder", filepath.Base(from))
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	folders, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, d := range folders {
		if !d.IsDir() || d.Name() != "pack" && !isHex(d.Name(), 2) {
			continue
		}
		files, err := fs.ReadDir(root.FS(), d.Name())
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, d.Name()), 0o700); err != nil {
			return err
		}
		for _, f := range files {
			isPack := d.Name() == "pack" && strings.HasPrefix(f.Name(), "pack-") &&
				(strings.HasSuffix(f.Name(), ".pack") || strings.HasSuffix(f.Name(), ".idx"))
			if !f.Type().IsRegular() || !isPack && !isHex(f.Name(), hexLen-2) {
				continue
			}
			name := filepath.Join(d.Name(), f.Name())
			if err := linkOrCopy(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkOrCopy follows no symlink.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer root.Close()
	src, err := openRegular(root, filepath.Base(from))
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(CopySparse(dst, src), dst.Close())
}

func isHex(name string, length int) bool {
	return len(name) == length && strings.Trim(name, "0123456789abcdef") == ""
}
