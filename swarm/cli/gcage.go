package cli

import (
	"context"

	"agentswarm/swarm/config"
	"agentswarm/swarm/store"
)

// retention is what the user says about what is kept. No agent says it for
// them: it could point to a file of its own.
func (p *place) retention() (config.Retention, error) {
	c, err := p.ownConfig()
	if err != nil {
		return config.Retention{}, err
	}
	return c.Retention, nil
}

// ownConfig is the user's own configuration; the default one where an agent asks.
func (p *place) ownConfig() (*config.Config, error) {
	if p.personal("reading the user's own configuration") != nil {
		return config.Load()
	}
	return p.env.userConfig()
}

// baseSize is what shared checkouts may take; 0 where nothing is said. What is
// wrong with the file is told where a run is planned.
func (p *place) baseSize() int64 {
	keep, err := p.retention()
	if err != nil {
		return 0
	}
	return keep.BaseSize
}

// poolSize is what files for the next workspaces may take; 0 where nothing is
// said.
func (p *place) poolSize() int64 {
	keep, err := p.retention()
	if err != nil {
		return 0
	}
	return keep.PoolSize
}

// old moves runs into the trash that ended longer ago than the user wants to
// keep them. What would be lost with one keeps it.
func (g *collector) old(ctx context.Context) error {
	if g.retain.RunAge == 0 {
		return nil
	}
	entries, err := g.state.Runs()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Damage != nil || e.Run.Live() {
			continue // which runs has told
		}
		v, err := e.Run.View()
		if err != nil || v.Status == store.RunRunning || v.Ended.IsZero() || g.now.Sub(v.Ended) <= g.retain.RunAge {
			continue
		}
		why, _, err := g.precious(ctx, e.Run, v)
		if err != nil {
			return err
		}
		if why != "" {
			g.out.Kept = append(g.out.Kept, gcKept{Path: e.Run.Dir, Reason: "run " + e.Run.ID + " " + why})
			continue
		}
		moved := gcMoved{Path: e.Run.Dir, Run: e.Run.ID}
		if !g.dry {
			if moved.Trash, err = g.remove(ctx, e.Run); err != nil {
				return err
			}
		}
		g.out.Moved = append(g.out.Moved, moved)
	}
	return nil
}
