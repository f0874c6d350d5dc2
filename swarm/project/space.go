package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/control"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/refusal"
	"agentswarm/worktree"
)

// StateError says that the state folder cannot be used.
type StateError struct {
	Dir string // the state folder
	Err error  // the fault, with its folder

	agent bool // the command is an agent's
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the state folder %s cannot be used: %v", e.Dir, e.Err)
}

// Unwrap is the fault.
func (e *StateError) Unwrap() error { return e.Err }

// Hint names the remedy.
func (e *StateError) Hint() string {
	if e.agent {
		return "agents do not reach it: for runs of your own set SWARM_STATE_DIR to a folder in /tmp"
	}
	return "make it writable, or set SWARM_STATE_DIR to a folder that is"
}

// CheckState refuses a state folder that could not be written. It writes nothing. The error
// is a [*StateError].
func (p *Project) CheckState() error {
	if _, err := writable(p.State.Dir); err != nil {
		return &StateError{Dir: p.State.Dir, Err: err, agent: p.Getenv("SWARM_AGENT") != ""}
	}
	return nil
}

// CheckSpace refuses a run whose state could not be written, or whose first workspace of
// size bytes would not fit on the disk. It writes nothing. The error is a [*StateError] or a
// [*refusal.Cause].
func (p *Project) CheckSpace(size int64) error {
	if !utf8.ValidString(p.State.Dir) {
		return &StateError{Dir: p.State.Dir, Err: errors.New("its path is not UTF-8, as the journal requires")}
	}
	if err := control.Check(p.State, p.Getenv); err != nil {
		return refusal.Of(err)
	}
	if err := p.CheckState(); err != nil {
		return err
	}
	free, err := worktree.Free(p.State.Dir)
	if err != nil {
		return err
	}
	if need := size + limit.DiskSlack; free < need {
		return refusal.Of(&limit.SpaceError{Dir: p.State.Dir, Need: need, Have: free})
	}
	return nil
}

// writable finds the folder itself, or the folder that it would be made in. Its
// error is the reason why nothing can be written there.
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
