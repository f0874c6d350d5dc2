package gc

import (
	"context"

	"agentswarm/swarm/store"
)

// old moves runs into the trash that ended longer ago than the user wants to keep them. A run
// whose work would be lost stays.
func (c *collector) old(ctx context.Context) error {
	if c.Retention.RunAge == 0 {
		return nil
	}
	entries, err := c.State.Runs()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Damage != nil || e.Run.Live() {
			continue // which runs has told
		}
		v, err := e.Run.View()
		if err != nil || v.Status == store.RunRunning || v.Ended.IsZero() || c.Now.Sub(v.Ended) <= c.Retention.RunAge {
			continue
		}
		loss, err := c.Loss(ctx, e.Run, v)
		if err != nil {
			return err
		}
		if loss != nil {
			c.kept(e.Run.Dir, "run "+e.Run.ID+" "+loss.Reason)
			continue
		}
		moved := Moved{Path: e.Run.Dir, Run: e.Run.ID}
		if !c.DryRun {
			if moved.Trash, err = c.Remove(ctx, e.Run); ctx.Err() != nil {
				return err
			} else if err != nil { // it keeps no other run
				c.kept(e.Run.Dir, err.Error())
				continue
			}
		}
		c.report.Moved = append(c.report.Moved, moved)
	}
	return nil
}
