package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// OwnRefs is the prefix of the names of swarm's own refs. The next part of a name is
// the id of a run.
const OwnRefs = "refs/swarm/"

// refStore keeps the refs below OwnRefs of a repository in a bare git dir elsewhere, so
// that the user's git does not show them and does not push them.
//
// The objects stay in the repository. No ref protects them there, so packs with a
// .keep file and pins do: see hold. The refs that older versions made in the repository are
// read and deleted as before.
type refStore struct {
	user *Repo // the repository
	refs *Repo // the git dir of the refs; it may be missing
	id   string

	mu    sync.Mutex               // guards the fields below
	known map[string]map[Hash]bool // by run: commits whose objects are held for it
	since int                      // packs that were published since packs were joined

	atStep func(name string) // of tests: it may end the process; nil: none
}

// step is a place where the process may be killed.
func (s *refStore) step(name string) {
	if s.atStep != nil {
		s.atStep(name)
	}
}

// HideRefs has the refs below [OwnRefs] live in the bare git dir at dir, which is made
// with the first ref. It must be called before any other method.
func (r *Repo) HideRefs(dir string) {
	r.own = &refStore{user: r, refs: r.Store(dir), known: map[string]map[Hash]bool{}}
}

// RefsDir is the git dir in which the refs below [OwnRefs] are. It may be missing.
func (r *Repo) RefsDir() string {
	if r.own == nil {
		return r.CommonDir
	}
	return r.own.refs.GitDir
}

// hidden is the store of a ref; nil if the ref is in the repository itself.
func (r *Repo) hidden(ref string) *refStore {
	if strings.HasPrefix(ref, OwnRefs) {
		return r.own
	}
	return nil
}

// runOf is the run that a ref of ours belongs to.
func runOf(ref string) string {
	run, _, _ := strings.Cut(strings.TrimPrefix(ref, OwnRefs), "/")
	return run
}

// make makes the git dir if it is missing.
func (s *refStore) make() error {
	if err := s.refs.makeStore(filepath.Join(s.user.CommonDir, "objects")); err != nil {
		return fmt.Errorf("make the folder of swarm's refs: %w", err)
	}
	return nil
}

// ref is the commit of a ref of ours; empty if there is no such ref.
func (s *refStore) ref(ctx context.Context, name string) (Hash, error) {
	if s.refs.Exists() && !s.refs.NoRef(name) {
		if at, err := s.refs.Ref(ctx, name); err != nil || at != "" {
			return at, err
		}
	}
	return s.earlier().Ref(ctx, name)
}

// earlier is the repository with the refs that older versions made there.
func (s *refStore) earlier() *Repo {
	r := *s.user
	r.own = nil
	return &r
}

// noRef reports whether there certainly is no ref of that name.
func (s *refStore) noRef(name string) bool {
	return (!s.refs.Exists() || s.refs.NoRef(name)) && s.earlier().NoRef(name)
}

// under lists the refs of ours below a prefix.
func (s *refStore) under(ctx context.Context, prefix string) (map[string]Hash, error) {
	all := map[string]Hash{}
	if user := s.earlier(); !user.noRefsUnder(prefix) {
		var err error
		if all, err = user.RefsUnder(ctx, prefix); err != nil {
			return nil, err
		}
	}
	if !s.refs.Exists() || s.refs.noRefsUnder(prefix) {
		return all, nil
	}
	own, err := s.refs.RefsUnder(ctx, prefix)
	for name, at := range own {
		all[name] = at
	}
	return all, err
}

// errMixedRefs is a mistake of the caller.
var errMixedRefs = errors.New("refs of swarm and of the user in one transaction")

// update moves refs of ours, and holds the commits that they get.
func (s *refStore) update(ctx context.Context, hold *os.File, message string, updates []RefUpdate) error {
	for _, u := range updates {
		if s.user.hidden(u.Ref) == nil {
			return errMixedRefs
		}
		if u.New == "" {
			continue
		}
		if err := s.hold(ctx, runOf(u.Ref), u.New); err != nil {
			return err
		}
	}
	return s.move(ctx, hold, message, updates)
}

// move moves refs of ours whose objects are held.
func (s *refStore) move(ctx context.Context, hold *os.File, message string, updates []RefUpdate) error {
	if err := s.make(); err != nil {
		return err
	}
	var own, earlier []RefUpdate
	for _, u := range updates {
		there := Hash("")
		if !s.earlier().NoRef(u.Ref) {
			var err error
			if there, err = s.earlier().Ref(ctx, u.Ref); err != nil {
				return err
			}
		}
		switch {
		case there == "":
			own = append(own, u)
		case u.New == "":
			earlier = append(earlier, u)
			if !s.refs.NoRef(u.Ref) {
				own = append(own, RefUpdate{Ref: u.Ref, Any: true})
			}
		case !u.Any && u.Old != there:
			return &RefMovedError{Refs: []string{u.Ref}, Reason: "it is at " + there.Short() + " already"}
		default:
			own = append(own, RefUpdate{Ref: u.Ref, New: u.New, Any: true})
		}
	}
	if len(own) > 0 {
		if err := s.refs.UpdateRefsHolding(ctx, hold, message, own...); err != nil {
			return err
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	return s.earlier().UpdateRefsHolding(ctx, hold, message, earlier...)
}

// create makes a ref of ours without git, if that can be done.
func (s *refStore) create(ref string, id Hash) error {
	if !s.earlier().NoRef(ref) {
		return errGitsRef
	}
	if err := s.make(); err != nil {
		return err
	}
	return s.refs.createRef(ref, id)
}

// publish is [Quarantine.Publish] for refs of ours: the pack stays kept.
func (s *refStore) publish(ctx context.Context, q *Quarantine, p PublishRequest) error {
	run := runOf(p.Refs[0].Ref)
	for _, u := range p.Refs {
		if s.user.hidden(u.Ref) == nil || runOf(u.Ref) != run {
			return errMixedRefs
		}
	}
	revs, old := p.fresh()
	if err := s.hold(ctx, run, append(old, p.Have...)...); err != nil {
		return err
	}
	landed := ""
	line, err := s.line(run)
	if err != nil {
		return err
	}
	if revs.Len() > 0 {
		if landed, err = q.bring(ctx, p, revs, line); err != nil {
			return fmt.Errorf("publish objects: %w", err)
		}
	}
	if err := s.nameAll(ctx, p); err != nil {
		if landed != "" {
			err = errors.Join(err, removeFiles(landed))
		}
		return err
	}
	// Packs that lie apart do no harm, so errors are not told.
	if landed != "" && p.Landed != nil {
		_ = p.Landed.note(stemOf(landed), line)
	}
	if s.note(run, p.Refs) {
		_ = s.joinPacks(ctx)
	}
	return nil
}

func (s *refStore) nameAll(ctx context.Context, p PublishRequest) error {
	if len(p.Refs) == 1 && p.Plain {
		if u := p.Refs[0]; u.Old == "" && !u.Any && s.create(u.Ref, u.New) == nil {
			return nil
		}
	}
	return s.move(ctx, nil, p.Message, p.Refs)
}

// note remembers that commits are held for a run. It reports whether many were
// published since it last did so.
func (s *refStore) note(run string, refs []RefUpdate) (many bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[run] == nil {
		s.known[run] = map[Hash]bool{}
	}
	for _, u := range refs {
		s.known[run][u.New] = true
	}
	s.since++
	if many = s.since >= manyPacks; many {
		s.since = 0
	}
	return many
}
