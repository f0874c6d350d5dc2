package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Template is the common part of the git dirs of workspaces that do not share
// the repository's git dir. It is a git dir without HEAD, index and objects.
type Template struct {
	// Dir holds config, packed-refs, info, hooks and git's other files.
	Dir string
	// Branch is the user's current branch, as a full ref; empty if HEAD is
	// detached.
	Branch string

	repo      *Repo
	frozen    *Frozen
	config    string // the text of the file
	hooksPath string
	borrowed  []string // more folders of objects
	// dirs and files are the content of Dir.
	dirs, files []string
}

// TemplateRequest gives the folder of a template and the frozen rules.
type TemplateRequest struct {
	Dir string // required; must not exist
	// Frozen says which part of the tree is checked out.
	Frozen *Frozen // required
}

// Template makes a template. The refs are those of the repository now, except
// swarm's own and the stash.
func (r *Repo) Template(ctx context.Context, q TemplateRequest) (_ *Template, err error) {
	t := &Template{Dir: q.Dir, repo: r, frozen: q.Frozen}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a git dir for workspaces: %w", err), os.RemoveAll(q.Dir))
		}
	}()
	for _, d := range []string{"info", "hooks"} {
		if err := os.MkdirAll(filepath.Join(q.Dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	asking, askCtx := errgroup.WithContext(ctx)
	asking.Go(func() (err error) {
		t.Branch, err = r.Branch(askCtx)
		return err
	})
	asking.Go(func() error { return t.writeConfig(askCtx) })
	asking.Go(func() error { return t.writeRefs(askCtx) })
	if err := errors.Join(asking.Wait(), t.copySmall(), t.copyHooks()); err != nil {
		return nil, err
	}
	if t.borrowed, err = borrowed(filepath.Join(r.CommonDir, "objects"), maxBorrow); err != nil {
		return nil, err
	}
	return t, t.list()
}

// list records the content of the template, so that it is walked only once.
func (t *Template) list() error {
	return filepath.WalkDir(t.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == t.Dir {
			return err
		}
		rel, err := filepath.Rel(t.Dir, path)
		if e.IsDir() {
			t.dirs = append(t.dirs, rel)
		} else {
			t.files = append(t.files, rel)
		}
		return err
	})
}

// ownKeys are those that say where a git dir is and how it is kept, or that
// would have git work behind an agent's back.
func ownKeys() []string {
	return []string{
		"core.bare", "core.worktree", "core.repositoryformatversion", "core.fsmonitor",
		"core.untrackedcache", "core.splitindex", "core.sparsecheckout", "gc.auto",
		"maintenance.auto", "index.sparse",
	}
}

// writeConfig writes the repository's own configuration; the user's stays
// where it is.
func (t *Template) writeConfig(ctx context.Context) error {
	var b strings.Builder
	version := "0"
	if t.repo.ObjectFormat == "sha256" {
		version = "1"
	}
	b.WriteString("[core]\n\trepositoryformatversion = " + version + "\n\tbare = false\n" +
		"\tuntrackedCache = true\n\tfsmonitor = false\n")
	if _, err := os.Lstat(t.frozen.sparse()); err == nil {
		b.WriteString("\tsparseCheckout = true\n")
	}
	b.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	if t.repo.ObjectFormat == "sha256" {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n")
	}
	keys, err := t.keys(ctx, "--local")
	if err != nil {
		return err
	}
	// Without the extension git reads the same file for both scopes.
	if i := slices.IndexFunc(keys, func(k configKey) bool { return k.name == "extensions.worktreeconfig" }); i >= 0 && keys[i].on() {
		more, err := t.keys(ctx, "--worktree")
		if err != nil {
			return err
		}
		keys = append(keys, more...)
	}
	for _, k := range keys {
		if k.copied() {
			writeKey(&b, k)
		}
		if k.name == "core.hookspath" {
			t.hooksPath = k.value
		}
	}
	t.config = b.String()
	return os.WriteFile(filepath.Join(t.Dir, "config"), []byte(t.config), 0o600)
}

// configKey is a line of a configuration; without a value it is true.
type configKey struct {
	name, value string
	has         bool
}

func (k configKey) on() bool {
	return !k.has || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(k.value))
}

// copied reports whether a key goes into a git dir of an agent. Included files
// are in the list already. Keys that change the form of a git dir are wrong for
// the copy, except extensions.partialclone, which names the source of objects.
func (k configKey) copied() bool {
	switch {
	case k.name == "" || slices.Contains(ownKeys(), k.name):
		return false
	case strings.HasPrefix(k.name, "include.") || strings.HasPrefix(k.name, "includeif."):
		return false
	case strings.HasPrefix(k.name, "extensions."):
		return k.name == "extensions.partialclone"
	default:
		return true
	}
}

// keys lists the repository's configuration.
func (t *Template) keys(ctx context.Context, scope string) ([]configKey, error) {
	out, err := t.repo.Run(ctx, Cmd{Args: []string{"config", scope, "--list", "-z", "--includes"}})
	if err != nil {
		return nil, err
	}
	var keys []configKey
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, value, has := strings.Cut(rec, "\n")
		keys = append(keys, configKey{name: name, value: value, has: has})
	}
	return keys, nil
}

