package worktree

import (
	"cmp"
	"context"
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
	"agentswarm/worktree/git"
)

// base is a checkout of a commit that many workspaces share. Nobody writes to
// it once it is whole.
type base struct {
	dir    string
	commit git.Hash
	under  *base    // the one whose checkout lies below this one's; nil: this is whole
	lock   *os.File // shared, so that nobody removes it
	busy   int      // workspaces that are being made on it; guarded by basesMu
	used   time.Time
}

func (b *base) tree() string  { return filepath.Join(b.dir, treeName) }
func (b *base) index() string { return filepath.Join(b.dir, "index") }

// users is the folder of links to the workspaces that stand on a base. One
// whose workspace is gone says nothing.
func (b *base) users() string { return filepath.Join(b.dir, usersName) }

// let gives the locks up.
func (b *base) let() error {
	err := letGo(b.lock)
	if b.under != nil {
		err = errors.Join(err, b.under.let())
	}
	return err
}

// baseRecord is what a base says of itself.
type baseRecord struct {
	Commit git.Hash `json:"commit"`
	Size   int64    `json:"size"`            // about what it takes on disk, in bytes
	Under  string   `json:"under,omitempty"` // the name of the base it lies on
	Index  *mark    `json:"index,omitempty"`
	Tree   *mark    `json:"tree,omitempty"`
}

const (
	baseRecordName = "base.json"
	usersName      = "users"
	lockSuffix     = ".lock"
	makingSuffix   = ".making" // with lockSuffix: of whoever makes a base
	newInfix       = ".new."
)

// baseForm is what a base may be called.
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

// objectsLink is, in the folder of bases, a name for the repository's objects
// that is right outside of an agent's view and, since they are mounted there,
// inside of it, where the repository's own git dir is out of sight.
const objectsLink = "objects"

// Objects is where the git dirs of workspaces look for the objects of the
// repository, and where those are.
func (t *Trees) Objects() (link, objects string) {
	return filepath.Join(t.Bases, objectsLink), filepath.Join(t.Repo.CommonDir, "objects")
}

// linkObjects makes the link, once.
func (t *Trees) linkObjects() error {
	link, objects := t.Objects()
	if to, err := os.Readlink(link); err == nil && to == objects {
		return nil
	}
	next, err := os.MkdirTemp(t.Bases, ".link.")
	if err != nil {
		return err
	}
	made := filepath.Join(next, objectsLink)
	return errors.Join(os.Symlink(objects, made), os.Rename(made, link), os.RemoveAll(next))
}

// keptBases is how many bases a process keeps others from removing while no
// workspace stands on them: the next agent starts from one of those.
const keptBases = 4

// baseOf finds or makes the checkout of a commit. Nobody removes it until done
// is called.
func (t *Trees) baseOf(ctx context.Context, commit git.Hash) (b *base, done func(), err error) {
	if b := t.held(commit); b != nil {
		return b, func() { t.unhold(b) }, nil
	}
	if err := t.making.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("wait for the checkout of a base: %w", context.Cause(ctx))
	}
	defer t.making.Release(1)
	if b := t.held(commit); b != nil {
		return b, func() { t.unhold(b) }, nil
	}
	if err := t.linkObjects(); err != nil {
		return nil, nil, err
	}
	if b, err = t.holdBase(ctx, commit); err != nil {
		return nil, nil, fmt.Errorf("check %s out for many: %w", commit.Short(), err)
	}
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	b.busy, b.used = 1, time.Now()
	t.bases[commit] = b
	return b, func() { t.unhold(b) }, t.letOld()
}

// held is a base that this process holds. One that is broken is let go.
func (t *Trees) held(commit git.Hash) *base {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	b := t.bases[commit]
	if b == nil {
		return nil
	}
	if _, err := b.whole(); err != nil {
		delete(t.bases, commit)
		_ = b.let() // its files can only be closed
		return nil
	}
	b.busy++
	b.used = time.Now()
	return b
}

