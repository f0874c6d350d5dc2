package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentswarm/risk"
	"agentswarm/risk/lockfile"
)

const (
	// maxQuestions is how often git is asked about a name at most. Each
	// costs a process, and whoever writes commands could name any number.
	maxQuestions = 64
	gitPatience  = 5 * time.Second // for one of them; who takes longer is asked no more
	maxFolders   = 256             // whose lock files are kept
	maxIndex     = 256 << 20       // bytes
)

// placeFacts are what is known of a repository. Each is found out when it is
// first asked for, and stays.
type placeFacts struct {
	root string // empty: there is no work tree
	// published and leads ask git. They end with the command that they were
	// made for, as risk has no context to hand in.
	published, leads func(rev string) (bool, error)
	tracked          func() (paths []string, known bool)
	refs             func() (names map[string]bool, known bool)

	mu      sync.Mutex // guards what follows
	asked   int
	answers map[gitQuestion]gitAnswer
	locks   map[lockOf]*lockfile.Lock
}

// gitQuestion is one that git was asked.
type gitQuestion struct{ kind, rev string }

type gitAnswer struct{ yes, known bool }

// lockOf names the lock files of a manager in a folder.
type lockOf struct{ manager, folder string }

// facts are those of the repository that a command stands in.
func (p *place) facts(ctx context.Context) risk.Facts {
	patiently := func(ask func(context.Context, string) (bool, error)) func(string) (bool, error) {
		return func(rev string) (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, gitPatience)
			defer cancel()
			return ask(ctx, rev)
		}
	}
	return &placeFacts{
		root: p.repo.TopLevel, published: patiently(p.repo.Published), leads: patiently(p.repo.Leads),
		tracked: sync.OnceValues(p.trackedPaths),
		refs: sync.OnceValues(func() (map[string]bool, bool) {
			names, err := p.repo.RefNames(ctx, "refs/heads", "refs/tags", "refs/remotes", "refs/stash")
			all := make(map[string]bool, len(names))
			for _, name := range names {
				all[name] = true
			}
			return all, err == nil
		}),
		answers: map[gitQuestion]gitAnswer{}, locks: map[lockOf]*lockfile.Lock{},
	}
}

// trackedPaths are the paths of the index, in order.
func (p *place) trackedPaths() (paths []string, known bool) {
	file := filepath.Join(p.repo.GitDir, "index")
	info, err := os.Stat(file)
	if err != nil {
		return nil, missing(err)
	}
	if info.Size() > maxIndex {
		return nil, false
	}
	entries, err := p.repo.ReadIndex(file)
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
func (f *placeFacts) Published(rev string) (published, known bool) {
	a := f.ask(gitQuestion{"published", rev}, f.published)
	return a.yes, a.known
}

// ask asks git, unless it knows or has asked too often.
func (f *placeFacts) ask(q gitQuestion, git func(string) (bool, error)) gitAnswer {
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

// Path reports what stands at a path.
func (*placeFacts) Path(path string) risk.PathKind { return pathKind(path) }

// Link reports where a link leads.
func (*placeFacts) Link(path string) string { return linkTo(path, path) }

// Tracked reports whether the index has a path, or paths below it. Where the
// index cannot be read it may have any.
func (f *placeFacts) Tracked(path string) bool {
	rest, ok := below(f.root, path)
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

// below is a path from a folder that it is in, or is.
func below(folder, path string) (string, bool) {
	path = filepath.Clean(path)
	if folder == "" || !filepath.IsAbs(path) {
		return "", false
	}
	if path == folder {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Ref reports whether a name is a branch, a tag or a commit, as git looks for
// it (gitrevisions(7)).
func (f *placeFacts) Ref(name string) bool {
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
		return true // who names one in full means it
	}
	return (isRevision(name) || !known) && f.ask(gitQuestion{"leads", name}, f.leads).yes
}

// isRevision reports whether a name that is no branch and no tag may lead to a
// commit: by its digits, by what stands behind another name, or as one of the
// names beside refs/.
func isRevision(name string) bool {
	const hex = "0123456789abcdefABCDEF"
	_, described, _ := cutLast(name, "-g")
	switch {
	case len(name) > 256, strings.Contains(name, ":/"), strings.Contains(name, "{/"):
		return false // the latter look through messages, which has no bounds
	case len(name) >= 4 && strings.Trim(name, hex) == "", described != "" && strings.Trim(described, hex) == "":
		return true
	case name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "":
		return true
	}
	return strings.HasPrefix(name, "refs/") && !strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, "refs/tags/") ||
		strings.ContainsAny(name, "~^@")
}

// cutLast cuts a text at the last of what separates it.
func cutLast(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(at):], true
}

// Locked returns the version of a package that the nearest lock file or
// manifest has, from a folder of the work tree upwards. known is false where a
// file on the way cannot be read.
func (f *placeFacts) Locked(manager, folder, name string) (version string, known bool) {
	known = true
	rest, ok := below(f.root, folder)
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

// lock is what the lock files of a folder pin; nil: nothing.
func (f *placeFacts) lock(of lockOf) *lockfile.Lock {
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

// Read reads a file, as far as lock files are read.
func (f lockFolder) Read(name string) ([]byte, bool) {
	return checkout{f.root}.readUpTo(filepath.Join(f.name, name), lockfile.MaxFile+1)
}

// maxListed is how many names of a folder are looked at for lock files.
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

// missing reports whether an error says that there is nothing.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
