package git

import (
	"errors"
	"os"
)

// CloneFile makes a copy of a regular file, with its mode, that shares its
// blocks where the file system can. Else it keeps the holes of a sparse file. It
// is never a second name for the file: some write a file in place that git
// would replace.
func CloneFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	at, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, at.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if Reflink(dst, src) == nil {
		return nil
	}
	return CopySparse(dst, src)
}
