package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"agentswarm/worktree/git"
)

// Workspace is the isolated tree of one attempt, as it is journaled.
// It is plain data, so that another process than the one that leased it can
// capture and release it.
type Workspace struct {
	Name  string   `json:"name"`
	Dir   string   `json:"dir"`
	Admin string   `json:"admin"` // its git dir: git's folder below <common>/worktrees, or one of its own
	Base  git.Hash `json:"base"`
	Index string   `json:"index"` // our copy of the index as it was after the fill

	Backend Backend `json:"backend,omitempty"` // empty: worktree
	// At is where the workspace is mounted for whoever works in it; empty where
	// its files are worked on as they lie.
	At string `json:"at,omitempty"`
	// Lower is the checkout of the base that lies below the changes of an
	// overlay. Where that holds only what differs from another commit, Under is
	// the checkout of that one, and lies below it. Lowest is Along, what came
	// along with the user's files. Each is empty for nothing.
	Lower string `json:"lower,omitempty"`
	Under string `json:"under,omitempty"`
	Along string `json:"along,omitempty"`
	// Settled is set if every file was older than the end of the lease. Then one
	// with the time of the lease was not written to since.
	Settled bool `json:"settled,omitempty"`
	// Shell is a folder that lies above those and holds nothing but the git dir
	// as it is at first, of which the workspace has what it changes. Empty where
	// it has all of its git dir.
	Shell string `json:"shell,omitempty"`

	// module is the folder of a submodule whose files are captured as those of a
	// workspace, and seenGit its git dir as its agent sees it. Both are empty for
	// a workspace that was leased.
	module, seenGit string
}

// Config is what [New] needs.
type Config struct {
	Repo     *git.Repo   // required
	Frozen   *git.Frozen // required; made before any agent started
	Dir      string      // required; holds the workspaces of one run
	Trash    string      // required; on the file system of Dir
	LockFile string      // required; one per repository

	// Include is what comes along into each workspace from the user's
	// checkout, as [Includes] found it; nil for nothing.
	Include *Include

	// Bases is the folder of the checkouts that workspaces of other backends
	// than worktree share, and At the path their agents see them at: that of
	// the user's checkout. It is empty where nothing can be mounted there.
	Bases string
	// BaseSize is how many bytes those may take; 0: see [BasesLimit].
	BaseSize int64
	At       string

	// Pool is the folder that keeps the unchanged files of workspaces for the
	// next ones; empty: nothing is kept. It is on the file system of Dir.
	Pool string
	// PoolSize is how many bytes it may take; 0: as many as the bases.
	PoolSize int64

	// MaxFile is the size in bytes above which a new or changed file is left
	// out of a capture; 0: [DefaultMaxFile].
	MaxFile int64

	// MaxPatch is the size in bytes above which the text of a patch is not kept;
	// 0: [DefaultMaxPatch].
	MaxPatch int64

	// Confine runs a git whose filters read what an agent wrote, and its
	// filters, behind walls; nil: they run as any git does.
	Confine git.Confine
	// Own is the commit that no agent had a hand in: filters that write its
	// files run as in any git of the user's. Those of all others read what
	// agents wrote.
	Own git.Hash

	// Modules finds the submodules that a workspace is filled with, since nobody
	// can fetch their commits; nil: their folders stay empty.
	Modules ModuleSource

	// Cores bounds how many workspaces are filled at once, to twice its
	// value. 0 is the number of this machine.
	Cores int
	// Step is called with the name of each step before the next begins. An
	// error ends the work as it stands there. It is for tests.
	Step func(name string) error
}

