package cli

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/config"
)

func newManCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of swarm, or of a command",
		ArgsUsage: "[COMMAND]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write all pages into the folder `DIR`, which is made if it is missing"},
		},
		Description: `Prints the manual page swarm(1), or of a command the page swarm-COMMAND(1), in the
language of man. The text is that of the help. With --dir it writes all pages, so
that ` + "`man swarm-run`" + ` finds them.

Examples:
  swarm man | man -l -
  swarm man run | man -l -
  swarm man --dir ~/.local/share/man/man1`,
		Action: func(c *cli.Context) error { return manAction(c, env) },
	}
}

// header begins a page of that name.
func (m *manPage) header(app *cli.App, name string) {
	m.b.WriteString(`.\" Made by ` + "`swarm man`" + `; changes belong there.` + "\n")
	m.raw(fmt.Sprintf(`.TH "%s" "1" "%s" "%s" "User Commands"`, // a date takes no escapes
		strings.ToUpper(name), manDate(), roff(app.Name+" "+buildVersion().Version)))
}

// writeManOf writes the manual page of a command, and of those below it.
func writeManOf(w io.Writer, app *cli.App, cmd *cli.Command) error {
	m := &manPage{}
	m.header(app, app.Name+"-"+cmd.Name)
	m.macro("SH", "NAME")
	m.text(app.Name + "-" + cmd.Name + ` - ` + cmd.Usage)
	m.macro("SH", "DESCRIPTION")
	m.command([]*cli.Command{cmd})
	m.macro("SH", "FLAGS OF EVERY COMMAND")
	m.flags(app.Flags)
	m.macro("SH", "SEE ALSO")
	m.raw(bold(app.Name) + "(1)")
	_, err := io.WriteString(w, m.b.String())
	return err
}

// writeMan writes the manual page of the program in roff, with the macros of
// man(7).
func writeMan(w io.Writer, app *cli.App) error {
	m := &manPage{}
	m.header(app, app.Name)
	m.macro("SH", "NAME")
	m.text(app.Name + ` - ` + app.Usage)
	m.macro("SH", "SYNOPSIS")
	m.raw(bold(app.Name) + " " + italic("COMMAND") + ` [flags] [arguments]`)
	m.macro("br")
	m.raw(bold(app.Name+" help") + " " + italic("COMMAND"))
	m.macro("SH", "FLAGS OF EVERY COMMAND")
	m.flags(app.Flags)
	m.tagged(bold("-h")+", "+bold("--help"), "explain the command")
	for _, group := range grouped(app.Commands) {
		m.macro("SH", strings.ToUpper(group.title))
		for _, c := range group.commands {
			m.command([]*cli.Command{c})
		}
	}
	m.macro("SH", "EXIT STATUS")
	for _, c := range exitCodes() {
		m.tagged(bold(fmt.Sprint(int(c))), exitMeaning(c))
	}
	m.table("ENVIRONMENT", environment())
	m.table("FILES", filesOfSwarm())
	m.macro("SH", "EXAMPLES")
	m.examples(app.Description)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// manDate is the day of the commit that this program was built from, so that
// a build makes one page; without it, today.
func manDate() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if day, _, cut := strings.Cut(s.Value, "T"); s.Key == "vcs.time" && cut {
				return day
			}
		}
	}
	return time.Now().UTC().Format(time.DateOnly)
}

// manPage is a page as far as it is written.
type manPage struct{ b strings.Builder }

// raw writes a line of roff whose text is escaped already.
func (m *manPage) raw(line string) { m.b.WriteString(line + "\n") }

// text writes a line of plain text.
func (m *manPage) text(s string) { m.raw(roffLine(s)) }

// macro writes a request with its arguments, which are plain text.
func (m *manPage) macro(name string, args ...string) {
	line := "." + name
	for _, a := range args {
		line += ` "` + roff(a) + `"`
	}
	m.raw(line)
}

// tagged writes a term, in roff, and its explanation.
func (m *manPage) tagged(term, text string) {
	m.macro("TP")
	m.raw(term)
	m.text(text)
}

func (m *manPage) table(title string, rows [][2]string) {
	m.macro("SH", title)
	for _, r := range rows {
		m.tagged(bold(r[0]), r[1])
	}
}

