package configcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/precheck"
)

// NewDoctor returns the command doctor.
func NewDoctor(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check this machine and this repository",
		Flags: []cli.Flag{cmdline.JSONFlag()},
		Description: `Checks git, the logins of installed agents, their sandbox, memory, disk and the state
folder. It lists special features of this repository and how swarm handles them. The
exit code is 1 if something would keep a run from starting. Outside of a repository
it checks the machine.

Examples:
  swarm doctor
  swarm doctor --json`,
		Action: func(c *cli.Context) error { return doctorAction(c, env) },
	}
}

// doctorObject is swarm.doctor/1, described in docs/json.md.
type doctorObject struct {
	Schema string         `json:"schema"`
	OK     bool           `json:"ok"`
	Checks []checkedPoint `json:"checks"`
}

type checkedPoint struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, note or bad
	Detail string `json:"detail"`
}

func (o *doctorObject) add(name, state, detail string) {
	o.Checks = append(o.Checks, checkedPoint{Name: name, State: state, Detail: detail})
	o.OK = o.OK && state != "bad"
}

// addFault adds an error that keeps a run from starting, and its remedy.
func (o *doctorObject) addFault(name string, err error) {
	text := err.Error()
	if hint := exit.HintOf(err); hint != "" {
		text += "; " + hint
	}
	o.add(name, "bad", termtext.Line(text))
}

func doctorAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	var none *git.NotRepoError
	outside := errors.As(err, &none)
	if outside {
		p, err = outsideOfRepositories(env, none.Dir)
	}
	if err != nil {
		return err
	}
	checks := []func(context.Context, *cmdline.Place, *doctorObject) error{
		checkGit, checkLogins, checkSandbox, checkRoom, checkRepository, checkGrants, checkRuns,
	}
	if outside {
		checks = []func(context.Context, *cmdline.Place, *doctorObject) error{checkGit, checkLogins, checkLevel, checkMachine}
	}
	o := &doctorObject{Schema: "swarm.doctor/1", OK: true}
	for _, check := range checks {
		if err := check(c.Context, p, o); err != nil {
			return err
		}
	}
	if outside {
		o.addFault("repository", none)
	}
	if c.Bool("json") {
		err = cmdline.PrintJSON(env.Stdout, o)
	} else {
		t := terminal.Table{Columns: []terminal.Column{{Title: "CHECK"}, {Title: "STATE"}, {Title: "DETAIL"}}}
		for _, point := range o.Checks {
			t.Row(point.Name, point.State, point.Detail)
		}
		err = t.Print(env.Stdout, 0)
	}
	if err == nil && !o.OK {
		return &exit.Error{Code: exit.Failed}
	}
	return err
}

// outsideOfRepositories is a place for the checks of the machine. Its state is
// that of no repository, and is never made.
func outsideOfRepositories(env cmdline.Env, dir string) (*cmdline.Place, error) {
	p := cmdline.Without(env)
	root, err := store.Root(env.Getenv)
	if err != nil {
		return nil, cmdline.Refused(err)
	}
	p.Dir, p.StateRoot, p.State = dir, root, store.Open(root, "none", dir)
	return p, nil
}

func checkGit(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	version, err := git.New(p.Env.Environ).Version(ctx)
	if err != nil {
		return err
	}
	o.add("git", "ok", version)
	return nil
}

// checkSandbox puts a sandbox up once. It names the sandbox as a run does, and
// gives the reason for the lack of a better one.
func checkSandbox(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	if untried(p, o) {
		return nil
	}
	got, err := session.FindIsolation(ctx, p, isolation.Settings{})
	if err != nil {
		return err
	}
	o.addSandbox(plan.SandboxLine(p, isolation.Settings{}, got), got.Level, got.Why)
	o.addPlaces(got.Level, isolation.Shared(&p.Project, configuredPaths(ctx, p)))
	return checkBackends(p, got.Level, o)
}

// checkLevel is checkSandbox outside of a repository: workspaces depend on its
// place.
func checkLevel(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	if untried(p, o) {
		return nil
	}
	level, why, err := isolation.Probe(ctx, &p.Project, p.Env.Self)
	if err != nil {
		return err
	}
	line := level.Short()
	if why != nil {
		line += "; " + plan.AdviceLine(p, level, why)
	}
	o.addSandbox(line, level, why)
	o.addPlaces(level, isolation.Shared(&p.Project, isolation.Settings{}))
	return nil
}

