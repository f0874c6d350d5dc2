package plan

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/ticket"
)

// TicketFlags are the flags of run for lists of tickets.
func TicketFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prompt", Usage: "one agent for each ticket of a list; `TEMPLATE` is its prompt, with fields such as {title}"},
		&cli.BoolFlag{Name: "csv", Usage: "with --prompt: the list is CSV with a header"},
	}
}

// readTickets reads the list of tickets that --prompt is for; found is false
// without --prompt.
func (pl *Plan) readTickets(c *cli.Context, p *cmdline.Place, args []string) (found bool, err error) {
	if !c.IsSet("prompt") {
		if c.Bool("csv") {
			return false, exit.Usagef("run: --csv is about a list of tickets; give --prompt too")
		}
		return false, nil
	}
	for _, other := range []string{"each", "count", "stages", "eval", "workflow", "script", "args"} {
		if c.IsSet(other) {
			return false, exit.Usagef("run: --prompt and --%s exclude each other: --prompt is for a list of tickets", other)
		}
	}
	switch {
	case len(pl.workflow.Command) > 0:
		return false, exit.Usagef("run: --prompt and a command after -- exclude each other")
	case len(args) == 0:
		return false, exit.Usagef("run: --prompt needs a list of tickets: a file, or - for standard input")
	}
	r := fanout.TicketsRequest{Template: c.String("prompt")}
	if args[0] == "-" {
		sayTyped(p)
		r.Source, r.Format = "standard input", ticket.FormatJSON
		if r.Text, err = readAll(cmdline.Input(p.Env)); err != nil {
			return false, fmt.Errorf("read standard input: %w", err)
		}
		pl.Input = r.Text
	} else if err := readTicketFile(p, &r, args[0]); err != nil {
		return false, err
	}
	if c.Bool("csv") {
		r.Format = ticket.FormatCSV
	}
	pl.workflow.Source = r.Source
	pl.workflow.Tasks, err = fanout.ReadTickets(r)
	return true, cmdline.Refused(err)
}

func readTicketFile(p *cmdline.Place, r *fanout.TicketsRequest, name string) error {
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.Dir, name)
	}
	f, err := os.Open(file)
	if err != nil {
		return cmdline.Refused(err)
	}
	defer f.Close()
	r.Source, r.Format = termtext.Line(name), ticket.FileFormat(name)
	r.Text, err = readAll(f)
	return cmdline.Refused(err)
}
