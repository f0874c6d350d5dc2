package patch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Write writes the patch of an agent by its commit, which is the commit that a merge
// lands: other agents may have written to the patch file. If the commit is gone, the text
// is that of the file; see [Reader].
func (r Reader) Write(ctx context.Context, w io.Writer, a *store.Agent) error {
	patch := a.Patch()
	err := r.Missing(ctx, a)
	if err == nil {
		return r.Repo.WritePatch(ctx, w, git.Hash(patch.Base), git.Hash(patch.Commit))
	}
	gone, ok := errors.AsType[*GoneError](err)
	if !ok || patch.File == "" {
		return err
	}
	if r.Fallback != nil {
		r.Fallback(gone, patch.File)
	}
	f, err := statefile.OpenOutput(patch.File)
	if err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	return nil
}

// Text is the text that Write writes, in a file without a name in the folder of the run.
// The caller closes it.
func (r Reader) Text(ctx context.Context, run *store.Run, a *store.Agent) (*os.File, error) {
	f, err := os.CreateTemp(run.Dir, "patch-*.tmp")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		err = r.Write(ctx, f, a)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
