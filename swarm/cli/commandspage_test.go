package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
)

// TestCommandsPage holds docs/commands.md to the definitions of the commands.
// -update writes it.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	got := commandsPage(newApp(env, builtin(env)))
	file := filepath.Join("..", "..", "docs", "commands.md")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/commands.md is not what the commands say: go test -run '^TestCommandsPage$' ./swarm/cli -update")
	}
}

// commandsPage is the reference of all commands, as Markdown.
func commandsPage(app *cli.App) string {
	var b strings.Builder
	b.WriteString(`# Commands

<!-- Written by TestCommandsPage in swarm/cli; changes belong into the definitions of the commands. -->

` + "`swarm COMMAND --help`" + ` adds examples. Flags may stand anywhere up to ` + "`--`" + `. Usage lines omit ` + "`swarm`" + `. See also:
[exit codes](#exit-codes), [environment](#environment), [files](#files).

## Shared flags

Every command has the first two, and each command that [prints an object](json.md) has ` + "`--json`" + `. Commands below name
the others without their meaning.

`)
	shared := sharedFlags(app)
	writeFlags(&b, append(flagRows(app.Flags), [2]string{"-h, --help", "explain the command"}))
	writeFlags(&b, shared.some)
	b.WriteString("\n## Selection\n\nThe commands that link this section have these.\n\n")
	writeFlags(&b, shared.selection)
	b.WriteString("\n## Flags of runs\n\n`run`, `resume` and `retry` have these.\n\n")
	writeFlags(&b, shared.runs)
	for _, group := range grouped(app.Commands) {
		for _, c := range group.commands {
			writeCommand(&b, shared, []*cli.Command{c})
		}
	}
	b.WriteString("\n## Exit codes\n\nIf several apply, the earliest in this list is used: ")
	for i, c := range exit.Precedence() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, int(c))
	}
	b.WriteString(".\n\n")
	var rows [][2]string
	for _, c := range exitCodes() {
		rows = append(rows, [2]string{fmt.Sprint(int(c)), exitMeaning(c)})
	}
	writeRows(&b, "code", rows)
	b.WriteString("\n## Environment\n\n[The built-in agent](builtin.md#models) has the variables of providers, " +
		"[the agent protocol](agent-protocol.md#start) those that agents get.\n\n")
	elsewhere := regexp.MustCompile(`^(set for agents|key of|endpoint of)\b`)
	writeRows(&b, "variable", slices.DeleteFunc(environment(), func(row [2]string) bool { return elsewhere.MatchString(row[1]) }))
	b.WriteString("\n## Files\n\n[Configuration](configuration.md) has its own files.\n\n")
	writeRows(&b, "file", slices.DeleteFunc(filesOfSwarm(), func(row [2]string) bool { return strings.HasSuffix(row[0], ".toml") }))
	return b.String()
}

// shared are the flags that have the same form and meaning in two commands or
// more, in the order of their first command.
type shared struct {
	runs      [][2]string // those of `run`, `resume` and `retry`, and no other command
	selection [][2]string // those that select agents
	some      [][2]string // the others
}

// sharedFlags finds the shared flags of all commands.
func sharedFlags(app *cli.App) shared {
	users := map[[2]string][]string{}
	var all [][2]string
	var read func([]*cli.Command)
	read = func(commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden {
				continue
			}
			for _, row := range flagRows(c.Flags) {
				if users[row] == nil {
					all = append(all, row)
				}
				users[row] = append(users[row], c.Name)
			}
			read(c.Subcommands)
		}
	}
	for _, group := range grouped(app.Commands) {
		read(group.commands)
	}
	found := shared{selection: flagRows(selection.SelectorFlags())}
	for _, row := range all {
		switch by := users[row]; {
		case slices.Contains(found.selection, row):
		case slices.Equal(by, []string{"run", "resume", "retry"}):
			found.runs = append(found.runs, row)
		case len(by) > 1:
			found.some = append(found.some, row)
		}
	}
	return found
}

// writeFlags writes a list of flags.
func writeFlags(b *strings.Builder, rows [][2]string) {
	for _, row := range rows {
		fmt.Fprintf(b, "- `%s`: %s\n", row[0], brief(row))
	}
}

// writeCommand writes the command at the end of path, and those below it. Its
// shared flags are named, its own are explained.
func writeCommand(b *strings.Builder, shared shared, path []*cli.Command) {
	c, name := path[len(path)-1], cmdline.Path(path)
	fmt.Fprintf(b, "\n%s %s\n\n", strings.Repeat("#", len(path)+1), name)
	usage := name
	var own [][2]string
	var named []string
	runs, selection := false, false
	for _, row := range flagRows(c.Flags) {
		switch {
		case slices.Contains(shared.runs, row):
			runs = true
		case slices.Contains(shared.selection, row):
			selection = true
		case slices.Contains(shared.some, row):
			name, _, _ := strings.Cut(row[0], " ")
			if name != "--json" {
				named = append(named, "`"+strings.TrimSuffix(name, ",")+"`")
			}
		default:
			own = append(own, row)
		}
	}
	switch {
	case c.ArgsUsage != "":
		usage += " " + c.ArgsUsage
	case len(c.Subcommands) > 0:
		usage += " COMMAND"
	}
	if usage == name { // the heading has it
		fmt.Fprintf(b, "%s%s.", strings.ToUpper(c.Usage[:1]), c.Usage[1:])
	} else {
		fmt.Fprintf(b, "`%s`: %s.", usage, c.Usage)
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, " Also called `%s`.", strings.Join(c.Aliases, "`, `"))
	}
	if selection {
		named = append(named, "[selection](#selection)")
	}
	if runs {
		named = append(named, "[flags of runs](#flags-of-runs)")
	}
	if len(named) > 0 {
		fmt.Fprintf(b, " Shared: %s.", strings.Join(named, ", "))
	}
	b.WriteString("\n")
	if len(own) > 0 {
		b.WriteString("\n")
		writeFlags(b, own)
	}
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			writeCommand(b, shared, append(path[:len(path):len(path)], sub))
		}
	}
}

// brief is the meaning of a flag without its choices, which its form shows, and
// without a second remark that it may be repeated.
func brief(row [2]string) string {
	_, form, _ := strings.Cut(row[0], " ")
	meaning := row[1]
	if strings.Contains(form, "|") {
		meaning = strings.Replace(meaning, ": "+form, "", 1)
	}
	return strings.Replace(meaning, "; may be given again (repeatable)", " (repeatable)", 1)
}

// writeRows writes a table of terms and their meaning.
func writeRows(b *strings.Builder, title string, rows [][2]string) {
	fmt.Fprintf(b, "| %s | meaning |\n|---|---|\n", title)
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, r := range rows {
		fmt.Fprintf(b, "| `%s` | %s |\n", cell.Replace(r[0]), cell.Replace(r[1]))
	}
}

// TestReadmeListsTheCommands: the README lists the commands by the jobs of the
// help. The demo is no command of this package.
func TestReadmeListsTheCommands(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range grouped(builtin(cmdline.Env{})) {
		var names []string
		for _, c := range g.commands {
			names = append(names, "`"+c.Name+"`")
		}
		if g.title == "Start" {
			names = append(names, "`demo`")
		}
		title := strings.ToLower(g.title[:1]) + g.title[1:]
		if row := "| " + title + " | " + strings.Join(names, ", ") + " |\n"; !strings.Contains(string(readme), row) {
			t.Errorf("README.md lacks the row %s", row)
		}
	}
}
