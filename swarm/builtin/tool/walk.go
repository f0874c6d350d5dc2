package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// errEnough ends a walk before its end.
var errEnough = errors.New("enough was found")

// bounds are how long a search may look, and at how much.
type bounds struct {
	time    time.Duration
	entries int   // of folders
	bytes   int64 // of files
}

// usual are the bounds of every search: a repository with a million files stays
// within them, and a model waits for a multiple of their time.
func usual() bounds { return bounds{20 * time.Second, 1_000_000, 4 << 30} }

// walk is a search through a folder.
type walk struct {
	bench *Bench
	visit func(file, rel string, e fs.DirEntry) error

	bounds bounds
	until  time.Time
	seen   int   // entries
	read   int64 // bytes
	where  string
	short  string // why it ended before its end; empty: it did not
}

// walker makes a search whose time begins now.
func (b *Bench) walker() *walk {
	w := &walk{bench: b, bounds: usual()}
	if b.bounds != (bounds{}) {
		w.bounds = b.bounds
	}
	w.until = time.Now().Add(w.bounds.time)
	return w
}

// below visits all entries below a folder in the order of their names. It
// leaves out ignored entries, git's own folder, and the system's folders
// without files. It follows no links.
func (w *walk) below(ctx context.Context, dir string) error {
	// Rules above the folder hold in it too.
	rules := excluded(w.bench.Root)
	prefix := ""
	rel, ok := below(w.bench.Root, dir)
	switch {
	case !ok:
		rules = nil
	case rel != ".":
		for _, name := range strings.Split(rel, "/") {
			rules = rules.with(filepath.Join(w.bench.Root, prefix), prefix)
			prefix = path.Join(prefix, name)
		}
	}
	err := w.folder(ctx, dir, place{rel: "", under: prefix, rules: rules})
	if w.short != "" && errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// place is a folder in a walk.
type place struct {
	rel   string // from where the walk began
	under string // from where the rules begin
	rules ignored
}

func (w *walk) folder(ctx context.Context, dir string, at place) error {
	w.where = dir
	entries, err := w.entries(ctx, dir)
	if err != nil && (at.rel == "" || w.short != "" || ctx.Err() != nil) {
		return err // a deeper folder that cannot be read is passed over
	}
	at.rules = at.rules.with(dir, at.under)
	for _, e := range entries {
		if err := w.more(ctx); err != nil {
			return err
		}
		under := path.Join(at.under, e.Name())
		rel, file := path.Join(at.rel, e.Name()), filepath.Join(dir, e.Name())
		if e.Name() == ".git" || at.rules.match(under, e.IsDir()) || slices.Contains(noFiles(), file) {
			continue
		}
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

// noFiles are folders that the system makes up, which a search from the top of
// everything would never leave.
func noFiles() []string { return []string{"/proc", "/sys", "/dev"} }

// entries are the entries of a folder, in the order of their names. It stops in
// a folder with more entries than a search may look at.
func (w *walk) entries(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fs.DirEntry
	for {
		some, err := f.ReadDir(1000)
		all = append(all, some...)
		w.seen += len(some)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.more(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// more reports whether the search may go on.
func (w *walk) more(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.short != "":
	case w.seen > w.bounds.entries:
		w.short = fmt.Sprintf("%d files and folders", w.bounds.entries)
	case w.read > w.bounds.bytes:
		w.short = fmt.Sprintf("%d bytes", w.bounds.bytes)
	default:
		return w.late(ctx)
	}
	return errEnough
}

// late reports whether the search may go on in a file that it has read.
func (w *walk) late(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case time.Now().After(w.until):
		w.short = w.bounds.time.String()
		return errEnough
	default:
		return nil
	}
}

// note says that not all was looked at; empty: it was.
func (w *walk) note() string {
	if w.short == "" {
		return ""
	}
	return fmt.Sprintf("[the search was ended after %s, at %s: what follows there was not looked at; name a folder closer to what you look for]\n",
		w.short, w.bench.shown(w.where))
}
