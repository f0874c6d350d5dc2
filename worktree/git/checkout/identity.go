package checkout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Identity names the kind and the content of a path: "file", "program" or "link"
// with a sum, "folder", "special", or [Absent].
type Identity string

// Absent is the identity of a path where there is no file.
const Absent Identity = "absent"

// Identify reads the identity of a path.
func Identify(path string) (Identity, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Absent, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return Identity("link " + sumOf([]byte(to))), err
	case info.IsDir():
		return "folder", nil
	case !info.Mode().IsRegular():
		return "special", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	kind := "file "
	if info.Mode()&0o100 != 0 {
		kind = "program "
	}
	return Identity(kind + hex.EncodeToString(h.Sum(nil))), errors.Join(err, f.Close())
}

// fileAt is [Identify] where a folder counts as no file.
func fileAt(path string) (Identity, error) {
	at, err := Identify(path)
	if at == "folder" {
		at = Absent
	}
	return at, err
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
