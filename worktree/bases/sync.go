package bases

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// saveBase has all of a base on the disk before it gets its name. A later run
// believes in the name, and a power cut would leave files under it that are
// empty: their names reach the disk before what is in them does.
//
// Of a whole checkout this is the file system's work, once for all files: one
// by one they take many times longer. A layer has few, and is made while agents
// work, for whose gigabytes it does not wait.
func saveBase(dir string, layer bool) error {
	save := saveFileSystem
	if layer {
		save = saveFiles
	}
	if err := save(dir); err != nil {
		return fmt.Errorf("save the base: %w", err)
	}
	return nil
}

// saveFiles saves each file and folder below dir.
func saveFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err // a link or a mark is a part of its folder
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
