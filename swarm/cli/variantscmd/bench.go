package variantscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/lab"
	"agentswarm/swarm/store"
)

const labJobs = 4

func newBenchCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "compare agents with and without variants",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "family", Usage: "family of the failure modes: `claude|deepseek|gpt|qwen`"},
			&cli.StringFlag{Name: "model", Usage: "model `M` of that family, in the words of the agent's program"},
			&cli.StringFlag{Name: "agent", Usage: "agent `NAME` of your configuration, or a kind; no command"},
			&cli.StringFlag{Name: "arm", Value: "off,on", Usage: "`ARMS`: off is without the variant, on with it"},
			&cli.StringFlag{Name: "mode", Usage: "only the failure modes `A,B` of the family"},
			&cli.IntFlag{Name: "repeat", Value: 1, Usage: "do each task `N` times in each arm, 1 to 100"},
			&cli.IntFlag{Name: "tasks", Usage: "only the first `N` tasks of each mode"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: labJobs, Usage: "run `N` agents at once, 1 to 100"},
			&cli.StringFlag{Name: "out", Usage: "keep transcripts in `DIR`, and continue there (default: a folder beside the state)"},
			&cli.StringFlag{Name: "replay", Usage: "only the report of the transcripts in `DIR`"},
			&cli.StringFlag{Name: "html", Usage: "also write the report as a page with plots to `FILE`"},
			cmdline.YesFlag(),
			cmdline.JSONFlag(),
		},
		Description: `For each failure mode of a family there are twenty small tasks, each a repository
of its own. Agents do them as in any run, with and without the text against that
mode at the end of their prompt. Their work is recorded, measured, and compared
task by task. Only the user's configuration and variants count, not those of a
repository.

It refuses comparisons without a difference: an agent that is a command, a model of
another family, variants that the configuration leaves out.

Ctrl-C keeps the recordings, and the same command continues from there.

Examples:
  swarm variants bench --family qwen --model ollama/qwen3 --agent mine --tasks 5
  swarm variants bench --family gpt --model gpt-5.5 --agent codex --repeat 3
  swarm variants bench --replay transcripts --html report.html`,
		Action: func(c *cli.Context) error { return benchAction(c, env) },
	}
}

func benchAction(c *cli.Context, env cmdline.Env) (err error) {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	if err := pageCan(c); err != nil {
		return err
	}
	if c.IsSet("replay") {
		return replayAction(c, env)
	}
	r, err := newLabRequest(c, env)
	if err != nil {
		return err
	}
	note, err := labAgentOf(env, c, &r)
	if err != nil {
		return err
	}
	if r.Dir, err = labDir(c, env, r); err != nil {
		return err
	}
	plan, err := lab.NewPlan(r)
	if err != nil {
		return refusedLab(err)
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	fmt.Fprint(env.Stderr, note)
	fmt.Fprintf(env.Stderr, "transcripts: %s; %d of %s are there, %s to be started\n",
		termtext.Line(plan.Transcripts()), plan.All()-plan.Missing(), termtext.Count(plan.All(), "agent", "agents"), termtext.Count(plan.Missing(), "agent is", "agents are"))
	if err := confirmLab(env, c, plan); err != nil {
		return err
	}
	failures, err := plan.Run(c.Context)
	if err != nil {
		return refusedLab(err)
	}
	all, err := lab.Load(plan.Transcripts())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	report, err := lab.Summarize(all)
	if err != nil {
		return err
	}
	report.Failures = append(report.Failures, failures...)
	report.Missing, report.Dir = plan.Missing(), plan.Dir
	if err := printLab(c, env, report); err != nil {
		return err
	}
	if len(failures) > 0 {
		return &exit.Error{Code: exit.Degraded}
	}
	return nil
}

// refusedLab turns a refusal of the lab into a usage error, for its exit code.
func refusedLab(err error) error {
	var not *lab.RefusedError
	if errors.As(err, &not) {
		return &exit.UsageError{Text: "variants bench: " + not.Text, Advice: not.Advice}
	}
	return err
}

// replayAction reports on recorded transcripts.
func replayAction(c *cli.Context, env cmdline.Env) error {
	for _, name := range []string{"family", "model", "agent", "arm", "mode", "repeat", "tasks", "jobs", "out", "yes"} {
		if c.IsSet(name) {
			return exit.Usagef("variants bench: --%s is for agents, and --replay starts none", name)
		}
	}
	dir := cmdline.PathFlag(c, "replay")
	if stat, err := os.Stat(dir); err != nil || !stat.IsDir() {
		return exit.Usagef("variants bench: --replay %s: no such folder", c.String("replay"))
	}
	all, err := lab.Load(lab.Recorded(dir))
	var not *lab.TranscriptError
	if errors.As(err, &not) {
		return cmdline.Refused(err)
	}
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return exit.Usagef("variants bench: --replay %s: holds no transcript", c.String("replay"))
	}
	report, err := lab.Summarize(all)
	if err != nil {
		return err
	}
	return printLab(c, env, report)
}