// untried reports, and says, that no sandbox can be tried: a folder in the state is needed.
func untried(p *cmdline.Place, o *doctorObject) bool {
	if p.CheckState() == nil {
		return false
	}
	o.add("sandbox", "note", "not tried: the state folder cannot be written to")
	return true
}

// configuredPaths are the paths that the configuration hides and opens. They are empty
// where it cannot be read, which is reported by another check.
func configuredPaths(ctx context.Context, p *cmdline.Place) isolation.Settings {
	conf, err := p.LoadConfig(ctx, "HEAD")
	if err != nil {
		return isolation.Settings{}
	}
	s, err := isolation.Configured(ctx, &p.Project, conf)
	if err != nil {
		return isolation.Settings{}
	}
	return s
}

func (o *doctorObject) addSandbox(line string, level box.Level, why error) {
	state := "ok"
	if why != nil {
		state = "note"
	}
	o.add("sandbox", state, line)
	if why != nil {
		o.add("refused", "note", termtext.ErrorLine(why))
	}
}

// addPlaces adds the places that an agent writes to. shared are those of [isolation.Shared].
func (o *doctorObject) addPlaces(level box.Level, shared []string) {
	o.add("guarantee", "ok", level.Guarantee(shared))
	o.add("isolation", "note", level.Limits())
}

// checkBackends lists the possible backends, the cheapest first, and the cost
// of a workspace on the file system of the state.
func checkBackends(p *cmdline.Place, level box.Level, o *doctorObject) error {
	var works, not []string
	var able []worktree.Backend
	for _, backend := range worktree.Backends() {
		if err := isolation.Possible(&p.Project, level, backend); err != nil {
			not = append(not, fmt.Sprintf("not %s: %v", backend, err))
			continue
		}
		works, able = append(works, string(backend)), append(able, backend)
	}
	o.add("workspaces", "ok", strings.Join(slices.Concat([]string{strings.Join(works, ", ")}, not), "; "))
	cost, err := precheck.CostOn(p.State.Dir, able)
	if err != nil {
		return err
	}
	state := "ok"
	if !cost.Cheap {
		state = "note"
	}
	o.add("file system", state, cost.Detail)
	return nil
}

// checkGrants lists the grants of AGENTS.md and its unreadable items. It also
// reports that uncommitted changes of it do not count.
func checkGrants(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	head, err := p.Repo.Commit(ctx, "HEAD")
	var none *git.RevError
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := repository.Authority(ctx, p.Repo, head)
	if err != nil {
		return err
	}
	said, wrong := []string{}, []string{}
	for _, g := range slices.Concat([]*risk.Grants{a.Root}, a.Nested) {
		if g != nil {
			holds, not := heldBy(g, g != a.Root)
			said, wrong = append(append(said, holds...), not...), append(wrong, not...)
		}
	}
	state := "ok"
	if len(wrong) > 0 {
		state = "note"
	}
	differs, err := repository.GrantsDiffer(ctx, p.Repo, head)
	if err != nil {
		return err
	}
	if differs {
		state, said = "note", append(said, session.GrantsDiffer)
	}
	if len(said) > 0 {
		o.add("grants", state, termtext.Line(strings.Join(said, "; ")))
	}
	return nil
}

// heldBy is doctor's report on a file: how many items hold, and which grant
// nothing.
func heldBy(g *risk.Grants, nested bool) (holds, not []string) {
	count := 0
	for _, item := range g.Items {
		if nested && !item.Never {
			not = append(not, item.Where+" grants nothing: "+policy.OnlyTop)
		} else {
			count++
		}
	}
	if count > 0 {
		holds = append(holds, fmt.Sprintf("%s: %s", g.Path, termtext.Count(count, "item", "items")))
	}
	for _, v := range g.Void {
		not = append(not, policy.VoidWhere(g.Path, v.Line)+" grants nothing: "+v.Why)
	}
	if g.Suspended != "" {
		not = append(not, "nothing at all is granted: "+g.Path+": "+g.Suspended)
	}
	return holds, not
}

