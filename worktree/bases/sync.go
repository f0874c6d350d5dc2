package bases

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// saveBase syncs all of a base to the disk before it gets its name. A later run
// trusts the name. After a power cut files under it could be empty: their names
// reach the disk before their content.
//
// For a whole checkout it syncs the file system once, as a sync of each file
// takes many times longer. A layer has few files and is made while agents work;
// its sync does not wait for their gigabytes.
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