// Trees makes the workspaces of one run.
type Trees struct {
	Config
	register *semaphore.Weighted // one registration at a time in this process
	fills    *gate
	shared   *git.Quarantine // what captures made in process, while git looks at it
	differ   *spare[*git.Differ]
	landed   *git.Landed // what captures brought into the repository

	making *semaphore.Weighted // one base at a time in this process, or template

	basesMu  sync.Mutex // guards what follows
	bases    map[git.Hash]*base
	template *git.Template
	layer    string // of what comes along
	shells   map[git.Hash]string

	learning *semaphore.Weighted // one at a time finds out what all captures want to know

	mu        sync.Mutex // guards what follows
	filters   *filters
	trees     map[git.Hash]git.Hash     // of bases
	footprint map[git.Hash]int64        // bytes of a checkout of a base
	indexes   map[string]readIndex      // of bases, by the path of the file
	rewrites  map[git.Hash]rewrites     // of bases
	modules   map[git.Hash][]ModuleFill // of bases
	ruling    map[git.Hash]*spare[*sharedRules]
}

// New makes ready to make the workspaces of one run.
func New(c Config) (*Trees, error) {
	if c.Cores < 1 {
		c.Cores = runtime.NumCPU()
	}
	for _, dir := range []*string{&c.Dir, &c.Trash, &c.Bases} {
		if *dir == "" && dir == &c.Bases {
			continue // nothing but linked worktrees is made
		}
		if err := os.MkdirAll(*dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of workspaces: %w", err)
		}
		// Git records resolved paths, and they are compared with ours.
		real, err := filepath.EvalSymlinks(*dir)
		if err != nil {
			return nil, fmt.Errorf("make the folder of workspaces: %w", err)
		}
		if *dir, err = filepath.Abs(real); err != nil {
			return nil, fmt.Errorf("make the folder of workspaces: %w", err)
		}
	}
	return newTrees(c), nil
}

func newTrees(c Config) *Trees {
	return &Trees{
		Config:    c,
		register:  semaphore.NewWeighted(1),
		fills:     newGate(c.Cores),
		making:    semaphore.NewWeighted(1),
		bases:     map[git.Hash]*base{},
		shells:    map[git.Hash]string{},
		trees:     map[git.Hash]git.Hash{},
		footprint: map[git.Hash]int64{},
		rewrites:  map[git.Hash]rewrites{},
		modules:   map[git.Hash][]ModuleFill{},
		ruling:    map[git.Hash]*spare[*sharedRules]{},
		shared:    newShared(c.Frozen),
		differ:    newSpare[*git.Differ](),
		landed:    c.Repo.Landed(),
		learning:  semaphore.NewWeighted(1),
	}
}

// step calls the hook of tests.
func (t *Trees) step(name string) error {
	if t.Step == nil {
		return nil
	}
	if err := t.Step(name); err != nil {
		return &stepError{err: err}
	}
	return nil
}

// NameError says that a workspace cannot have this name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q cannot name a workspace: use letters, digits, '.', '-' and '_'", e.Name)
}

// TakenError says that there is something where a workspace was to be made:
// the remains of a crash, which [Trees.Strays] finds.
type TakenError struct{ Dir string }

func (e *TakenError) Error() string { return e.Dir + " is there already" }

// OutsideError says that a workspace does not lie where this run's do.
type OutsideError struct{ Dir, Root string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is not a workspace of %s", e.Dir, e.Root)
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

func checkName(name string) error {
	if !nameForm().MatchString(name) {
		return &NameError{Name: name}
	}
	return nil
}

// own refuses a workspace that is not directly below the folder of the run:
// what is handed to us was read from a file.
func (t *Trees) own(w Workspace) error {
	if checkName(w.Name) != nil || w.Dir != filepath.Join(t.Dir, w.Name) {
		return &OutsideError{Dir: w.Dir, Root: t.Dir}
	}
	if w.Private() {
		return t.ownPrivate(w)
	}
	admins := filepath.Join(t.Repo.CommonDir, "worktrees")
	if w.Admin != "" && (w.Admin != filepath.Join(admins, filepath.Base(w.Admin)) ||
		filepath.Dir(w.Admin) != admins || filepath.Base(w.Admin) == "..") {
		return &OutsideError{Dir: w.Admin, Root: admins}
	}
	return nil
}

// stepError says that a test's hook ended the work as if the process had
// died there: nothing is cleaned up then.
type stepError struct{ err error }

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// died reports whether a step's hook ended the work.
func died(err error) bool {
	var s *stepError
	return errors.As(err, &s)
}