// newLabRequest checks the flags.
func newLabRequest(c *cli.Context, env cmdline.Env) (lab.Request, error) {
	r := lab.Request{
		Family: c.String("family"), Model: c.String("model"), Agent: c.String("agent"),
		Repeat: c.Int("repeat"), Tasks: c.Int("tasks"), Jobs: c.Int("jobs"), Environ: env.Environ,
		Swarm: func(ctx context.Context, t lab.Typed) int { return typedIn(env, ctx, t) },
		Say:   func(text string) { fmt.Fprintln(env.Stderr, termtext.Line(text)) },
	}
	switch {
	case r.Family == "":
		return r, exit.Usagef("variants bench: --family is missing: claude, deepseek, gpt or qwen")
	case r.Model == "":
		return r, exit.Usagef("variants bench: --model is missing: what agents are to use")
	case r.Repeat < 1 || r.Repeat > 100:
		return r, exit.Usagef("variants bench: --repeat %d: want 1 to 100", r.Repeat)
	case c.IsSet("tasks") && r.Tasks < 1:
		return r, exit.Usagef("variants bench: --tasks %d: want 1 or more", r.Tasks)
	case r.Jobs < 1 || r.Jobs > 100:
		return r, exit.Usagef("variants bench: -j %d: want 1 to 100", r.Jobs)
	}
	for arm := range strings.SplitSeq(c.String("arm"), ",") {
		a := lab.Arm(strings.TrimSpace(arm))
		if a != lab.Off && a != lab.On || slices.Contains(r.Arms, a) {
			return r, exit.Usagef("variants bench: --arm %q: want off, on or off,on", c.String("arm"))
		}
		r.Arms = append(r.Arms, a)
	}
	if c.IsSet("mode") {
		for mode := range strings.SplitSeq(c.String("mode"), ",") {
			if mode = strings.TrimSpace(mode); !slices.Contains(r.Modes, mode) {
				r.Modes = append(r.Modes, mode)
			}
		}
	}
	return r, nil
}

// labDir is the folder for the lab's records.
func labDir(c *cli.Context, env cmdline.Env, r lab.Request) (string, error) {
	dir := ""
	if c.IsSet("out") {
		if c.String("out") == "" {
			return "", exit.Usagef("variants bench: --out needs a folder")
		}
		dir = cmdline.PathFlag(c, "out")
	} else {
		root, err := store.Root(env.Getenv)
		if err != nil {
			return "", cmdline.Refused(err)
		}
		// Not in it: each folder there is of a repository.
		name := strings.Map(func(r rune) rune {
			if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r) {
				return r
			}
			return '-'
		}, strings.Join([]string{r.Family, r.Agent, r.Model}, "-"))
		dir = filepath.Join(root+"-lab", name)
	}
	// Workspaces are looked for by their real paths.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(real, filepath.Base(dir))
	}
	return dir, nil
}

// typedIn runs a command of the lab, whose runs have a state of their own.
func typedIn(env cmdline.Env, ctx context.Context, t lab.Typed) int {
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if name == "SWARM_STATE_DIR" {
			return t.State
		}
		return getenv(name)
	}
	env.Environ = append(slices.DeleteFunc(slices.Clone(env.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, "SWARM_STATE_DIR=")
	}), "SWARM_STATE_DIR="+t.State)
	env.Stdin = strings.NewReader("")
	return cmdline.Typed(env)(ctx, t.Dir, t.Stdout, t.Stderr, t.Args...)
}

