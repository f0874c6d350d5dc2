package risk

// Place is where an action would happen.
type Place struct {
	Root string   // the top of the work tree, absolute
	Home string   // absolute
	Tmp  []string // folders for temporary files that are the agent's own
	// GitDir and CommonDir are the git dir of the work tree and the one that
	// holds its refs and objects. In a linked worktree they differ.
	GitDir, CommonDir string
	// Shared says that other work trees have the same common git dir: what
	// reaches beyond this one's own files there is filtered.
	Shared bool
	// Others are the tops of those work trees, the main checkout among them.
	Others []string
	Branch string // that is checked out; empty: none
	// Upstream is what the branch is pushed to by default, as
	// "origin/feature/x"; empty: nothing.
	Upstream string
	Remotes  []Remote
	// PushDefault is the remote that a push without a name goes to; empty:
	// "origin", or the only one.
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

// Facts are what would cost too much to find out before it is asked for. All
// of them answer at once from what is on the disk, and none runs anything that
// the repository decides.
type Facts interface {
	// Published reports whether a commit is on a branch of a remote. known is
	// false where that cannot be told.
	Published(rev string) (published, known bool)
	// Path reports what stands at a path.
	Path(path string) PathKind
	// Link reports where a symbolic link leads: an absolute path, of which no
	// part has been followed. Empty: it is not known.
	Link(path string) string
	// Tracked reports whether git has a file at a path, or files below it.
	Tracked(path string) bool
	// Locked returns the version of a package that the lock file next to a
	// folder has, or else the lowest that a manifest asks for, for the package
	// manager named; empty: no file has it. known is false where one of the
	// files cannot be read.
	Locked(manager, folder, name string) (version string, known bool)
	// Ref reports whether a name is a branch, a tag or a commit.
	Ref(name string) bool
}

// PathKind is what stands at a path.
type PathKind uint8

// The kinds of what stands at a path.
const (
	PathUnknown PathKind = iota
	PathMissing
	PathFile
	PathFolder
	PathLink
)
