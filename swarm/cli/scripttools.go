package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"agentswarm/swarm/engine"
	words "agentswarm/swarm/nearest"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// scriptTools are what the script of a run may use beside agents, over the
// bench of that run: they implement workflow.Tools. Only the process that owns
// the run has them; nothing an agent can reach leads here. Close them.
//
// All that is read is read by objects and under the frozen configuration, so
// that neither the user's checkout nor what an agent wrote into the
// repository's configuration has a part in an answer.
type scriptTools struct {
	bench  *bench
	config engine.Config
	// await waits until it is known what commits are to be called; required where
	// anything lands.
	await func(ctx context.Context, commits []string)
	base  store.Base
	when  time.Time       // the time of commits that are merged
	dir   string          // holds what is of use to this process only
	store *git.Quarantine // nothing is made in it
	cores *semaphore.Weighted
	// landing has one place: landings come one after the other.
	landing *semaphore.Weighted
	made    atomic.Int64 // how many things had a name of their own

	mu      sync.Mutex // guards what follows; held while they are read
	objects *git.Objects
	files   []git.Entry // of the base, by path; nil before they were asked for
}

// scriptTools puts together what the script of a run may use. Of the
// configuration it takes the checks and the setup before them.
func (b *bench) scriptTools(config engine.Config) (*scriptTools, error) {
	id := b.owner.View().Identity
	dir := filepath.Join(b.run.Dir, "script")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	q, err := b.frozen.Quarantine(filepath.Join(dir, "objects"))
	if err != nil {
		return nil, err
	}
	return &scriptTools{
		bench: b, config: config, base: id.Base, when: id.Created.UTC().Truncate(time.Second),
		dir: dir, store: q, objects: q.Objects(),
		cores:   semaphore.NewWeighted(int64(max(1, b.deps.Cores))),
		landing: semaphore.NewWeighted(1),
	}, nil
}

// Close ends what the tools keep alive. None of them may be in use.
func (t *scriptTools) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.objects.Close(), os.RemoveAll(t.dir))
}

// scratch is a new path for something that only this process needs.
func (t *scriptTools) scratch(kind string) string {
	return filepath.Join(t.dir, fmt.Sprintf("%s.%d", kind, t.made.Add(1)))
}

// scriptError is an error that a script sees.
func scriptError(code script.Code, format string, args ...any) *script.Error {
	return &script.Error{Name: "Error", Code: code, Message: fmt.Sprintf(format, args...)}
}

// tree lists what the base holds, by path. A name that is not UTF-8 is left
// out: a script could neither see it nor say it.
func (t *scriptTools) tree(ctx context.Context) ([]git.Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		entries, _, err := t.store.Tree(ctx, git.Hash(t.base.Commit))
		if err != nil {
			return nil, err
		}
		t.files = slices.DeleteFunc(entries, func(e git.Entry) bool { return !utf8.ValidString(e.Path) })
		slices.SortFunc(t.files, func(a, b git.Entry) int { return strings.Compare(a.Path, b.Path) })
	}
	return t.files, nil
}

// blob is the content of a file of the base.
func (t *scriptTools) blob(ctx context.Context, id git.Hash) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.objects.Blob(ctx, id, maxText)
}

// treeOf is the tree of a commit. It is false where there is no such commit.
func (t *scriptTools) treeOf(ctx context.Context, commit git.Hash) (git.Hash, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tree, _, err := t.objects.Commit(ctx, commit)
	if err != nil && ctx.Err() != nil {
		return "", false, context.Cause(ctx)
	}
	return tree, err == nil && tree != "", nil
}

// didYouMean is the end of a message about a word that is not known.
func didYouMean(word string, known []string) string {
	if near := words.Word(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// clipped shortens text of a script that a message repeats.
func clipped(text string) string {
	const longest = 200
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
