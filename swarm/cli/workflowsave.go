package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/config"
	"agentswarm/swarm/fleet"
)

func newWorkflowSaveCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "save",
		Usage:     "save a script as a workflow of this repository",
		ArgsUsage: "NAME FILE|-",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace the script of that name, and its test"},
			&cli.BoolFlag{Name: "untested", Usage: "save it without a test that passes"},
			jsonFlag(),
		},
		Description: `Writes the script, and the .test.toml beside it, to .swarm/workflows, from where
run --workflow NAME starts it. The test has to pass. Where FILE has none, or is - for
standard input, the test that lies there already is taken. You have typed this, so
that its text is approved; agents cannot save anything.

Examples:
  swarm workflow save review plan.js
  swarm workflow save review plan.js --force
  swarm workflow save draft - --untested < plan.js`,
		Action: func(c *cli.Context) error { return workflowSaveAction(c, env) },
	}
}

// savedObject is swarm.saved/1, described in docs/json.md.
type savedObject struct {
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	File     string `json:"file"`
	Test     string `json:"test,omitempty"`
	Tested   bool   `json:"tested"`
	Replaced bool   `json:"replaced"`
}

// saving is a script on its way into the repository.
type saving struct {
	*place
	name     string
	script   scripted
	test     string // the path of its test; empty for none
	shown    string // how messages call that
	force    bool
	untested bool
}

func workflowSaveAction(c *cli.Context, env Env) error {
	p, words, err := workflowArguments(c, env, 2, 2)
	if err != nil {
		return err
	}
	if p.repo.Bare() {
		return usagef("workflow save: a bare repository has no checkout to save in")
	}
	if err := p.personal("saving a workflow"); err != nil {
		return err
	}
	s := &saving{place: p, force: c.Bool("force"), untested: c.Bool("untested")}
	if s.name, err = workflowName(words[0]); err != nil {
		return err
	}
	if err := s.read(words[1]); err != nil {
		return err
	}
	o := savedObject{
		Schema: "swarm.saved/1", Name: s.name, File: swarmWorkflows + "/" + s.name + ".js", Tested: !s.untested,
	}
	if err := s.check(c.Context, &o); err != nil {
		return err
	}
	if err := s.write(&o); err != nil {
		return err
	}
	item := workflowItem(o.File, s.script.Text)
	if err := (config.Trust{Dir: p.state.Trust()}).Approve([]config.Item{item}); err != nil {
		return fmt.Errorf("workflow save: %s is written, but not approved: %w", o.File, err)
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	fmt.Fprintf(env.Stderr, "saved; `%s run --workflow %s` runs it\n", env.Calls, s.name)
	_, err = fmt.Fprintln(env.Stdout, filepath.Join(p.repo.TopLevel, filepath.FromSlash(o.File)))
	return err
}

// workflowName is the name that a workflow is saved under.
func workflowName(word string) (string, error) {
	name := strings.TrimSuffix(word, ".js")
	letters := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "", len(name) > 100, strings.ContainsAny(name[:1], "._-"),
		strings.ContainsFunc(name, func(r rune) bool { return !letters(r) }):
		return "", usagef("workflow save: %s is no name for a workflow: want letters, digits, and . _ - after the first", Printable(word))
	}
	return name, nil
}

