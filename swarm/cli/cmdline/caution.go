package cmdline

import (
	"github.com/urfave/cli/v2"

	"agentswarm/risk"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
)

// auditAll is the only word that --audit takes.
const auditAll = "all"

// cautionGiven holds the values of the flags.
type cautionGiven struct {
	confined config.Confined // unset: nothing
	allow    []string
	audit    bool
}

func ReadCautionFlags(c *cli.Context) (cautionGiven, error) {
	g := cautionGiven{audit: c.IsSet("audit")}
	name := c.Command.Name
	if c.IsSet("confined") {
		if err := g.confined.UnmarshalText([]byte(c.String("confined"))); err != nil {
			return g, exit.Usagef("%s: --confined %q: want ask or snapshot", name, c.String("confined"))
		}
	}
	if c.IsSet("allow") {
		g.allow = c.StringSlice("allow")
	}
	for _, item := range g.allow {
		if _, err := risk.ParseGrant(item); err != nil {
			return g, exit.Usagef("%s: --allow %q: %v", name, item, err)
		}
	}
	if word := c.String("audit"); g.audit && word != auditAll {
		return g, exit.Usagef("%s: --audit %q: want %s", name, word, auditAll)
	}
	return g, nil
}

// layCaution lays the flags over the configured or recorded policy. Only people
// may use the flags that let more proceed.
func (p *Place) layCaution(c *cli.Context, into *policy.Policy) error {
	g, err := ReadCautionFlags(c)
	if err != nil {
		return err
	}
	if g.confined == config.ConfinedSnapshot {
		if err := p.Personal("--confined snapshot"); err != nil {
			return err
		}
	}
	if len(g.allow) > 0 {
		if err := p.Personal("--allow"); err != nil {
			return err
		}
	}
	if g.confined != config.ConfinedUnset {
		into.Confined = g.confined.String()
	}
	into.Allow = isolation.Union(into.Allow, g.allow)
	into.Audit = into.Audit || g.audit
	return nil
}
