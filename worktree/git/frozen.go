package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Frozen is a git dir of our own whose configuration is a copy of the part
// of the user's that decides how files become objects: filters, line ends,
// excludes, attributes. It is made before any agent starts.
//
// A linked worktree shares the repository's configuration, so an agent can
// write `filter.x.clean` into it. Capture and merge read the copy, and
// nothing an agent sets is ever run by us. Merge drivers are left out of it:
// a merge is the same wherever it is made.
type Frozen struct {
	repo *Repo
	// Dir is the git dir.
	Dir string
	set map[string]bool // the keys that the user's configuration has, while it is copied
}

// kept are the sections and keys that go into the copy, lower case.
func kept() []string {
	return []string{
		"core.autocrlf", "core.eol", "core.filemode", "core.symlinks",
		"core.ignorecase", "core.precomposeunicode", "core.protecthfs",
		"core.protectntfs", "core.bigfilethreshold", "core.compression",
		"core.loosecompression", "core.repositoryformatversion",
		"core.sparsecheckoutcone", "core.logallrefupdates", "core.sharedrepository",
		"extensions.objectformat", "extensions.partialclone",
		"filter.", "lfs.",
	}
}

// keptPartial are kept beside them in a partial clone, which must be able
// to fetch its missing objects. They may hold a password, and so go nowhere
// else.
func keptPartial() []string {
	return []string{
		"remote.", "url.", "http.", "credential.", "ssh.", "protocol.",
		"core.sshcommand", "core.askpass",
	}
}