func (t *Trees) unhold(b *base) {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	b.busy--
}

// giveUp is unhold, and gives the base up if nobody else uses it.
func (t *Trees) giveUp(b *base) error {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	if b.busy--; b.busy > 0 {
		return nil
	}
	delete(t.bases, b.commit)
	return b.let()
}

// letOld gives up the bases that were not used for longest, layers before whole
// ones: to hold a layer again costs nothing, and others can be laid on a whole
// one. The caller holds basesMu.
func (t *Trees) letOld() error {
	for len(t.bases) > keptBases {
		var oldest *base
		for _, b := range t.bases {
			layer := oldest != nil && b.under != nil && oldest.under == nil
			older := oldest == nil || (b.under == nil) == (oldest.under == nil) && b.used.Before(oldest.used)
			if b.busy == 0 && (layer || older) {
				oldest = b
			}
		}
		if oldest == nil {
			return nil
		}
		delete(t.bases, oldest.commit)
		if err := oldest.let(); err != nil {
			return err
		}
	}
	return nil
}

// baseKey names the checkout of a commit: what is in it depends on the
// configuration, too.
func (t *Trees) baseKey(commit git.Hash) (string, error) {
	sum := sha256.New()
	fmt.Fprint(sum, timesVersion)
	for _, name := range []string{"config", "info/attributes", "info/sparse-checkout", "user-attributes"} {
		text, err := os.ReadFile(filepath.Join(t.Frozen.Dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// It names its own folder, which is another in each run.
		own := strings.ReplaceAll(string(text), t.Frozen.Dir, "")
		fmt.Fprintf(sum, "%s %v %d\n%s", name, err == nil, len(own), own)
	}
	if t.foreign(commit) {
		// Behind walls a filter may not have found what it needed.
		fmt.Fprint(sum, "foreign")
	}
	return string(commit) + "-" + hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

// holdBase takes the lock that keeps a base, which is made first where it is
// not there, or is broken.
func (t *Trees) holdBase(ctx context.Context, commit git.Hash) (*base, error) {
	key, err := t.baseKey(commit)
	if err != nil {
		return nil, err
	}
	b := &base{dir: filepath.Join(t.Bases, key), commit: commit}
	for made := false; ; made = true {
		if b.lock, err = lockBase(ctx, b.dir, unix.LOCK_SH); err != nil {
			return nil, err
		}
		r, err := b.whole()
		if err == nil && !named(b.lock) {
			err = &brokenBase{part: "lock"} // one that was broken was set aside just now
			made = false
		}
		if err == nil {
			return b, t.holdUnder(ctx, b, r)
		}
		if broken := (*brokenBase)(nil); made && errors.As(err, &broken) {
			return nil, errors.Join(err, letGo(b.lock))
		}
		err = t.makeOnce(ctx, b)
		if made && err == nil && named(b.lock) {
			// It was swept as soon as it was let go, and would be again and again.
			if r, err := b.whole(); err == nil {
				return b, t.holdUnder(ctx, b, r)
			}
		}
		if err := errors.Join(err, letGo(b.lock)); err != nil {
			return nil, err
		}
		if err := t.boundBases(ctx, b); err != nil {
			return nil, err
		}
	}
}

// holdUnder keeps, with a base, the one that it lies on, and notes the use.
func (t *Trees) holdUnder(ctx context.Context, b *base, r baseRecord) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, b.let())
		}
	}()
	now := time.Now()
	if r.Under != "" {
		// It cannot be gone: it is not removed while anything lies on it.
		under := &base{dir: filepath.Join(t.Bases, r.Under)}
		if under.lock, err = lockBase(ctx, under.dir, unix.LOCK_SH); err != nil {
			return err
		}
		b.under = under
		if err := os.Chtimes(under.dir, now, now); err != nil {
			return err
		}
	}
	return os.Chtimes(b.dir, now, now)
}

