package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// absolute is a path that a model named.
func (b *Bench) absolute(path string) string {
	if path == "" {
		return b.Dir
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Dir, path)
	}
	return filepath.Clean(path)
}

// shown is a path as a model is told it: short where it is below Dir.
func (b *Bench) shown(path string) string {
	if rel, ok := below(b.Dir, path); ok {
		return rel
	}
	return path
}

// below is a path from a folder that it is in, or is.
func below(folder, path string) (string, bool) {
	if path == folder {
		return ".", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// inside opens the workspace, and returns it with a path below it. The returned
// root reaches nothing else, whatever links exist or appear.
func (b *Bench) inside(path string) (*os.Root, string, error) {
	real, err := filepath.EvalSymlinks(b.Root)
	if err != nil {
		return nil, "", fmt.Errorf("open the workspace: %w", err)
	}
	at := b.absolute(path)
	rel, ok := below(b.Root, at)
	if !ok {
		rel, ok = below(real, at)
	}
	if !ok || rel == "." {
		return nil, "", fmt.Errorf("%s: is not in the workspace %s, and nothing else is written", path, b.Root)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, "", fmt.Errorf("open the workspace: %w", err)
	}
	return root, rel, nil
}

// regular refuses a path that is no file with an end: a folder, or a pipe that
// would be waited for.
func regular(info os.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a folder; use ls or find")
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	}
	return nil
}

// endless is how long a file is waited for that has nothing to give yet, as
// some of the system's do that call themselves regular.
const endless = 5 * time.Second

// open opens a file to be read. It is closed: a pipe may have come in
// place of the file that was looked at.
func open(shown, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(shown, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = plain(shown, regular(info))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_ = f.SetReadDeadline(time.Now().Add(endless)) // most files know of none, and never wait
	return f, nil
}

// plain is an error about a path, without the names of system calls.
func plain(shown string, err error) error {
	if err == nil {
		return nil
	}
	if os.IsNotExist(err) {
		return fmt.Errorf("%s: there is no such file", shown)
	}
	if inner, ok := err.(*os.PathError); ok { // its own words suffice
		return fmt.Errorf("%s: %w", shown, inner.Err)
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// Top are the entries of the top of a workspace that are not ignored,
// in order; folders end in a slash.
func Top(root string) []string {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	rules := excluded(root).with(root, "")
	var all []string
	for _, e := range entries {
		if e.Name() != ".git" && !rules.match(e.Name(), e.IsDir()) {
			all = append(all, e.Name()+suffix(e))
		}
	}
	return all
}
