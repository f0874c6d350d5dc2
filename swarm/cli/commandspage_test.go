package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestCommandsPage holds docs/commands.md to the definitions of the commands.
// -update writes it.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	env := Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: envOf()}
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

Each command and its flags, as the program defines them. ` + "`swarm COMMAND --help`" + ` adds examples. Flags may stand
anywhere up to ` + "`--`" + `. See also: [exit codes](#exit-codes), [environment](#environment), [files](#files).

Flags of every command:

`)
	writeRows(&b, "flag", append(flagRows(app.Flags), [2]string{"-h, --help", "explain the command"}))
	for _, group := range grouped(app.Commands) {
		for _, c := range group.commands {
			writeCommand(&b, []*cli.Command{c})
		}
	}
	b.WriteString("\n## Exit codes\n\nIf several apply, the earliest in this list is used: ")
	for i, c := range precedence() {
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
	b.WriteString("\n## Environment\n\n")
	writeRows(&b, "variable", environment())
	b.WriteString("\n## Files\n\n")
	writeRows(&b, "file", filesOfSwarm())
	return b.String()
}

// writeCommand writes the command at the end of path, and those below it.
func writeCommand(b *strings.Builder, path []*cli.Command) {
	c, name := path[len(path)-1], commandPath(path)
	fmt.Fprintf(b, "\n%s %s\n\n", strings.Repeat("#", len(path)+1), name)
	usage := program + " " + name
	rows := flagRows(c.Flags)
	if len(rows) > 0 {
		usage += " [flags]"
	}
	switch {
	case c.ArgsUsage != "":
		usage += " " + c.ArgsUsage
	case len(c.Subcommands) > 0:
		usage += " COMMAND"
	}
	fmt.Fprintf(b, "`%s`: %s.", usage, c.Usage)
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, " Also called `%s`.", strings.Join(c.Aliases, "`, `"))
	}
	b.WriteString("\n")
	if len(rows) > 0 {
		b.WriteString("\n")
		writeRows(b, "flag", rows)
	}
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			writeCommand(b, append(path[:len(path):len(path)], sub))
		}
	}
}

// writeRows writes a table of terms and their meaning.
func writeRows(b *strings.Builder, title string, rows [][2]string) {
	fmt.Fprintf(b, "| %s | meaning |\n|---|---|\n", title)
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, r := range rows {
		fmt.Fprintf(b, "| `%s` | %s |\n", cell.Replace(r[0]), cell.Replace(r[1]))
	}
}
