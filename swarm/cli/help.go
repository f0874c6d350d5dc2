package cli

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
)

// helpWidth is how wide help gets, whatever the terminal: long lines are hard
// to read, and a help text that is the same everywhere can be quoted.
const helpWidth = 80

// examplesTitle separates the explanation of a Description from its examples.
const examplesTitle = "Examples:\n"

// helpRequest is a help text that is asked for.
type helpRequest struct {
	app   *cli.App       // required
	path  []*cli.Command // the command, outermost first; empty: the program
	short bool           // of a command with many flags, only the common flags
}

// writeHelp explains the command at the end of the path, or the whole program.
func writeHelp(w io.Writer, r helpRequest) error {
	h := &helpText{}
	if len(r.path) == 0 {
		h.program(r.app)
	} else {
		h.command(r)
	}
	_, err := io.WriteString(w, h.b.String())
	return err
}

type helpText struct{ b strings.Builder }

func (h *helpText) program(app *cli.App) {
	h.line(app.Name + ": " + app.Usage)
	h.title("Usage")
	h.line("  " + app.Name + " COMMAND [flags] [arguments]")
	h.line("  " + app.Name + " help COMMAND")
	h.commands(app.Commands)
	h.title("Flags of every command")
	rows := flagRows(app.Flags)
	h.rows(append(rows, helpRow()))
	h.examples(app.Description)
}

// helpRow is the flag that asks for a help text.
func helpRow() [2]string {
	return [2]string{"-h, --help", "explain the command; --help names every flag, -h the common ones"}
}

func (h *helpText) command(r helpRequest) {
	path := r.path
	cmd, name := path[len(path)-1], cmdline.Program+" "+cmdline.Path(path)
	h.line(name + ": " + cmd.Usage)
	h.title("Usage")
	rows := flagRows(cmd.Flags)
	usage := name
	if len(rows) > 0 {
		usage += " [flags]"
	}
	switch {
	case cmd.ArgsUsage != "":
		usage += " " + cmd.ArgsUsage
	case len(cmd.Subcommands) > 0:
		usage += " COMMAND"
	}
	h.line("  " + usage)
	if len(cmd.Aliases) > 0 {
		h.line("  also called: " + strings.Join(cmd.Aliases, ", "))
	}
	hidden := hiddenFlags(cmd)
	short := r.short && hidden > 0
	h.about(cmd, short)
	h.commands(cmd.Subcommands)
	for _, g := range flagGroups(cmd) {
		if short && !g.common {
			continue
		}
		h.title(g.title)
		h.rows(flagRows(g.flags))
	}
	if !short {
		h.examples(cmd.Description)
		return
	}
	h.line("")
	h.line(termtext.Count(hidden, "more flag", "more flags") + ": " + name + " --help")
	h.someExamples(cmd.Description, 4)
}

// someExamples are the first lines to copy.
func (h *helpText) someExamples(description string, most int) {
	about, text, _ := strings.Cut(description, examplesTitle)
	lines := strings.Split(text, "\n")
	h.examples(about + examplesTitle + strings.Join(lines[:min(len(lines), most)], "\n"))
}

// about is the text of a command; in short its first paragraph.
func (h *helpText) about(cmd *cli.Command, short bool) {
	text, _, _ := strings.Cut(cmd.Description, examplesTitle)
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		h.line("")
		for _, l := range terminal.Wrap(paragraph, helpWidth) {
			h.line(l)
		}
		if short {
			return
		}
	}
}

func (h *helpText) commands(commands []*cli.Command) {
	for _, group := range grouped(commands) {
		h.title(group.title)
		var rows [][2]string
		for _, c := range group.commands {
			rows = append(rows, [2]string{strings.Join(c.Names(), ", "), c.Usage})
		}
		h.rows(rows)
	}
}

func (h *helpText) line(s string) { h.b.WriteString(s + "\n") }

func (h *helpText) title(s string) { h.b.WriteString("\n" + s + ":\n") }

// examples ends a help with lines to copy, just as they were written.
func (h *helpText) examples(description string) {
	_, text, ok := strings.Cut(description, examplesTitle)
	if !ok {
		return
	}
	h.title("Examples")
	h.line(strings.TrimRight(text, "\n "))
}

// rows sets names and explanations in two columns. A name too long for its
// column stands on a line of its own.
func (h *helpText) rows(rows [][2]string) {
	const limit = 28
	left := 0
	for _, r := range rows {
		if n := terminal.Columns(r[0]); n <= limit {
			left = max(left, n)
		}
	}
	indent := strings.Repeat(" ", left+4)
	for _, r := range rows {
		lines := terminal.Wrap(r[1], helpWidth-len(indent))
		if terminal.Columns(r[0]) > limit {
			h.line("  " + r[0])
		} else {
			h.line(strings.TrimRight("  "+terminal.Pad(r[0], left)+"  "+lines[0], " "))
			lines = lines[1:]
		}
		for _, l := range lines {
			h.line(indent + l)
		}
	}
}

// commandGroup holds commands of the same category.
type commandGroup struct {
	title    string
	commands []*cli.Command
}

// grouped sorts visible commands into their categories; both keep the order in
// which they are first named.
func grouped(commands []*cli.Command) []*commandGroup {
	var groups []*commandGroup
	byTitle := map[string]*commandGroup{}
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		title := c.Category
		if title == "" {
			title = "Commands"
		}
		g := byTitle[title]
		if g == nil {
			g = &commandGroup{title: title}
			byTitle[title] = g
			groups = append(groups, g)
		}
		g.commands = append(g.commands, c)
	}
	return groups
}

// flagRows describes the visible flags in the order of their declaration.
func flagRows(flags []cli.Flag) [][2]string {
	var rows [][2]string
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		var short, long []string
		for _, name := range f.Names() {
			if d := argv.Dashed(name); strings.HasPrefix(d, "--") {
				long = append(long, d)
			} else {
				short = append(short, d)
			}
		}
		name := strings.Join(append(short, long...), ", ")
		if argv.TakesValue(f) {
			name += " " + argv.Placeholder(f)
		}
		rows = append(rows, [2]string{name, flagUsage(f)})
	}
	return rows
}

// listedValues finds the placeholder at the end of a phrase. The flag itself shows
// it, as in --sandbox auto|require|off.
var listedValues = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(": `[^`]+`($|;| \\()") })

// flagUsage describes a flag and its default.
func flagUsage(f cli.Flag) string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	text := strings.ReplaceAll(listedValues().ReplaceAllString(doc.GetUsage(), "$1"), "`", "")
	if argv.Repeatable(f) {
		text += " (repeatable)"
	}
	switch value := doc.GetDefaultText(); value {
	case "", "0", `""`, "false", "0s", "[]":
		return text
	default:
		return text + " (default " + value + ")"
	}
}
