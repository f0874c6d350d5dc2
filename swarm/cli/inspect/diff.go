package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/diffcolor"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// NewDiffCommand returns the command `swarm diff`.
func NewDiffCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "print what agents changed",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "print files and sizes of changes, as git diff --stat"},
			&cli.BoolFlag{Name: "name-only", Usage: "print the paths only"},
			&cli.BoolFlag{Name: "classes", Usage: "group equal edits and print each group once"},
			cmdline.JSONFlag(),
		}, selection.EndedFlags()...),
		Description: `Prints the patch of each agent against the base of its run, for git apply. Patches of
submodules follow it; a3/SUBMODULE prints one alone. With several agents, a line with
the agent precedes each patch. On a terminal your git pager shows the patches, in
colors and with control characters made visible.

Examples:
  swarm diff
  swarm diff a3 > a3.patch
  swarm diff k3x9q2 --stat
  swarm diff --unlanded --stat
  swarm diff a3 a4 --name-only`,
		Action: func(c *cli.Context) error { return diffAction(c, env) },
	}
}

// diffObject is swarm.diff/1, described in docs/json.md.
type diffObject struct {
	Schema string            `json:"schema"`
	Run    string            `json:"run"`
	Agents []agentDiffObject `json:"agents"`
}

type agentDiffObject struct {
	ID      string           `json:"id"`
	Label   string           `json:"label,omitempty"`
	Patch   view.PatchObject `json:"patch"`
	Changes []fileObject     `json:"changes"`
}

type fileObject struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

func diffAction(c *cli.Context, env cmdline.Env) error {
	if c.Bool("stat") && c.Bool("name-only") {
		return exit.Usagef("diff: --stat and --name-only exclude each other")
	}
	if c.Bool("classes") && (c.Bool("stat") || c.Bool("name-only")) {
		return exit.Usagef("diff: --classes excludes --stat and --name-only")
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if c.Bool("classes") {
		if s.Earlier {
			return exit.Usagef("diff: --classes is of the latest attempts, and an earlier one or a copy is named")
		}
		return printClasses(p, c, s, true)
	}
	d := &differ{Place: p, named: len(s.Named) > 0 && s.Chosen.Empty(), stat: c.Bool("stat"), names: c.Bool("name-only")}
	if c.Bool("json") {
		d.object = &diffObject{Schema: "swarm.diff/1", Run: s.Run.ID, Agents: []agentDiffObject{}}
	}
	if d.object == nil {
		if err := cmdline.Page(p, c); err != nil {
			return err
		}
	}
	d.term = terminal.Detect(env.Stdout, env.Getenv)
	d.titles = d.term.TTY || countPatches(s.Agents()) > 1
	switch {
	case !s.Latest || d.object != nil:
	case d.term.TTY: // a pager hides the lines before it
		d.of = " of run " + s.Run.ID
	default:
		s.PrintLatest(env)
	}
	for _, a := range s.Agents() {
		if err := d.print(c.Context, a); err != nil {
			return err
		}
	}
	if !d.found && !d.named {
		fmt.Fprintln(env.Stderr, noneChanged(s))
	}
	if d.object != nil {
		return cmdline.PrintJSON(env.Stdout, d.object)
	}
	return nil
}

// noneChanged says of a selection that there is nothing to show of it.
func noneChanged(s *selection.Selection) string {
	if s.Chosen.Empty() {
		return fmt.Sprintf("no agent of run %s has changed anything", s.Run.ID)
	}
	return fmt.Sprintf("no agent of run %s that %s picks has changed anything", s.Run.ID, s.Chosen)
}

func countPatches(agents []*store.Agent) int {
	n := 0
	for _, a := range agents {
		if a.Patch() != nil {
			n++
		}
	}
	return n
}

// differ prints patches in a form of four.
type differ struct {
	*cmdline.Place
	term        terminal.Output
	titles      bool   // each patch follows a line with its agent
	of          string // the end of that line, if no address names the run
	named       bool   // an agent without a patch is told
	stat, names bool
	object      *diffObject // nil: print text
	found       bool        // a patch
}

func (d *differ) print(ctx context.Context, a *store.Agent) error {
	if a.Patch() == nil {
		if d.named {
			fmt.Fprintln(d.Env.Stderr, termtext.Line(lander.NoPatch(a)))
		}
		return nil
	}
	if d.object == nil {
		view.SayMarked(d.Place, a)
		if err := d.title(a); err != nil {
			return err
		}
	}
	d.found = true
	switch {
	case d.object != nil || d.names:
	case d.stat:
		return d.printStat(ctx, a)
	default:
		return d.text(ctx, a)
	}
	changes, err := session.Patches(d.Place).AllChanges(ctx, a)
	if err != nil {
		return err
	}
	if d.object != nil {
		d.object.add(a, changes)
		return nil
	}
	return printNames(d.Env.Stdout, changes)
}

// title is the line before the patch of an agent. git apply skips it. Names alone
// are for programs, and have none.
func (d *differ) title(a *store.Agent) error {
	if !d.titles || d.names {
		return nil
	}
	text := string(a.ID)
	if a.Module != nil {
		text += "/" + termtext.Line(a.Module.Path)
	}
	if label := engine.Title(a.ID, a.Call); label != string(a.ID) {
		text += " " + termtext.Line(label)
	}
	text = d.term.Paint(terminal.StyleTitle, "== "+text) + " (" + d.term.State(standing(a)) + ")" + d.of
	if d.found {
		text = "\n" + text
	}
	_, err := fmt.Fprintln(d.Env.Stdout, text)
	return err
}

// standing is the strongest fact that is known of a patch.
func standing(a *store.Agent) string {
	switch r := a.Status.(type) {
	case *task.Completed:
		switch {
		case a.Landed():
			return "landed"
		case a.Review != nil:
			return string(a.Review.Verdict)
		case r.Verified != nil && *r.Verified:
			return "verified"
		case r.Verified != nil:
			return "failed its check"
		}
	}
	return task.Word(a.Status)
}

func (o *diffObject) add(a *store.Agent, changes []git.Change) {
	p := a.Patch()
	d := agentDiffObject{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call), Changes: []fileObject{},
		Patch: *view.NewPatchObject(p),
	}
	d.Patch.Modules = patch.Modules(a)
	for _, ch := range changes {
		d.Changes = append(d.Changes, fileObject{Path: ch.Path, Status: changeWord(ch.Status)})
	}
	o.Agents = append(o.Agents, d)
}