// isPartial matches a configuration of a partial clone. Git 2.25 and later
// mark the remote and no longer set the extension.
var isPartial = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|\x00)(extensions\.partialclone\n|remote\.[^\n\x00]*\.promisor(\x00|\n(true|yes|on|1)\x00))`)
})

// ownEntries are the entries of a git dir that the copy must not share.
// Anything else beside them (lfs, git-crypt, annex) belongs to a filter and
// is linked to.
func ownEntries() []string {
	return []string{
		"HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD",
		"REVERT_HEAD", "BISECT_LOG", "COMMIT_EDITMSG", "MERGE_MSG", "MERGE_MODE",
		"AUTO_MERGE", "config", "config.worktree", "index", "index.lock", "objects",
		"refs", "reftable", "packed-refs", "logs", "hooks", "info", "worktrees",
		"branches", "description", "shallow", "modules", "commondir", "gitdir",
		"rebase-merge", "rebase-apply", "gc.log", "gc.pid", "locked",
	}
}

// Freeze makes the copy at dir, which must not exist.
func (r *Repo) Freeze(ctx context.Context, dir string) (*Frozen, error) {
	f := &Frozen{repo: r, Dir: dir, set: map[string]bool{}}
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "refs"), 0o700),
		os.MkdirAll(filepath.Join(dir, "info"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
	)
	if err == nil {
		err = f.linkOthers()
	}
	if err == nil {
		err = f.copyConfig(ctx)
	}
	if err == nil {
		err = f.copyRules(ctx)
	}
	if err == nil {
		err = f.copySparse(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("freeze the configuration: %w", err)
	}
	return f, nil
}

// Thaw opens a copy that an earlier Freeze made.
func (r *Repo) Thaw(dir string) *Frozen { return &Frozen{repo: r, Dir: dir} }

// Quarantine makes or reopens an object folder whose git commands run under
// the frozen configuration, in this git dir and with no work tree.
func (f *Frozen) Quarantine(dir string) (*Quarantine, error) {
	q := f.Lazy(dir)
	return q, q.Make()
}

// Lazy is such an object folder, which is made once it is needed.
func (f *Frozen) Lazy(dir string) *Quarantine {
	q := f.repo.lazy(dir)
	q.env = append(append(q.env, f.env()...), "GIT_WORK_TREE="+f.Dir)
	return q
}

// linkOthers links the files that filters keep beside git's own.
func (f *Frozen) linkOthers() error {
	entries, err := os.ReadDir(f.repo.CommonDir)
	if err != nil {
		return err
	}
	own := ownEntries()
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(own, e.Name()) {
			continue
		}
		from := filepath.Join(f.repo.CommonDir, e.Name())
		if err := os.Symlink(from, filepath.Join(f.Dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(f.repo.CommonDir, "objects"), filepath.Join(f.Dir, "objects"))
}

// copyConfig writes the kept keys, from whatever level they came.
func (f *Frozen) copyConfig(ctx context.Context) error {
	out, err := f.repo.Run(ctx, Cmd{Args: []string{"config", "--list", "-z", "--includes"}})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("[core]\n\tbare = false\n\tsafecrlf = false\n")
	if f.repo.ObjectFormat == "sha256" {
		b.WriteString("\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
	}
	storage := false
	partial := isPartial().Match(out)
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, hasValue := strings.Cut(rec, "\n")
		f.set[key] = true
		if !keep(key, partial) {
			continue
		}
		storage = storage || key == "lfs.storage"
		writeKey(&b, configKey{name: key, value: value, has: hasValue})
	}
	if !storage {
		// Without this LFS would store cleaned files in the git dir it runs in.
		writeKey(&b, configKey{name: "lfs.storage", value: filepath.Join(f.repo.CommonDir, "lfs"), has: true})
	}
	return os.WriteFile(filepath.Join(f.Dir, "config"), []byte(b.String()), 0o600)
}

// keep reports whether a key goes into the copy.
func keep(key string, partial bool) bool {
	match := func(k string) bool {
		return key == k || strings.HasSuffix(k, ".") && strings.HasPrefix(key, k)
	}
	return slices.ContainsFunc(kept(), match) ||
		partial && slices.ContainsFunc(keptPartial(), match)
}

// writeKey writes a key as configuration text. It quotes the subsection (all
// between the first and the last dot) and the value whole.
func writeKey(b *strings.Builder, k configKey) {
	key := k.name
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	if first == last {
		fmt.Fprintf(b, "[%s]\n", key[:first])
	} else {
		sub := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key[first+1 : last])
		fmt.Fprintf(b, "[%s \"%s\"]\n", key[:first], sub)
	}
	if !k.has {
		fmt.Fprintf(b, "\t%s\n", key[last+1:])
		return
	}
	fmt.Fprintf(b, "\t%s = \"%s\"\n", key[last+1:], quote.Replace(k.value))
}

// copyRules copies exclude and attribute files that lie outside of trees:
// the repository's own and the user's, which an agent could write to.
func (f *Frozen) copyRules(ctx context.Context) error {
	var config strings.Builder
	for _, rule := range []struct{ key, own, fallback string }{
		{"core.excludesFile", "exclude", "ignore"},
		{"core.attributesFile", "attributes", "attributes"},
	} {
		own := filepath.Join(f.repo.CommonDir, "info", rule.own)
		if err := copyFile(own, filepath.Join(f.Dir, "info", rule.own)); err != nil {
			return err
		}
		var users string
		if f.set[strings.ToLower(rule.key)] {
			var err error
			if users, err = f.repo.line(ctx, "config", "--type=path", "--get", rule.key); err != nil {
				return err
			}
		}
		if users == "" {
			users = f.repo.defaultRules(rule.fallback)
		}
		copied := filepath.Join(f.Dir, "user-"+rule.fallback)
		if users != "" {
			if err := copyFile(users, copied); err != nil {
				return err
			}
		}
		writeKey(&config, configKey{name: rule.key, value: copied, has: true})
	}
	file, err := os.OpenFile(filepath.Join(f.Dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(config.String())
	return errors.Join(err, file.Close())
}

// defaultRules is where git looks when no file is configured:
// $XDG_CONFIG_HOME/git/NAME, else ~/.config/git/NAME (gitignore(5)).
func (g *Git) defaultRules(name string) string {
	var home string
	for _, kv := range g.env {
		if dir, ok := strings.CutPrefix(kv, "XDG_CONFIG_HOME="); ok && dir != "" {
			return filepath.Join(dir, "git", name)
		}
		if dir, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = dir
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".config", "git", name)
}

// copyFile copies a small file; a missing file is no error.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
