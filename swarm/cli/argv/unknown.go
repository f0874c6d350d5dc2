package argv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/nearest"
)

// unknownCommand refuses a word that stands where a command should.
func (s *scanner) unknownCommand(name string) error {
	commands := s.leaf().commands
	e := &exit.UsageError{Text: s.place() + "unknown command " + termtext.Quote(name)}
	near := ""
	if s.leaf().cmd == nil {
		near = ForeignCommand(name)
	}
	if near == "" {
		near = nearest.Name(name, cmdline.VisibleNames(commands))
	}
	switch {
	case near != "":
		e.Text += ", did you mean " + near + "?"
	case name == "run" && s.leaf().cmd != nil && s.leaf().cmd.Name == "workflow":
		e.Advice = cmdline.Program + " run --workflow NAME runs a saved workflow"
	case strings.ContainsAny(name, " \n") && FindCommand(commands, "run") != nil:
		e.Advice = "a prompt goes to run: " + cmdline.Program + ` run "PROMPT"`
	default:
		e.Advice = cmdline.Program + " help lists the commands"
	}
	return e
}

// unknownFlag refuses a word that starts with - and is no flag. shown is the
// flag in it. A word with a blank is most likely a prompt or a name, not a
// flag. For it the hint explains how to pass such a word.
func (s *scanner) unknownFlag(word, shown string) error {
	cmd := s.leaf().cmd
	if name, _, _ := strings.Cut(word, "="); strings.ContainsAny(name, " \n") {
		e := exit.Usagef("%sunknown flag %s: up to %s a word that starts with - is a flag",
			s.place(), termtext.Quote(word), Dashes).(*exit.UsageError)
		if cmd != nil && takesAfter(cmd) {
			e.Advice = "put a space before the - to pass it as an argument"
		} else {
			e.Advice = "put it after " + Dashes + " to pass it as an argument"
		}
		return e
	}
	known := s.flagNames()
	if slices.Contains(known, shown) { // to some commands, with and without a value
		return exit.Usagef("flag %s must stand after its command", shown)
	}
	e := &exit.UsageError{Text: s.place() + "unknown flag " + termtext.Line(shown)}
	if shown == "-w" && slices.Contains(known, "--workflow") {
		e.Advice = "a saved workflow is --workflow NAME; -w is --watch of other commands"
		return e
	}
	if cmd != nil && cmd.Name == "exec" && len(s.args) > 1 {
		e.Advice = fmt.Sprintf("the command and its flags go after --, as in %s exec %s -- %s %s",
			cmdline.Program, termtext.Line(s.args[0]), termtext.Line(strings.Join(s.args[1:], " ")), termtext.Line(shown))
		return e
	}
	if shown == "-p" && slices.Contains(known, "--prompt") {
		e.Advice = "a prompt needs no flag: " + cmdline.Program + ` run "PROMPT"`
		return e
	}
	near := elsewhere(shown, known)
	if near == "" {
		near = nearest.Name(shown, known)
	}
	if short := strings.TrimPrefix(shown, "-"); slices.Contains(known, short) {
		near = short // --j
	}
	if near != "" {
		e.Text += ", did you mean " + near + "?"
		return e
	}
	e.Advice = cmdline.Program + " help lists the commands"
	if cmd != nil {
		e.Advice = cmdline.Program + " help " + cmdline.Path(s.inv.Path) + " lists its flags"
	}
	return e
}

// elsewhere is the flag of ours that has the meaning of a flag of another program,
// such as --parallel of make and xargs; empty for none that is known here.
func elsewhere(shown string, known []string) string {
	for ours, theirs := range map[string]string{
		"--jobs":       "--concurrency --parallel --max-parallel --max-concurrency --workers --threads --max-procs -P",
		"--base":       "--branch --from --ref --commit --rev",
		"--detach":     "--background --bg --daemon",
		"--verify":     "--test --check --validate",
		"--dry-run":    "--plan --preview --what-if --noop",
		"--yes":        "--assume-yes --no-confirm --yolo --auto-approve",
		"--each":       "--foreach --for-each --items --glob --files",
		"--count":      "--candidates --samples --best-of --num",
		"--effort":     "--reasoning --reasoning-effort --thinking",
		"--budget-usd": "--max-cost --max-budget --max-budget-usd --cost-limit --budget",
		"--max-turns":  "--max-iterations --max-steps",
		"--into":       "--onto --target --to",
		"--follow":     "--tail-f --stream",
		"--tail":       "--lines --last -n",
		"--feedback":   "--message --comment --prompt",
		"--sandbox":    "--isolation --container",
		"--watch":      "--live --interval",
		"--name-only":  "--names --files-only",
		"-C":           "--cwd --cd --chdir --directory --repo",
		"--json":       "--output --format -o",
		"--force":      "--yes-really -f",
	} {
		if slices.Contains(strings.Fields(theirs), shown) && slices.Contains(known, ours) {
			return ours
		}
	}
	return ""
}

// ForeignCommand is the command of swarm with the meaning of a command of another
// program, such as restart; empty if none is known here.
func ForeignCommand(name string) string {
	for _, c := range []struct{ ours, theirs string }{
		{"run", "start new spawn launch dispatch"},
		{"retry", "restart rerun again"},
		{"watch", "top ui tui dashboard monitor"},
		{"ls", "list runs"},
		{"logs", "tail output"},
		{"show", "view inspect describe"},
		{"usage", "cost costs stats tokens"},
		{"inbox", "questions approvals pending"},
		{"approve", "allow"},
		{"deny", "disallow"},
		{"attach", "open connect"},
		{"send", "message msg steer prompt"},
		{"undo", "revert rollback"},
		{"rm", "remove delete del"},
		{"rm --undo", "restore"},
		{"gc", "clean cleanup prune"},
		{"agents", "login auth install"},
		{"init", "setup-repo configure"},
	} {
		if slices.Contains(strings.Fields(c.theirs), name) {
			return c.ours
		}
	}
	return ""
}

// flagNames lists the flags that are possible where the scanner stands: before
// the command, those of all commands.
func (s *scanner) flagNames() []string {
	names := []string{"--help"}
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
				continue
			}
			for _, name := range f.Names() {
				names = append(names, Dashed(name))
			}
		}
	}
	for _, l := range slices.Backward(s.levels) {
		add(l.flags)
	}
	if s.leaf().cmd == nil {
		for _, cmd := range s.leaf().commands {
			if !cmd.Hidden {
				add(cmd.Flags)
			}
		}
	}
	return names
}
