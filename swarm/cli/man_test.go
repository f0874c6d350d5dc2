package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/cmdline"
)

// unroff returns the text that roff prints for a line, as far as [roff] writes
// it.
func unroff(s string) string {
	s = strings.TrimPrefix(s, `\&`)
	return strings.NewReplacer(
		`\fB`, "", `\fI`, "", `\fP`, "", `\-`, "-", `\(aq`, "'", `\(ga`, "`",
		`\(ha`, "^", `\(ti`, "~", `\(dq`, `"`, `\[u2014]`, "—", `\e`, `\`,
	).Replace(s)
}

func TestRoff(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"plain":              "plain",
		".br":                `\&.br`,
		"'tis":               `\&\(aqtis`,
		`a\fBb`:              `a\efBb`,
		"--each 'a/*' `x`":   `\-\-each \(aqa/*\(aq \(gax\(ga`,
		`say "x" ~/a^b`:      `say \(dqx\(dq \(ti/a\(hab`,
		"[ARGUMENT…] — a\nb": `[ARGUMENT...] \[u2014] a b`,
	} {
		if got := roffLine(give); got != want {
			t.Errorf("roffLine(%q) = %q, want %q", give, got, want)
		}
	}
}

// FuzzRoff holds that no text can be a request, or more than its line.
func FuzzRoff(f *testing.F) {
	for _, seed := range []string{"", ".so /etc/passwd", "'br", "\\fB", "a\n.br", "é\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := roffLine(text)
		if strings.HasPrefix(got, ".") || strings.HasPrefix(got, "'") || strings.ContainsAny(got, "\n\r") {
			t.Errorf("roffLine(%q) = %q", text, got)
		}
		if !strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' }) && unroff(got) != text {
			t.Errorf("roffLine(%q) prints %q", text, unroff(got))
		}
	})
}

// manText is the page of the product, and its lines as they print.
func manText(t *testing.T) (app *cli.App, lines []string) {
	t.Helper()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	app = newApp(env, builtin(env))
	var b strings.Builder
	if err := writeMan(&b, app); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		lines = append(lines, unroff(strings.TrimSuffix(line, "\n")))
	}
	return app, lines
}

// TestManHasEverything compares the page with the help.
func TestManHasEverything(t *testing.T) {
	t.Parallel()
	app, lines := manText(t)
	page := strings.Join(lines, "\n") + "\n"
	var check func(commands, path []*cli.Command)
	check = func(commands, path []*cli.Command) {
		for _, c := range commands {
			path := append(path[:len(path):len(path)], c)
			title := `.SS "` + cmdline.Path(path) + " - " + c.Usage + "\"\n"
			if c.Hidden {
				if strings.Contains(page, c.Name) {
					t.Errorf("the page tells of %s", c.Name)
				}
				continue
			}
			_, section, ok := strings.Cut(page, title)
			if !ok {
				t.Errorf("the page lacks %q", title)
				continue
			}
			section, _, _ = strings.Cut(section, "\n.S")
			for _, row := range flagRows(c.Flags) {
				if want := "\n.TP\n" + row[0] + "\n" + strings.ReplaceAll(row[1], "…", "...") + "\n"; !strings.Contains(section, want) {
					t.Errorf("%s: the page lacks %q in\n%s", cmdline.Path(path), want, section)
				}
			}
			_, examples, _ := strings.Cut(c.Description, examplesTitle)
			for line := range strings.SplitSeq(strings.TrimSpace(examples), "\n") {
				if !strings.Contains(section, "\n"+strings.TrimSpace(line)+"\n") {
					t.Errorf("%s: the page lacks the example %q", cmdline.Path(path), line)
				}
			}
			check(c.Subcommands, path)
		}
	}
	check(app.Commands, nil)
	for _, code := range exitCodes() {
		if exitMeaning(code) == "" {
			t.Errorf("exit code %d is not explained", code)
		}
	}
	for _, title := range []string{"NAME", "SYNOPSIS", "START", "REVIEW AND LAND", "FOR MACHINES", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"} {
		if !strings.Contains(page, "\n.SH \""+title+"\"\n") {
			t.Errorf("the page has no section %s", title)
		}
	}
}

// TestManHasTheEnvironment finds the variables that the sources read.
func TestManHasTheEnvironment(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, row := range environment() {
		known[row[0]] = true
	}
	reads := regexp.MustCompile(`(?:[gG]etenv|lookup|LookupEnv)\("([A-Z_]+)"\)`)
	found := 0
	for _, dir := range []string{".", "*", "../store", "../control", "../config", "../pager", "../proc", "../../internal/terminal", "../../worktree"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range reads.FindAllStringSubmatch(string(text), -1) {
				found++
				if !known[m[1]] {
					t.Errorf("%s reads %s, which the manual page does not know", file, m[1])
				}
			}
		}
	}
	if found < len(known) {
		t.Errorf("only %d reads of the environment were found; is the source read rightly?", found)
	}
}

// TestManOfACommand holds that each command has a page of its own with its flags.
func TestManOfACommand(t *testing.T) {
	t.Parallel()
	app, _ := manText(t)
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		var b strings.Builder
		if err := writeManOf(&b, app, c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "SWARM-"+strings.ToUpper(c.Name)) || !strings.Contains(b.String(), `.SH "SEE ALSO"`) {
			t.Errorf("the page of %s has no title or no end:\n%s", c.Name, b.String())
		}
	}
}
