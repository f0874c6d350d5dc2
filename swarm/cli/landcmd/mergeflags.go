package landcmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
)

// queueFlags are the flags of a merge that has a check.
func queueFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "as-they-pass", Usage: "with --verify: move the branch whenever patches pass together"},
		&cli.BoolFlag{Name: "all-or-nothing", Usage: "with --verify: land all patches or none"},
		&cli.StringFlag{Name: "screen", Usage: "with --verify: sort patches by the quick check `CMD` first"},
		&cli.IntFlag{Name: "slots", Usage: "with --verify: run `N` checks at once (default: by measure)"},
		&cli.StringFlag{Name: "order", Value: lander.OrderFewest, Usage: "with --verify: land conflicting patches by `RULE`: fewest (conflicts) or plan"},
	}
}

func queueFlagNames() []string {
	return []string{"all-or-nothing", "as-they-pass", "screen", "slots", "order"}
}

// queueOf reads these flags. They say nothing without a check.
func queueOf(c *cli.Context) (lander.QueueOptions, error) {
	o := lander.QueueOptions{On: true, Slots: c.Int("slots"), Order: c.String("order"), AsTheyPass: c.Bool("as-they-pass"), Screen: c.String("screen")}
	for _, name := range queueFlagNames() {
		switch {
		case !c.IsSet(name):
		case c.String("verify") == "":
			return o, exit.Usagef("merge: --%s is for a merge with --verify CMD", name)
		case c.Bool("all-or-nothing") && name != "all-or-nothing":
			return o, exit.Usagef("merge: --all-or-nothing and --%s exclude each other", name)
		}
	}
	switch {
	case o.AsTheyPass && c.Bool("squash"):
		return o, exit.Usagef("merge: --as-they-pass and --squash exclude each other: one commit moves the branch once")
	case c.IsSet("screen") && o.Screen != "" && strings.TrimSpace(o.Screen) == "":
		return o, exit.Usagef("merge: --screen has only spaces: give a command, or '' for none")
	case c.IsSet("slots") && o.Slots < 1:
		return o, exit.Usagef("merge: --slots is %d; want at least 1", o.Slots)
	case o.Order != lander.OrderFewest && o.Order != lander.OrderPlan:
		return o, exit.Usagef("merge: --order %q; want %s or %s", o.Order, lander.OrderFewest, lander.OrderPlan)
	case c.String("verify") == "" || c.Bool("all-or-nothing"):
		return lander.QueueOptions{}, nil
	}
	return o, nil
}

// configured takes the options of the user's configuration, unless a flag says another.
func configured(p *cmdline.Place, c *cli.Context, o lander.QueueOptions) (lander.QueueOptions, error) {
	if !o.On {
		return o, nil
	}
	own, err := p.OwnConfig()
	if err != nil {
		return o, err
	}
	if !c.IsSet("screen") {
		o.Screen = own.Screen
	}
	if !c.IsSet("slots") {
		o.Slots = own.Slots
	}
	if !c.IsSet("order") {
		o.Order = own.Order.String()
	}
	return o, nil
}

// styleFlags reads the flags about commits.
func styleFlags(c *cli.Context) (landing.StyleRequest, error) {
	s := landing.StyleRequest{Message: c.String("message"), Squash: c.Bool("squash"), Author: landing.Author(c.String("author"))}
	if subject, _ := landing.SplitMessage(s.Message); c.IsSet("message") && subject == "" {
		return s, exit.Usagef("merge: the message is empty")
	}
	switch s.Author {
	case "", landing.ByUser, landing.ByAgent:
	default:
		return s, exit.Usagef("merge: --author %s: want user or agent", s.Author)
	}
	for _, text := range c.StringSlice("trailer") {
		if err := landing.CheckTrailer(text); err != nil {
			return s, exit.Usagef("merge: --trailer %q: %v", text, err)
		}
		s.Trailers = append(s.Trailers, landing.Trailer(text))
	}
	return s, nil
}

// resolveMode reads which of the three steps of a resolution is asked for;
// empty: none.
func resolveMode(c *cli.Context) (string, error) {
	mode := ""
	for _, name := range []string{"resolve", "continue", "abort"} {
		if !c.Bool(name) {
			continue
		}
		if mode != "" {
			return "", exit.Usagef("merge: --%s and --%s exclude each other", mode, name)
		}
		mode = name
	}
	if mode != "" && c.Bool("hand-back") {
		return "", exit.Usagef("merge: --%s and --hand-back exclude each other", mode)
	}
	if mode != "" && c.IsSet("drop") {
		return "", exit.Usagef("merge: --%s and --drop exclude each other", mode)
	}
	if at := slices.IndexFunc(queueFlagNames(), c.IsSet); mode != "" && at >= 0 {
		return "", exit.Usagef("merge: --%s lands one patch; leave --%s out", mode, queueFlagNames()[at])
	}
	switch {
	case mode != "" && c.Bool("dry-run"):
		return "", exit.Usagef("merge: --%s and --dry-run exclude each other", mode)
	case mode == "abort" && (c.IsSet("into") || c.IsSet("verify")):
		return "", exit.Usagef("merge: --abort lands nothing; leave --into and --verify out")
	case mode == "continue" && c.IsSet("into"):
		return "", exit.Usagef("merge: --continue lands on the branch that --resolve named; leave --into out")
	}
	return mode, nil
}

// MergeCodes returns the exit codes of a merge.
func MergeCodes(r *lander.Report) (codes []exit.Code) {
	if r.LeftOut {
		codes = append(codes, exit.Conflict)
	}
	if r.Refused {
		codes = append(codes, exit.Verify)
	}
	if r.Blocked != nil {
		codes = append(codes, exit.Usage)
	}
	return codes
}
