package riskcmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/boundedline"
	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/policy"
)

func newRiskCheckCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "judge actions listed on standard input",
		ArgsUsage: "-",
		Flags:     []cli.Flag{riskWorktreeFlag(), riskBaseFlag()},
		Description: `Reads one action a line, as {"command": TEXT, "cwd": FOLDER} or {"write": PATH,
"cwd": FOLDER}, and answers each with a line in the same order: tier, verdict,
blocked, opaque and rules. A cwd is relative to the current folder, and may be left
out. An unreadable line is answered like an action that cannot be judged, with an
error that says why.

The actions are judged against this repository as it is now, and do not run. The exit
code is 0 for any answers.

Examples:
  swarm risk check --base main - < actions.jsonl
  echo '{"command": "git stash"}' | swarm risk check --worktree -`,
		Action: func(c *cli.Context) error { return riskCheckAction(c, env) },
	}
}

// riskAnswer is swarm.riskcheck/1, described in docs/json.md.
type riskAnswer struct {
	Tier    risk.Tier    `json:"tier"`
	Verdict risk.Verdict `json:"verdict"`
	Blocked bool         `json:"blocked"`
	Opaque  bool         `json:"opaque"`
	Rules   []string     `json:"rules"`
	Error   string       `json:"error,omitempty"`
}

func newRiskAnswer(r policy.Ruling) riskAnswer {
	a := riskAnswer{
		Tier: r.Tier, Verdict: r.Verdict, Blocked: r.Blocked, Opaque: r.Opaque, Rules: r.RuleIDs(),
	}
	if a.Opaque {
		a.Tier = risk.Destructive
	}
	return a
}

func riskCheckAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 1, 1)
	if err != nil {
		return err
	}
	if args[0] != "-" {
		return exit.Usagef("risk check: takes only -, standard input, but got %s", termtext.Quote(args[0]))
	}
	g, err := OpenSurroundings(c, env)
	if err != nil {
		return err
	}
	if g.nowhere {
		fmt.Fprintf(env.Stderr, "%s: %s is not in a git repository: it has no grants\n", cmdline.Program, termtext.Line(g.dir))
	}
	out := bufio.NewWriterSize(env.Stdout, 64<<10)
	err = g.check(cmdline.Input(env), out)
	return errors.Join(err, out.Flush())
}

// check answers line after line.
func (g *Surroundings) check(in io.Reader, out *bufio.Writer) error {
	lines := bufio.NewReaderSize(&promptReader{in, out}, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, err := boundedline.Read(lines, hook.MaxInput)
		var long *boundedline.LongError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.As(err, &long):
			return err
		}
		answer := riskAnswer{}
		if err == nil {
			answer, err = g.answer(line)
		}
		if err != nil {
			answer = riskAnswer{
				Tier: risk.Destructive, Verdict: risk.Ask, Opaque: true, Rules: []string{}, Error: termtext.ErrorLine(err),
			}
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
}

func (g *Surroundings) answer(line []byte) (riskAnswer, error) {
	a, err := policy.ParseAction(line)
	if err != nil {
		return riskAnswer{}, err
	}
	return newRiskAnswer(g.JudgeAction(a)), nil
}

// promptReader writes the buffered answers before it waits for more input.
type promptReader struct {
	io.Reader
	out *bufio.Writer
}

func (r *promptReader) Read(p []byte) (int, error) {
	if err := r.out.Flush(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
