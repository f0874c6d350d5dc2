package cmdline

import (
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/exit"
)

// NoneEmpty refuses an empty word, such as a variable of the user's that was
// not set: it is not meant to be the latest run.
func NoneEmpty(addresses []string) error {
	if slices.Contains(addresses, "") {
		return exit.Usagef("an address is empty; name a run or an agent, or give none for the latest run")
	}
	return nil
}

// VisibleNames lists the names and aliases of commands that help shows.
func VisibleNames(commands []*cli.Command) []string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	return names
}

// YesNo is a fact in a table; nil, which is not known, is empty.
func YesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	default:
		return "no"
	}
}

// Unwrapped is the file behind a [Sink], so that a terminal is seen as a
// terminal.
func Unwrapped(w io.Writer) io.Writer {
	if s, ok := w.(*Sink); ok {
		return s.Writer
	}
	return w
}