// command explains the command at the end of path, then those below it.
func (m *manPage) command(path []*cli.Command) {
	c, name := path[len(path)-1], commandPath(path)
	m.macro("SS", name+" - "+c.Usage)
	usage := bold(program + " " + name)
	if len(flagRows(c.Flags)) > 0 {
		usage += " [flags]"
	}
	switch {
	case c.ArgsUsage != "":
		usage += " " + italic(c.ArgsUsage)
	case len(c.Subcommands) > 0:
		usage += " " + italic("COMMAND")
	}
	m.raw(usage)
	if len(c.Aliases) > 0 {
		m.macro("br")
		m.text("also called: " + strings.Join(c.Aliases, ", "))
	}
	about, _, _ := strings.Cut(c.Description, examplesTitle)
	for paragraph := range strings.SplitSeq(strings.TrimSpace(about), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph == "" {
			continue
		}
		m.macro("PP")
		for line := range strings.SplitSeq(paragraph, "\n") {
			m.text(strings.TrimSpace(line))
		}
	}
	m.flags(c.Flags)
	if strings.Contains(c.Description, examplesTitle) {
		m.macro("PP")
		m.text("Examples:")
		m.examples(c.Description)
	}
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			m.command(append(path[:len(path):len(path)], sub))
		}
	}
}

// flags lists flags as the help does.
func (m *manPage) flags(flags []cli.Flag) {
	for _, row := range flagRows(flags) {
		names, value, _ := strings.Cut(strings.ReplaceAll(row[0], ", ", ","), " ")
		var term []string
		for name := range strings.SplitSeq(names, ",") {
			term = append(term, bold(name))
		}
		line := strings.Join(term, ", ")
		if value != "" {
			line += " " + italic(value)
		}
		m.tagged(line, row[1])
	}
}

// examples writes the lines to type just as they are.
func (m *manPage) examples(description string) {
	_, text, ok := strings.Cut(description, examplesTitle)
	if !ok {
		return
	}
	m.macro("RS", "4")
	m.macro("nf")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n "), "\n") {
		m.text(strings.TrimPrefix(line, "  "))
	}
	m.macro("fi")
	m.macro("RE")
}

func bold(s string) string   { return `\fB` + roff(s) + `\fP` }
func italic(s string) string { return `\fI` + roff(s) + `\fP` }

// roffLine is roff for a line of text: a dot or an apostrophe at its start
// would make it a request.
func roffLine(s string) string {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + roff(s)
	}
	return roff(s)
}