func changeWord(status byte) string {
	switch status {
	case 'A':
		return "added"
	case 'D':
		return "deleted"
	case 'T':
		return "type_changed"
	default:
		return "modified"
	}
}

func printNames(w io.Writer, changes []git.Change) error {
	for _, ch := range changes {
		if _, err := fmt.Fprintln(w, termtext.Line(ch.Path)); err != nil {
			return err
		}
	}
	return nil
}

// printStat prints the files of a patch and its size as git does.
func (d *differ) printStat(ctx context.Context, a *store.Agent) error {
	width, _ := d.term.Size()
	safe := &safeLines{w: d.Env.Stdout}
	if d.term.Color {
		safe.colour = diffcolor.Stat
	}
	var err error
	if a.Module == nil {
		err = session.Patches(d.Place).WriteStat(ctx, safe, a, width)
		if gone, ok := errors.AsType[*patch.GoneError](err); ok {
			return gone
		}
	}
	for _, m := range patch.Modules(a) {
		if err == nil {
			_, err = io.WriteString(safe, moduleTitle(m))
		}
		if err == nil {
			err = d.Repo.Store(m.Store).WriteStat(ctx, safe, git.StatRequest{From: git.Hash(m.Base), To: git.Hash(m.Commit), Width: width})
		}
	}
	return errors.Join(err, safe.flush())
}

// text prints a patch: byte for byte, but to a terminal made safe.
func (d *differ) text(ctx context.Context, a *store.Agent) error {
	if !d.term.TTY && !d.term.Color {
		return writeAll(ctx, d.Place, d.Env.Stdout, a)
	}
	safe := &safeLines{w: d.Env.Stdout}
	if d.term.Color {
		safe.colour = (&diffcolor.Patch{}).Line
	}
	return errors.Join(writeAll(ctx, d.Place, safe, a), safe.flush())
}
