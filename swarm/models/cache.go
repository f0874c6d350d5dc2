package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Cache keeps answers in a file. It holds no keys.
type Cache struct {
	path    string
	answers map[string]answer
}

// answer is the answer of a provider.
type answer struct {
	Asked  time.Time `json:"asked"`
	Models []Model   `json:"models"`
}

// cacheVersion is the version of the file. A file of another version counts as
// empty.
const cacheVersion = 1

type cacheFile struct {
	Version int               `json:"version"`
	Answers map[string]answer `json:"answers"`
}

// OpenCache reads a file. A file that is missing, or cannot be read, is empty,
// and is written anew.
func OpenCache(path string) *Cache {
	c := &Cache{path: path, answers: map[string]answer{}}
	text, err := readCache(path)
	var file cacheFile
	if err != nil || json.Unmarshal(text, &file) != nil || file.Version != cacheVersion {
		return c
	}
	for who, a := range file.Answers {
		a.Models = Tidy(a.Models)
		c.answers[who] = a
	}
	return c
}

// readCache reads a regular file. It does not wait for a pipe.
func readCache(path string) (_ []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() || stat.Size() > 4*mostBytes {
		return nil, fmt.Errorf("%s is not such a file", path)
	}
	return io.ReadAll(io.LimitReader(f, 4*mostBytes))
}

// Get returns the answer of a provider within the last day.
func (c *Cache) Get(who string, now time.Time) (_ []Model, asked time.Time, ok bool) {
	a, ok := c.answers[who]
	// A clock that was put back must not make an answer last for ever.
	if age := now.Sub(a.Asked); !ok || age >= MaxAge || age < -time.Minute {
		return nil, time.Time{}, false
	}
	return a.Models, a.Asked, true
}

// Last returns the last answer of a provider, however old.
func (c *Cache) Last(who string) (_ []Model, asked time.Time, ok bool) {
	a, ok := c.answers[who]
	return a.Models, a.Asked, ok
}

// Put stores the answer of a provider.
func (c *Cache) Put(who string, all []Model, now time.Time) {
	c.answers[who] = answer{Asked: now.UTC().Truncate(time.Second), Models: all}
}

// Save writes the file, for its owner alone, in a single step. It returns an
// error if the file cannot be written.
func (c *Cache) Save() (err error) {
	text, err := json.Marshal(cacheFile{cacheVersion, c.answers})
	if err != nil {
		return fmt.Errorf("keep the lists of models: %w", err)
	}
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the lists of models: %w", err)
	}
	f, err := os.CreateTemp(dir, ".models-*") // 0600
	if err != nil {
		return fmt.Errorf("keep the lists of models: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return fmt.Errorf("keep the lists of models: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
