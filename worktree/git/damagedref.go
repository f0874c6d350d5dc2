package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// DamagedRefError says that the file of a ref holds no id of an object, as after a
// loss of power.
type DamagedRefError struct {
	Ref  string // the full name
	File string // of the ref
	Log  string // the file of its reflog; empty: it has none
	Last Hash   // the last commit of the reflog that can be read; empty: none
}

func (e *DamagedRefError) Error() string {
	said := fmt.Sprintf("ref %s of this repository is damaged: %s holds no commit id; ", e.Ref, e.File)
	switch {
	case e.Log == "":
		return said + "it has no reflog; `git fsck --lost-found` lists commits that no ref names"
	case e.Last == "":
		return said + fmt.Sprintf("its reflog %s names no commit that can be read; `git fsck --lost-found` lists others", e.Log)
	default:
		return said + fmt.Sprintf("its reflog %s ends with %s: `rm %s && git update-ref %s %[2]s` puts it back", e.Log, e.Last, quoteArg(e.File), e.Ref)
	}
}

// quoteArg quotes a path for a shell where that needs it.
func quoteArg(path string) string {
	if strings.ContainsAny(path, " \t\n\"'\\$`&;|<>()*?[]{}!#~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// damagedRef returns a [*DamagedRefError] if the file of the ref that rev names holds
// no id, and nil otherwise.
func (r *Repo) damagedRef(ctx context.Context, rev string) error {
	names := []string{rev, "refs/" + rev, "refs/tags/" + rev, "refs/heads/" + rev, "refs/remotes/" + rev}
	if rev == "HEAD" || rev == "@" {
		names = []string{r.headFile()}
	}
	root, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, "refs/") || !validRef(name) {
			continue
		}
		text, err := readRegular(root, name)
		if err != nil || strings.HasPrefix(text, "ref:") || r.named(Hash(strings.TrimSpace(text))) {
			continue
		}
		e := &DamagedRefError{Ref: name, File: filepath.Join(r.CommonDir, filepath.FromSlash(name))}
		e.Log, e.Last = r.reflogEnd(ctx, root, name)
		return e
	}
	return nil
}

// maxReflog bounds the reflog that is read.
const maxReflog = 64 << 20

// reflogEnd returns the file of the reflog of a ref, and the newest commit in it that
// can be read, of the last ten.
func (r *Repo) reflogEnd(ctx context.Context, root *os.Root, ref string) (file string, last Hash) {
	name := path.Join("logs", ref)
	if at, err := root.Lstat(name); err != nil || !at.Mode().IsRegular() || at.Size() > maxReflog {
		return "", ""
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return "", ""
	}
	file = filepath.Join(r.CommonDir, filepath.FromSlash(name))
	lines := strings.Split(strings.TrimRight(string(text), "\n\x00"), "\n")
	for i := range min(10, len(lines)) {
		fields := strings.Fields(lines[len(lines)-1-i])
		if len(fields) < 2 || !r.named(Hash(fields[1])) {
			continue
		}
		if kind, err := r.line(ctx, "cat-file", "-t", fields[1]); err == nil && kind == "commit" {
			return file, Hash(fields[1])
		}
	}
	return file, ""
}
