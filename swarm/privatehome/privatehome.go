// Package privatehome makes a separate HOME for an agent where the sandbox
// cannot mount over the user's. It also sets the variables by which tools then
// find their caches.
//
// A private HOME shows the user's: small files are copied, since tools append
// to them, and the rest are symbolic links. Folders that tools write to are
// real folders. Hidden paths appear nowhere below it. Tools read the user's
// caches. New cache entries go into a folder that the agents of a run share.
//
// The package starts no process and enforces nothing: the sandbox decides which
// files can be written. It never makes a hard link, since a write through the
// link would change the user's file.
package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Request says whose HOME is to be shown.
type Request struct {
	// Home is the HOME of the user. If there is none, or it cannot be read,
	// private ones are empty.
	Home string
	// Hidden are absolute paths that no private HOME shows, with everything
	// below them: secrets, state, sockets.
	Hidden []string
	// Unseen are those of Hidden of which not even a copy without credentials is
	// shown.
	Unseen []string
	// Shared is a folder of the run, which need not exist yet. All programs with
	// a private HOME write to it. Empty: private HOMEs have empty caches of their own.
	Shared string
	// Over is a template whose shared caches these start with, instead of the
	// user's; nil: none. Programs read its Shared and do not write to it.
	Over *Template
	// Live is for private HOMEs in no sandbox. Configuration is copied, and
	// folders of programs and data are the user's own, as links.
	Live   bool
	Getenv func(string) string // required; of the user
	// Caches are variables that name folders of tools. If the user sets a
	// variable without a rule in this package, programs get a shared folder
	// instead, which starts with the contents of the user's.
	Caches []string
	// Step, where set, is called before a private HOME gets its name. An error
	// stops there, as a crash would.
	Step func(name string) error
	// Program is a swarm that programs with a private HOME can start: it serves
	// them the Go build cache. Empty: there is none.
	Program string
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

// Template is the common part of all private HOMEs of a run. Several goroutines
// may use it.
type Template struct {
	home   string // the user's, without links; empty: none
	given  string // the user's, as it was given
	shared string
	over   *Template
	getenv func(string) string // only values that agents may get
	passes func(name, value string) bool
	step   func(name string) error
	named  []string // Request.Caches
	serves string   // Request.Program
	hidden hidden
	unseen hidden
	live   bool

	mu    sync.RWMutex
	shown // guarded by mu
}

// Prepare looks the user's HOME over and seeds the shared caches. Both are
// bounded, whatever HOME holds: see the limits in scan.go and seed.go. Entries
// that cannot be read are left out. The texts of configuration files are read
// now: a later change of the user's HOME is in no private HOME.
func Prepare(r Request) (*Template, error) {
	t := &Template{given: r.Home, shared: r.Shared, over: r.Over, getenv: r.passed, passes: r.passes, step: r.Step, named: r.Caches, serves: r.Program, live: r.Live}
	if home, err := filepath.EvalSymlinks(r.Home); err == nil && filepath.IsAbs(home) && home != "/" {
		t.home = home
	}
	t.hidden = newHidden(append([]string{r.Shared}, r.Hidden...))
	t.unseen = newHidden(r.Unseen)
	t.shown = t.look()
	if r.Shared == "" {
		return t, nil
	}
	if err := os.MkdirAll(r.Shared, 0o700); err != nil {
		return nil, fmt.Errorf("make the shared caches: %w", err)
	}
	if err := errors.Join(t.seed(), t.makeNamed(), t.shareCargo()); err != nil {
		return nil, fmt.Errorf("fill the shared caches: %w", err)
	}
	return t, nil
}

// Writable are the folders beside its HOME that an agent must be able to write
// to.
func (t *Template) Writable() []string { return []string{t.shared} }

// Readable are those that it must be able to read.
func (t *Template) Readable() []string {
	if t.over == nil {
		return nil
	}
	return []string{t.over.shared}
}

// Build makes dir a private HOME, in which given folders of the user's HOME are
// links to them. It must not exist yet. It gets its name when it is whole: the
// rest of a crash has another name, and is removed by the next Build.
func (t *Template) Build(dir string, given []string) error {
	if err := t.build(dir, given); err != nil {
		return fmt.Errorf("make a private HOME: %w", err)
	}
	return nil
}

func (t *Template) build(dir string, given []string) error {
	if _, err := os.Lstat(dir); err == nil {
		return &fs.PathError{Op: "make", Path: dir, Err: fs.ErrExist}
	}
	part := dir + ".part"
	// No agent was there: everything in it can be removed.
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o700)); err != nil {
		return err
	}
	show := t.current()
	for _, e := range show.entries {
		if err := e.make(part); err != nil {
			return err
		}
	}
	for _, name := range standardFolders() {
		// It may be a link to the user's.
		if err := os.MkdirAll(filepath.Join(part, name), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if t.shared != "" {
		if err := errors.Join(t.makeCargo(part, show.cargo), t.makeYarn(part)); err != nil {
			return err
		}
	}
	if err := t.linkGiven(part, given); err != nil {
		return err
	}
	if t.step != nil {
		if err := t.step("home"); err != nil {
			return err
		}
	}
	return os.Rename(part, dir)
}

// linkGiven shows folders of the user's HOME at their paths.
func (t *Template) linkGiven(home string, folders []string) error {
	for _, dir := range folders {
		rel, err := filepath.Rel(t.home, dir)
		if err != nil || t.home == "" || rel == "." || !filepath.IsLocal(rel) {
			continue
		}
		at := filepath.Join(home, rel)
		there, err := os.Stat(dir)
		if err != nil {
			continue
		}
		if seen, err := os.Stat(at); err == nil && os.SameFile(seen, there) {
			continue // A folder above it is a link.
		}
		err = os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil {
			err = errors.Join(os.RemoveAll(at), os.Symlink(dir, at))
		}
		if err != nil {
			return fmt.Errorf("show %s: %w", dir, err)
		}
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

// entry is a path of a private HOME.
type entry struct {
	path string // below HOME
	kind kind
	mode fs.FileMode
	from string    // of a link, and the user's file of a copy
	text []byte    // of a copy, and of a written file
	time time.Time // of a copy
}

func (e entry) make(home string) error {
	at := filepath.Join(home, e.path)
	switch e.kind {
	case folder:
		return os.Mkdir(at, e.mode|0o700)
	case link:
		return os.Symlink(e.from, at)
	case copied:
		return errors.Join(os.WriteFile(at, e.text, e.mode|0o600), os.Chtimes(at, e.time, e.time))
	case written:
		return os.WriteFile(at, e.text, 0o600)
	default:
		panic(fmt.Sprintf("unhandled kind %d", e.kind))
	}
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
