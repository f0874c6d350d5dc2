package benchcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	measure "agentswarm/swarm/bench"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

const (
	defaultAgents = 100
	defaultSample = 5
)

// New returns the command bench, with bench landing below it.
func New(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "compare swarm with plain git, on a temporary clone",
		ArgsUsage: "[REPO]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "agents", Value: defaultAgents, Usage: "measure with `N` agents, 1 to 1000"},
			&cli.IntFlag{Name: "sample", Value: defaultSample, Usage: "median of `K` repeats of each step; slow steps of plain git are done K times and scaled"},
			&cli.StringFlag{Name: "backend", Usage: "measure only this backend: `overlay|reflink|copy|worktree` (default: all that work here)"},
			&cli.StringFlag{Name: "dir", Usage: "work in a new folder in `DIR` (default: the disk of the state)"},
			&cli.BoolFlag{Name: "keep", Usage: "leave that folder"},
			cmdline.JSONFlag(),
		},
		Subcommands: []*cli.Command{newLandingCommand(env)},
		Description: `Clones the repository (default: the one you are in) into a new folder, measures
there plain git and plain commands, in turns with each backend of swarm: workspaces,
disk, capture, merging, and short agents end to end. Your files do not change. The
folder is removed, unless the command is killed or gets a second Ctrl-C.

Slow steps are done a few times and scaled; each figure says how many were done. The
commands of the baseline are printed. The exit code is 0 also if a goal is missed.

Examples:
  swarm bench
  swarm bench ~/src/kubernetes --agents 50
  swarm bench --backend overlay --sample 9 --json`,
		Action: func(c *cli.Context) error { return benchAction(c, env) },
	}
}

func benchAction(c *cli.Context, env cmdline.Env) error {
	r, err := newRequest(c, env)
	if err != nil {
		return err
	}
	report, err := measure.Run(c.Context, r)
	var not *measure.RefusedError
	if errors.As(err, &not) {
		return cmdline.Refused(err)
	}
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, report)
	}
	return printReport(env, report)
}

func newRequest(c *cli.Context, env cmdline.Env) (r measure.Request, err error) {
	args, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return r, err
	}
	r = measure.Request{
		Environ: env.Environ, Agents: c.Int("agents"), Sample: c.Int("sample"), Keep: c.Bool("keep"),
		Open: func(ctx context.Context, y measure.Clone) (measure.Product, error) { return openProduct(ctx, env, y) },
		Say:  func(text string) { fmt.Fprintln(env.Stderr, "bench: "+termtext.Line(text)) },
	}
	if env.Keeper != nil {
		r.Keeper = env.Keeper
	}
	if r.Agents < 1 || r.Agents > 1000 {
		return r, exit.Usagef("bench: --agents %d: want 1 to 1000", r.Agents)
	}
	if !c.IsSet("sample") {
		r.Sample = min(r.Sample, r.Agents)
	}
	if r.Sample < 1 || r.Sample > r.Agents {
		return r, exit.Usagef("bench: --sample %d: want 1 to %d, the number of agents", r.Sample, r.Agents)
	}
	if c.IsSet("backend") {
		if r.Only, err = worktree.ParseBackend(c.String("backend")); err != nil {
			return r, exit.Usagef("bench: --backend %q: want overlay, reflink, copy or worktree", c.String("backend"))
		}
	}
	from := cmdline.Invoked(c).Dir
	repo := from
	if len(args) > 0 {
		repo = filepath.Clean(fspath.From(from, args[0]))
		if stat, err := os.Stat(repo); err != nil || !stat.IsDir() {
			return r, exit.Usagef("bench: %s: no such folder", args[0])
		}
	}
	if r.Repo, err = git.New(env.Environ).Discover(c.Context, repo); err != nil {
		return r, cmdline.Refused(err)
	}
	r.Dir, err = workDir(c, env)
	return r, err
}