// checkMachine is checkRoom outside of a repository.
func checkMachine(_ context.Context, p *cmdline.Place, o *doctorObject) error {
	o.addRoom(cmdline.MachineOf(p.Env))
	free, err := worktree.Free(p.StateRoot)
	if err != nil {
		return err
	}
	o.add("disk", "ok", fmt.Sprintf("%s free below %s", termtext.Bytes(free), p.StateRoot))
	if err := p.CheckState(); err != nil {
		o.addFault("state", err)
	}
	return nil
}

// addRoom reports the room for agents, with the limits that decide it.
func (o *doctorObject) addRoom(m limit.Machine) {
	of := ""
	if r := m.Memory; r.Limit > 0 {
		of = fmt.Sprintf(" of %s, limited by %s,", termtext.Bytes(r.Limit), termtext.Line(r.By))
	}
	o.add("memory", "ok", fmt.Sprintf("%s available%s on %d cores: up to %s at once",
		termtext.Bytes(m.Memory.Free), of, runtime.NumCPU(), termtext.Count(m.Jobs(limit.CommandFootprint), "command", "commands")))
	if r := m.Processes; m.MostJobs() < limit.MaxJobs {
		o.add("processes", "note", fmt.Sprintf("%d of %d free, limited by %s: up to %s at once",
			r.Free, r.Limit, termtext.Line(r.By), termtext.Count(m.MostJobs(), "agent", "agents")))
	}
	if err := m.Check(); err != nil {
		o.add("room", "bad", err.Error())
	}
}

func checkRoom(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	o.addRoom(cmdline.MachineOf(p.Env))
	free, err := worktree.Free(p.State.Dir)
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("%s free below %s", termtext.Bytes(free), p.State.Dir)
	head, err := p.Repo.Commit(ctx, "HEAD")
	if err != nil {
		text := "HEAD has no commit yet: agents need one to start from"
		if unborn := (*git.RevError)(nil); !errors.As(err, &unborn) {
			text = err.Error()
		}
		o.add("base", "bad", text)
		o.add("disk", "ok", detail)
		return nil
	}
	size, err := worktree.CheckoutSize(ctx, p.Repo, head)
	if err != nil {
		return err
	}
	state := "ok"
	if free < size+limit.DiskSlack {
		state = "bad"
	}
	o.add("disk", state, fmt.Sprintf("%s; one workspace takes about %s", detail, termtext.Bytes(size)))
	return nil
}

func checkRepository(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	head, err := p.Repo.Commit(ctx, "HEAD")
	if unborn := (*git.RevError)(nil); err != nil && !errors.As(err, &unborn) {
		return err
	}
	if err := p.Repo.Writable(); err != nil {
		o.addFault("repository", err)
	}
	hazards, err := precheck.Hazards(ctx, p.Repo, head)
	if err != nil {
		return err
	}
	for _, h := range hazards {
		state := "note"
		if h.Refused {
			state = "bad"
		}
		o.add(h.Name, state, h.Detail)
	}
	_, err = p.LoadConfig(ctx, "HEAD")
	var bad *exit.Error
	switch {
	case errors.As(err, &bad):
		o.add("configuration", "bad", err.Error())
	case err != nil:
		return err
	default:
		o.add("configuration", "ok", "readable")
	}
	return nil
}

func checkRuns(_ context.Context, p *cmdline.Place, o *doctorObject) error {
	if err := p.CheckState(); err != nil {
		o.addFault("state", err)
		return nil
	}
	state := p.State.Dir
	if _, err := os.Stat(state); err != nil {
		o.add("state", "ok", state+" (not made yet)")
		return nil
	}
	entries, err := p.State.Runs()
	if err != nil {
		return err
	}
	live, died := 0, 0
	for _, e := range entries {
		if e.Damage != nil {
			o.add("run "+e.Run.ID, "note", e.Damage.Error())
			continue
		}
		v, err := e.Run.View()
		switch {
		case err != nil:
			o.add("run "+e.Run.ID, "note", err.Error())
		case v.Died:
			died++
		case e.Run.Live():
			live++
		}
	}
	detail := fmt.Sprintf("%s: %s, %d live", state, termtext.Count(len(entries), "run", "runs"), live)
	if died > 0 {
		detail += fmt.Sprintf(", %d whose process died (`%s gc` recovers them)", died, p.Env.Calls)
	}
	o.add("state", "ok", detail)
	return nil
}
