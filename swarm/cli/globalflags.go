package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/jq"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// globalFlags are the flags of every command.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "run in the folder `DIR`"},
		&cli.StringFlag{Name: "color", Usage: "use colors: `WHEN` is auto, always or never (default auto: on a terminal, unless NO_COLOR is set)"},
		&cli.StringFlag{Name: "jq", Usage: "print the results of the jq expression `EXPR`; implies --json"},
		&cli.BoolFlag{Name: "no-pager", Usage: "print diff, show and logs without a pager"},
	}
}

func colorChoices() []string { return []string{"auto", "always", "never"} }

// setGlobal takes the value of a flag of every command.
func setGlobal(inv *cmdline.Invocation, name, value string) error {
	switch name {
	case "C":
		inv.Dir, inv.HasDir = value, true
	case "color":
		if !slices.Contains(colorChoices(), value) {
			return exit.Usagef("--color %q: want %s", value, strings.Join(colorChoices(), ", "))
		}
		inv.Color = value
	case "jq":
		q, err := jq.Compile(value)
		if err != nil {
			return exit.Usagef("--jq %q: %v", value, err)
		}
		inv.JQ = q
	case "no-pager":
		inv.NoPager = value == "true"
	}
	return nil
}

// filtered has a command whose result --jq filters print JSON.
func (s *scanner) filtered() error {
	leaf := s.leaf()
	if s.inv.JQ == nil || s.inv.Help || leaf.cmd == nil {
		return nil
	}
	at := slices.IndexFunc(leaf.flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
	switch {
	case at < 0:
		return exit.Usagef("%s--jq filters JSON, and this command prints none", s.place())
	case s.seen[leaf.flags[at]] && !s.inv.JSON:
		return exit.Usagef("%s--jq and --json=false exclude each other", s.place())
	case !s.seen[leaf.flags[at]]:
		return s.set(leaf, leaf.flags[at], given{"--json", "true"})
	}
	return nil
}

// appearance is the environment with --color over it: always and never stand for
// the variables of the same meaning.
type appearance struct {
	getenv func(string) string
	color  string // empty until the command line is read, and without --color
}

func (a *appearance) lookup(name string) string {
	switch {
	case a.color == "always" && name == "NO_COLOR":
		return ""
	case a.color == "always" && name == "CLICOLOR_FORCE", a.color == "never" && name == "NO_COLOR":
		return "1"
	default:
		return a.getenv(name)
	}
}
