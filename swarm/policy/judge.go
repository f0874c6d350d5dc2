package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Request holds the facts about a run that its judge needs.
type Request struct {
	Run    *store.Run      // required
	Repo   *git.Repo       // required
	Trees  *worktree.Trees // required
	Policy Policy
	Level  box.Level
	View   box.View // of HOME
	Open   bool     // the sandbox is off
	// Snapshots is set once a person lets agents destroy their own files, while
	// the run goes on.
	Snapshots *atomic.Bool // required
	Getenv    func(string) string
	UserRules string // file with the user's rules; empty: none
	// SetupLayers is the folder of a setup's layers, below that of an attempt.
	SetupLayers string
	Now         func() time.Time
	Warn        func(about string, err error) // a record could not be written
}

// Judge judges the actions of a run's agents by the rules and by the grants of the
// run's base, and records each decision. It implements [engine.Judge].
type Judge struct {
	Request
	ctx context.Context // of the run, for git commands at the first action
	// law is read at the first action: most runs have none to judge.
	law func() (*runLaw, error)
	// granted is read for the contract of the first agent.
	granted func() (*risk.Authority, error)
	log     *logFile
	unknown *logFile // of programs without a rule

	mu   sync.Mutex // guards said
	said bool       // the hint about the setting was given
}

// runLaw is the law for all agents of a run. Its place is the user's checkout.
type runLaw struct {
	Law
	// config is the digest of git's configuration at the start, if agents can
	// change that; else empty.
	config string
}

