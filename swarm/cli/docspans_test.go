package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
)

// docSpan is a span of code in the text of a page, or in a cell of a table.
var docSpan = regexp.MustCompile("`swarm ([^`]*)`")

// guides are the pages for users whose command lines have to be known.
func guides() []string {
	return []string{
		"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/quickstart.md", "docs/scripts.md", "docs/safety.md", "docs/landing.md",
		"docs/recipes.md", "docs/troubleshooting.md", "docs/glossary.md", "docs/isolation.md",
		"docs/agent-protocol.md", "docs/agents.md", "docs/builtin.md", "docs/configuration.md", "docs/json.md",
		"docs/performance.md", "docs/roles.md", "docs/stages.md", "docs/tasks.md", "docs/variants-lab.md", "docs/variants.md",
		"docs/workflows.md",
	}
}

// TestPagesShowKnownCommands: each command line in the running text of a page
// has a command and flags that exist. Blocks are run by TestDocs of the root.
func TestPagesShowKnownCommands(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	top := filepath.Join("..", "..")
	n := 0
	for _, page := range guides() {
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docSpan.FindAllStringSubmatch(string(text), -1) {
			n++
			if err := knownLine(env, m[1]); err != nil {
				t.Errorf("%s: `swarm %s`: %v", page, m[1], err)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d command lines were found", n)
	}
}

// TestReadmeNamesEachCommand: a reader of the README finds every command.
func TestReadmeNamesEachCommand(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newApp(env, builtin(env)).VisibleCommands() {
		if !c.Hidden && !strings.Contains(string(readme), "`"+c.Name+"`") {
			t.Errorf("the README does not name `%s`", c.Name)
		}
	}
}

// knownLine checks a command line, without running it. Words in capitals at its
// beginning stand for any command.
func knownLine(env cmdline.Env, line string) error {
	line, _, _ = strings.Cut(strings.ReplaceAll(line, `\|`, "|"), " | ")
	words, err := shell.Fields(line, func(string) string { return "x" })
	if err != nil {
		return err
	}
	if len(words) == 0 || strings.ToUpper(words[0]) == words[0] && !strings.HasPrefix(words[0], "-") {
		return nil
	}
	_, err = argv.Parse(newApp(env, builtin(env)), words)
	return err
}

func TestKnownLine(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv.Func()}
	for line, known := range map[string]bool{
		`run --each 'packages/*/' "add a README to {item}"`: true,
		`run -- gofmt --not-ours`:                           true,
		`COMMAND --help`:                                    true,
		`diff a1 \| git apply --3way`:                       true,
		`run --no-such-flag`:                                false,
		`no-such-command`:                                   false,
		`run --each`:                                        false,
	} {
		if err := knownLine(env, line); (err == nil) != known {
			t.Errorf("knownLine(%q) = %v", line, err)
		}
	}
}