// workDir is where a bench makes its folder: on the file system that the state
// is on, or would be.
func workDir(c *cli.Context, env cmdline.Env) (string, error) {
	if c.IsSet("dir") {
		dir := cmdline.PathFlag(c, "dir")
		stat, err := os.Stat(dir)
		if err != nil || !stat.IsDir() {
			return "", exit.Usagef("bench: --dir %s: no such folder", c.String("dir"))
		}
		return filepath.EvalSymlinks(dir)
	}
	dir, err := store.Root(env.Getenv)
	if err != nil {
		return "", cmdline.Refused(err)
	}
	for {
		stat, err := os.Stat(dir)
		if err == nil && stat.IsDir() {
			return filepath.EvalSymlinks(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", cmdline.Refused(fmt.Errorf("no folder to work in: %w", err))
		}
		dir = filepath.Dir(dir)
	}
}

// product is swarm, put together as for a run, but on a clone.
type product struct {
	*cmdline.Place
	backend worktree.Backend
	self    string
	base    store.Base
}

// openProduct opens swarm on a clone. It returns a [measure.NotHereError] where the
// backend does not work, and an error if the clone cannot be opened.
func openProduct(ctx context.Context, env cmdline.Env, y measure.Clone) (measure.Product, error) {
	values := map[string]string{}
	for _, kv := range y.Environ {
		key, value, _ := strings.Cut(kv, "=")
		values[key] = value
	}
	env.Environ, env.Dir = y.Environ, y.Dir
	env.Getenv = func(name string) string { return values[name] }
	p, err := cmdline.OpenAt(ctx, env, y.Dir)
	if err != nil {
		return nil, err
	}
	p.Keep()
	p.Given = func(i *isolation.Settings) error {
		i.Backend = string(y.Backend)
		return nil
	}
	b := &product{Place: p, backend: y.Backend}
	if b.self, err = p.Binary(p.Env.Self); err != nil {
		return nil, err
	}
	level, _, err := isolation.Probe(ctx, &p.Project, b.self)
	if err != nil {
		return nil, err
	}
	if err := isolation.Possible(&p.Project, level, y.Backend); err != nil {
		return nil, &measure.NotHereError{Reason: termtext.ErrorLine(err)}
	}
	commit, err := p.Repo.Commit(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	tree, err := p.Repo.TreeOf(ctx, commit)
	b.base = store.Base{Commit: string(commit), Tree: string(tree), Kind: store.BaseHead}
	return b, err
}

func (b *product) Self() string { return b.self }

// Shift begins a run without calls.
func (b *product) Shift(ctx context.Context) (*measure.Shift, error) {
	config, err := json.Marshal(session.Config{Settings: isolation.Settings{Backend: string(b.backend)}})
	if err != nil {
		return nil, err
	}
	run, owner, err := b.State.Create(store.Identity{
		Version: cmdline.BuildVersion().Version, Base: b.base, CommonDir: cmdline.Readable(b.Repo.CommonDir),
		TopLevel: cmdline.Readable(b.Repo.TopLevel), Workflow: store.Workflow{Kind: store.WorkflowPrompt}, Config: config,
	})
	if err != nil {
		return nil, err
	}
	on, err := session.Open(ctx, b.Place, run, owner)
	if err != nil {
		return nil, errors.Join(err, owner.Close())
	}
	return &measure.Shift{
		Run: run.ID, Dir: run.Dir, Trees: on.Trees, Launcher: on.Deps.Launcher, Environ: b.Env.Environ,
		Close: func() error { return errors.Join(on.Trees.Close(), owner.Close()) },
		Enclose: func(w worktree.Workspace, dir, private string) (json.RawMessage, error) {
			around, err := on.Sandbox.Sandbox(engine.SandboxRequest{
				Workspace: w, Read: []string{dir}, Write: []string{filepath.Join(dir, "artifacts")}, Private: private,
			})
			return around.Sandbox, err
		},
	}, nil
}

// printReport prints the table.
func printReport(env cmdline.Env, r *measure.Report) error {
	text := fmt.Sprintf("%s at %s: %s, %s; %s; %s",
		termtext.Line(r.Repository), r.Commit[:min(10, len(r.Commit))], termtext.Count(r.Files, "file", "files"), termtext.Bytes(r.Size),
		termtext.Count(r.Agents, "agent", "agents"), termtext.Count(r.Cores, "core", "cores"))
	if r.Load != nil {
		text += fmt.Sprintf(" under a load of %.1f", *r.Load)
	}
	fmt.Fprintf(env.Stdout, "%s; git %s\n\n", text, r.Git)
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "STEP"}, {Title: "BACKEND"}, {Title: "AGAINST"}, {Title: "THERE", Right: true}, {Title: "SWARM", Right: true},
		{Title: "RATIO", Right: true}, {Title: "GOAL"},
	}}
	for _, row := range r.Rows {
		t.Row(stepTitle(row.Step), row.Backend, row.Against, figureText(row.Baseline), figureText(row.Swarm),
			ratioText(row), goalText(row.Goal, r.Files < goalFiles))
	}
	if err := t.Print(env.Stdout, 0); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "\nMedians of %s. (k/n): k were done, and that was scaled to n. RATIO is how many times\n"+
		"faster swarm is; of disk and end to end, how much of THERE it takes.\n", termtext.Count(r.Sample, "round", "rounds"))
	if r.Files < goalFiles {
		fmt.Fprintf(env.Stdout, "The goals are for %s and more. In a smaller repository the fixed cost of a run weighs more than the files.\n",
			termtext.Count(goalFiles, "file", "files"))
	}
	for _, p := range r.Passed {
		fmt.Fprintf(env.Stdout, "not %s: %s\n", p.Backend, termtext.Line(p.Reason))
	}
	if r.Dir != "" {
		fmt.Fprintf(env.Stdout, "left: %s\n", termtext.Line(r.Dir))
	}
	fmt.Fprint(env.Stdout, "\nThe baseline, as commands for a new folder:\n")
	for _, c := range r.Commands {
		fmt.Fprintf(env.Stdout, "\n# %s\n", c.Name)
		for _, line := range c.Lines {
			fmt.Fprintln(env.Stdout, termtext.Line(line))
		}
	}
	return nil
}

