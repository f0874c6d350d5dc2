package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/worktree"
)

// docsDir holds a script for each page of walkedPages: NAME.txtar for
// docs/NAME.md. Programs in its folder bin play the agents.
const docsDir = "testdata/docs"

// walkedPages are the pages whose every command is run by a test. A page joins
// by its name here and a script in docsDir.
func walkedPages() []string {
	return []string{
		"README.md", "docs/quickstart.md", "docs/scripts.md", "docs/safety.md", "docs/landing.md", "docs/recipes.md",
		"docs/troubleshooting.md", "CONTRIBUTING.md",
	}
}

// referencePages are references whose commands no script runs yet.
func referencePages() []string {
	return []string{"docs/agents.md", "docs/mcp.md", "docs/roles.md", "docs/tasks.md", "docs/variants-lab.md", "docs/workflows.md"}
}

// TestPagesAreWalked: a page that shows commands is walked, or is a reference
// that is known not to be.
func TestPagesAreWalked(t *testing.T) {
	t.Parallel()
	var shows []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if slices.ContainsFunc(readBlocks(readPage(t, page)), docBlock.runs) {
				shows = append(shows, page)
			}
		}
	}
	for _, page := range shows {
		if slices.Contains(walkedPages(), page) == slices.Contains(referencePages(), page) {
			t.Errorf("%s shows commands: it has to stand in walkedPages or in referencePages", page)
		}
	}
	for _, page := range referencePages() {
		if !slices.Contains(shows, page) {
			t.Errorf("%s shows no commands: take it out of referencePages", page)
		}
	}
}

// walkName is the name of the script that walks a page.
func walkName(page string) string {
	return strings.ToLower(strings.TrimSuffix(filepath.Base(page), ".md"))
}

// TestDocs walks each page from top to bottom in an empty HOME, with a user's
// default settings. The script of a page runs its blocks by `block`, and
// `walked` fails if a block did not run.
func TestDocs(t *testing.T) {
	t.Parallel()
	params := scriptParams(worktree.Linked)
	params.Dir = docsDir
	params.Setup = func(env *testscript.Env) error {
		env.Values[docsKey{}] = map[string]*docPage{}
		return errors.Join(setupScript(env), playAgents(env))
	}
	params.Cmds["block"] = blockCommand
	params.Cmds["gate"] = gateCommand
	params.Cmds["put"] = putCommand
	params.Cmds["walked"] = walkedCommand
	testscript.Run(t, params)
}

// TestDocsAreWalked: each page has a script, and the script ends with `walked`.
func TestDocsAreWalked(t *testing.T) {
	t.Parallel()
	var names []string
	for _, page := range walkedPages() {
		name := filepath.Join(docsDir, walkName(page)+".txtar")
		names = append(names, name)
		script, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("nothing runs the commands of %s: %v", page, err)
			continue
		}
		commands, _, _ := strings.Cut(string(script), "\n-- ")
		if !strings.HasSuffix(strings.TrimSpace(commands), "\nwalked "+page) {
			t.Errorf("%s: the last command is not `walked %s`", name, page)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(docsDir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		if !slices.Contains(names, script) {
			t.Errorf("%s belongs to no page of walkedPages", script)
		}
	}
}

// playAgents puts the programs of docsDir/bin first in the PATH of a script,
// with keys that no provider knows.
func playAgents(env *testscript.Env) error {
	bin := filepath.Join(env.WorkDir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	programs, err := os.ReadDir(filepath.Join(docsDir, "bin"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(docsDir, "bin", p.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(bin, p.Name()), text, 0o700)
		}
		if err != nil {
			return err
		}
	}
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("ANTHROPIC_API_KEY", "none")
	env.Setenv("OPENAI_API_KEY", "none")
	return nil
}

// docsKey is where a script keeps the pages it walks.
type docsKey struct{}

// docPage is a page, and the blocks of it that were used.
type docPage struct {
	name   string
	blocks []docBlock
	used   []bool
}

func newDocPage(name, text string) *docPage {
	p := &docPage{name: name, blocks: readBlocks(text)}
	p.used = make([]bool, len(p.blocks))
	return p
}

// next marks the first block not used yet whose text contains words, and
// returns it.
func (p *docPage) next(words string) (docBlock, error) {
	for i, b := range p.blocks {
		if !p.used[i] && strings.Contains(b.text, words) {
			p.used[i] = true
			return b, nil
		}
	}
	return docBlock{}, fmt.Errorf("%s has no block left with %q", p.name, words)
}

// unused is the first block that was not used.
func (p *docPage) unused() (docBlock, bool) {
	if i := slices.Index(p.used, false); i >= 0 {
		return p.blocks[i], true
	}
	return docBlock{}, false
}

// pageOf is a page as the script has walked it so far.
func pageOf(ts *testscript.TestScript, name string) *docPage {
	pages := ts.Value(docsKey{}).(map[string]*docPage)
	if pages[name] == nil {
		text, err := os.ReadFile(name)
		ts.Check(err)
		pages[name] = newDocPage(name, string(text))
	}
	return pages[name]
}

// blockCommand is `block PAGE WORDS`: runs the next block of the page that
// contains WORDS, in the current folder. It runs a block in sh as it is. Of a
// block in console it runs each line after `$ `, and compares the output with
// the lines below.
func blockCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: block PAGE WORDS")
	}
	b, err := pageOf(ts, args[0]).next(args[1])
	ts.Check(err)
	at := fmt.Sprintf("%s:%d", args[0], b.line)
	switch b.lang {
	case "sh":
		if err := ts.Exec("sh", "-euc", b.text); err != nil {
			ts.Fatalf("%s: %v", at, err)
		}
	case "console":
		code := 0
		for _, s := range readSession(b.text) {
			out, ended, err := runShown(ts, s.command, code)
			ts.Check(err)
			ts.Logf("$ %s\n%s", s.command, out)
			if line := differs(s.output, out); line != "" {
				ts.Fatalf("%s: `%s` does not print %q as shown", at, s.command, line)
			}
			code = ended
		}
		if code != 0 {
			ts.Fatalf("%s: the last command ended with %d; show it by `echo $?`", at, code)
		}
	default:
		ts.Fatalf("%s: a block in %q cannot be run", at, b.lang)
	}
}