// read reads the script, and finds its test.
func (s *saving) read(word string) error {
	pl := &plan{verb: "workflow save"}
	if word == "-" {
		text, err := io.ReadAll(io.LimitReader(s.env.input(), maxScript+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		if err := pl.takeScript("(standard input)", string(text)); err != nil {
			return err
		}
	} else {
		found, err := s.scriptNamed(pl.verb, word)
		if err != nil {
			return err
		}
		if err := pl.readScriptFile(s.place, word, found.path); err != nil {
			return err
		}
		if test := testPath(found.path); fspath.Exists(test) {
			s.test, s.shown = test, testPath(found.file)
		}
	}
	s.script = *pl.script
	there := testPath(filepath.Join(s.rootDir(), filepath.FromSlash(swarmWorkflows), s.name+".js"))
	if s.test == "" && fspath.Exists(there) {
		s.test, s.shown = there, s.place.shown(there)
	}
	return s.gatherLib(&s.script)
}

// check refuses a script that is none, or that no test has passed.
func (s *saving) check(ctx context.Context, o *savedObject) error {
	if _, _, _, err := s.metaOf(ctx, &s.script); err != nil || s.untested {
		return err
	}
	if s.test == "" {
		return &UsageError{
			Text:   fmt.Sprintf("workflow save: %s has no test", Printable(s.script.Name)),
			Advice: "write a .test.toml beside it, or save it with --untested",
		}
	}
	t, err := s.tester(ctx)
	if err != nil {
		return err
	}
	done, err := t.test(ctx, testRequest{script: s.script, test: s.test, shown: s.shown})
	switch {
	case err != nil:
		return refused(err)
	case done.fault != nil:
		return refused(done.fault)
	case !done.OK:
		if err := s.printFailed(done.report); err != nil {
			return err
		}
		return &ExitError{Code: CodeVerify, Err: fmt.Errorf("workflow save: %s: its test fails; nothing is saved", Printable(s.script.Name))}
	}
	o.Tested = true
	return nil
}

// printFailed tells what is wrong on the way of messages: the result of save
// is a file.
func (s *saving) printFailed(r *fleet.Report) error {
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		return err
	}
	_, err := io.WriteString(s.env.Stderr, PrintableText(b.String()))
	return err
}

// write puts the script and its test in their place. The script comes last: it
// is what is found.
func (s *saving) write(o *savedObject) (err error) {
	root, err := os.OpenRoot(s.repo.TopLevel)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a folder that was read
	folder, err := workflowFolder(root)
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // only a folder that was read
	type file struct{ name, text string }
	files := []file{{s.name + ".js", s.script.Text}}
	if s.test != "" {
		text, err := readText(s.test, fleet.MaxSize)
		if err != nil {
			return refused(err)
		}
		files = append([]file{{s.name + ".test.toml", text}}, files...)
		o.Test = swarmWorkflows + "/" + s.name + ".test.toml"
	}
	var fresh []file
	for _, f := range files {
		differs, there, err := s.compare(folder, f.name, f.text)
		switch {
		case err != nil:
			return err
		case differs || !there:
			fresh = append(fresh, f)
		}
		o.Replaced = o.Replaced || differs
	}
	for _, f := range fresh {
		if err := putFile(folder, f.name, f.text); err != nil {
			return fmt.Errorf("workflow save: %w", err)
		}
	}
	return nil
}

// workflowFolder opens the folder of saved workflows, and makes it where there
// is none. A link may lead to anywhere, and its target is not ours.
func workflowFolder(root *os.Root) (*os.Root, error) {
	for dir := range prefixes(swarmWorkflows) {
		if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("workflow save: %w", err)
		}
		stat, err := root.Lstat(dir)
		if err != nil {
			return nil, fmt.Errorf("workflow save: %w", err)
		}
		if !stat.IsDir() {
			return nil, usagef("workflow save: %s is not a folder; move it away first", dir)
		}
	}
	return root.OpenRoot(swarmWorkflows)
}

// prefixes are the folders on the way to a path, and it.
func prefixes(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, r := range path {
			if r == '/' && !yield(path[:i]) {
				return
			}
		}
		yield(path)
	}
}

// compare looks at what a file would replace. Another text is an error unless
// it was forced.
func (s *saving) compare(folder *os.Root, name, text string) (differs, there bool, err error) {
	stat, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("workflow save: %w", err)
	case !stat.Mode().IsRegular():
		return false, false, usagef("workflow save: %s/%s is not a regular file; move it away first", swarmWorkflows, name)
	}
	old, err := folder.ReadFile(name)
	if err != nil {
		return false, false, fmt.Errorf("workflow save: %w", err)
	}
	if string(old) == text {
		return false, true, nil
	}
	if !s.force {
		return false, false, usagef("workflow save: %s/%s is there and says something else; --force replaces it", swarmWorkflows, name)
	}
	return true, true, nil
}

// putFile writes a file, whole or not at all.
func putFile(folder *os.Root, name, text string) error {
	fresh := "." + name + "." + rand.Text()
	if err := writeNew(folder, fresh, strings.NewReader(text)); err != nil {
		return err
	}
	if err := folder.Rename(fresh, name); err != nil {
		return errors.Join(err, folder.Remove(fresh))
	}
	return nil
}
