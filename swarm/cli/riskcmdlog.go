package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func newRiskLogCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "log",
		Usage:     "list decisions about actions of a run's agents",
		ArgsUsage: "[RUN | AGENT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "unknown", Usage: "list programs without a rule that agents ran, with a rule for each"},
			jsonFlag(),
		},
		Description: `Lists the decisions about actions above SAFE, the first one first, as the run
recorded them: when, whose, how grave, what became of it and by whom. Without an
argument it is the latest run, and of an agent its actions alone.

With --unknown it lists the programs without a rule: how often agents ran each,
the verdicts, the verbs that asked, and a line for [verbs] of risk.toml. Read the
line before you copy it: with it the program no longer asks.

Examples:
  swarm risk log
  swarm risk log --unknown
  swarm risk log a3
  swarm risk log k3x9q2 --json`,
		Action: func(c *cli.Context) error { return riskLogAction(c, env) },
	}
}

// riskLogObject is swarm.risklog/1, described in docs/json.md.
type riskLogObject struct {
	Schema    string            `json:"schema"`
	Run       string            `json:"run"`
	Decisions []json.RawMessage `json:"decisions"`
}

// loggedRisk is what is shown of a decision.
type loggedRisk struct {
	Time    time.Time       `json:"t"`
	Agent   task.ID         `json:"agent"`
	Action  json.RawMessage `json:"action"`
	Tier    string          `json:"tier"`
	Verdict string          `json:"verdict"`
	Allow   bool            `json:"allow"`
	By      string          `json:"by"`

	line json.RawMessage
}

func riskLogAction(c *cli.Context, env Env) error {
	args, err := arguments(c, 0, 1)
	if err == nil {
		err = noneEmpty(args)
	}
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	at, err := p.state.Resolve(strings.Join(args, ""))
	if err != nil {
		return refused(err)
	}
	if c.Bool("unknown") {
		programs, err := p.unknownPrograms(at)
		if err != nil {
			return err
		}
		return printUnknown(c, env, at.Run.ID, programs)
	}
	all, err := p.riskLog(at)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, newRiskLogObject(at.Run.ID, all))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(env.Stderr, "run %s: no decision is on record\n", at.Run.ID)
		return err
	}
	width, _ := detect(env.Stdout, env.Getenv).Size()
	return riskLogTable(all).Print(env.Stdout, width)
}

func newRiskLogObject(run string, all []loggedRisk) riskLogObject {
	o := riskLogObject{Schema: "swarm.risklog/1", Run: run, Decisions: []json.RawMessage{}}
	for _, d := range all {
		o.Decisions = append(o.Decisions, d.line)
	}
	return o
}

// maxDecision is the longest line of it that is read, in bytes.
const maxDecision = 8 << 20

// riskLog reads the record of a run, or of one of its agents.
func (p *place) riskLog(at store.Address) (all []loggedRisk, err error) {
	err = p.eachRecord(at.Run.RiskLog(), func(line []byte) error {
		d := loggedRisk{line: line}
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		if d.Tier == "" {
			return errors.New("it is no decision: it has no tier")
		}
		if at.Agent == "" || at.Agent == d.Agent {
			all = append(all, d)
		}
		return nil
	})
	return all, err
}

// eachRecord reads the lines of a record. A line that cannot be read is told
// and hides no other; the last one may be on its way.
func (p *place) eachRecord(file string, read func(line []byte) error) error {
	f, err := statefile.Open(p.state.Dir, file, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := bufio.NewReaderSize(f, 64<<10)
	var failed error
	for n := 1; ; n++ {
		line, err := boundedLine(lines, maxDecision)
		var long *longLineError
		if err != nil && !errors.As(err, &long) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if failed != nil { // it was not the last one
			fmt.Fprintf(p.env.Stderr, "%s: %s: line %d: %s\n", program, Printable(file), n-1, Printable(oneLine(failed)))
		}
		if failed = err; failed == nil {
			failed = read(line)
		}
	}
}

func riskLogTable(all []loggedRisk) *Table {
	t := &Table{Columns: []Column{
		{Title: "TIME"}, {Title: "AGENT"}, {Title: "TIER"}, {Title: "VERDICT"}, {Title: "BY"}, {Title: "ACTION", Flex: true},
	}}
	for _, d := range all {
		t.Row(d.Time.Local().Format(time.DateTime), string(d.Agent), d.Tier, d.became(), d.By, judgedText(d.Action))
	}
	return t
}

// became is the verdict, and of a question its answer.
func (d *loggedRisk) became() string {
	switch {
	case d.Verdict != "ask":
		return d.Verdict
	case d.Allow:
		return "ask: yes"
	default:
		return "ask: no"
	}
}

// judgedText is an action in a line, as somebody would say it.
func judgedText(action json.RawMessage) string {
	var a ask.Action
	if json.Unmarshal(action, &a) != nil || !a.Whole() {
		return wantsText(action)
	}
	text := asTyped(&a)
	return shortenEnd(Printable(strings.ToValidUTF8(text[:min(len(text), 4*wantsWidth)], "")), wantsWidth)
}
