// Package privatehome makes a HOME of an agent's own where nothing can be
// mounted, and says by which variables tools find their caches then.
//
// A private HOME shows the user's: small files are copied, since tools append
// to them, and the rest are symbolic links. Folders that tools write to are
// real ones. Hidden paths appear nowhere below it. Tool caches are read from
// the user's; whatever is added to them goes into a folder that the agents of
// one run share.
//
// The package starts no process and enforces nothing: the sandbox decides what
// may be written to. A hard link is never made, for a write through one would
// change the user's file.
package privatehome

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Request says whose HOME is to be shown.
type Request struct {
	// Home is the HOME of the user. If there is none, or it cannot be read,
	// private ones are empty.
	Home string
	// Hidden are absolute paths that no private HOME shows, with everything
	// below them: secrets, state, sockets.
	Hidden []string
	// Shared is a folder of the run, which need not exist yet. Agents write
	// to it, so that it must be as reachable for them as their HOME is.
	Shared string              // required
	Getenv func(string) string // required; of the user
	// Passes reports whether agents may get the value of a variable; nil: all.
	Passes func(name, value string) bool
}

func (r Request) passes(name, value string) bool { return r.Passes == nil || r.Passes(name, value) }

// passed is a variable of the user's, empty where agents may not get its value.
func (r Request) passed(name string) string {
	value := r.Getenv(name)
	if !r.passes(name, value) {
		return ""
	}
	return value
}

// Template is what all private HOMEs of a run have in common. It may be used by
// several goroutines.
type Template struct {
	home    string // the user's, without links; empty: none
	shared  string
	getenv  func(string) string // only values that agents may get
	passes  func(name, value string) bool
	hidden  hidden
	entries []entry
}

// Prepare looks the user's HOME over and seeds the shared caches. Both are
// bounded, whatever HOME holds: see the limits in scan.go and seed.go. Entries
// that cannot be read are left out.
func Prepare(r Request) (*Template, error) {
	t := &Template{shared: r.Shared, getenv: r.passed, passes: r.passes}
	if home, err := filepath.EvalSymlinks(r.Home); err == nil && filepath.IsAbs(home) && home != "/" {
		t.home = home
	}
	if err := os.MkdirAll(r.Shared, 0o700); err != nil {
		return nil, fmt.Errorf("make the shared caches: %w", err)
	}
	h := newHidden(append([]string{r.Shared}, r.Hidden...))
	t.hidden = h
	if t.home != "" {
		s := &scan{home: t.home, hidden: h}
		s.walk()
		t.entries = s.entries
	}
	if err := errors.Join(t.seed(h), t.shareCargo()); err != nil {
		return nil, fmt.Errorf("fill the shared caches: %w", err)
	}
	return t, nil
}

// Writable are the folders beside its HOME that an agent must be able to write
// to.
func (t *Template) Writable() []string { return []string{t.shared} }

// Build makes dir a private HOME. It must not exist yet.
func (t *Template) Build(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a private HOME: %w", err)
	}
	for _, e := range t.entries {
		if err := e.make(dir); err != nil {
			return fmt.Errorf("make a private HOME: %w", err)
		}
	}
	for _, name := range standardFolders() {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return fmt.Errorf("make a private HOME: %w", err)
		}
	}
	if err := t.makeCargo(dir); err != nil {
		return fmt.Errorf("make a private HOME: %w", err)
	}
	return nil
}

// standardFolders are there in every private HOME.
func standardFolders() []string {
	return []string{".cache", ".config", ".local/bin", ".local/share", ".local/state"}
}

// kind is how an entry of HOME is shown.
type kind int

const (
	folder kind = iota
	link
	copied
	written // a text that was made from the user's file
)

// entry is one path of a private HOME.
type entry struct {
	path string // below HOME
	kind kind
	mode fs.FileMode
	from string // of a link, and of a copy
	text []byte // of a written one
}

func (e entry) make(home string) error {
	at := filepath.Join(home, e.path)
	switch e.kind {
	case folder:
		return os.Mkdir(at, e.mode|0o700)
	case link:
		return os.Symlink(e.from, at)
	case copied:
		err := copyFile(e.from, at, e.mode|0o600)
		// It may have gone or changed since it was found.
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	case written:
		return os.WriteFile(at, e.text, 0o600)
	default:
		panic(fmt.Sprintf("unhandled kind %d", e.kind))
	}
}

// copyFile copies a regular file with its times.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	source, err := openRegular(from)
	if err != nil {
		return err
	}
	defer source.Close()
	at, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	// A file that grows meanwhile is cut where it was found to end.
	_, err = io.Copy(target, io.LimitReader(source, at.Size()))
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, at.ModTime(), at.ModTime())
}

// hidden are paths that are not shown.
type hidden []string

// newHidden resolves paths, as far as there is anything at them.
func newHidden(paths []string) hidden {
	var all hidden
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		all = append(all, filepath.Clean(path))
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			all = append(all, real)
		}
	}
	return all
}

// covers reports whether a path is hidden.
func (h hidden) covers(path string) bool {
	for _, p := range h {
		if below(p, path) {
			return true
		}
	}
	return false
}

// touches reports whether a path is hidden or holds something that is.
func (h hidden) touches(path string) bool {
	for _, p := range h {
		if below(p, path) || below(path, p) {
			return true
		}
	}
	return false
}

// below reports whether a path is a folder or lies in it.
func below(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
