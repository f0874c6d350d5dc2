package cli

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with testdata/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// helpFixture is a program with each sort of command for help texts.
func helpFixture() *cli.App {
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	app := newApp(env, []*cli.Command{
		{
			Name: "run", Usage: "start agents", ArgsUsage: "PROMPT | -- COMMAND...", Category: "Runs",
			Flags: []cli.Flag{
				cmdline.JSONFlag(),
				&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` agents at once", Value: 7},
				&cli.StringSliceFlag{Name: "each", Usage: "one agent for each match of `GLOB`"},
				&cli.DurationFlag{Name: "timeout", Usage: "end an agent after `TIME`"},
				&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "go on"},
				&cli.BoolFlag{Name: "secret", Hidden: true},
			},
			Description: "Starts agents.\nEach works alone.\n\nThen they end.\n\nExamples:\n  swarm run \"fix it\"",
		},
		{
			Name: "show", Usage: "look at an agent", ArgsUsage: "[ADDRESS]", Category: "Looking", Aliases: []string{"view"},
			Flags: []cli.Flag{
				cmdline.JSONFlag(), &cli.StringFlag{Name: "label", Aliases: []string{"l"}}, &cli.BoolFlag{Name: "each"},
			},
			Description: "Examples:\n  swarm show a1",
		},
		{
			Name: "group", Usage: "two commands", Category: "Runs",
			Subcommands: []*cli.Command{{Name: "left", Usage: "go left"}, {Name: "right", Usage: "go right"}},
		},
		{Name: "__raw", Hidden: true},
		newVersionCommand(env),
	})
	app.Description = "Examples:\n  swarm run \"fix it\""
	return app
}

func TestHelpGolden(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		words []string
	}{
		{"help", nil},
		{"help_run", []string{"help", "run"}},
		{"help_show", []string{"show", "--help"}},
		{"help_group", []string{"help", "group"}},
	} {
		app := helpFixture()
		inv, err := argv.Parse(app, tt.words)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := writeHelp(&b, helpRequest{app: app, path: inv.Path}); err != nil {
			t.Fatal(err)
		}
		golden(t, tt.name, b.String())
	}
}

// TestEveryCommandHasHelp holds for each command of the product that a user
// can see, now and later.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	app := newApp(env, builtin(env))
	checkHelp(t, app, nil)
	checkCommands(t, app, app.Commands, nil)
}

func checkCommands(t *testing.T, app *cli.App, commands, path []*cli.Command) {
	t.Helper()
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		path := append(path[:len(path):len(path)], c)
		checkHelp(t, app, path)
		checkCommands(t, app, c.Subcommands, path)
	}
}

// checkHelp wants a usage line, an explanation, examples, and 80 columns.
func checkHelp(t *testing.T, app *cli.App, path []*cli.Command) {
	t.Helper()
	name := strings.TrimSpace(cmdline.Program + " " + cmdline.Path(path))
	var b strings.Builder
	if err := writeHelp(&b, helpRequest{app: app, path: path}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, part := range []string{"\nUsage:\n  " + name, "\nExamples:\n  " + cmdline.Program} {
		if !strings.Contains(text, part) {
			t.Errorf("help of %q lacks %q:\n%s", name, part, text)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if terminal.Columns(line) > helpWidth || strings.TrimRight(line, " ") != line {
			t.Errorf("help of %q: line too wide or with blanks at its end: %q", name, line)
		}
	}
	checkExamples(t, app, text)
	if len(path) == 0 {
		return
	}
	cmd := path[len(path)-1]
	if about, _, _ := strings.Cut(cmd.Description, examplesTitle); cmd.Usage == "" || strings.TrimSpace(about) == "" {
		t.Errorf("help of %q: Usage or the paragraph of Description is empty", name)
	}
	for _, f := range cmd.Flags {
		if flagUsage(f) == "" {
			t.Errorf("help of %q: flag %s is not explained", name, argv.Dashed(f.Names()[0]))
		}
	}
}

// checkExamples wants every example to be a command line that is accepted.
func checkExamples(t *testing.T, app *cli.App, help string) {
	t.Helper()
	_, examples, _ := strings.Cut(help, "\nExamples:\n")
	for line := range strings.SplitSeq(examples, "\n") {
		words, ok := shellWords(line)
		if !ok || words[0] != cmdline.Program {
			continue
		}
		if _, err := argv.Parse(app, words[1:]); err != nil {
			t.Errorf("example %q: %v", line, err)
		}
	}
}

// shellWords splits a line as a shell would, up to a pipe, a redirection, a
// comment or a second command.
func shellWords(line string) (words []string, ok bool) {
	quote, open, word := rune(0), false, ""
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if word != "" || open {
				words = append(words, word)
			}
			word, open = "", false
		case strings.ContainsRune("|&;<>#", r) && word == "":
			return words, len(words) > 0
		default:
			word += string(r)
		}
	}
	return words, len(words) > 0
}
