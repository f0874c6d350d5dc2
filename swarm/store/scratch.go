package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// scratchOwner is the file in a scratch folder that names the folder it
// belongs to.
const scratchOwner = "owner"

// Scratch returns the folder where a sandbox that lays nothing over HOME keeps the
// HOME and the TMPDIR that belong to private, a folder of the run. Its path is
// short, since programs make Unix sockets below it, whose paths have at most
// 107 bytes (unix(7)). It depends on private alone, so that it is found again
// after a crash.
func (r *Run) Scratch(private string) string {
	sum := sha256.Sum256([]byte(private))
	return filepath.Join(r.state.scratches(), hex.EncodeToString(sum[:8]))
}

// scratches is the folder of them all, beside the folders of the repositories.
func (s *State) scratches() string { return filepath.Join(filepath.Dir(s.Dir), "scratch") }

// MakeScratch makes the scratch folder of private, and private itself, which
// must be removed after it. The folder may be there already.
func (r *Run) MakeScratch(private string) (string, error) {
	dir := r.Scratch(private)
	for _, d := range []string{private, dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", fmt.Errorf("make a scratch folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, scratchOwner), []byte(private), 0o600); err != nil {
		return "", fmt.Errorf("make a scratch folder: %w", err)
	}
	return dir, nil
}

// LeftScratches returns the scratch folders whose owner is gone, as after a
// crash. It leaves out a folder without a record: it is being made, or is not
// ours.
func (s *State) LeftScratches() ([]string, error) {
	entries, err := os.ReadDir(s.scratches())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list scratch folders: %w", err)
	}
	var left []string
	for _, e := range entries {
		dir := filepath.Join(s.scratches(), e.Name())
		owner, err := os.ReadFile(filepath.Join(dir, scratchOwner))
		if err != nil || !filepath.IsAbs(string(owner)) {
			continue
		}
		if _, err := os.Lstat(string(owner)); errors.Is(err, fs.ErrNotExist) {
			left = append(left, dir)
		}
	}
	return left, nil
}

// ProbePrefix begins the names of the folders of a state in which sandboxes are tried.
const ProbePrefix = ".swarm-probe-"