// runShown runs a command as a terminal would, after a command that ended with
// code.
func runShown(ts *testscript.TestScript, command string, code int) (out string, ended int, err error) {
	err = ts.Exec("sh", "-c", fmt.Sprintf("exec 2>&1\n(exit %d)\n%s", code, command))
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		ended, err = failed.ExitCode(), nil
	}
	return ts.ReadFile("stdout"), ended, err
}

// gateCommand is `gate PAGE WORDS`: the gate runs each line of the block.
func gateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gate PAGE WORDS")
	}
	b, err := pageOf(ts, args[0]).next(args[1])
	ts.Check(err)
	text, err := gateText()
	ts.Check(err)
	for line := range strings.Lines(b.text) {
		command, _, _ := strings.Cut(line, "#")
		if command = strings.TrimSpace(command); command != "" && !strings.Contains(text, command+"\n") {
			ts.Fatalf("%s:%d: the gate does not run %q", args[0], b.line, command)
		}
	}
}

// putCommand is `put FILE PAGE WORDS`: writes a block to a file. Commands are
// run and not put.
func putCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: put FILE PAGE WORDS")
	}
	b, err := pageOf(ts, args[1]).next(args[2])
	ts.Check(err)
	if b.runs() {
		ts.Fatalf("%s:%d: a block in %q has to be run", args[1], b.line, b.lang)
	}
	file := ts.MkAbs(args[0])
	ts.Check(errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.text), 0o600)))
}

// walkedCommand is `walked PAGE`: each block of the page was used.
func walkedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: walked PAGE")
	}
	if b, left := pageOf(ts, args[0]).unused(); left {
		ts.Fatalf("%s:%d: no command of the script runs this block:\n%s", args[0], b.line, b.text)
	}
}

// TestUnusedBlocks: a page is walked once each of its blocks was used.
func TestUnusedBlocks(t *testing.T) {
	t.Parallel()
	p := newDocPage("page", "```sh\nswarm a\n```\n```sh\nswarm b\n```\n```sh\nswarm a\n```\n")
	for _, words := range []string{"swarm a", "swarm a", "swarm b"} {
		if _, left := p.unused(); !left {
			t.Errorf("before %q none is left", words)
		}
		if _, err := p.next(words); err != nil {
			t.Error(err)
		}
	}
	if b, left := p.unused(); left {
		t.Errorf("%v is left", b)
	}
	if _, err := p.next("swarm a"); err == nil {
		t.Error("a block is used twice")
	}
}
