package diskwatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// reserveName is the file that holds the reserve of a run, in its folder.
const reserveName = "reserve"

// maxReserve is the largest reserve, in bytes.
const maxReserve = 32 << 20

// Reserve takes space in the folder of a run, so that finished agents can be
// captured when the disk is full: 32 MiB, or 2 % of the file system if that is
// less. It takes nothing where the file system cannot, or has too little left
// already. [Release] gives the space back.
func Reserve(dir string) error {
	s, err := SpaceOf(dir)
	if err != nil {
		return err
	}
	size := min(maxReserve, s.Total/share)
	if low, _ := s.threshold(); s.Free < low+size || size <= 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, reserveName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reserve space: %w", err)
	}
	if allocate(f, size) != nil {
		return errors.Join(f.Close(), Release(dir))
	}
	return f.Close()
}

// Release gives the reserve of a run back. None is no error.
func Release(dir string) error {
	err := os.Remove(filepath.Join(dir, reserveName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
