package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"agentswarm/risk"
	"agentswarm/swarm/box"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// judge judges the actions of a run's agents by what its base grants, and
// keeps a record of what became of them.
type judge struct {
	bench *bench
	ctx   context.Context // of the run: what has to be found out is asked of git
	// known is found out when it is first needed, which is seldom: most runs
	// ask nothing.
	known func() (*jurisdiction, error)
	// granted is read for the contract of the first agent.
	granted func() (*risk.Authority, error)
	log     *riskLog
	unknown *riskLog // of programs without a rule

	mu   sync.Mutex // guards said
	said bool       // somebody was told of the setting
}

// jurisdiction is what holds for all agents of a run.
type jurisdiction struct {
	rules     *risk.Rules
	authority *risk.Authority
	place     *risk.Place // of the user's checkout
	// config is what git went by then, where agents can change that; else
	// empty.
	config string
}

// judgeActions gives the engine what judges actions.
func (b *bench) judgeActions(ctx context.Context, self string) error {
	j := &judge{bench: b, ctx: ctx, log: &riskLog{run: b.run, path: b.run.RiskLog()}, unknown: &riskLog{run: b.run, path: b.run.UnknownLog()}}
	j.known, j.granted = sync.OnceValues(j.find), sync.OnceValues(j.authority)
	// Where nothing keeps agents from the repository's configuration it is
	// read before there are any.
	if b.exposed() || exists(b.env.userRules()) {
		if _, err := j.known(); err != nil {
			return err
		}
	}
	b.deps.Judge, b.deps.Ears = j, ears{run: b.run, getenv: b.env.Getenv}
	return b.guardActions(self, j)
}

// find finds out what holds for the run.
func (j *judge) find() (*jurisdiction, error) {
	b := j.bench
	id, err := b.run.Identity()
	if err != nil {
		return nil, err
	}
	rules, err := b.riskRules(j.ctx, grantingCommit(id.Base))
	if err != nil {
		return nil, err
	}
	place, err := b.riskPlace(j.ctx, riskPlaceRequest{})
	if err != nil {
		return nil, err
	}
	authority, err := j.granted()
	if err != nil {
		return nil, err
	}
	law := &jurisdiction{rules: rules, authority: authority, place: place}
	if b.exposed() {
		law.config = b.gitConfig()
	}
	return law, nil
}

// exposed reports whether nothing keeps agents from the configuration of the
// repository and of its user.
func (b *bench) exposed() bool { return b.rung < box.NoOverlay || b.isolation.open() }

// authority is what was granted for the run.
func (j *judge) authority() (*risk.Authority, error) {
	id, err := j.bench.run.Identity()
	if err != nil {
		return nil, err
	}
	a, err := j.bench.authority(j.ctx, grantingCommit(id.Base))
	if err != nil {
		return nil, err
	}
	a.Allowed, err = allowed(j.bench.caution.Allow, "--allow")
	return a, err
}

// grantingCommit is the commit whose AGENTS.md counts: what is not committed
// grants nothing.
func grantingCommit(base store.Base) git.Hash {
	if base.SnapshotOf != "" {
		return git.Hash(base.SnapshotOf)
	}
	return git.Hash(base.Commit)
}

// allowed reads items of a grammar that was checked when they were given.
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

// taskAuthority is what was granted for a call: what was for its run, and what
// its own allow says.
func taskAuthority(run *risk.Authority, call *task.Call) (*risk.Authority, error) {
	if call == nil || len(call.Allow) == 0 {
		return run, nil
	}
	own, err := allowed(call.Allow, "allow")
	if err != nil {
		return nil, err
	}
	a := *run // other calls of the run look at it too
	a.Allowed = slices.Concat(run.Allowed, own)
	return &a, nil
}

// of is what holds for the agent of a call.
func (l *jurisdiction) of(call *task.Call) (*jurisdiction, error) {
	authority, err := taskAuthority(l.authority, call)
	if err != nil {
		return nil, err
	}
	own := *l
	own.authority = authority
	return &own, nil
}

// judgement is what an action was found to be, for its record.
type judgement struct {
	finding  *risk.Finding
	decision *risk.Decision
	place    *risk.Place
	law      *jurisdiction
}

// Judge judges an action. Where it cannot, somebody is asked.
func (j *judge) Judge(r engine.JudgeRequest) *engine.Ruling {
	law, err := j.known()
	if err == nil {
		law, err = law.of(r.Call)
	}
	if err != nil {
		return &engine.Ruling{
			Request: r, Verdict: risk.Ask, Tier: risk.Destructive, Reason: "it cannot be judged: " + oneLine(err),
		}
	}
	place := j.placeOf(law, r)
	finding := law.rules.Classify(riskAction(&r.Action, r.Action.Cwd), *place)
	finding.Heed(deniedTo(&r), place)
	decision := law.authority.Decide(finding, place)
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
	if decision.Verdict == risk.Ask && confinable(finding) && j.bench.walled() {
		ruling.Own = true
		ruling.Confined = j.bench.caution.Confined == confinedSnapshot || j.bench.snapshots.Load()
		ruling.Hint = j.hint(ruling.Confined || j.bench.caution.Confined != "")
	}
	return ruling
}

// deniedTo returns the losses that the agent of a request was denied.
func deniedTo(r *engine.JudgeRequest) *risk.Denied {
	return &risk.Denied{Agent: string(r.Agent), Deletes: r.Denied.Deletes, Overwrites: r.Denied.Overwrites, Cleans: r.Denied.Cleans}
}

