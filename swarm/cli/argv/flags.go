package argv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/jq"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
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

// canonical checks a value against the type of its flag. The flag package's
// own words for that are "parse error", and it reads 010 as eight.
func canonical(f cli.Flag, g given) (string, error) {
	want := ""
	switch f.(type) {
	case *cli.BoolFlag:
		if b, err := strconv.ParseBool(g.value); err == nil {
			return strconv.FormatBool(b), nil
		}
		want = "true or false"
	case *cli.IntFlag:
		if n, err := strconv.Atoi(g.value); err == nil {
			return strconv.Itoa(n), nil
		}
		want = "a whole number"
	case *cli.Float64Flag:
		// A number that rounds to 0 would mean the same as 0.
		if x, err := strconv.ParseFloat(g.value, 64); err == nil && (x != 0 || config.IsZero(g.value)) {
			return g.value, nil
		}
		want = "a number such as 2.50"
	case *cli.DurationFlag:
		if _, err := time.ParseDuration(g.value); err == nil {
			return g.value, nil
		}
		want = "a duration such as 90s or 1h30m"
	default:
		return g.value, nil
	}
	return "", fmt.Errorf("flag %s wants %s, not %q", g.shown, want, g.value)
}

// Placeholder is the word for a flag's value: the text in backquotes of its
// usage.
func Placeholder(f cli.Flag) string {
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		if parts := strings.SplitN(doc.GetUsage(), "`", 3); len(parts) == 3 {
			return parts[1]
		}
	}
	return "VALUE"
}

// TakesValue tells value flags from bool ones.
func TakesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// Repeatable tells whether a flag may be given more than once.
func Repeatable(f cli.Flag) bool {
	s, ok := f.(cli.DocGenerationSliceFlag)
	return ok && s.IsSliceFlag()
}

// Dashed writes a flag's name as it is typed.
func Dashed(name string) string {
	if utf8.RuneCountInString(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
