package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// errEnough ends a walk before its end.
var errEnough = errors.New("enough was found")

// walk is a search through a folder.
type walk struct {
	bench *Bench
	visit func(file, rel string, e fs.DirEntry) error
}

// below visits all that is below a folder in the order of the names, but for
// what .gitignore names and git's own folder. It follows no links.
func (w walk) below(ctx context.Context, dir string) error {
	// Rules above the folder hold in it too.
	var rules ignored
	top, prefix := dir, ""
	if rel, ok := below(w.bench.Root, dir); ok && rel != "." {
		top = w.bench.Root
		for _, name := range strings.Split(rel, "/") {
			rules = rules.with(filepath.Join(top, prefix), prefix)
			prefix = path.Join(prefix, name)
		}
	}
	return w.folder(ctx, dir, place{rel: "", under: prefix, rules: rules})
}

// place is a folder in a walk.
type place struct {
	rel   string // from where the walk began
	under string // from where the rules begin
	rules ignored
}

func (w walk) folder(ctx context.Context, dir string, at place) error {
	entries, err := os.ReadDir(dir)
	if err != nil && at.rel == "" {
		return err // what is deeper and cannot be read is passed over
	}
	at.rules = at.rules.with(dir, at.under)
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		under := path.Join(at.under, e.Name())
		if e.Name() == ".git" || at.rules.match(under, e.IsDir()) {
			continue
		}
		rel, file := path.Join(at.rel, e.Name()), filepath.Join(dir, e.Name())
		if err := w.visit(file, rel, e); err != nil {
			return err
		}
		if e.IsDir() {
			if err := w.folder(ctx, file, place{rel: rel, under: under, rules: at.rules}); err != nil {
				return err
			}
		}
	}
	return nil
}
