package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// DirtyError says that files of a checkout would be overwritten: they were
// changed, staged, or are not git's.
type DirtyError struct {
	Dir   string
	Paths []string
}

func (e *DirtyError) Error() string {
	const shown = 5
	some := make([]string, 0, shown)
	for _, p := range e.Paths[:min(shown, len(e.Paths))] {
		some = append(some, fmt.Sprintf("%q", p))
	}
	text := fmt.Sprintf("local changes in %s would be overwritten: %s", e.Dir, strings.Join(some, ", "))
	if more := len(e.Paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Hint says what would be right.
func (e *DirtyError) Hint() string { return "commit, stash or move these files away first" }

// EmptyTree is the tree without entries, which every git knows.
func (r *Repo) EmptyTree() Hash {
	if r.ObjectFormat == "sha256" {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// orEmpty is a tree or commit, the empty tree where there is none.
func (r *Repo) orEmpty(h Hash) string {
	if h == "" {
		return string(r.EmptyTree())
	}
	return string(h)
}

// Changes lists what differs from one tree or commit to another, by path.
// An empty name stands for the empty tree.
func (r *Repo) Changes(ctx context.Context, from, to Hash) ([]Change, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index",
		"--no-ext-diff", "--ignore-submodules=none", r.orEmpty(from), r.orEmpty(to),
	}})
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	return parseRaw(out)
}

// CheckMove reports whether this checkout, which stands on from, is clean in
// the paths that are to change. Where it is not, the error is a
// [*DirtyError] that lists them. Nothing is touched; all other paths may be
// as they are.
func (r *Repo) CheckMove(ctx context.Context, from Hash, changes []Change) error {
	dirty := map[string]bool{}
	staged, err := r.staged(ctx, from)
	if err != nil {
		return err
	}
	touched := newPathSet(changes)
	for path, c := range staged {
		if c.Status == 'U' || touched.meets(path) {
			dirty[path] = true
		}
	}
	changed, err := r.differing(ctx, oldEntries(changes))
	if err != nil {
		return err
	}
	for _, path := range append(changed, r.inTheWay(changes)...) {
		dirty[path] = true
	}
	if len(dirty) > 0 {
		return &DirtyError{Dir: r.TopLevel, Paths: sortedKeys(dirty)}
	}
	return nil
}

// MoveCheckout takes index and files of this checkout from one commit to
// another. Local changes elsewhere stay as they are, staged ones staged;
// where one would be lost nothing moves and the error is a [*DirtyError].
// Refs are the caller's to move.
func (r *Repo) MoveCheckout(ctx context.Context, from, to Hash) error {
	changes, err := r.Changes(ctx, from, to)
	if err != nil {
		return err
	}
	if err := r.CheckMove(ctx, from, changes); err != nil {
		return err
	}
	// What git remembers of a file may be older than the file, although the
	// content is the same. It ends with 1 where something else changed.
	_, err = r.Run(ctx, Cmd{Writes: true, Args: []string{"update-index", "-q", "--refresh"}})
	var bad *Error
	if err != nil && (!errors.As(err, &bad) || bad.Code != 1) {
		return fmt.Errorf("refresh the index of %s: %w", r.TopLevel, err)
	}
	trees := []string{r.orEmpty(from), r.orEmpty(to)}
	_, err = r.Run(ctx, Cmd{Args: append([]string{"read-tree", "-n", "-m", "-u"}, trees...)})
	if errors.As(err, &bad) {
		if paths := namedPaths(bad.Stderr); len(paths) > 0 {
			return &DirtyError{Dir: r.TopLevel, Paths: paths}
		}
	}
	if err != nil {
		return fmt.Errorf("move checkout %s: %w", r.TopLevel, err)
	}
	// Half a move is nobody's wish: what has begun is not cancelled.
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	_, err = r.Run(ctx, Cmd{Writes: true, Args: append([]string{"read-tree", "-m", "-u"}, trees...)})
	if err == nil {
		return nil
	}
	if errors.As(err, &bad) && bad.Code == -1 {
		err = errors.Join(err, r.unlockIndex(began))
	}
	err = fmt.Errorf("move checkout %s: %w", r.TopLevel, err)
	left, perr := r.PutBack(ctx, from, to)
	if perr == nil && len(left) > 0 {
		perr = &DirtyError{Dir: r.TopLevel, Paths: left}
	}
	return errors.Join(err, perr)
}

// unlockIndex removes the lock that a git of ours left on the index when it
// was killed. Had another git held the lock, ours would have said so and
// ended by itself; one that is older than ours is not ours. Some file systems
// know whole seconds only, and the kernel takes times of files from a clock that
// goes by ticks.
func (r *Repo) unlockIndex(began time.Time) error {
	const tick = 10 * time.Millisecond // the longest there is
	path := filepath.Join(r.GitDir, "index.lock")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().Before(began.Add(-tick).Truncate(time.Second)) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// quoted is how git names a path when it refuses, under LC_ALL=C.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^error: .*?'(.+)'|^\t(.+)$`) })

// namedPaths are the paths that git named on stderr.
func namedPaths(stderr string) []string {
	var paths []string
	for _, m := range quoted().FindAllStringSubmatch(stderr, -1) {
		paths = append(paths, m[1]+m[2])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Standing is where a checkout is on its way from one commit to another.
type Standing int

// A checkout stands before its move, after it, or it cannot be told: the
// move was cut off, or somebody changed these paths since.
const (
	Between Standing = iota
	Before
	After
)

func (s Standing) String() string {
	return [...]string{"between", "before", "after"}[s]
}

// Standing tells how far a move of this checkout came. Git writes the index
// last, so an index that is there says that the files are.
func (r *Repo) Standing(ctx context.Context, from, to Hash) (Standing, error) {
	changes, err := r.Changes(ctx, from, to)
	if err != nil {
		return Between, err
	}
	staged, err := r.staged(ctx, from)
	if err != nil {
		return Between, err
	}
	arrived, home := true, true
	for _, c := range changes {
		s, ok := staged[c.Path]
		home = home && !ok
		arrived = arrived && ok && s.New == c.New && s.NewMode == c.NewMode
	}
	switch {
	case arrived:
		return After, nil
	case !home:
		return Between, nil
	}
	err = r.CheckMove(ctx, from, changes)
	var dirty *DirtyError
	if errors.As(err, &dirty) {
		return Between, nil
	}
	if err != nil {
		return Between, err
	}
	return Before, nil
}

// staged maps the paths in which the index differs from a commit.
func (r *Repo) staged(ctx context.Context, from Hash) (map[string]Change, error) {
	out, err := r.Run(ctx, Cmd{Args: []string{
		"diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index",
		"--no-ext-diff", "--ignore-submodules=none", r.orEmpty(from), "--",
	}})
	if err != nil {
		return nil, fmt.Errorf("look at the index of %s: %w", r.TopLevel, err)
	}
	list, err := parseRaw(out)
	if err != nil {
		return nil, err
	}
	staged := make(map[string]Change, len(list))
	for _, c := range list {
		if staged[c.Path].Status != 'U' {
			staged[c.Path] = c
		}
	}
	return staged, nil
}
