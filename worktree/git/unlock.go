package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// UnlockRefs removes the lock files that killed gits left on refs below a
// prefix, such as "refs/swarm/k3x9q2/". No process may change these refs
// meanwhile. A ref's name cannot end in .lock, so a file with such a name is no
// ref.
func (r *Repo) UnlockRefs(prefix string) error {
	if !strings.HasPrefix(prefix, OwnRefs) || !filepath.IsLocal(filepath.FromSlash(prefix)) {
		return fmt.Errorf("unlock %s: these refs are not ours", prefix)
	}
	if r.own != nil {
		if err := r.own.refs.UnlockRefs(prefix); err != nil {
			return err
		}
	}
	dir := filepath.Join(r.CommonDir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".lock" {
			return err
		}
		return os.Remove(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there are no such refs, or they are packed
	}
	if err != nil {
		return fmt.Errorf("unlock %s: %w", prefix, err)
	}
	return nil
}