// New returns the judge of a run. If agents can write to the configuration of the
// repository, or the user has rules, it reads the law at once. The error is that of
// git, or a [*RulesError].
func New(ctx context.Context, r Request) (*Judge, error) {
	j := &Judge{Request: r, ctx: ctx, log: &logFile{run: r.Run, path: r.Run.RiskLog()}, unknown: &logFile{run: r.Run, path: r.Run.UnknownLog()}}
	j.law, j.granted = sync.OnceValues(j.readLaw), sync.OnceValues(j.authority)
	if j.exposed() || fspath.Exists(r.UserRules) {
		if _, err := j.law(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Programs returns the names of the programs that a rule is about.
func (j *Judge) Programs() ([]string, error) {
	law, err := j.law()
	if err != nil {
		return nil, err
	}
	return law.Rules.Programs(), nil
}

// readLaw reads the law of the run.
func (j *Judge) readLaw() (*runLaw, error) {
	id, err := j.Run.Identity()
	if err != nil {
		return nil, err
	}
	rules, err := Rules(j.ctx, RulesRequest{UserFile: j.UserRules, Repo: j.Repo, Commit: GrantingCommit(id.Base)})
	if err != nil {
		return nil, err
	}
	place, err := repository.Place(j.ctx, repository.Request{Repo: j.Repo, Home: j.Getenv("HOME"), TempDir: j.Getenv("TMPDIR")})
	if err != nil {
		return nil, err
	}
	authority, err := j.granted()
	if err != nil {
		return nil, err
	}
	law := &runLaw{Law: Law{Rules: rules, Authority: authority, Place: place}}
	if j.exposed() {
		law.config = j.gitConfig()
	}
	return law, nil
}

// exposed reports whether agents can write to the configuration of the repository
// and of its user.
func (j *Judge) exposed() bool { return j.Level < box.NoOverlay || j.Open }

// walled reports whether a sandbox with namespaces is around agents.
func (j *Judge) walled() bool { return j.Level.Namespaces() && !j.Open }

// authority returns the grants of the run.
func (j *Judge) authority() (*risk.Authority, error) {
	id, err := j.Run.Identity()
	if err != nil {
		return nil, err
	}
	a, err := repository.Authority(j.ctx, j.Repo, GrantingCommit(id.Base))
	if err != nil {
		return nil, err
	}
	a.Allowed, err = allowed(j.Policy.Allow, "--allow")
	return a, err
}

// GrantingCommit returns the commit whose AGENTS.md counts: uncommitted grants do
// not.
func GrantingCommit(base store.Base) git.Hash {
	if base.SnapshotOf != "" {
		return git.Hash(base.SnapshotOf)
	}
	return git.Hash(base.Commit)
}

// allowed parses items, which were checked before.
func allowed(items []string, where string) ([]risk.Grant, error) {
	var all []risk.Grant
	for _, item := range items {
		g, err := risk.ParseGrant(item)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", where, item, err)
		}
		g.Where = where
		all = append(all, g)
	}
	return all, nil
}

// taskAuthority returns the grants of a call: those of its run, and its own allow.
func taskAuthority(run *risk.Authority, call *task.Call) (*risk.Authority, error) {
	if call == nil || len(call.Allow) == 0 {
		return run, nil
	}
	own, err := allowed(call.Allow, "allow")
	if err != nil {
		return nil, err
	}
	a := *run // other calls of the run share it
	a.Allowed = slices.Concat(run.Allowed, own)
	return &a, nil
}

// of returns the law for the agent of a call.
func (l *runLaw) of(call *task.Call) (*runLaw, error) {
	authority, err := taskAuthority(l.Authority, call)
	if err != nil {
		return nil, err
	}
	own := *l
	own.Authority = authority
	return &own, nil
}

// judgement is the judgement of an action, for its record.
type judgement struct {
	finding  *risk.Finding
	decision *risk.Decision
	place    *risk.Place
	law      *runLaw
}

// Judge judges an action. If that fails, its ruling is to ask a person.
func (j *Judge) Judge(r engine.JudgeRequest) *engine.Ruling {
	law, err := j.law()
	if err == nil {
		law, err = law.of(r.Call)
	}
	if err != nil {
		return &engine.Ruling{
			Request: r, Verdict: risk.Ask, Tier: risk.Destructive, Reason: "it cannot be judged: " + strings.ReplaceAll(err.Error(), "\n", "; "),
		}
	}
	place := j.placeOf(law, r)
	finding := law.Rules.Classify(riskAction(&r.Action, r.Action.Cwd), *place)
	finding.Heed(deniedTo(&r), place)
	decision := law.Authority.Decide(finding, place)
	ruling := &engine.Ruling{
		Request: r, Verdict: decision.Verdict, Tier: finding.Tier, Reason: risk.Redact(decision.Reason), Instead: decision.Instead,
		Detail: &judgement{finding: finding, decision: decision, place: place, law: law},
	}
	ruling.Call, ruling.Files = onlyCall(finding), filesOf(finding)
	for _, part := range finding.Parts {
		if !slices.Contains(ruling.Rules, part.Rule) {
			ruling.Rules = append(ruling.Rules, part.Rule)
		}
	}
	if decision.Verdict == risk.Ask && confinable(finding) && j.walled() {
		ruling.Own = true
		ruling.Confined = j.Policy.Confined == Snapshot || j.Snapshots.Load()
		ruling.Hint = j.hint(ruling.Confined || j.Policy.Confined != "")
	}
	return ruling
}

// deniedTo returns the losses that the agent of a request was denied.
func deniedTo(r *engine.JudgeRequest) *risk.Denied {
	return &risk.Denied{Agent: string(r.Agent), Deletes: r.Denied.Deletes, Overwrites: r.Denied.Overwrites, Cleans: r.Denied.Cleans}
}

// maxAskedFiles bounds the paths that a question has of each kind.
const maxAskedFiles = 1000

// filesOf returns the files that the tier of a finding depends on; nil: none. It
// leaves out a path that looks like a secret, since the journal keeps it.
func filesOf(f *risk.Finding) *event.Files {
	var files event.Files
	for _, l := range f.Losses {
		to := &files.Deletes
		switch {
		case !l.Judged || risk.Redact(l.Path) != l.Path:
			continue
		case l.Untracked:
			to = &files.Cleans
		case l.Overwrites:
			to = &files.Overwrites
		}
		if len(*to) < maxAskedFiles && !slices.Contains(*to, l.Path) {
			*to = append(*to, l.Path)
		}
	}
	if len(files.Deletes)+len(files.Overwrites)+len(files.Cleans) == 0 {
		return nil
	}
	return &files
}

// Contract returns the text that tells an agent how its actions are judged. The
// error says why the grants of the run cannot be read.
func (j *Judge) Contract(call *task.Call, w worktree.Workspace) (string, error) {
	authority, err := j.granted()
	if err == nil {
		authority, err = taskAuthority(authority, call)
	}
	if err != nil {
		return "", err
	}
	return authority.Contract(!w.Private()), nil
}

// onlyCall returns the words of the only program that an action calls, at the top
// of the workspace, with "\x00" between them. It is empty for any other action.
func onlyCall(f *risk.Finding) string {
	name := ""
	for i, part := range f.Parts {
		this := strings.Join(part.Argv, "\x00")
		if !part.Plain || part.Opaque || len(part.Argv) == 0 || i > 0 && this != name {
			return ""
		}
		name = this
	}
	return name
}

// confinable reports whether an action destroys only files of the agent.
func confinable(f *risk.Finding) bool {
	if f.Opaque || f.Blocked || f.Tier != risk.Destructive {
		return false
	}
	return !slices.ContainsFunc(f.Parts, func(p risk.Part) bool { return p.Tier > risk.Safe && !p.Within })
}

// hint explains, once a run, the setting that lets such actions proceed. It is empty
// if the setting is set.
func (j *Judge) hint(set bool) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.said || set {
		return ""
	}
	j.said = true
	return `this destroys only the agent's own files. "swarm approve ID --confined snapshot" allows it and writes ` +
		`[risk] confined = "snapshot" into your own configuration: such actions then proceed once the files are captured. ` +
		`With "--confined ask" you are asked each time`
}
