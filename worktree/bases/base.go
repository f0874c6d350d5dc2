package bases

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// IsTree reports whether a path is where the files of a base in dir lie.
func IsTree(dir, path string) bool {
	base := filepath.Dir(path)
	return filepath.Base(path) == workspace.TreeName && filepath.Dir(base) == dir && baseForm().MatchString(filepath.Base(base))
}

// Base is a checkout of a commit that many workspaces share. No process writes
// to it once it is complete.
type Base struct {
	dir    string
	Commit git.Hash
	under  *Base    // the base whose checkout lies below this; nil: this is whole
	lock   *os.File // shared, against removal
	busy   int      // workspaces that are being made on it; guarded by mu
	used   time.Time
}

// Tree is the folder of the files.
func (b *Base) Tree() string { return filepath.Join(b.dir, workspace.TreeName) }

// Index is the index file that knows the files.
func (b *Base) Index() string { return filepath.Join(b.dir, "index") }

// Lower is the files of the base that this base lies on; empty: it is whole.
func (b *Base) Lower() string {
	if b.under == nil {
		return ""
	}
	return b.under.Tree()
}

// users is the folder of links to the workspaces that stand on a base. A link
// whose workspace is gone has no meaning.
func (b *Base) users() string { return filepath.Join(b.dir, usersName) }

// let gives the locks up.
func (b *Base) let() error {
	err := disk.Unlock(b.lock)
	if b.under != nil {
		err = errors.Join(err, b.under.let())
	}
	return err
}

// baseRecord is the record that lies beside a base.
type baseRecord struct {
	Commit git.Hash `json:"commit"`
	Size   int64    `json:"size"`            // approximate size on disk, in bytes
	Under  string   `json:"under,omitempty"` // the name of the base it lies on
	Index  *mark    `json:"index,omitempty"`
	Tree   *mark    `json:"tree,omitempty"`
}

// baseForm is the form of the name of a base.
var baseForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40,64}-[0-9a-f]{8}$`) })

func readBase(dir string) (baseRecord, error) {
	var r baseRecord
	text, err := statefile.Read(dir, filepath.Join(dir, baseRecordName))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Under != "" && !baseForm().MatchString(r.Under) {
		err = fmt.Errorf("it lies on %q", r.Under)
	}
	return r, err
}

// Has reports whether the base of a commit was made. An error says that the
// configuration cannot be read.
func (s *Store) Has(commit git.Hash) (bool, error) {
	key, err := s.baseKey(commit)
	if err != nil {
		return false, err
	}
	_, err = readBase(filepath.Join(s.Dir, key))
	return err == nil, nil
}

// baseKey names the checkout of a commit: its content also depends on the
// configuration and on a variable of git-lfs.
func (s *Store) baseKey(commit git.Hash) (string, error) {
	sum := sha256.New()
	fmt.Fprint(sum, timesVersion)
	for _, name := range []string{"config", "info/attributes", "info/sparse-checkout", "user-attributes"} {
		text, err := os.ReadFile(filepath.Join(s.Frozen.Dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// It names its own folder, which is another in each run.
		own := strings.ReplaceAll(string(text), s.Frozen.Dir, "")
		fmt.Fprintf(sum, "%s %v %d\n%s", name, err == nil, len(own), own)
	}
	if skips := s.Frozen.SkipsLFS(); skips != "" {
		fmt.Fprintf(sum, "%s=%s", git.SkipLFS, skips)
	}
	if s.Files.Foreign(commit) {
		// In the sandbox a filter may not have found its files.
		fmt.Fprint(sum, "foreign")
	}
	return string(commit) + "-" + hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

// Limit is the default size, in bytes, of the bases below dir: a few checkouts
// of a large monorepo, but on a small disk only a part that leaves room for the
// user's own work. It returns an error if it cannot read the size of the disk.
func Limit(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return cmp.Or(disk.CacheBound(int64(s.Blocks)*int64(s.Bsize)), disk.MaxCache), nil
}
