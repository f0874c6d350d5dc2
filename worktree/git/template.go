package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Template is what the git dirs of workspaces have in common that do not
// share the repository's: a git dir without HEAD, index and objects.
type Template struct {
	// Dir holds config, packed-refs, info, hooks and what else git keeps.
	Dir string
	// Branch is what the user's checkout is on, as a full ref; empty where its
	// HEAD is detached.
	Branch string
	format string
}

// Template makes one at dir, which must not exist. The refs are those of the
// repository now, but for swarm's own and the stash.
func (r *Repo) Template(ctx context.Context, dir string) (_ *Template, err error) {
	t := &Template{Dir: dir, format: r.ObjectFormat}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a git dir for workspaces: %w", err), os.RemoveAll(dir))
		}
	}()
	for _, d := range []string{"info", "hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	if t.Branch, err = r.Branch(ctx); err != nil {
		return nil, err
	}
	for _, do := range []func(context.Context, *Template) error{
		r.templateConfig, r.templateRefs, r.templateFiles,
	} {
		if err := do(ctx, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// ownKeys are those that say where a git dir is and how it is kept, or that
// would have git work behind an agent's back.
var ownKeys = []string{
	"core.bare", "core.worktree", "core.repositoryformatversion", "core.fsmonitor",
	"core.untrackedcache", "core.splitindex", "extensions.worktreeconfig", "extensions.refstorage",
	"extensions.objectformat", "gc.auto", "maintenance.auto", "index.sparse",
	"extensions.relativeworktrees",
}

// templateConfig writes the repository's own configuration; the user's stays
// where it is.
func (r *Repo) templateConfig(ctx context.Context, t *Template) error {
	var b strings.Builder
	version := "0"
	if r.ObjectFormat == "sha256" {
		version = "1"
	}
	b.WriteString("[core]\n\trepositoryformatversion = " + version + "\n\tbare = false\n" +
		"\tuntrackedCache = true\n\tfsmonitor = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	if r.ObjectFormat == "sha256" {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n")
	}
	for _, scope := range []string{"--local", "--worktree"} {
		out, err := r.Run(ctx, Cmd{Args: []string{"config", scope, "--list", "-z", "--includes"}})
		var unset *Error
		if errors.As(err, &unset) && scope == "--worktree" {
			continue // not without the extension
		}
		if err != nil {
			return err
		}
		for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			key, value, has := strings.Cut(rec, "\n")
			if key == "" || contains(ownKeys, key) || strings.HasPrefix(key, "include.") ||
				strings.HasPrefix(key, "includeif.") {
				continue
			}
			writeKey(&b, key, value, has)
		}
	}
	return os.WriteFile(filepath.Join(t.Dir, "config"), []byte(b.String()), 0o600)
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// templateRefs writes all refs into one file, as git packs them.
func (r *Repo) templateRefs(ctx context.Context, t *Template) error {
	out, err := r.Run(ctx, Cmd{Args: []string{"for-each-ref", "--format=%(objectname) %(refname)%00%(*objectname)"}})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
		ref, peeled, _ := strings.Cut(line, "\x00")
		_, name, _ := strings.Cut(ref, " ")
		if name == "" || strings.HasPrefix(name, "refs/swarm/") || name == "refs/stash" {
			continue
		}
		fmt.Fprintln(&b, ref)
		if peeled != "" {
			fmt.Fprintln(&b, "^"+peeled)
		}
	}
	return os.WriteFile(filepath.Join(t.Dir, "packed-refs"), b.Bytes(), 0o600)
}

// templateFiles copies the small files of the repository's git dir that
// decide what git does.
func (r *Repo) templateFiles(_ context.Context, t *Template) error {
	for _, name := range []string{"shallow", "info/exclude", "info/attributes"} {
		if err := copyFile(filepath.Join(r.CommonDir, name), filepath.Join(t.Dir, name)); err != nil {
			return err
		}
	}
	sparse := filepath.Join("info", "sparse-checkout")
	if err := copyFile(filepath.Join(r.GitDir, sparse), filepath.Join(t.Dir, sparse)); err != nil {
		return err
	}
	hooks := filepath.Join(r.CommonDir, "hooks")
	entries, err := os.ReadDir(hooks)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		to := filepath.Join(t.Dir, "hooks", e.Name())
		at, serr := os.Stat(filepath.Join(hooks, e.Name()))
		if serr != nil || !at.Mode().IsRegular() {
			continue
		}
		if err = copyFile(filepath.Join(hooks, e.Name()), to); err == nil {
			err = os.Chmod(to, at.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return err
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
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"} {
		if err := os.MkdirAll(filepath.Join(r.Dir, d), 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD":                    string(r.Base) + "\n",
		"objects/info/alternates": quotePath(r.Objects) + "\n",
	}
	if t.Branch != "" {
		files["HEAD"] = "ref: " + t.Branch + "\n"
		files[t.Branch] = string(r.Base) + "\n"
	}
	for name, text := range files {
		path := filepath.Join(r.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	err := filepath.WalkDir(t.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(t.Dir, path)
		if err != nil {
			return err
		}
		return CloneFile(path, filepath.Join(r.Dir, rel))
	})
	if err != nil {
		return err
	}
	return CloneFile(r.Index, filepath.Join(r.Dir, "index"))
}
