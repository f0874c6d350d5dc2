package cli

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
)

func newManCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of swarm, or of a command",
		ArgsUsage: "[COMMAND]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write all pages into the folder `DIR`, made if missing"},
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
		strings.ToUpper(name), manDate(), roff(app.Name+" "+cmdline.BuildVersion().Version)))
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

// manDate is the day of the commit that this program was built from, so that a
// build always makes the same page; without a commit, today.
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
	c, name := path[len(path)-1], cmdline.Path(path)
	m.macro("SS", name+" - "+c.Usage)
	usage := bold(cmdline.Program + " " + name)
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

// roff escapes text so that roff prints it unchanged. It prints a bare - as a
// hyphen and ' as a closing quote; a reader could not paste them into a shell.
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
func exitCodes() []exit.Code {
	codes := append(exit.Precedence(), exit.OK)
	slices.Sort(codes)
	return codes
}

// exitMeaning describes an exit code.
func exitMeaning(c exit.Code) string {
	switch c {
	case exit.OK:
		return "success"
	case exit.Failed:
		return "swarm itself failed"
	case exit.Usage:
		return "the command line, the configuration or a script was refused; nothing was started"
	case exit.Degraded:
		return "some agents failed"
	case exit.Conflict:
		return "patches conflict, or are left out for a filter, a submodule or a lost commit"
	case exit.Approval:
		return "an approval is missing"
	case exit.Paused:
		return "paused by a budget or a limit of a provider; the run can be resumed"
	case exit.Verify:
		return "a verification failed"
	case exit.Script:
		return "the script threw"
	case exit.Timeout:
		return "the time of --run-timeout, or of wait --timeout, is over"
	case exit.Interrupted:
		return "stopped by SIGINT, such as Ctrl-C"
	case exit.Terminated:
		return "stopped by SIGTERM or SIGHUP"
	default:
		return ""
	}
}

// environment lists the variables that swarm reads.
func environment() [][2]string {
	return [][2]string{
		{"SWARM_STATE_DIR", "state folder; an absolute path outside of the repository"},
		{"XDG_STATE_HOME", "without SWARM_STATE_DIR, runs are in its folder swarm; default ~/.local/state"},
		{"TMPDIR", "temporary files; swarm risk takes them for an agent's own"},
		{"XDG_CONFIG_HOME", "your own configuration; default ~/.config"},
		{"XDG_RUNTIME_DIR", "sockets of live runs, unless it lies in /tmp; default a folder of the state"},
		{config.SandboxVariable, "sandbox: auto, require or off; wins over the configuration, --sandbox wins over it"},
		{config.BackendVariable, "backend: auto, overlay, reflink, copy or worktree, with the same order"},
		{config.PassEnvVariable, "more variables for agents, as pass_env of [sandbox], separated by commas or spaces"},
		{"SWARM_FILTER_TIMEOUT", "time after which swarm ends an idle git filter, such as 90s; default 10m; six times as long for a filter that uses the CPU"},
		{"GIT_PAGER", "pager of diff, show and logs; default core.pager of your own git configuration, PAGER, less"},
		{"PAGER", "pager without GIT_PAGER and core.pager"},
		{"GIT_EDITOR", "editor of config edit; default core.editor, VISUAL, EDITOR, vi"},
		{"VISUAL", "editor without GIT_EDITOR and core.editor"},
		{"EDITOR", "editor without VISUAL"},
		{"SWARM_RUN", "set for agents: the id of the run"},
		{"SWARM_AGENT", "set for agents and their programs: the id; commands that decide for a person are refused"},
		{"SWARM_WORKTREE", "set for agents: the workspace, where swarm builtin writes"},
		{"SWARM_ARTIFACTS", "set for agents: folder for long outputs of swarm builtin"},
		{"SWARM_TIP", "set for the check of a merge: tip of the branch"},
		{"SWARM_CHANGED", "set for it: file of paths that differ"},
		{"SWARM_CONTRACT", "set for agents: file on the judgement of actions, for the model of swarm builtin"},
		{"SWARM_SCHEMA", "set for agents: file with the schema of the answer, as --schema-file of swarm builtin"},
		{"SWARM_BUILTIN_MODEL", "model of swarm builtin without --model"},
		{"OPENAI_API_KEY", "key of openai for swarm builtin and swarm models; OPENAI_BASE_URL is its endpoint"},
		{"ANTHROPIC_API_KEY", "key of anthropic; ANTHROPIC_BASE_URL is its endpoint"},
		{"NAME_API_KEY", "key of the provider NAME of docs/builtin.md, such as GROQ_API_KEY; NAME_BASE_URL is its endpoint"},
		{"OLLAMA_BASE_URL", "endpoint of ollama; default this machine"},
		{"LMSTUDIO_BASE_URL", "endpoint of lmstudio; default this machine"},
		{"GEMINI_API_KEY", "key of google for swarm models"},
		{"GOOGLE_API_KEY", "key of google for swarm models without GEMINI_API_KEY"},
		{"GOOGLE_GEMINI_BASE_URL", "endpoint of google for swarm models"},
		{"HOME", "your folder"},
		{"PATH", "folders of the programs of agents"},
		{"SHELL", "program of swarm shell; default sh"},
		{"SUDO_UID", "user who called sudo, for the state folder of swarm setup apparmor"},
		{"SUDO_USER", "the same by name, without SUDO_UID"},
		{"NO_COLOR", "if set, no colours"},
		{"CLICOLOR_FORCE", "if set, colours in files and pipes too"},
		{"CI", "if set, no drawing on the terminal"},
		{"TERM", "type of the terminal; dumb has no abilities"},
		{"COLUMNS", "width of the output"},
		{"LINES", "height of a drawing"},
	}
}

// filesOfSwarm lists the files that a user may want to look at.
func filesOfSwarm() [][2]string {
	return [][2]string{
		{".swarm/config.toml", "the project's configuration, committed"},
		{".swarm/config.local.toml", "the project's configuration on this machine, ignored by git"},
		{"~/.config/swarm/config.toml", "your own configuration"},
		{"~/.config/swarm/risk.toml", "your risk rules"},
		{".worktreeinclude", "ignored files that workspaces get, in the syntax of .gitignore"},
		{"~/.local/state/swarm/", "the runs: a folder for each repository"},
	}
}
