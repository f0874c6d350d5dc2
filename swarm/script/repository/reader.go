// Package repository answers the questions of a script about the repository: the files and
// the past of the base, the text of patches, and the commits that names stand for.
//
// It reads objects, under the frozen configuration. The checkout of the user and the
// configuration that agents can write have no part in an answer. A question that cannot be
// answered is a [*script.Error]. It changes nothing.
package repository

import (
	"sync"

	"agentswarm/worktree/git"
)

// Reader answers the questions of a script. Close it.
type Reader struct {
	Repo  *git.Repo       // required
	Store *git.Quarantine // reads the objects; required
	Base  git.Hash        // the commit of the run; required

	mu      sync.Mutex // guards the fields below; held while they are read
	objects *git.Objects
	files   []git.Entry // of the base, by path; nil before the first question
}

// New makes a reader.
func New(repo *git.Repo, store *git.Quarantine, base git.Hash) *Reader {
	return &Reader{Repo: repo, Store: store, Base: base, objects: store.Objects()}
}

// Close ends the reading of objects. No question may be open.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects.Close()
}