// stepTitle is a step for people.
func stepTitle(s measure.Step) string {
	switch s {
	case measure.StepCreate:
		return "workspaces, warm"
	case measure.StepCold:
		return "workspaces, cold"
	case measure.StepDisk:
		return "disk"
	case measure.StepCapture:
		return "capture"
	case measure.StepMerge:
		return "merging"
	case measure.StepLand:
		return "swarm merge"
	case measure.StepEnds:
		return "end to end"
	case measure.StepBusy:
		return "end to end, busy"
	default:
		return string(s)
	}
}

func figureText(f measure.Figure) string {
	text := termtext.Bytes(f.Bytes)
	switch {
	case f.Bytes > 0:
	case f.MS < 10:
		text = fmt.Sprintf("%.1f ms", f.MS)
	case f.MS < 1000:
		text = fmt.Sprintf("%.0f ms", f.MS)
	default:
		text = fmt.Sprintf("%.1f s", f.MS/1000)
	}
	if f.Run != f.Of {
		text += fmt.Sprintf(" (%d/%d)", f.Run, f.Of)
	}
	return text
}

func ratioText(r measure.Row) string {
	if r.Step == measure.StepDisk {
		return fmt.Sprintf("%.2f %%", r.Ratio*100)
	}
	return cmp.Or(strconv.FormatFloat(r.Ratio, 'f', 1, 64), "0")
}

// goalFiles is how many files a repository has at least for which the goals are
// set.
const goalFiles = 5000

// goalText is a goal, and whether it is met. A repository that is small need not
// meet it.
func goalText(g *measure.Goal, small bool) string {
	if g == nil {
		return ""
	}
	text := fmt.Sprintf("at least %g", g.AtLeast)
	switch {
	case g.AtMost > 0 && g.AtMost < 1:
		text = fmt.Sprintf("at most %g %%", g.AtMost*100)
	case g.AtMost > 0:
		text = fmt.Sprintf("at most %g", g.AtMost)
	}
	switch {
	case g.Met:
		return text + ": met"
	case small:
		return text + ": too small"
	default:
		return text + ": not met"
	}
}
