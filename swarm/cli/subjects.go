package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// subjectStage is what the stage is called of an agent that names a commit.
const subjectStage = "subject"

// landingTime is how long a landing of a script waits for the subjects of what
// it lands.
const landingTime = 2 * time.Minute

// subjects has commits named by the model of the role commit.
type subjects struct {
	bench  *bench
	config engine.Config
	base   store.Base

	mu    sync.Mutex // held while a patch is looked at
	store *git.Quarantine
}

// namesCommits reports whether a run asks a model for the subjects of commits:
// only where somebody said which one.
func namesCommits(c engine.Config) bool { return c.Roles != nil && c.Roles.Subjects() }

// newSubjects is nil where a run asks no model for the subjects of commits.
func (b *bench) newSubjects(c engine.Config) engine.Subjects {
	if !namesCommits(c) {
		return nil
	}
	return &subjects{bench: b, config: c, base: b.owner.View().Identity.Base}
}

// Ask is the call that asks for the subject of a patch.
func (s *subjects) Ask(ctx context.Context, r engine.SubjectRequest) (*task.Call, error) {
	files, err := s.changes(ctx, r.Result.Patch)
	if err != nil {
		return nil, err
	}
	call := aside(asideRequest{
		of: r.Agent, work: r.Call, role: roles.Commit, stage: subjectStage, words: manifest.Namer,
		prompt: manifest.SubjectPrompt(task.Prompt(r.Call.Input), &manifest.Manifest{Files: files}), schema: manifest.SubjectSchema(),
	})
	call.Base, call.BaseTree = s.base.Commit, s.base.Tree
	kinds := s.bench.env.kinds().ByName()
	// Another model than was asked for is nobody's wish: there is a subject
	// without one.
	if err := assignSubject(s.config, kinds, call); err != nil {
		return nil, err
	}
	can := can(kinds, s.config)(call.Agent)
	if call.ReadOnly = can.ReadOnly; can.Tools {
		call.Tools = agent.ReadOnlyTools()[:1] // none would stand for any
	}
	return call, nil
}

// assignSubject gives a call that asks for a subject what its role says.
func assignSubject(c engine.Config, kinds map[string]agent.Kind, call *task.Call) error {
	c.Roles = c.Roles.Naming()
	_, err := engine.Assign(c, kinds, engine.AssignRequest{Call: call})
	return err
}

// subjectsOf are the calls that name the commits of what other calls write, as
// far as it matters who is asked.
func subjectsOf(c engine.Config, kinds map[string]agent.Kind, calls []*task.Call) (all []*task.Call) {
	if !namesCommits(c) {
		return nil
	}
	for _, work := range calls {
		if work.Stage != nil && work.Stage.Reads || engine.SpecOf(c, work).OnlyReads() {
			continue
		}
		call := aside(asideRequest{work: work, role: roles.Commit, stage: subjectStage})
		if assignSubject(c, kinds, call) == nil {
			all = append(all, call)
		}
	}
	return all
}

// changes are the files that a patch changed.
func (s *subjects) changes(ctx context.Context, p *task.Patch) (_ []manifest.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		if s.store, err = s.bench.reader(subjectStage); err != nil {
			return nil, err
		}
	}
	return changedFiles(ctx, s.store, git.Hash(p.Base), git.Hash(p.Commit))
}

// Read is the subject that an agent answered.
func (s *subjects) Read(done *task.Completed) (string, error) {
	if done.Whole != nil {
		return "", errors.New("its answer is far too long")
	}
	return manifest.ReadSubject(done.Structured)
}

// untitled reports whether the commit of a work waits for a name that nobody was
// asked for.
func untitled(c engine.Config, v *store.View) bool {
	if !namesCommits(c) {
		return false
	}
	for _, a := range landing.Workers(v) {
		done, ok := a.Status.(*task.Completed)
		if !ok || done.Patch == nil || done.Verified != nil && !*done.Verified {
			continue
		}
		if _, asked := a.Subject(done.Patch.Commit); !asked {
			return true
		}
	}
	return false
}

// asideRequest asks for an agent that does no work of the run, but looks at some.
type asideRequest struct {
	of   task.ID
	work *task.Call
	// role and stage are the agent's own, words what it is told of its part.
	role, stage, words string
	prompt             string
	schema             []byte
}

// aside is the call of such an agent: one like that of the work, which changes
// nothing.
func aside(r asideRequest) *task.Call {
	return &task.Call{
		Input: &task.TypedAgentInput{Role: r.role, Prompt: r.prompt}, Agent: r.work.Agent,
		Label: fmt.Sprintf("%s of %s", r.stage, engine.Title(r.of, r.work)), Phase: r.stage, Schema: r.schema,
		Stage: &task.Stage{Name: r.stage, Roster: []string{r.stage}, Words: r.words, Reads: true},
	}
}

// reader reads what was captured, in a folder of the run that has a name of its
// own and is made anew.
func (b *bench) reader(name string) (*git.Quarantine, error) {
	dir := filepath.Join(b.run.Dir, name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	return b.frozen.Quarantine(filepath.Join(dir, "objects"))
}
