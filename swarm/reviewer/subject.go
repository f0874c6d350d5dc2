package reviewer

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/manifest"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// SubjectStage is the name of the stage of an agent that names a commit.
const SubjectStage = "subject"

// Namer has the model of the role commit write the subjects of commits. It implements
// [engine.Subjects].
type Namer struct {
	NamerRequest
	mu    sync.Mutex // guards store
	store *git.Quarantine
}

// NamerRequest holds the facts about a run that its namer needs.
type NamerRequest struct {
	Config engine.Config
	Kinds  map[string]agent.Kind // by name
	Base   store.Base            // of the run
	Run    *store.Run            // required
	Frozen *git.Frozen           // of the run; required
}

// NamesCommits reports whether a run asks a model for the subjects of commits. It does
// if the model is configured.
func NamesCommits(c engine.Config) bool { return c.Roles != nil && c.Roles.Subjects() }

// NewNamer returns the namer of a run; nil if the run asks no model for subjects.
func NewNamer(r NamerRequest) engine.Subjects {
	if !NamesCommits(r.Config) {
		return nil
	}
	return &Namer{NamerRequest: r}
}

// Ask returns the call for the subject of a patch. The error is that of git, or says
// that the model cannot be had: a commit has a subject without one.
func (s *Namer) Ask(ctx context.Context, r engine.SubjectRequest) (*task.Call, error) {
	files, err := s.changes(ctx, r.Result.Patch)
	if err != nil {
		return nil, err
	}
	call := newCall(callRequest{
		of: r.Agent, work: r.Call, role: roles.Commit, stage: SubjectStage, words: manifest.Namer,
		prompt: manifest.SubjectPrompt(task.Prompt(r.Call.Input), &manifest.Manifest{Files: files}), schema: manifest.SubjectSchema(),
	})
	call.Base, call.BaseTree = s.Base.Commit, s.Base.Tree
	if err := assignSubject(s.Config, s.Kinds, call); err != nil {
		return nil, err
	}
	can := abilities(s.Config, s.Kinds, call.Agent)
	if call.ReadOnly = can.ReadOnly; can.Tools {
		call.Tools = agent.ReadOnlyTools()[:1] // an empty list would mean all tools
	}
	return call, nil
}

// assignSubject gives a call for a subject the agent and model of its role.
func assignSubject(c engine.Config, kinds map[string]agent.Kind, call *task.Call) error {
	c.Roles = c.Roles.Naming()
	_, err := engine.Assign(c, kinds, engine.AssignRequest{Call: call})
	return err
}

// SubjectCalls returns the calls for subjects that the patches of calls may cause, with
// their agents and models but without prompts.
func SubjectCalls(c engine.Config, kinds map[string]agent.Kind, calls []*task.Call) (all []*task.Call) {
	if !NamesCommits(c) {
		return nil
	}
	for _, work := range calls {
		if work.Stage != nil && work.Stage.Reads || engine.SpecOf(c, work).OnlyReads() {
			continue
		}
		call := newCall(callRequest{work: work, role: roles.Commit, stage: SubjectStage})
		if assignSubject(c, kinds, call) == nil {
			all = append(all, call)
		}
	}
	return all
}

// changes returns the changed files of a patch.
func (s *Namer) changes(ctx context.Context, p *task.Patch) (_ []manifest.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		if s.store, err = openStore(s.Frozen, filepath.Join(s.Run.Dir, SubjectStage)); err != nil {
			return nil, err
		}
	}
	return changedFiles(ctx, s.store, git.Hash(p.Base), git.Hash(p.Commit))
}

// Read returns the subject in the answer of an agent. The error says why the answer is
// no subject.
func (s *Namer) Read(done *task.Completed) (string, error) {
	if done.Whole != nil {
		return "", errors.New("its answer is far too long")
	}
	return manifest.ReadSubject(done.Structured)
}

// Untitled reports whether the commit of a work waits for a subject that no agent was
// asked for.
func Untitled(c engine.Config, v *store.View) bool {
	if !NamesCommits(c) {
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
