package git

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of files that are read where an agent may have written any content.
const (
	maxRefFile    = 4 << 10
	maxPackedRefs = 64 << 20
	maxSymRefs    = 5 // as git has it
)

// PrivateHead is the name of the object that the HEAD of a git dir leads to;
// empty if it leads to none. It reads without git, without the configuration
// and without access to files outside, whatever symlinks there are. It does not
// check that the object exists.
//
// An agent may own the git dir and may have put any file there. The git dir may
// be the upper layer of an overlay, whose lower layers are below.
func (r *Repo) PrivateHead(gitDir string, below ...string) (h Hash, err error) {
	files, err := openLayers(append([]string{gitDir}, below...))
	if err != nil {
		return "", err
	}
	return r.follow(files, "HEAD"), files.close()
}

// NoRef reports whether there certainly is no ref of a name, without git. The
// name must be below refs/.
func (r *Repo) NoRef(name string) bool {
	if s := r.hidden(name); s != nil {
		return s.noRef(name)
	}
	_, err := os.Lstat(filepath.Join(r.CommonDir, "reftable"))
	if !errors.Is(err, fs.ErrNotExist) || !validRef(name) {
		return false
	}
	root, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return false
	}
	defer root.Close()
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	_, found, err := packedRef(root, name)
	return err == nil && !found
}

// noRefsUnder reports whether there certainly is no ref below a prefix that ends with
// a slash, read without git.
func (r *Repo) noRefsUnder(prefix string) bool {
	dir, ok := strings.CutSuffix(prefix, "/")
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "reftable")); !ok || !errors.Is(err, fs.ErrNotExist) || !validRef(dir) {
		return false
	}
	root, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return false
	}
	defer root.Close()
	if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	found, err := scanPacked(root, func(_, ref string) bool { return strings.HasPrefix(ref, prefix) })
	return err == nil && !found
}

// headFile returns the ref that HEAD of this checkout points at, read without git;
// empty where git must tell. A repository with a reftable has the name of no ref there.
func (r *Repo) headFile() string {
	root, err := os.OpenRoot(r.GitDir)
	if err != nil {
		return ""
	}
	defer root.Close()
	text, err := readRegular(root, "HEAD")
	name, ok := strings.CutPrefix(text, "ref: ")
	if name = strings.TrimSuffix(name, "\n"); err != nil || !ok || !validRef(name) {
		return ""
	}
	common, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return ""
	}
	defer common.Close()
	if text, err := readRegular(common, name); err == nil && strings.HasPrefix(text, "ref:") {
		return "" // it points at another ref
	}
	return name
}

// follow resolves a ref by its file, or by the file of all packed refs.
func (r *Repo) follow(root opener, name string) Hash {
	for range maxSymRefs + 1 {
		text, err := readRegular(root, name)
		if err != nil {
			id, found, err := packedRef(root, name)
			if err != nil || !found || name == "HEAD" || !r.named(id) {
				return ""
			}
			return id
		}
		to, isSym := strings.CutPrefix(text, "ref:")
		if !isSym {
			// Git ignores the text after a space.
			id, _, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n")
			id, _, _ = strings.Cut(id, " ")
			if h := Hash(strings.ToLower(id)); r.named(h) {
				return h
			}
			return ""
		}
		if name = strings.TrimRight(strings.TrimLeft(to, " \t"), " \t\r\n"); !validRef(name) {
			return ""
		}
	}
	return ""
}

// readRegular reads a small file. It returns an error if the file is not plain
// or not small.
func readRegular(root opener, name string) (string, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRefFile+1))
	if err == nil && len(text) > maxRefFile {
		err = &LongError{Limit: maxRefFile}
	}
	return string(text), err
}

func openRegular(root opener, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	at, err := f.Stat()
	if err == nil && !at.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no plain file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// packedRef looks a ref up in the file of all packed refs.
func packedRef(root opener, name string) (id Hash, found bool, err error) {
	found, err = scanPacked(root, func(hex, ref string) bool {
		id = Hash(hex)
		return ref == name
	})
	return id, found, err
}

// scanPacked reads the file of all packed refs until a ref matches. A line is "id name".
// Lines that begin with a hash sign or a caret tell more about the file or the ref before.
func scanPacked(root opener, matches func(hex, ref string) bool) (found bool, err error) {
	f, err := openRegular(root, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxPackedRefs+1))
	lines.Buffer(make([]byte, 64<<10), 64<<10)
	read := 0
	for lines.Scan() {
		line := lines.Text()
		if read += len(line) + 1; read > maxPackedRefs {
			return false, &LongError{Limit: maxPackedRefs}
		}
		if hex, ref, ok := strings.Cut(line, " "); ok && hex != "#" && matches(hex, ref) {
			return true, nil
		}
	}
	return false, lines.Err()
}

// validRef reports whether git accepts a name as that of a ref below refs/
// (git-check-ref-format(1)). An accepted name stays below it.
func validRef(name string) bool {
	rest, ok := strings.CutPrefix(name, "refs/")
	if !ok || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c < ' ' || c == 0x7f || strings.ContainsRune(` ~^:?*[\`, c)
	})
}
