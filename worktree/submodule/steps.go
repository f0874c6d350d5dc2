package submodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"agentswarm/worktree/git"
)

// Step is a submodule whose recorded commit changes.
type Step struct {
	Path     string // below the checkout of the outermost parent
	From, To git.Hash
	// User is the submodule of the user. Its TopLevel is empty if it is not
	// checked out.
	User *git.Repo
	// Store holds To; nil: the user's submodule has To.
	Store *git.Repo
}

// Missing is a recorded commit that the user's submodule does not have, and that
// no store has either, or for which the user has no submodule.
type Missing struct {
	Path   string
	Commit git.Hash
	// NoRepo is set if the user has no repository for the submodule.
	NoRepo bool
}

func (m Missing) String() string {
	if m.NoRepo {
		return fmt.Sprintf("it records commit %s of submodule %q, which is not set up here (git submodule update --init %s)",
			m.Commit.Short(), m.Path, m.Path)
	}
	return fmt.Sprintf("it records commit %s of submodule %q, which is not in your repository", m.Commit.Short(), m.Path)
}

// Request asks for the steps of a change of a parent.
type Request struct {
	Repo   *git.Repo // required; the user's repository, as seen from a checkout
	Stores string    // required; the folder of the stores of a run
	From   git.Hash  // the parent before the change; its .gitmodules names submodules
	// Changes are those of the parent, from From. Required.
	Changes []git.Change

	above string // the path of the parent, with a slash
	// whole asks for all submodules of a commit: a store will do where the user has
	// no such submodule.
	whole bool
}

// Steps lists the submodules that a change moves, parents first, and the commits
// that cannot be had. Submodules that the change adds or moves count. Those it
// removes do not.
func Steps(ctx context.Context, r Request) (steps []Step, missing []Missing, err error) {
	for _, c := range r.Changes {
		if c.NewMode != git.Gitlink {
			continue
		}
		s, lacks, err := r.step(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("look at submodule %q: %w", r.above+c.Path, err)
		}
		if lacks != nil {
			missing = append(missing, *lacks)
			continue
		}
		steps = append(steps, *s)
		inner, gone, err := r.within(ctx, s, c.Path)
		if err != nil {
			return nil, nil, err
		}
		steps, missing = append(steps, inner...), append(missing, gone...)
	}
	return steps, missing, nil
}

// step is the step of a changed entry, or the commit that is missing for it.
func (r Request) step(ctx context.Context, c git.Change) (*Step, *Missing, error) {
	s := &Step{Path: r.above + c.Path, To: c.New}
	if c.OldMode == git.Gitlink {
		s.From = c.Old
	}
	lacks := &Missing{Path: s.Path, Commit: s.To, NoRepo: true}
	var err error
	if s.User, err = r.user(ctx, c.Path); err != nil || s.User == nil && !r.whole {
		return nil, lacks, err
	}
	has := false
	if s.User != nil {
		if has, err = s.User.HasCommit(ctx, s.To); err != nil || has {
			return s, nil, err
		}
		lacks.NoRepo = false
	}
	if s.Store = r.Repo.ModuleStore(r.Stores, s.Path); r.Stores == "" || !s.Store.Exists() {
		return nil, lacks, nil
	}
	if has, err = s.Store.HasCommit(ctx, s.To); err != nil || !has {
		return nil, lacks, err
	}
	return s, nil, nil
}

// within lists the steps of the submodules of a submodule.
func (r Request) within(ctx context.Context, s *Step, at string) ([]Step, []Missing, error) {
	if r.whole {
		if has, err := hasModules(ctx, s.Reader(), s.To); err != nil || !has {
			return nil, nil, err
		}
	}
	from := s.From
	if from != "" {
		if has, err := s.Reader().HasCommit(ctx, from); err != nil || !has {
			from = ""
		}
	}
	changes, err := s.Reader().Changes(ctx, from, s.To)
	if err != nil {
		return nil, nil, fmt.Errorf("look at submodule %q: %w", s.Path, err)
	}
	repo, named := s.User, from
	if r.whole {
		named = s.To
	}
	if repo == nil {
		repo = s.Store
	}
	return Steps(ctx, Request{
		Repo: repo, Stores: r.Stores, From: named, Changes: changes, above: r.above + at + "/", whole: r.whole,
	})
}

// Reader is the repository that has both ends of a step.
func (s *Step) Reader() *git.Repo {
	if s.Store != nil {
		return s.Store
	}
	return s.User
}

// Changes are the changes of the files of the submodule.
func (s *Step) Changes(ctx context.Context) ([]git.Change, error) {
	return s.Reader().Changes(ctx, s.From, s.To)
}

// user is the submodule of the user at a path: checked out, or only its git dir.
func (r Request) user(ctx context.Context, at string) (*git.Repo, error) {
	m, err := r.Repo.Module(at)
	if err != nil || m != nil {
		return m, err
	}
	name, err := r.name(ctx, at)
	if err != nil || name == "" {
		return nil, err
	}
	dir := filepath.Join(r.Repo.CommonDir, "modules")
	for part := range strings.SplitSeq(name, "/") {
		dir = filepath.Join(dir, part)
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	m = r.Repo.Store(dir)
	if !m.Exists() {
		return nil, nil
	}
	return m, nil
}

// name is the name of a submodule, by the .gitmodules of the parent before the
// change; empty if it has none, or none that is a plain path.
func (r Request) name(ctx context.Context, at string) (string, error) {
	if r.From == "" {
		return "", nil
	}
	out, err := r.Repo.Run(ctx, git.Cmd{Args: []string{"config", "--blob", string(r.From) + ":.gitmodules", "--list", "-z"}})
	var bad *git.Error
	if errors.As(err, &bad) && bad.Code >= 0 {
		return "", nil // there is no such file, or it cannot be read
	}
	if err != nil {
		return "", err
	}
	for rec := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(rec, "\n")
		name, ok := strings.CutPrefix(key, "submodule.")
		if name, isPath := strings.CutSuffix(name, ".path"); ok && isPath && value == at &&
			filepath.IsLocal(name) && path.Clean(name) == name {
			return name, nil
		}
	}
	return "", nil
}