// makeOnce makes a base where nobody else does. The caller keeps its name from
// being swept: others may work with what is broken of it, and are not waited for.
// What a crash left is not touched: a git of then may still be at it.
func (t *Trees) makeOnce(ctx context.Context, b *base) error {
	lock, err := lockBase(ctx, b.dir+makingSuffix, unix.LOCK_EX)
	if err != nil {
		return err
	}
	if _, err := b.whole(); err == nil {
		return letGo(lock) // another process was first
	}
	if err := t.fills.enter(ctx); err != nil {
		return errors.Join(err, letGo(lock))
	}
	err = t.makeBase(ctx, b)
	t.fills.leave(false)
	if !died(err) {
		err = errors.Join(err, os.Remove(lock.Name()))
	}
	return errors.Join(err, letGo(lock))
}

// boundBases removes what was not used for longest where there is too much now.
// The new one stays, whatever it takes.
func (t *Trees) boundBases(ctx context.Context, b *base) error {
	limit := t.BaseSize
	if limit == 0 {
		var err error
		if limit, err = BasesLimit(t.Bases); err != nil {
			return err
		}
	}
	now := time.Now()
	if err := os.Chtimes(b.dir, now, now); err != nil && !missing(err) {
		return err
	}
	_, err := sweepBases(ctx, SweepBasesRequest{Bases: t.Bases, Size: limit}, b.dir)
	return err
}

// makeBase fills the folder of a base and gives it its name when it is whole.
// The caller holds its lock alone.
func (t *Trees) makeBase(ctx context.Context, b *base) (err error) {
	dir, err := os.MkdirTemp(t.Bases, filepath.Base(b.dir)+newInfix)
	if err != nil {
		return err
	}
	next := &base{dir: dir, commit: b.commit}
	defer func() {
		if err != nil && !died(err) {
			err = errors.Join(err, RemoveAll(dir))
		}
	}()
	for _, d := range []string{next.tree(), next.users()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	record, err := t.fillBase(ctx, next)
	if err != nil {
		return err
	}
	err = next.remember(&record)
	var text []byte
	if err == nil {
		text, err = json.Marshal(record)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, baseRecordName), append(text, '\n'), 0o600)
	}
	if err == nil {
		err = saveBase(dir, record.Under != "")
	}
	if err != nil {
		return err
	}
	if err := b.setAside(next); err != nil {
		return err
	}
	if err := t.step("based"); err != nil {
		return err
	}
	return os.Rename(dir, b.dir)
}

// fillBase checks the commit of a base out.
func (t *Trees) fillBase(ctx context.Context, b *base) (r baseRecord, err error) {
	d, err := t.derive(ctx, b)
	if err != nil {
		return r, err
	}
	if d != nil {
		return d.fill(ctx)
	}
	err = t.checkOut(ctx, checkingOut{
		fill: git.FillRequest{Dir: b.tree(), Admin: b.dir, Base: b.commit}, scratch: filepath.Join(b.dir, "fill"),
	})
	if err != nil {
		return r, err
	}
	if err := t.step("checked out"); err != nil {
		return r, err
	}
	// What a workspace's git dir is mounted on.
	if err := os.Mkdir(filepath.Join(b.tree(), ".git"), 0o700); err != nil {
		return r, err
	}
	tree, err := t.treeOf(ctx, b.commit)
	if err != nil {
		return r, err
	}
	all := wholeTime(tree)
	if r.Size, err = t.settle(b, func(*git.IndexEntry) (time.Time, bool) { return all, true }); err != nil {
		return r, err
	}
	return r, t.step("settled")
}

// BasesLimit is how many bytes the bases below dir may take where nobody says
// otherwise: a few checkouts of a large monorepo, but never so much of a small
// disk that the user's own work is in want of it.
func BasesLimit(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return cmp.Or(min(maxBases, int64(s.Blocks)/shareOfBases*int64(s.Bsize)), maxBases), nil
}

const (
	maxBases     = 20 << 30
	shareOfBases = 10 // one part in so many of the disk
)
