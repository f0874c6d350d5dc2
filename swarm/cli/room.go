package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/control"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/limit"
	"agentswarm/worktree"
)

// StateError says that the state folder cannot be used.
type StateError struct {
	Dir string // the state folder
	Err error  // what is wrong, and with which folder

	agent bool // who asks is an agent
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the state folder %s cannot be used: %v", e.Dir, e.Err)
}

// Unwrap is what is wrong with it.
func (e *StateError) Unwrap() error { return e.Err }

// Hint says what would be right.
func (e *StateError) Hint() string {
	if e.agent {
		return "agents do not reach it: for runs of your own set SWARM_STATE_DIR to a folder in /tmp"
	}
	return "make it writable, or set SWARM_STATE_DIR to a folder that is"
}

// ExitCode is that of a refusal.
func (e *StateError) ExitCode() int { return int(CodeUsage) }

// room refuses a run whose state could not be written, or whose first
// workspace would not fit on the disk. It writes nothing to find out.
func (p *place) room(_ context.Context, pl *plan) error {
	if !utf8.ValidString(p.state.Dir) {
		return &StateError{Dir: p.state.Dir, Err: errors.New("its path is not UTF-8, and the journal names what is in it")}
	}
	if err := control.Check(p.env.Getenv); err != nil {
		return refused(err)
	}
	dir, err := writable(p.state.Dir)
	if err != nil {
		return &StateError{Dir: p.state.Dir, Err: err, agent: p.env.Getenv("SWARM_AGENT") != ""}
	}
	free, err := worktree.Free(dir)
	if err != nil {
		return err
	}
	if need := pl.size + limit.DiskSlack; free < need {
		return refused(&limit.SpaceError{Dir: p.state.Dir, Need: need, Have: free})
	}
	return nil
}

// writable finds the folder itself, or the one that it would be made in, and
// says why nothing can be written there.
func writable(dir string) (string, error) {
	for {
		stat, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			if fspath.Exists(dir) {
				return "", fmt.Errorf("%s is a symbolic link to nothing", dir)
			}
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return "", err
		case !stat.IsDir():
			return "", fmt.Errorf("%s is not a folder", dir)
		}
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return "", fmt.Errorf("%s: %w", dir, err)
		}
		return dir, nil
	}
}

// watchDisk watches the file systems of the state, of temporary files and of the
// repository while agents work. The function that it returns ends the watch.
func (b *bench) watchDisk(ctx context.Context, c engine.Config, agents diskwatch.Agents) (end func()) {
	temp := b.env.Getenv("TMPDIR")
	if temp == "" {
		temp = os.TempDir()
	}
	w := &diskwatch.Watch{
		Dirs: diskwatch.Folders(b.state.Dir, temp, b.repo.CommonDir), MaxSize: c.MaxSize,
		Agents: agents, Warn: b.deps.Warn,
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { w.Run(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}
