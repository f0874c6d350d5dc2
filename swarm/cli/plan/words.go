package plan

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/nearest"
)

// words reads the work to do: a prompt, a list of tasks, or the command after
// --, for each item if there is a list too.
func (pl *Plan) words(c *cli.Context, p *cmdline.Place) error {
	args, err := cmdline.Arguments(c, 0, 1)
	if err != nil {
		return exit.Usagef("run: takes one prompt; quote it, or put a command after --")
	}
	inv := cmdline.Invoked(c)
	if inv.HasAfter && len(inv.After) == 0 {
		return exit.Usagef("run: there is no command after --")
	}
	if inv.HasAfter {
		pl.workflow.Command = inv.After
	}
	isTickets, err := pl.readTickets(c, p, args)
	if err != nil {
		return err
	}
	isScript, err := pl.readStages(c, p, args)
	if err == nil && !isScript {
		isScript, err = pl.readScript(c, p, args)
	}
	if err != nil {
		return err
	}
	switch {
	case isScript, isTickets, len(args) == 0 && inv.HasAfter:
	case len(args) == 0:
		return exit.Usagef("run: needs a prompt, a list of tasks, or a command after --")
	default:
		err = pl.word(p, args[0])
	}
	if err != nil {
		return err
	}
	if err := pl.ReadArgs(c, p); err != nil {
		return err
	}
	pl.workflow.Each, pl.workflow.Prefix = c.StringSlice("each"), p.Repo.Prefix
	if c.IsSet("count") {
		if pl.workflow.Count = c.Int("count"); pl.workflow.Count < 1 {
			return exit.Usagef("run: --count %d: want 1 or more", pl.workflow.Count)
		}
	}
	switch tasks := len(pl.workflow.Tasks) > 0; {
	case tasks && len(pl.workflow.Each) > 0:
		return exit.Usagef("run: --each and a list of tasks exclude each other")
	case tasks && pl.workflow.Count > 0:
		return exit.Usagef("run: --count and a list of tasks exclude each other")
	}
	return nil
}

// word reads the single argument of run.
func (pl *Plan) word(p *cmdline.Place, word string) error {
	if word == "-" {
		sayTyped(p)
		text, err := readAll(cmdline.Input(p.Env))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		pl.Input = text
		return pl.readTasks(fanout.TasksRequest{
			Source: "standard input", Format: fanout.InputFormat(text), Text: text,
		})
	}
	path, err := taskFile(p.Dir, word)
	switch {
	case err != nil:
		return err
	case strings.EqualFold(filepath.Ext(path), ".js"):
		return pl.ReadScriptFile(p, word, path)
	case path != "":
		return pl.readTaskFile(p, word, path)
	case len(pl.workflow.Command) > 0:
		return exit.Usagef("run: takes a prompt or a command after --, not both; a list of items for it is - or a file")
	case strings.TrimSpace(word) == "":
		return exit.Usagef("run: the prompt is empty")
	case !utf8.ValidString(word):
		return exit.Usagef("run: the prompt is not UTF-8")
	}
	pl.workflow.Prompt = word
	return nil
}

// sayTyped tells a person at a terminal that the command waits for input.
func sayTyped(p *cmdline.Place) {
	if in, ok := p.Env.Stdin.(interface{ Fd() uintptr }); ok && cmdline.IsTerminal(in.Fd()) {
		fmt.Fprintln(p.Env.Stderr, "type one task a line; ctrl-d on a line of its own begins")
	}
}

// taskFile is the path of the list of tasks or of the script that a word names;
// empty where it is a prompt.
func taskFile(dir, word string) (string, error) {
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, word)
	}
	if !slices.Contains(taskEndings(), strings.ToLower(filepath.Ext(word))) {
		return "", misspelt(path, word)
	}
	stat, err := os.Stat(path)
	isFile := err == nil && stat.Mode().IsRegular()
	isFolder := err == nil && stat.IsDir()
	switch blanks := strings.ContainsAny(word, " \t\n"); {
	case isFile:
		return path, nil
	case isFolder:
		return "", exit.Usagef("run: %s: is a folder, and no file", word)
	case blanks:
		return "", nil
	default:
		return "", noTaskFile(path, word)
	}
}

// noTaskFile refuses a word that names no file, but looks as if it did.
func noTaskFile(path, word string) error {
	return &exit.UsageError{
		Text:   "run: no such file: " + word + nearest.DidYouMean(filepath.Base(path), taskFilesIn(filepath.Dir(path))),
		Advice: asPrompt,
	}
}

// asPrompt says how to give a prompt that looks like the name of a file.
const asPrompt = "if it is a prompt, say it in more than one word"

// misspelt refuses a word that ends almost like a list of tasks or a script.
// There must be such a file, or a file with a near name. As a prompt the word
// would be paid for.
func misspelt(path, word string) error {
	ext := strings.ToLower(filepath.Ext(word))
	isNear := slices.ContainsFunc(taskEndings(), func(known string) bool { return nearest.Distance(ext, known) == 1 })
	if !isNear || strings.ContainsAny(word, " \t\n") {
		return nil
	}
	if stat, err := os.Stat(path); err == nil && stat.Mode().IsRegular() {
		return &exit.UsageError{Text: "run: " + word + ": a list of tasks ends in .jsonl or .toml, a script in .js", Advice: asPrompt}
	}
	if nearest.Word(filepath.Base(path), taskFilesIn(filepath.Dir(path))) == "" {
		return nil
	}
	return noTaskFile(path, word)
}

