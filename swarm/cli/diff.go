package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

func newDiffCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "print what agents changed",
		ArgsUsage: "[RUN | AGENT…]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "print files and sizes of the change instead"},
			&cli.BoolFlag{Name: "name-only", Usage: "print the paths only"},
			jsonFlag(),
		},
		Description: `Prints the patch of each agent against the base of its run, in the form that
git apply takes. On a terminal, names and control characters are made visible.

Examples:
  swarm diff
  swarm diff a3 > a3.patch
  swarm diff k3x9q2 --stat
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
	ID      string       `json:"id"`
	Label   string       `json:"label,omitempty"`
	Patch   patchObject  `json:"patch"`
	Changes []fileObject `json:"changes"`
}

type fileObject struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

func diffAction(c *cli.Context, env Env) error {
	if c.Bool("stat") && c.Bool("name-only") {
		return usagef("diff: --stat and --name-only exclude each other")
	}
	p, s, err := openSelection(c, env, 0, -1)
	if err != nil {
		return err
	}
	d := &differ{place: p, named: len(s.named) > 0, stat: c.Bool("stat"), names: c.Bool("name-only")}
	if c.Bool("json") {
		d.object = &diffObject{Schema: "swarm.diff/1", Run: s.run.ID, Agents: []agentDiffObject{}}
	}
	for _, a := range s.agents() {
		if err := d.print(c.Context, a); err != nil {
			return err
		}
	}
	if !d.found && !d.named {
		fmt.Fprintf(env.Stderr, "no agent of run %s has changed anything\n", s.run.ID)
	}
	if d.object != nil {
		return printJSON(env.Stdout, d.object)
	}
	return nil
}

// differ prints patches in one of four forms.
type differ struct {
	*place
	named       bool // an agent without a patch is told
	stat, names bool
	object      *diffObject // nil: print text
	found       bool        // a patch
}

func (d *differ) print(ctx context.Context, a *store.Agent) error {
	patch := patchOf(a)
	if patch == nil {
		if d.named {
			fmt.Fprintln(d.env.Stderr, Printable(noPatch(a)))
		}
		return nil
	}
	d.found = true
	if d.object == nil {
		d.sayMarked(a)
	}
	if d.object == nil && !d.names && !d.stat {
		return d.text(ctx, a)
	}
	changes, err := d.changes(ctx, a)
	if err != nil {
		return err
	}
	switch {
	case d.object != nil:
		d.object.add(a, changes)
		return nil
	case d.names:
		return printNames(d.env.Stdout, changes)
	default:
		fmt.Fprintf(d.env.Stdout, "%s %s: %s, +%d -%d\n", a.ID, Printable(engine.Title(a.ID, a.Call)),
			Count(patch.Files, "file", "files"), patch.Added, patch.Deleted)
		return printStat(d.env.Stdout, changes)
	}
}

func (o *diffObject) add(a *store.Agent, changes []git.Change) {
	p := patchOf(a)
	d := agentDiffObject{
		ID: string(a.ID), Label: engine.Title(a.ID, a.Call), Changes: []fileObject{},
		Patch: *newPatchObject(p),
	}
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
		if _, err := fmt.Fprintln(w, Printable(ch.Path)); err != nil {
			return err
		}
	}
	return nil
}

func printStat(w io.Writer, changes []git.Change) error {
	for _, ch := range changes {
		if _, err := fmt.Fprintf(w, "  %-13s %s\n", changeWord(ch.Status), Printable(ch.Path)); err != nil {
			return err
		}
	}
	return nil
}

// text prints a patch: byte for byte, but to a terminal made safe.
func (d *differ) text(ctx context.Context, a *store.Agent) error {
	if !detect(d.env.Stdout, d.env.Getenv).TTY {
		return d.writePatch(ctx, d.env.Stdout, a)
	}
	safe := &safeLines{w: d.env.Stdout}
	return errors.Join(d.writePatch(ctx, safe, a), safe.flush())
}
