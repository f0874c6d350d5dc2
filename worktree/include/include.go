// Package include finds the included files: ignored files of the user's checkout
// that are copied into workspaces. It copies them, but does not decide when.
package include

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// FileName is a file at the top of a repository. It names, in the syntax of
// .gitignore, the ignored files of the user's checkout that are copied into a
// workspace.
const FileName = ".worktreeinclude"

// maxIncludeFile bounds it, in bytes.
const maxIncludeFile = 1 << 20

// Request asks for the included files.
type Request struct {
	Repo *git.Repo // required
	Base git.Hash  // required; its [FileName] counts
	// Except are folders that are never included, such as those of workspaces.
	Except []string
}

// FileError says that the user's own [FileName] cannot be read.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// Set holds the included files of the user's checkout: files that match both
// its ignore rules and the [FileName]. Tracked files are never included.
type Set struct {
	Files   int       // and symlinks
	Size    int64     // the estimated size on disk, in bytes
	Skipped []Skipped // named files that are not included

	Top   string   // of the checkout
	Paths []string // of files and symlinks, grouped by folder
}

// Skipped is a file that is not included although it was named.
type Skipped struct {
	Path   string // from the top of the checkout
	Reason string
}

func (s Skipped) String() string { return fmt.Sprintf("%q does not come along: %s", s.Path, s.Reason) }

// Find lists the included files, as the checkout is now. It returns nil if
// there are none: in a bare repository, without a [FileName], or if no file
// matches. It returns an error if it cannot read the rules or list the files.
//
// The [FileName] of the base counts, so that it is the same for every run from
// that base. If the base has none, an untracked [FileName] of the checkout
// counts: it is the user's own. A tracked file that is not in the base belongs
// to another base and does not count.
func Find(ctx context.Context, r Request) (*Set, error) {
	in, err := find(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("find what %s names: %w", FileName, err)
	}
	return in, nil
}

func find(ctx context.Context, r Request) (_ *Set, err error) {
	if r.Repo.Bare() {
		return nil, nil
	}
	rules, err := rulesOf(ctx, r)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "swarm-include-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "rules")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		return nil, err
	}
	named, err := untrackedBy(ctx, r.Repo, "--exclude-from="+file)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	ignored, err := untrackedBy(ctx, r.Repo, "--exclude-standard")
	if err != nil {
		return nil, err
	}
	in := &Set{Top: r.Repo.TopLevel}
	for _, path := range both(named, ignored) {
		if err := in.take(ctx, path, r.Except); err != nil {
			return nil, err
		}
	}
	if len(in.Paths) == 0 && len(in.Skipped) == 0 {
		return nil, nil
	}
	return in, in.specials(ctx, r.Repo)
}

// rulesOf is the text of the file that counts.
func rulesOf(ctx context.Context, r Request) ([]byte, error) {
	files, err := r.Repo.Under(ctx, git.UnderRequest{Commit: r.Base, Paths: []string{FileName}, Max: 1, Limit: maxIncludeFile})
	if many := (*git.ManyError)(nil); errors.As(err, &many) {
		return nil, nil // a folder
	}
	if long := (*git.LongError)(nil); errors.As(err, &long) {
		return nil, &FileError{Err: fmt.Errorf("it has more than %d bytes", maxIncludeFile)}
	}
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		if f := files[0]; f.Path == FileName && strings.HasPrefix(f.Mode, "100") {
			return f.Text, nil
		}
		return nil, nil // a symlink or a folder
	}
	if _, err := os.Lstat(filepath.Join(r.Repo.TopLevel, FileName)); disk.Missing(err) {
		return nil, nil
	}
	out, err := r.Repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "-z", "--cached", "--", FileName}})
	if err != nil || len(out) > 0 {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(r.Repo.TopLevel, FileName),
		os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if disk.Missing(err) || errors.Is(err, syscall.ELOOP) {
		return nil, nil
	}
	if err != nil {
		return nil, &FileError{Err: err}
	}
	defer f.Close()
	at, err := f.Stat()
	if err != nil || !at.Mode().IsRegular() {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIncludeFile+1))
	if err == nil && len(text) > maxIncludeFile {
		err = &FileError{Err: fmt.Errorf("it has more than %d bytes", maxIncludeFile)}
	}
	return text, err
}

// untrackedBy lists the untracked files that match rules, sorted. A nested
// repository is a single entry that ends in a slash: git does not look into it.
// It does not list folders (--directory): git lists some of them beside their
// content.
func untrackedBy(ctx context.Context, repo *git.Repo, rules string) ([]string, error) {
	out, err := repo.Run(ctx, git.Cmd{Args: []string{
		"ls-files", "-z", "--others", "--ignored", rules,
	}})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	paths := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(paths)
	return paths, nil
}

