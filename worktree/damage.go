package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentswarm/worktree/git"
)

// DamagedError says that git cannot work with the configuration of the
// repository, which an agent can write to. No work is lost: the refused action
// can be repeated once the configuration is mended.
type DamagedError struct {
	File   string // the configuration
	Reason string
	Err    error // the error of the refused action
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the configuration %s is damaged (%s): mend it, then `swarm resume`", e.File, e.Reason)
}

// Unwrap returns git's error.
func (e *DamagedError) Unwrap() error { return e.Err }

// blame returns a [*DamagedError] if git fails because of the configuration
// that agents share, else err itself. Files are read under the frozen
// configuration; but git reads the shared configuration first to move refs and
// to read HEAD.
func (t *Trees) blame(ctx context.Context, err error) error {
	var bad *git.Error
	var moved *git.RefMovedError
	if ctx.Err() != nil || !errors.As(err, &bad) && !errors.As(err, &moved) {
		return err
	}
	if d := t.damage(ctx); d != nil {
		d.Err = err
		return d
	}
	return err
}

// damage asks git for the format that was read when the repository was found.
func (t *Trees) damage(ctx context.Context) *DamagedError {
	d := &DamagedError{File: filepath.Join(t.Repo.CommonDir, "config")}
	out, err := t.Repo.Run(ctx, git.Cmd{Args: []string{"rev-parse", "--show-object-format"}})
	var bad *git.Error
	format := strings.TrimSpace(string(out))
	switch {
	case errors.As(err, &bad):
		d.Reason = strings.TrimPrefix(strings.ReplaceAll(bad.Stderr, "\n", "; "), "fatal: ")
	case err != nil:
		return nil // git did not run, which says nothing
	case format != t.Repo.ObjectFormat:
		d.Reason = fmt.Sprintf("it says that objects are %s, and they are %s", format, t.Repo.ObjectFormat)
	default:
		return nil
	}
	return d
}