// taskEndings are those of scripts and of lists of tasks.
func taskEndings() []string { return []string{".js", ".jsonl", ".toml"} }

// taskFilesIn returns the names of scripts and lists of tasks in a folder.
func taskFilesIn(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it is only about a better message
	}
	for _, e := range entries {
		if slices.Contains(taskEndings(), strings.ToLower(filepath.Ext(e.Name()))) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (pl *Plan) readTaskFile(p *cmdline.Place, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return cmdline.Refused(err)
	}
	defer f.Close()
	text, err := readAll(f)
	if err != nil {
		return cmdline.Refused(err)
	}
	pl.nested = p.InNested(path)
	if pl.lies, err = p.PathsOf(path); err != nil {
		return cmdline.Refused(err)
	}
	return pl.readTasks(fanout.TasksRequest{
		Source: termtext.Line(name), Format: fanout.FileFormat(path), Text: text,
	})
}

// readAll reads a list of tasks, and no more than a list may be long.
func readAll(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, fanout.MaxTasksText+1))
}

// readTasks takes a list of tasks into the workflow.
func (pl *Plan) readTasks(r fanout.TasksRequest) error {
	r.Items = len(pl.workflow.Command) > 0
	tasks, err := fanout.ReadTasks(r)
	pl.workflow.Tasks, pl.workflow.Source = tasks, r.Source
	return cmdline.Refused(err)
}

// trustTasks adds the commands and the allowances of a list of tasks that came
// with the repository to the items that need an approval. The list is among the
// repository's files, so somebody else may have written them.
func (pl *Plan) trustTasks(brought []string) {
	var lines []string
	for _, t := range pl.workflow.Tasks {
		if len(t.Command) > 0 {
			lines = append(lines, fmt.Sprintf("%q", t.Command))
		}
		if len(t.Allow) > 0 {
			// With the task that it is allowed for: another prompt would use it
			// otherwise.
			lines = append(lines, fmt.Sprintf("allow %q to %q %q", t.Allow, t.ID, t.Prompt))
		}
	}
	if len(lines) == 0 {
		return
	}
	for _, file := range pl.lies {
		if pl.nested || slices.Contains(brought, file) {
			pl.Wants = append(pl.Wants, config.Item{
				Key: "tasks", Origin: config.Origin{Layer: config.Project, File: file},
				Text: strings.Join(lines, "\n"),
			})
			return
		}
	}
}

// overlap decides how tasks with overlapping paths are treated.
func (pl *Plan) overlap(c *cli.Context, conf *config.Config) error {
	if len(pl.workflow.Tasks) == 0 {
		if c.IsSet("overlap") {
			return exit.Usagef("run: --overlap is about the paths of tasks, and there is no list of tasks")
		}
		return nil
	}
	word := c.String("overlap")
	if !c.IsSet("overlap") {
		word = fanout.OverlapWarn.String()
		if conf.Overlap != config.OverlapUnset {
			word = conf.Overlap.String()
		}
	}
	if err := pl.workflow.Overlap.UnmarshalText([]byte(word)); err != nil {
		return exit.Usagef("run: --overlap %v", err)
	}
	return nil
}

// maxOverlaps is how many overlaps are told before a run.
const maxOverlaps = 5

// PrintOverlaps tells which tasks may change the same files, and which words are no
// placeholders.
func PrintOverlaps(p *cmdline.Place, pl *Plan) {
	sayUnknown(p, pl)
	if len(pl.workflow.Tasks) == 0 {
		return
	}
	found := pl.workflow.Overlaps()
	what := "may both change"
	if pl.workflow.Overlap == fanout.OverlapSerialize {
		what = "run one after the other: both may change"
	}
	for i, o := range found {
		if i == maxOverlaps {
			fmt.Fprintf(p.Env.Stderr, "and %s more\n", termtext.Count(len(found)-i, "such pair", "such pairs"))
			break
		}
		example := "the same files"
		if o.Example != "" {
			example = o.Example
		}
		fmt.Fprintf(p.Env.Stderr, "overlap: %s and %s %s %s\n",
			taskName(o.Labels[0], o.Lines[0]), taskName(o.Labels[1], o.Lines[1]), what, termtext.Line(example))
	}
}

// sayUnknown names words that look like a placeholder and are passed on as they
// are.
func sayUnknown(p *cmdline.Place, pl *Plan) {
	if unknown := pl.workflow.Unknown(); len(unknown) > 0 {
		fmt.Fprintf(p.Env.Stderr, "note: passed on unchanged, since it is not a placeholder here: %s\n", termtext.Line(termtext.List(unknown, 5)))
	}
}

// taskName is the name of a task in messages.
func taskName(label string, line int) string {
	if label == "" {
		return fmt.Sprintf("the task of line %d", line)
	}
	return fmt.Sprintf("%s (line %d)", termtext.Line(label), line)
}