// both lists the common entries of two sorted lists; a folder stands for all of
// its content.
func both(a, b []string) []string {
	var all []string
	for _, path := range a {
		if covers(b, path) {
			all = append(all, path)
			continue
		}
		if !strings.HasSuffix(path, "/") {
			continue
		}
		from, _ := slices.BinarySearch(b, path)
		for _, inner := range b[from:] {
			if !strings.HasPrefix(inner, path) {
				break
			}
			all = append(all, inner)
		}
	}
	return all
}

// covers reports whether a sorted list names a path or a folder above it.
func covers(list []string, path string) bool {
	for at := path; at != ""; {
		if _, ok := slices.BinarySearch(list, at); ok {
			return true
		}
		if at = disk.Parent(strings.TrimSuffix(at, "/")); at != "" {
			at += "/"
		}
	}
	return false
}

// take lists a file, or all that is in a folder. No symlink is followed.
func (in *Set) take(ctx context.Context, path string, except []string) error {
	return filepath.WalkDir(filepath.Join(in.Top, path), func(full string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, rerr := filepath.Rel(in.Top, full)
		if rerr != nil {
			return rerr
		}
		switch {
		case disk.Missing(err):
			return nil
		case err != nil:
			in.skip(rel, "it cannot be read")
			return nil
		case strings.EqualFold(e.Name(), ".git"):
			in.skip(rel, "it is the git folder of another repository")
			return skipDir(e)
		case within(full, except) != "":
			in.skipOnce(within(full, except), "workspaces are made there")
			return skipDir(e)
		case e.IsDir():
			return nil
		}
		at, err := e.Info()
		if disk.Missing(err) {
			return nil
		}
		if err != nil {
			in.skip(rel, "it cannot be read")
			return nil
		}
		in.add(rel, at)
		return nil
	})
}

func skipDir(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (in *Set) skip(path, reason string) {
	in.Skipped = append(in.Skipped, Skipped{Path: path, Reason: reason})
}

// skipOnce skips all of a folder that is met file by file.
func (in *Set) skipOnce(full, reason string) {
	s := Skipped{Path: strings.TrimPrefix(full, in.Top+"/"), Reason: reason}
	if !slices.Contains(in.Skipped, s) {
		in.Skipped = append(in.Skipped, s)
	}
}

// within returns that of these folders which is the path or contains it.
func within(path string, folders []string) string {
	i := slices.IndexFunc(folders, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
	if i < 0 {
		return ""
	}
	return folders[i]
}

// add includes a file or symlink.
func (in *Set) add(path string, at fs.FileInfo) {
	switch mode := at.Mode(); {
	case mode.IsRegular():
		if unix.Access(filepath.Join(in.Top, path), unix.R_OK) != nil {
			in.skip(path, "it cannot be read")
			return
		}
		in.Size += disk.Blocks(at.Size())
	case mode.Type() == fs.ModeSymlink:
		in.Size += disk.Block
	default:
		in.skip(path, special)
		return
	}
	in.Files++
	in.Paths = append(in.Paths, path)
}

const special = "it is a FIFO, socket or device"

// specials records ignored entries beside the included files that are no files,
// such as sockets. Git does not list them.
func (in *Set) specials(ctx context.Context, repo *git.Repo) error {
	seen := map[string]bool{}
	var found []string
	for _, path := range in.Paths {
		dir := disk.Parent(path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := os.ReadDir(filepath.Join(in.Top, dir))
		if err != nil {
			continue // the copy will tell
		}
		for _, e := range entries {
			if e.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
				found = append(found, filepath.Join(dir, e.Name()))
			}
		}
	}
	found, err := checkIgnore(ctx, repo, found)
	for _, path := range found {
		in.skip(path, special)
	}
	return err
}

// Ignored tells which of a few names at the top of the user's checkout are
// there and ignored, as node_modules may be.
func Ignored(ctx context.Context, repo *git.Repo, names ...string) ([]string, error) {
	if repo.Bare() {
		return nil, nil
	}
	var there []string
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(repo.TopLevel, name)); err == nil {
			there = append(there, name)
		}
	}
	return checkIgnore(ctx, repo, there)
}

// checkIgnore tells which paths the user's checkout ignores.
func checkIgnore(ctx context.Context, repo *git.Repo, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := repo.Run(ctx, git.Cmd{
		Args: []string{"check-ignore", "-z", "--stdin"},
		// Spelled so that git sees no pathspec magic in a name.
		Stdin: strings.NewReader("./" + strings.Join(paths, "\x00./") + "\x00"),
	})
	var none *git.Error
	if errors.As(err, &none) && none.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask which files are ignored: %w", err)
	}
	said := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(paths, func(path string) bool {
		return !slices.Contains(said, "./"+path)
	}), nil
}
