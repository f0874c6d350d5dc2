package cleancmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/enter"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/gc"
	"agentswarm/swarm/store"
)

// NewGcCommand returns the command `swarm gc`.
func NewGcCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Usage: "recover runs whose process died, and empty the trash",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print what would be removed; remove nothing"},
			cmdline.JSONFlag(),
		},
		Description: `Captures the work of runs whose process died, and moves workspaces of unreadable
runs into the trash. Then it deletes trash older than 7 days or beyond 5 GiB, with
the refs of its runs. It also deletes shared checkouts that take too much space, and
binaries that no run needs. On a nearly full disk it deletes more of the trash, but
never the only copy of work. It deletes only files that swarm recorded as its own.
The table [gc] of your own configuration sets other ages and sizes, and can have old
runs moved into the trash as swarm rm does.

Examples:
  swarm gc -n
  swarm gc`,
		Action: func(c *cli.Context) error { return gcAction(c, env) },
	}
}

// gcObject is swarm.gc/1, described in docs/json.md.
type gcObject struct {
	Schema string `json:"schema"`
	DryRun bool   `json:"dry_run,omitempty"`
	// Recovered are runs whose process died.
	Recovered []gc.Recovered `json:"recovered,omitempty"`
	Removed   []gc.Removed   `json:"removed"`
	Moved     []gc.Moved     `json:"moved"` // into the trash
	Kept      []gc.Kept      `json:"kept"`
	Bytes     int64          `json:"bytes"`
}

func gcAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	keep, err := session.Retention(p)
	if err != nil {
		return err
	}
	report, failed := gc.Collect(c.Context, gc.Request{
		Remover: *remover(p), Retention: keep, Now: time.Now(), DryRun: c.Bool("dry-run"),
		Sockets: control.FoldersFor(p.State, env.Getenv),
		Space:   diskwatch.SpaceOf, Copies: enter.CopyManager(p), Self: env.Self, Step: env.Step,
	})
	if c.Context.Err() != nil {
		return failed
	}
	o := gcObject{
		Schema: "swarm.gc/1", DryRun: c.Bool("dry-run"), Recovered: report.Recovered,
		Removed: report.Removed, Moved: report.Moved, Kept: report.Kept, Bytes: report.Bytes,
	}
	if c.Bool("json") {
		return errors.Join(failed, cmdline.PrintJSON(env.Stdout, o))
	}
	return errors.Join(failed, o.print(env.Stdout, keep.RunAge))
}

// print reports a collection to a person. age is the age of [gc] after which
// runs go.
func (o *gcObject) print(w io.Writer, age time.Duration) error {
	verb, moved, recovered := "removed", "moved", "recovered"
	if o.DryRun {
		verb, moved, recovered = "would remove", "would move", "would recover"
	}
	for _, r := range o.Recovered {
		work := termtext.Count(r.Workspaces, "workspace", "workspaces")
		if _, err := fmt.Fprintf(w, "%s run %s: its process died, with %s not captured\n", recovered, termtext.Line(r.Run), work); err != nil {
			return err
		}
	}
	for _, m := range o.Moved {
		why := "its run is gone or cannot be read"
		if m.Run != "" {
			why = "it ended more than " + config.Age(age) + " ago"
		}
		if _, err := fmt.Fprintf(w, "%s %s into the trash: %s\n", moved, termtext.Line(m.Path), why); err != nil {
			return err
		}
	}
	for _, r := range o.Removed {
		size := ""
		if r.Bytes > 0 {
			size = ", " + termtext.Bytes(r.Bytes)
		}
		if _, err := fmt.Fprintf(w, "%s %s %s%s\n", verb, r.Kind, termtext.Line(r.Name), size); err != nil {
			return err
		}
	}
	for _, k := range o.Kept {
		if _, err := fmt.Fprintf(w, "kept %s: %s\n", termtext.Line(k.Path), termtext.Line(k.Reason)); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s %s, %s", verb, termtext.Count(len(o.Removed), "thing", "things"), termtext.Bytes(o.Bytes))
	if len(o.Removed) == 0 {
		text = "nothing to remove"
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// remover removes runs.
func remover(p *cmdline.Place) *gc.Remover {
	return &gc.Remover{Repo: p.Repo, State: p.State, Runs: openRuns{p}, Calls: p.Env.Calls}
}

// openRuns lets a collection recover and open runs.
type openRuns struct{ *cmdline.Place }

func (r openRuns) Recover(ctx context.Context, run *store.Run) (*store.View, error) {
	return session.Retrieve(ctx, r.Place, run)
}

func (r openRuns) Open(ctx context.Context, run *store.Run) (*gc.OpenRun, error) {
	owner, err := session.Own(ctx, r.Place, run)
	if err != nil {
		return nil, err
	}
	b, err := session.Open(ctx, r.Place, run, owner)
	if err != nil {
		return nil, errors.Join(err, owner.Close())
	}
	return &gc.OpenRun{Owner: owner, Workspaces: b.Deps.Workspaces}, nil
}
