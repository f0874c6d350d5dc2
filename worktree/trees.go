package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"agentswarm/worktree/bases"
	"agentswarm/worktree/fill"
	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
	"agentswarm/worktree/step"
	"agentswarm/worktree/workspace"
)

// Config configures [New].
type Config struct {
	Repo     *git.Repo   // required
	Frozen   *git.Frozen // required; made before any agent started
	Dir      string      // required; holds the workspaces of a single run
	Trash    string      // required; on the file system of Dir
	LockFile string      // required; one per repository

	// Include are the files of the user's checkout that are copied into each
	// workspace, as [include.Find] found them; nil for none.
	Include *include.Set

	// Bases is the folder of the checkouts that workspaces of other backends
	// than worktree share, and At the path their agents see them at: that of
	// the user's checkout. It is empty where nothing can be mounted there.
	Bases string
	// BaseSize is how many bytes those may take; 0: see [bases.Limit].
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

	// Confine runs a git whose filters read an agent's files, and its filters,
	// in a sandbox; nil: they run as any git does.
	Confine git.Confine
	// Own is the commit without an agent's work: filters that write its files
	// run as in any git of the user's. Filters of other commits read agents'
	// files.
	Own git.Hash

	// Modules finds the submodules that a workspace is filled with, since their
	// commits cannot be fetched; nil: their folders stay empty.
	Modules ModuleSource

	// Cores bounds how many workspaces are filled at once, to twice its
	// value. 0 is the number of this machine.
	Cores int
	// Step is called with the name of each step before the next begins. An
	// error ends the work as it stands there. It is for tests.
	Step step.Hook
}

// Trees makes the workspaces of a single run.
type Trees struct {
	Config
	register *semaphore.Weighted // a single registration at a time in this process
	fills    *fill.Gate
	shared   *git.Quarantine // objects that captures made in process, while git reads them
	differ   *spare[*git.Differ]
	landed   *git.Landed // packs that captures brought into the repository

	making *semaphore.Weighted // held by the goroutine that makes the common files of workspaces

	bases *bases.Store

	commonMu sync.Mutex // guards the fields below
	template *git.Template
	layer    string // of the included files
	shells   map[git.Hash]string

	learning *semaphore.Weighted // held by the goroutine that finds values for all captures

	mu        sync.Mutex // guards the fields below
	filters   *filters
	footprint map[git.Hash]int64        // bytes of a checkout of a base
	indexes   map[string]readIndex      // of bases, by the path of the file
	rewrites  map[git.Hash]rewrites     // of bases
	modules   map[git.Hash][]ModuleFill // of bases
	ruling    map[git.Hash]*spare[*sharedRules]
}

// New prepares the workspaces of a single run. It returns an error if it cannot
// make a folder.
func New(c Config) (*Trees, error) {
	if c.Cores < 1 {
		c.Cores = runtime.NumCPU()
	}
	for _, dir := range []*string{&c.Dir, &c.Trash, &c.Bases} {
		if *dir == "" && dir == &c.Bases {
			continue // only linked worktrees are made
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
	t := &Trees{
		Config:    c,
		register:  semaphore.NewWeighted(1),
		fills:     fill.NewGate(c.Cores),
		making:    semaphore.NewWeighted(1),
		shells:    map[git.Hash]string{},
		footprint: map[git.Hash]int64{},
		rewrites:  map[git.Hash]rewrites{},
		modules:   map[git.Hash][]ModuleFill{},
		ruling:    map[git.Hash]*spare[*sharedRules]{},
		shared:    newShared(c.Frozen),
		differ:    newSpare[*git.Differ](),
		landed:    c.Repo.Landed(),
		learning:  semaphore.NewWeighted(1),
	}
	t.bases = bases.Open(bases.Config{
		Repo: c.Repo, Frozen: c.Frozen, Dir: c.Bases, Size: c.BaseSize, Gate: t.fills, Files: baseFiles{t}, Step: c.Step,
	})
	return t
}

// Objects is where the git dirs of workspaces look for the objects of the
// repository, and where those are.
func (t *Trees) Objects() (link, objects string) { return t.bases.Objects() }

func (t *Trees) step(name string) error { return t.Step.At(name) }

// TakenError says that there is something where a workspace was to be made:
// the remains of a crash, which [Trees.Strays] finds.
type TakenError struct{ Dir string }

func (e *TakenError) Error() string { return e.Dir + " is there already" }

// OutsideError says that a workspace does not lie where this run's do.
type OutsideError struct{ Dir, Root string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is not a workspace of %s", e.Dir, e.Root)
}

// own refuses a workspace that is not directly below the folder of the run, as
// the workspace comes from a file.
func (t *Trees) own(w workspace.Workspace) error {
	if workspace.CheckName(w.Name) != nil || w.Dir != filepath.Join(t.Dir, w.Name) {
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
