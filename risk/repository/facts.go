package repository

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/risk/lockfile"
	"agentswarm/worktree/git"
)

const (
	// maxQuestions bounds the calls of git about names. Each costs a process,
	// and the author of a command could name any number.
	maxQuestions = 64
	gitPatience  = 5 * time.Second // for a call; after a longer call git is not called again
	maxFolders   = 256             // with lock files in the cache
	maxIndex     = 256 << 20       // bytes
)

// facts implements [risk.Facts] for a repository. It reads each fact on first use
// and keeps it.
type facts struct {
	root string // empty: there is no work tree
	// published and leads call git. They hold the context of the command, since
	// the interface of risk passes none.
	published, leads func(rev string) (bool, error)
	tracked          func() (paths []string, known bool)
	refs             func() (names map[string]bool, known bool)

	mu      sync.Mutex // guards the fields below
	asked   int
	answers map[gitQuestion]gitAnswer
	locks   map[lockOf]*lockfile.Lock
}

// gitQuestion is a question that git answers with yes or no.
type gitQuestion struct{ kind, rev string }

type gitAnswer struct{ yes, known bool }

// lockOf names the lock files of a package manager in a folder.
type lockOf struct{ manager, folder string }

// newFacts reads the facts of repo on first use.
func newFacts(ctx context.Context, repo *git.Repo) risk.Facts {
	patiently := func(ask func(context.Context, string) (bool, error)) func(string) (bool, error) {
		return func(rev string) (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, gitPatience)
			defer cancel()
			return ask(ctx, rev)
		}
	}
	return &facts{
		root: repo.TopLevel, published: patiently(repo.Published), leads: patiently(repo.Leads),
		tracked: sync.OnceValues(func() ([]string, bool) { return trackedPaths(repo) }),
		refs: sync.OnceValues(func() (map[string]bool, bool) {
			names, err := repo.RefNames(ctx, "refs/heads", "refs/tags", "refs/remotes", "refs/stash")
			all := make(map[string]bool, len(names))
			for _, name := range names {
				all[name] = true
			}
			return all, err == nil
		}),
		answers: map[gitQuestion]gitAnswer{}, locks: map[lockOf]*lockfile.Lock{},
	}
}

// trackedPaths returns the paths of the index, sorted.
func trackedPaths(repo *git.Repo) (paths []string, known bool) {
	file := filepath.Join(repo.GitDir, "index")
	info, err := os.Stat(file)
	if err != nil {
		return nil, fspath.Missing(err)
	}
	if info.Size() > maxIndex {
		return nil, false
	}
	entries, err := repo.ReadIndex(file)
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	if !slices.IsSorted(paths) {
		slices.Sort(paths)
	}
	return paths, true
}

// Published reports whether a commit is on a branch of a remote.
func (f *facts) Published(rev string) (published, known bool) {
	a := f.ask(gitQuestion{"published", rev}, f.published)
	return a.yes, a.known
}

// ask calls git, unless the answer is known or the bound of calls is reached.
func (f *facts) ask(q gitQuestion, git func(string) (bool, error)) gitAnswer {
	f.mu.Lock()
	a, ok := f.answers[q]
	if !ok && f.asked >= maxQuestions {
		ok = true
	}
	if !ok {
		f.asked++
	}
	f.mu.Unlock()
	if ok {
		return a
	}
	yes, err := git(q.rev)
	a = gitAnswer{yes: yes, known: err == nil}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[q] = a
	if errors.Is(err, context.DeadlineExceeded) {
		f.asked = maxQuestions
	}
	return a
}

// Path returns the kind of file at a path.
func (*facts) Path(path string) risk.PathKind { return PathKind(path) }

// Link returns the target of a symbolic link.
func (*facts) Link(path string) string { return LinkTarget(path, path) }

