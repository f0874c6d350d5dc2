package disk

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile puts a file in place whole or not at all.
func WriteFile(path string, text []byte) error {
	return ReplaceFile(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// ReplaceFile puts the output of fill in place, whole or not at all.
func ReplaceFile(path string, fill func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err = errors.Join(fill(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
