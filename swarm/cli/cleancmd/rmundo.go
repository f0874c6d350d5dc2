package cleancmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/store"
)

// restoredObject is swarm.restored/1, described in docs/json.md.
type restoredObject struct {
	Schema   string   `json:"schema"`
	Restored []string `json:"restored"` // run ids
}

// bringBack moves removed runs back; without a name, the run removed last.
func bringBack(p *cmdline.Place, c *cli.Context, names []string) error {
	trashed, err := p.State.Trashed()
	if err != nil {
		return err
	}
	trashed = slices.DeleteFunc(trashed, func(t store.Trashed) bool { return t.Damage != nil })
	slices.SortStableFunc(trashed, func(a, b store.Trashed) int { return a.Time.Compare(b.Time) })
	o := restoredObject{Schema: "swarm.restored/1", Restored: []string{}}
	if len(trashed) == 0 && len(names) == 0 {
		return &selection.NoWorkError{Text: "rm: no removed run is in the trash", Object: o}
	}
	// All are looked for before the first comes back.
	var chosen []store.Trashed
	for _, name := range names {
		t, err := findRemoved(trashed, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(chosen, func(other store.Trashed) bool { return other.Run == t.Run }) {
			chosen = append(chosen, t)
		}
	}
	if len(names) == 0 {
		chosen = trashed[len(trashed)-1:]
	}
	for _, t := range chosen {
		run, err := t.Restore(c.Context)
		var busy *store.BusyError
		if errors.Is(err, store.ErrThere) || errors.As(err, &busy) {
			return cmdline.Refused(err)
		}
		if err != nil {
			return err
		}
		o.Restored = append(o.Restored, run.ID)
		if !c.Bool("json") {
			if _, err := fmt.Fprintf(p.Env.Stdout, "run %s is back\n", run.ID); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, o)
	}
	return nil
}

// findRemoved is the removed run of that id. If a run was removed several times,
// only its latest folder is in the trash.
func findRemoved(trashed []store.Trashed, name string) (store.Trashed, error) {
	var ids []string
	for _, t := range slices.Backward(trashed) {
		if t.Run == name {
			return t, nil
		}
		ids = append(ids, t.Run)
	}
	e := &exit.UsageError{Text: fmt.Sprintf("rm: no removed run %q is in the trash", name)}
	switch near := nearest.Name(name, ids); {
	case near != "":
		e.Text += ", did you mean " + near + "?"
	case len(ids) > 0:
		e.Advice = "removed runs: " + termtext.List(ids, 8)
	}
	return store.Trashed{}, e
}