// maxAskedFiles bounds the paths that a question has of each kind.
const maxAskedFiles = 1000

// filesOf are the files that a tier is about; nil where it is about none. A path
// that looks like a secret is left out, since the journal keeps it.
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

// Contract is what an agent is told of how it is judged. It is written for each
// attempt, and needs the rules for nothing.
func (j *judge) Contract(call *task.Call, w worktree.Workspace) (string, error) {
	authority, err := j.granted()
	if err == nil {
		authority, err = taskAuthority(authority, call)
	}
	if err != nil {
		return "", err
	}
	return authority.Contract(!w.Private()), nil
}

// onlyCall names the call of a program that an action is, where it is nothing
// but that, at the top of the workspace, and all of its words are known.
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

// confinable reports whether all that an action would destroy is the agent's
// own.
func confinable(f *risk.Finding) bool {
	if f.Opaque || f.Blocked || f.Tier != risk.Destructive {
		return false
	}
	return !slices.ContainsFunc(f.Parts, func(p risk.Part) bool { return p.Tier > risk.Safe && !p.Within })
}

// hint offers the setting that asks nobody, once a run. A person who has set it
// is not asked about it.
func (j *judge) hint(set bool) string {
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

// placeOf is the place of a workspace. One with a git dir of its own shares
// nothing; the agent may have changed its configuration, though, and where it
// did nobody knows where a push goes.
func (j *judge) placeOf(law *jurisdiction, r engine.JudgeRequest) *risk.Place {
	w, place := r.Workspace, *law.place
	place.Root = w.Path()
	place.Facts = &workspaceFacts{
		Facts: law.place.Facts, judge: j, workspace: w, base: git.Hash(r.Base), from: law.place.Root,
	}
	if j.bench.rung == box.Landlock && !j.bench.isolation.open() {
		// HOME and TMPDIR are folders of the agent's own, elsewhere.
		scratch := j.bench.run.Scratch(engine.BoxOf(j.bench.run.Attempt(r.Agent, r.Attempt)))
		place.Home = box.HomeOf(scratch)
		place.Tmp = append(slices.Clone(place.Tmp), place.Home, box.TmpOf(scratch))
	}
	place.Remotes = slices.Clone(place.Remotes)
	if j.misled(law, r) {
		for i := range place.Remotes {
			place.Remotes[i].Plain = false
		}
	}
	if w.Private() {
		place.GitDir = filepath.Join(place.Root, ".git")
		place.CommonDir, place.Shared, place.Others = place.GitDir, false, nil
		return &place
	}
	place.GitDir, place.Shared = w.Admin, true
	place.Others = append(slices.Clone(place.Others), law.place.Root, filepath.Dir(w.Dir))
	place.Branch, place.Upstream = "", "" // its HEAD is on none
	return &place
}

// reconfigured reports whether an agent has changed what its git goes by, or
// may have.
func (j *judge) reconfigured(r engine.JudgeRequest) bool {
	return j.bench.trees.Reconfigured(r.Workspace)
}

// workspaceFacts are those of a workspace: its files are not where the
// repository's are.
type workspaceFacts struct {
	risk.Facts
	judge     *judge
	workspace worktree.Workspace
	base      git.Hash
	from      string // the top of the user's checkout
}

// Published reports whether a commit is on a branch of a remote. One that is
// the agent's own is not, as far as is known here.
func (f *workspaceFacts) Published(rev string) (published, known bool) {
	if rev != "HEAD" {
		return f.Facts.Published(rev)
	}
	head, err := f.judge.bench.trees.Head(f.judge.ctx, f.workspace)
	if err != nil || head == "" {
		return false, false
	}
	published, known = f.Facts.Published(string(head))
	if !known && head != f.base && f.workspace.Private() {
		return false, true // the repository does not know it
	}
	return published, known
}

// Path reports what stands at a path of the workspace.
func (f *workspaceFacts) Path(path string) risk.PathKind {
	rel, ok := below(f.workspace.Path(), path)
	if !ok || rel == "" || !f.workspace.Private() {
		return f.Facts.Path(path)
	}
	file, there := f.workspace.Find(rel)
	switch {
	case there:
		return pathKind(file)
	case file != "" || !exists(f.workspace.Dir):
		return risk.PathUnknown
	}
	return risk.PathMissing
}

// Link reports where a link of the workspace leads.
func (f *workspaceFacts) Link(path string) string {
	rel, ok := below(f.workspace.Path(), path)
	if !ok || rel == "" || !f.workspace.Private() {
		return f.Facts.Link(path)
	}
	if file, there := f.workspace.Find(rel); there {
		return linkTo(file, path)
	}
	return ""
}

// Tracked reports whether git has files at a path.
func (f *workspaceFacts) Tracked(path string) bool {
	if rel, ok := below(f.workspace.Path(), path); ok {
		path = filepath.Join(f.from, rel)
	}
	return f.Facts.Tracked(path)
}

// Locked returns the version that the lock file next to a folder has.
func (f *workspaceFacts) Locked(manager, folder, name string) (version string, known bool) {
	if rel, ok := below(f.workspace.Path(), folder); ok {
		folder = filepath.Join(f.from, rel)
	}
	return f.Facts.Locked(manager, folder, name)
}