// Tracked reports whether the index has a path, or paths below it. It is true for
// all paths of the work tree if the index cannot be read.
func (f *facts) Tracked(path string) bool {
	rest, ok := fspath.Below(f.root, path)
	if !ok {
		return false
	}
	paths, known := f.tracked()
	if !known {
		return true
	}
	if rest == "" {
		return len(paths) > 0
	}
	if _, found := slices.BinarySearch(paths, rest); found {
		return true
	}
	at, _ := slices.BinarySearch(paths, rest+"/")
	return at < len(paths) && strings.HasPrefix(paths[at], rest+"/")
}

// Ref reports whether a name is a branch, a tag or a commit, by the lookup of
// gitrevisions(7).
func (f *facts) Ref(name string) bool {
	names, known := f.refs()
	for _, before := range []string{"", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		if names[before+name] {
			return true
		}
	}
	if names["refs/remotes/"+name+"/HEAD"] {
		return true
	}
	if !known && strings.HasPrefix(name, "refs/") {
		return true // a full ref name is meant as a ref
	}
	return (isRevision(name) || !known) && f.ask(gitQuestion{"leads", name}, f.leads).yes
}

// isRevision reports whether a name that is no branch and no tag may lead to a
// commit: by its digits, by a suffix such as ~1, or as a name beside refs/.
func isRevision(name string) bool {
	const hex = "0123456789abcdefABCDEF"
	described := "" // the hash at the end of a name by git describe
	if i := strings.LastIndex(name, "-g"); i >= 0 {
		described = name[i+len("-g"):]
	}
	switch {
	case len(name) > 256, strings.Contains(name, ":/"), strings.Contains(name, "{/"):
		return false // the latter search through messages, without bounds
	case len(name) >= 4 && strings.Trim(name, hex) == "", described != "" && strings.Trim(described, hex) == "":
		return true
	case name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "":
		return true
	}
	return strings.HasPrefix(name, "refs/") && !strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, "refs/tags/") ||
		strings.ContainsAny(name, "~^@")
}

// Locked returns the version of a package that the nearest lock file or
// manifest has, from a folder of the work tree upwards. known is false where a
// file on the way cannot be read.
func (f *facts) Locked(manager, folder, name string) (version string, known bool) {
	known = true
	rest, ok := fspath.Below(f.root, folder)
	for ok {
		lock := f.lock(lockOf{manager, rest})
		known = known && !lock.Unreadable()
		if version := lock.Version(name); version != "" {
			return version, known
		}
		if rest == "" {
			break
		}
		rest = rest[:max(0, strings.LastIndexByte(rest, '/'))]
	}
	return "", known
}

// lock returns the versions that the lock files of a folder pin; nil: none.
func (f *facts) lock(of lockOf) *lockfile.Lock {
	f.mu.Lock()
	l, ok := f.locks[of]
	f.mu.Unlock()
	if ok {
		return l
	}
	root, err := os.OpenRoot(f.root)
	if err == nil {
		l = lockfile.Read(of.manager, lockFolder{root, of.folder})
		_ = root.Close() // nothing was written
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.locks) == maxFolders {
		clear(f.locks)
	}
	f.locks[of] = l
	return l
}

// lockFolder is a folder of the work tree that may hold lock files.
type lockFolder struct {
	root *os.Root
	name string // relative to the root
}

// Read reads a file, up to the bound for lock files.
func (f lockFolder) Read(name string) ([]byte, bool) {
	return fspath.ReadRegular(f.root, filepath.Join(f.name, name), lockfile.MaxFile+1)
}

// maxListed bounds the names of a folder that are searched for lock files.
const maxListed = 10_000

// Ending returns the names in the folder that end in a text, sorted.
func (f lockFolder) Ending(end string) []string {
	folder, err := f.root.Open(filepath.Join(".", f.name))
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }()      // nothing was written
	names, _ := folder.Readdirnames(maxListed) // those read before an error count
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, end) })
	slices.Sort(names)
	return names
}
