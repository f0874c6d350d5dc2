package gc

import (
	"context"
	"fmt"

	"agentswarm/swarm/copies"
)

// copies ends copies that a crash left. The changes in them are kept.
func (c *collector) copies(ctx context.Context) error {
	left, err := c.State.LeftCopies()
	if err != nil {
		return err
	}
	for _, l := range left {
		out, err := c.Copies.EndLeft(ctx, copies.LeftRequest{Copy: l, DryRun: c.DryRun, Calls: c.Calls})
		if out.Removed {
			c.removed("workspace", l.Run+"/"+l.Name(), 0)
		}
		if out.Moved != "" {
			c.report.Moved = append(c.report.Moved, Moved{Path: out.Moved, Trash: out.Trash})
		}
		for _, k := range out.Kept {
			if k.Where != "" {
				c.kept(k.Where, fmt.Sprintf("of a copy of %s/%s that a crash left: %s", l.Run, l.Agent, k.Text))
			}
		}
		if err != nil { // the others do not wait for it
			c.kept(l.Dir, err.Error())
		}
	}
	return nil
}