// roff escapes text so that what is printed is what it says: roff prints a
// bare - as a hyphen and ' as a closing quote, which nobody can paste.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\\':
			b.WriteString(`\e`)
		case '-':
			b.WriteString(`\-`)
		case '\'':
			b.WriteString(`\(aq`)
		case '`':
			b.WriteString(`\(ga`)
		case '^':
			b.WriteString(`\(ha`)
		case '~':
			b.WriteString(`\(ti`)
		case '"':
			b.WriteString(`\(dq`)
		case '…':
			b.WriteString("...")
		case '\n', '\r', '\t':
			b.WriteString(" ")
		default:
			if ' ' <= r && r <= '~' {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\[u%04X]`, r)
			}
		}
	}
	return b.String()
}

// exitCodes lists all codes in the order of their numbers.
func exitCodes() []Code {
	codes := append(precedence(), CodeOK)
	slices.Sort(codes)
	return codes
}

// exitMeaning says what a code tells.
func exitMeaning(c Code) string {
	switch c {
	case CodeOK:
		return "all is well"
	case CodeFailed:
		return "swarm itself failed"
	case CodeUsage:
		return "the command line, the configuration or a script was refused; nothing was started"
	case CodeDegraded:
		return "some agents failed"
	case CodeConflict:
		return "patches conflict"
	case CodeApproval:
		return "an approval was needed and nobody could give it"
	case CodePaused:
		return "paused by a budget or a limit of a provider; the run can be resumed"
	case CodeVerify:
		return "a verification failed"
	case CodeScript:
		return "the script threw"
	case CodeTimeout:
		return "the time given by --run-timeout, or by wait --timeout, was over"
	case CodeInterrupted:
		return "stopped by SIGINT, such as Ctrl-C"
	case CodeTerminated:
		return "stopped by SIGTERM or SIGHUP"
	default:
		return ""
	}
}

// environment lists the variables that swarm reads.
func environment() [][2]string {
	return [][2]string{
		{"SWARM_STATE_DIR", "where runs are kept; an absolute path outside of the repository"},
		{"XDG_STATE_HOME", "runs are kept in its folder swarm, where SWARM_STATE_DIR is not set; ~/.local/state without it"},
		{"TMPDIR", "where temporary files are; what is below it is taken for an agent's own by swarm risk"},
		{"XDG_CONFIG_HOME", "where the user's own configuration is; ~/.config without it"},
		{"XDG_RUNTIME_DIR", "where the sockets of running runs are; a folder below /tmp without it"},
		{config.SandboxVariable, "the walls around agents, auto, require or off, whatever the configuration says; --sandbox wins"},
		{config.BackendVariable, "how workspaces are made, auto, overlay, reflink, copy or worktree, in the same way; --backend wins"},
		{config.PassEnvVariable, "more variables that agents get, with commas or blanks between them, as pass_env of [sandbox]"},
		{"SWARM_FILTER_TIMEOUT", "how long a git filter may do nothing before it is ended, such as 90s; 10m without it; one that only computes has six times as long"},
		{"GIT_PAGER", "the pager of diff, show and logs on a terminal; without it core.pager of your own git configuration, PAGER, less"},
		{"PAGER", "the pager where neither GIT_PAGER nor core.pager is set"},
		{"GIT_EDITOR", "the editor of config edit; without it core.editor, VISUAL, EDITOR, vi"},
		{"VISUAL", "the editor where neither GIT_EDITOR nor core.editor is set"},
		{"EDITOR", "the editor where VISUAL is not set either"},
		{"SWARM_RUN", "set for agents, with SWARM_AGENT: the run they belong to"},
		{"SWARM_AGENT", "set for agents and what they start; commands that decide for a person are refused then"},
		{"SWARM_WORKTREE", "set for agents: the workspace, which swarm builtin writes in"},
		{"SWARM_ARTIFACTS", "set for agents: where swarm builtin keeps outputs that are too long to be shown"},
		{"SWARM_CONTRACT", "set for agents: a file that says how actions are judged, which swarm builtin tells its model"},
		{"SWARM_SCHEMA", "set for agents: a file with the schema of the answer, as --schema-file of swarm builtin"},
		{"SWARM_BUILTIN_MODEL", "the model of swarm builtin, where --model names none"},
		{"OPENAI_API_KEY", "the key of swarm builtin and swarm models for openai; OPENAI_BASE_URL is another endpoint"},
		{"ANTHROPIC_API_KEY", "the key of swarm builtin and swarm models for anthropic; ANTHROPIC_BASE_URL is another endpoint"},
		{"NAME_API_KEY", "the key for the provider NAME that docs/builtin.md lists, such as GROQ_API_KEY; NAME_BASE_URL is another endpoint"},
		{"OLLAMA_BASE_URL", "where swarm builtin and swarm models find ollama; this machine without it"},
		{"LMSTUDIO_BASE_URL", "the same for lmstudio"},
		{"GEMINI_API_KEY", "the key of swarm models for google"},
		{"GOOGLE_API_KEY", "the same, where there is no GEMINI_API_KEY"},
		{"GOOGLE_GEMINI_BASE_URL", "another endpoint of google for swarm models"},
		{"HOME", "the user's folder"},
		{"TMPDIR", "a folder for temporary files: what an action does there is its own affair"},
		{"PATH", "where the commands of agents are looked for"},
		{"SHELL", "what swarm shell starts; sh without it"},
		{"SUDO_UID", "the user who called sudo, for whose state folder swarm setup apparmor makes a profile"},
		{"SUDO_USER", "the same by name, where there is no SUDO_UID"},
		{"NO_COLOR", "when set, nothing is coloured"},
		{"CLICOLOR_FORCE", "when set, colours are used into files and pipes too"},
		{"CI", "when set, nothing is drawn over on the terminal"},
		{"TERM", "what the terminal can do; dumb means nothing"},
		{"COLUMNS", "how wide the output may get"},
		{"LINES", "how high a drawing may get"},
	}
}

// filesOfSwarm lists the files that a user may want to look at.
func filesOfSwarm() [][2]string {
	return [][2]string{
		{".swarm/config.toml", "the project's configuration, committed"},
		{".swarm/config.local.toml", "the project's configuration on this machine, ignored by git"},
		{"~/.config/swarm/config.toml", "the user's own configuration"},
		{"~/.config/swarm/risk.toml", "rules of the user's own about actions: they add, and raise tiers"},
		{".worktreeinclude", "which ignored files go into the workspaces of agents, in the syntax of .gitignore"},
		{"~/.local/state/swarm/", "the runs: a folder for each repository, never inside of it"},
	}
}
