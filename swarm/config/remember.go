package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// KnownError is a setting that a file has already: nothing was written.
type KnownError struct{ File, Key string }

func (e *KnownError) Error() string { return fmt.Sprintf("%s sets %s already", e.File, e.Key) }

// RememberConfined writes risk.confined into the user's own configuration file,
// which is made where it is missing. Everything else in the file stays as it is.
// A file that sets the key already is a [*KnownError].
func RememberConfined(file string, confined Confined) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remember %s: %w", confinedKey, err)
	}
	now, err := loadUser(file, text)
	if err != nil {
		return fmt.Errorf("remember %s: %w", confinedKey, err)
	}
	if now.Confined != ConfinedUnset {
		return &KnownError{File: file, Key: confinedKey}
	}
	next := addConfined(string(text), confined)
	if then, err := loadUser(file, []byte(next)); err != nil || then.Confined != confined {
		return fmt.Errorf("remember %s: %s has a [risk] that cannot be added to; write `confined = %q` into it yourself",
			confinedKey, file, confined)
	}
	return replaceFile(file, next)
}

func loadUser(file string, text []byte) (*Config, error) {
	return Load(Source{Layer: User, Name: file, Text: text})
}

// addConfined adds the key to the text of a file: below [risk] where the file
// has that table, else in a new one at its end.
func addConfined(text string, confined Confined) string {
	line := fmt.Sprintf("confined = %q\n", confined)
	var b strings.Builder
	added := false
	for old := range strings.Lines(text) {
		b.WriteString(old)
		if header, _, _ := strings.Cut(old, "#"); !added && strings.TrimSpace(header) == "[risk]" {
			if !strings.HasSuffix(old, "\n") {
				b.WriteString("\n")
			}
			b.WriteString(line)
			added = true
		}
	}
	if added {
		return b.String()
	}
	if text != "" {
		if !strings.HasSuffix(text, "\n") {
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String() + "[risk]\n" + line
}

// replaceFile writes a file whole or not at all. A link stays a link: the file
// that it leads to is replaced.
func replaceFile(file, text string) (err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if stat, err := os.Stat(file); err == nil {
		mode = stat.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = bytes.NewBufferString(text).WriteTo(f)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
