package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KnownError is a setting that a file has already: nothing was written.
type KnownError struct{ File, Key string }

func (e *KnownError) Error() string { return fmt.Sprintf("%s sets %s already", e.File, e.Key) }

// RememberConfined writes risk.confined into the user's own configuration file,
// which is made where it is missing. Everything else in the file stays as it is.
// A file that sets the key already is a [*KnownError].
func RememberConfined(file string, confined Confined) error {
	source, err := ReadFile(User, file)
	if err != nil {
		return fmt.Errorf("remember %s: %w", confinedKey, err)
	}
	now, err := Load(source)
	if err != nil {
		return fmt.Errorf("remember %s: %w", confinedKey, err)
	}
	if now.Confined != ConfinedUnset {
		return &KnownError{File: file, Key: confinedKey}
	}
	text, err := Set(source, confinedKey, confined.String())
	if err != nil {
		return fmt.Errorf("remember %s: write `confined = %q` below [risk] yourself: %w", confinedKey, confined, err)
	}
	return WriteFile(file, text)
}

// WriteFile replaces a configuration file in a single step: a reader sees the
// old text or the new text. The file keeps its mode. If the path is a link, the
// file at its target is replaced. WriteFile returns an error if the file cannot
// be written.
func WriteFile(path string, text []byte) (err error) {
	mode := fs.FileMode(0o600)
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		path = real
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
