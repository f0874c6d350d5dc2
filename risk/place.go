package risk

// Place is where an action would happen.
type Place struct {
	Root string   // the top of the work tree, absolute
	Home string   // absolute
	Tmp  []string // folders for temporary files that are the agent's own
	// GitDir is the git dir of the work tree. CommonDir is the git dir that
	// holds its refs and objects. In a linked worktree they differ.
	GitDir, CommonDir string
	// Shared says that other work trees have the same common git dir. Actions
	// beyond the files of this work tree are filtered there.
	Shared bool
	// Others are the tops of those work trees, the main checkout among them.
	Others []string
	Branch string // that is checked out; empty: none
	// Upstream is the default target of pushes of the branch, as
	// "origin/feature/x"; empty: none.
	Upstream string
	Remotes  []Remote
	// PushDefault is the remote of a push without a name; empty: "origin", or
	// the only remote.
	PushDefault string
	Facts       Facts // nil: nothing more is known
}

// tracks reports whether git is known to have a file, or files below it.
func (p *Place) tracks(file string) bool { return p.Facts != nil && p.Facts.Tracked(file) }

// Remote is a remote of the repository.
type Remote struct {
	Name string
	// Plain says that pushes to it go by the refspecs that are given: it has
	// no push refspecs of its own and is no mirror.
	Plain bool
	URL   string
}

// Facts are facts that cost too much to gather in advance. All of them answer
// at once from the disk, and none runs a command that the repository decides.
type Facts interface {
	// Published reports whether a commit is on a branch of a remote. known is
	// false where that cannot be told.
	Published(rev string) (published, known bool)
	// Path returns the kind of file at a path.
	Path(path string) PathKind
	// Link reports where a symbolic link leads: an absolute path, of which no
	// part has been followed. Empty: it is not known.
	Link(path string) string
	// Tracked reports whether git has a file at a path, or files below it.
	Tracked(path string) bool
	// Locked returns the version of a package in the lock file next to a
	// folder. Without a lock file it returns the lowest version that a manifest
	// asks for. manager names the package manager; empty: no file has the
	// package. known is false if a file cannot be read.
	Locked(manager, folder, name string) (version string, known bool)
	// Ref reports whether a name is a branch, a tag or a commit.
	Ref(name string) bool
}

// PathKind is the kind of file at a path.
type PathKind uint8

// The kinds of files at a path.
const (
	PathUnknown PathKind = iota
	PathMissing
	PathFile
	PathFolder
	PathLink
)
