package gocache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The go command removes entries that were not used for five days, and sets the
// time of a file when it uses it, at most once an hour.
const (
	markAfter = time.Hour
	copyAfter = 4 * 24 * time.Hour
)

// Cache is a folder that is written to, over others that are only read.
type Cache struct {
	own   string
	root  *os.Root // own: no link leads out of it when a file is written
	lower []string
}

// Open opens the cache in an existing folder, over others, the nearest first.
func Open(own string, lower []string) (*Cache, error) {
	root, err := os.OpenRoot(own)
	if err != nil {
		return nil, fmt.Errorf("open the Go build cache: %w", err)
	}
	return &Cache{own: own, root: root, lower: lower}, nil
}

// Close frees the folder.
func (c *Cache) Close() error { return c.root.Close() }

// Get finds the output of an action, and the path of a file with it. ok is false
// where no folder has both, each as the other says.
func (c *Cache) Get(action ID) (e Entry, path string, ok bool) {
	if e, found, ok := lookUp(c.own, action); ok {
		return e, c.keepOwn(action, e, found), true
	}
	for _, dir := range c.lower {
		if e, found, ok := lookUp(dir, action); ok {
			return e, c.keepLower(action, e, found), true
		}
	}
	return Entry{}, "", false
}

// output is a file with the output of an action.
type output struct {
	path string
	used time.Time
}

// lookUp finds the output of an action in a folder.
func lookUp(dir string, action ID) (e Entry, found output, ok bool) {
	text, err := readStart(filepath.Join(dir, action.file("a")), entrySize+1)
	if err != nil {
		return e, found, false
	}
	if e, err = parseEntry(text, action); err != nil {
		return e, found, false
	}
	found, err = findOutput(dir, e)
	return e, found, err == nil
}

// readStart reads a regular file up to a limit in bytes. It does not wait for the
// other end of a pipe.
func readStart(path string, limit int) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	return string(text), err
}

// findOutput finds the file of an output. That of a program that `go run` made is
// the only file in a folder.
func findOutput(dir string, e Entry) (output, error) {
	path := filepath.Join(dir, e.Output.file("d"))
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		var inside []os.DirEntry
		if inside, err = os.ReadDir(path); err == nil && len(inside) != 1 {
			err = fs.ErrInvalid
		}
		if err == nil {
			path = filepath.Join(path, inside[0].Name())
			info, err = os.Stat(path)
		}
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() != e.Size) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return output{}, err
	}
	return output{path: path, used: info.ModTime()}, nil
}

// keepOwn marks an entry of the own folder as used, as the go command does. Programs
// that share the folder remove old entries. It returns the path of the output.
func (c *Cache) keepOwn(action ID, e Entry, found output) string {
	now := time.Now()
	if now.Sub(found.used) < markAfter {
		return found.path
	}
	if info, err := os.Lstat(found.path); err == nil && !info.Mode().IsRegular() {
		return c.keepLower(action, e, found) // a link to a file of the user
	}
	for _, path := range []string{found.path, filepath.Join(c.own, action.file("a"))} {
		_ = os.Chtimes(path, now, now) // Without it, the entry is made again some day.
	}
	return found.path
}

// keepLower copies an entry that the user's go command may soon remove: the file
// must stay until the end of the build. It returns the path of the output.
func (c *Cache) keepLower(action ID, e Entry, found output) string {
	if time.Since(found.used) < copyAfter {
		return found.path
	}
	f, err := os.Open(found.path)
	if err != nil {
		return found.path
	}
	defer f.Close()
	path, err := c.put(action, e, f)
	if err != nil {
		return found.path // It is there now, and a copy is a precaution.
	}
	return path
}

// Put stores the output of an action and returns the path of its file. The body
// must have the given size in bytes.
func (c *Cache) Put(action, out ID, size int64, body io.Reader) (path string, err error) {
	return c.put(action, Entry{Output: out, Size: size, Time: time.Now()}, body)
}

// put writes the output before the entry that names it.
func (c *Cache) put(action ID, e Entry, body io.Reader) (path string, err error) {
	file := e.Output.file("d")
	path = filepath.Join(c.own, file)
	if info, err := c.root.Lstat(file); err == nil && info.IsDir() {
		// With the program of a `go run`. A file cannot take the place of a folder.
		found, err := findOutput(c.own, e)
		if err != nil {
			return "", fmt.Errorf("store the output of an action: %s is a folder without it", path)
		}
		path = found.path
	} else if err := c.write(file, e.Size, body); err != nil {
		return "", fmt.Errorf("store the output of an action: %w", err)
	}
	text := e.print(action)
	if err := c.write(action.file("a"), int64(len(text)), strings.NewReader(text)); err != nil {
		return "", fmt.Errorf("store the entry of an action: %w", err)
	}
	return path, nil
}

// write writes a file of the own folder. It gets its name when it is whole, and
// replaces a link and not the file behind it.
func (c *Cache) write(name string, size int64, body io.Reader) error {
	part := filepath.Join(filepath.Dir(name), "part-"+rand.Text())
	f, err := c.create(part)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(body, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("the text of %s has not %d bytes", name, size)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.root.Rename(part, name)
	}
	if err != nil {
		err = errors.Join(err, c.root.Remove(part))
	}
	return err
}

// create makes a new file, and its folder where `go clean` has removed that.
func (c *Cache) create(name string) (*os.File, error) {
	const flags, mode = os.O_WRONLY | os.O_CREATE | os.O_EXCL, 0o666
	f, err := c.root.OpenFile(name, flags, mode)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := c.root.Mkdir(filepath.Dir(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return c.root.OpenFile(name, flags, mode)
}