// writeRefs writes all refs into a single file, as git packs them. It writes
// each symbolic ref into a file of its own.
func (t *Template) writeRefs(ctx context.Context) error {
	const format = "%(objectname) %(refname)%00%(symref)%00"
	head := "# pack-refs with: peeled fully-peeled sorted \n"
	out, err := t.repo.Run(ctx, Cmd{Args: []string{"for-each-ref", "--format=" + format + "%(*objectname)"}})
	var bad *Error
	if errors.As(err, &bad) {
		// A tag that leads nowhere is its owner's to mend, and no reason not to begin.
		head = "# pack-refs with: sorted \n"
		out, err = t.repo.Run(ctx, Cmd{Args: []string{"for-each-ref", "--format=" + format}})
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(head)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
		f := strings.Split(line, "\x00")
		_, name, _ := strings.Cut(f[0], " ")
		switch {
		case name == "" || len(f) != 3 || strings.HasPrefix(name, OwnRefs) || name == "refs/stash":
		case f[1] != "":
			path := filepath.Join(t.Dir, name)
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil {
				err = os.WriteFile(path, []byte("ref: "+f[1]+"\n"), 0o600)
			}
			if err != nil {
				return err
			}
		default:
			fmt.Fprintln(&b, f[0])
			if f[2] != "" {
				fmt.Fprintln(&b, "^"+f[2])
			}
		}
	}
	return os.WriteFile(filepath.Join(t.Dir, "packed-refs"), b.Bytes(), 0o600)
}

// copySmall copies the small files of the repository's git dir that change
// git's behaviour.
func (t *Template) copySmall() error {
	for _, name := range []string{"shallow", "info/exclude", "info/attributes"} {
		if err := copyFile(filepath.Join(t.repo.CommonDir, name), filepath.Join(t.Dir, name)); err != nil {
			return err
		}
	}
	return copyFile(t.frozen.sparse(), filepath.Join(t.Dir, "info", "sparse-checkout"))
}

// copyHooks copies the hooks of the git dir: from its hooks folder, and from
// another folder in it that the configuration names. A workspace has the hooks
// of the checkout anyway.
func (t *Template) copyHooks() error {
	dirs := []string{"hooks"}
	if t.hooksPath != "" {
		path := t.hooksPath
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.repo.TopLevel, path)
		}
		rel, err := filepath.Rel(t.repo.CommonDir, path)
		if err == nil && filepath.IsLocal(rel) && rel != "." && rel != "hooks" {
			dirs = append(dirs, rel)
		}
	}
	for _, dir := range dirs {
		if err := copyHooks(filepath.Join(t.repo.CommonDir, dir), filepath.Join(t.Dir, dir)); err != nil {
			return err
		}
	}
	return nil
}

// copyHooks copies a folder of programs. It skips unreadable files, as they
// could not run.
func copyHooks(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		at, err := os.Stat(from) // a hook may be a symlink into the checkout
		switch {
		case err != nil || strings.HasSuffix(e.Name(), ".sample"):
		case e.IsDir():
			err = copyHooks(from, to)
		case at.Mode().IsRegular():
			if err = copyFile(from, to); err == nil {
				err = os.Chmod(to, at.Mode().Perm()&0o700|0o600)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// maxBorrow is the number of alternates that git follows in a chain.
const maxBorrow = 5

// borrowed are the folders that a folder of objects borrows from, with those
// that they borrow from. They are named here since a relative name is not
// right where an agent sees the folder.
func borrowed(objects string, depth int) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || depth == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, `"`) {
			if plain, err := strconv.Unquote(line); err == nil {
				line = plain
			}
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(objects, line)
		}
		more, err := borrowed(line, depth-1)
		if err != nil {
			return nil, err
		}
		all = append(append(all, line), more...)
	}
	return all, nil
}

// Borrowed are the folders of objects that the repository borrows from. An agent
// may have written the file with their names, and sees them. So a name counts
// only if it is a folder of objects.
func (r *Repo) Borrowed() []string {
	all, _ := borrowed(filepath.Join(r.CommonDir, "objects"), maxBorrow) // git reports its errors
	return slices.DeleteFunc(all, func(dir string) bool {
		for _, name := range []string{"info", "pack"} {
			if at, err := os.Lstat(filepath.Join(dir, name)); err != nil || !at.IsDir() {
				return true
			}
		}
		return false
	})
}

// PrivateRequest says which git dir is made from a template.
type PrivateRequest struct {
	Dir     string // required; must not exist
	Base    Hash   // required; where HEAD is
	Index   string // required; the index of its checkout, which is copied
	Objects string // required; the folder of the repository's objects, as git will see it
}

// Private makes a git dir: HEAD is on the user's branch, which is at the base.
func (t *Template) Private(r PrivateRequest) error {
	if err := t.private(r); err != nil {
		return fmt.Errorf("make a git dir: %w", err)
	}
	return nil
}

func (t *Template) private(r PrivateRequest) error {
	dirs := []string{
		"", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags",
	}
	for _, d := range slices.Concat(dirs, t.dirs) {
		if err := os.Mkdir(filepath.Join(r.Dir, d), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, name := range t.files {
		if err := CloneFile(filepath.Join(t.Dir, name), filepath.Join(r.Dir, name)); err != nil {
			return err
		}
	}
	var borrow strings.Builder
	for _, dir := range append([]string{r.Objects}, t.borrowed...) {
		borrow.WriteString(quotePath(dir) + "\n")
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600)
	}
	if err := write("objects/info/alternates", borrow.String()); err != nil {
		return err
	}
	head := string(r.Base) + "\n"
	if t.Branch != "" {
		if err := os.MkdirAll(filepath.Join(r.Dir, filepath.Dir(t.Branch)), 0o700); err != nil {
			return err
		}
		if err := write(t.Branch, head); err != nil {
			return err
		}
		head = "ref: " + t.Branch + "\n"
	}
	if err := CloneFile(r.Index, filepath.Join(r.Dir, "index")); err != nil {
		return err
	}
	return write("HEAD", head)
}