// labAgentOf finds the agent before the lab begins: the agent that a flag
// names, else the agent that `run` would take. It also finds the agent's
// variants, and a note for the user.
func labAgentOf(env cmdline.Env, c *cli.Context, r *lab.Request) (note string, err error) {
	conf, err := labConfigOf(env)
	if err != nil {
		return "", err
	}
	p := cmdline.Without(env)
	a, err := plan.NamedAgent(p, c, &plan.Plan{}, conf)
	if err != nil {
		return "", err
	}
	if a.Kind == config.KindCommand {
		return "", &exit.UsageError{
			Text:   fmt.Sprintf("variants bench: agent %q is a command: commands are told no variants, in no arm", a.Name),
			Advice: "name an agent of another kind, such as --agent builtin",
		}
	}
	if conf.NoVariants {
		return "", &exit.UsageError{
			Text:   "variants bench: [variants] enabled = false in your configuration: agents would be told no variants in any arm",
			Advice: "take it out of " + p.UserFile(),
		}
	}
	if _, err := plan.SpecOf(p, a.Agent); err != nil {
		return "", err
	}
	if r.Variants, err = plan.RunVariants(c.Context, p, conf, ""); err != nil {
		return "", err
	}
	if a.Why != "" {
		note = fmt.Sprintf("agent: %s (%s)\n", termtext.Line(a.Name), termtext.Line(a.Why))
	}
	r.Agent = a.Name
	return note, nil
}

// confirmLab asks once before many agents start that cost money.
func confirmLab(env cmdline.Env, c *cli.Context, trial *lab.Plan) error {
	conf, err := labConfigOf(env)
	if err != nil {
		return err
	}
	a, err := conf.Agent(trial.Agent)
	if err != nil {
		return err
	}
	if !cmdline.Kinds(env).ByName()[a.Kind.String()].Paid || trial.Missing() <= plan.Unasked || c.Bool("yes") {
		return nil
	}
	return plan.AskToStart(env,
		fmt.Sprintf("%s %s: %s", trial.Agent, trial.Model, termtext.Count(trial.Missing(), "agent", "agents")),
		fmt.Sprintf("%d at once", trial.Jobs))
}

// pageCan refuses a page that could not be written, before anybody is paid.
func pageCan(c *cli.Context) error {
	if !c.IsSet("html") {
		return nil
	}
	name := cmdline.PathFlag(c, "html")
	if there, err := os.Stat(name); c.String("html") == "" || err == nil && !there.Mode().IsRegular() {
		return exit.Usagef("variants bench: --html %s: is not a file", c.String("html"))
	}
	if dir, err := os.Stat(filepath.Dir(name)); err != nil || !dir.IsDir() {
		return exit.Usagef("variants bench: --html %s: there is no folder %s", c.String("html"), filepath.Dir(name))
	}
	return nil
}

// printLab prints a report, and writes its page.
func printLab(c *cli.Context, env cmdline.Env, r *lab.Report) (err error) {
	if c.IsSet("html") { // the printed report comes in any case: it was paid for
		if wrong := writePage(cmdline.PathFlag(c, "html"), r.HTML); wrong != nil {
			defer func() { err = errors.Join(err, fmt.Errorf("write %s: %w", c.String("html"), wrong)) }()
		}
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, r)
	}
	lines := []string{r.Title, fmt.Sprintf("%s, %s", termtext.Count(r.Transcripts, "transcript", "transcripts"), termtext.Count(r.Missing, "is missing", "are missing")), ""}
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "MODE"}, {Title: "MEASURE"}, {Title: "BETTER"}, {Title: "PAIRS", Right: true}, {Title: "OFF", Right: true},
		{Title: "ON", Right: true}, {Title: "DIFFERENCE", Right: true}, {Title: "95 %", Right: true}, {Title: "P", Right: true}, {Title: ""},
	}}
	for _, m := range r.Modes {
		for i := range m.Rows {
			row := &m.Rows[i]
			t.Row(m.Family+"/"+m.Mode, row.Measure, row.Better, fmt.Sprint(row.Pairs), lab.Figure(row.Off), lab.Figure(row.On),
				lab.Figure(row.Difference), row.Between(), lab.Chance(row.P), row.Verdict())
		}
	}
	for _, line := range append(lines, t.Lines(0)...) {
		if _, err := fmt.Fprintln(env.Stdout, termtext.Line(line)); err != nil {
			return err
		}
	}
	for _, f := range r.Failures {
		fmt.Fprintf(env.Stderr, "%s: %s: %s\n", f.Agent, f.Kind, termtext.Line(f.Message))
	}
	return nil
}

// writePage writes a file that is there whole or not at all.
func writePage(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".swarm-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// labConfigOf is the configuration outside of any repository.
func labConfigOf(env cmdline.Env) (*config.Config, error) {
	conf, err := cmdline.UserConfig(env)
	if err != nil {
		return nil, err
	}
	conf, err = conf.Over(config.Lookup(env.Getenv))
	return conf, cmdline.Refused(err)
}
