package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/roles"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
)

// scripted is a workflow script as a run records it.
type scripted struct {
	Name    string                   `json:"name"` // how messages call it
	Text    string                   `json:"text"`
	Path    string                   `json:"path,omitempty"` // absolute; empty where it was typed
	Args    json.RawMessage          `json:"args,omitempty"`
	Lib     []event.ScriptFile       `json:"lib,omitempty"`
	Agent   string                   `json:"agent,omitempty"`   // for calls that name none
	Options *task.Options            `json:"options,omitempty"` // for calls that say nothing of it
	Form    script.Form              `json:"form,omitempty"`
	Shared  bool                     `json:"shared,omitempty"` // of runs of older versions: FormClaude
	Types   map[string]workflow.Type `json:"types,omitempty"`
	// Dispatched is set where a model of another harness handed the script in.
	Dispatched bool `json:"dispatched,omitempty"`

	warned []string // warnings of its tools that a person has read
	// config is that of the owner where it is not what the run was started
	// with: a [reconfigured].
	config json.RawMessage
}

// source is the script as its machine gets it.
func (s *scripted) source() script.Source {
	return script.Source{Name: s.Name, Text: s.Text, Form: s.Form}
}

// record is the script as the journal has it.
func (s *scripted) record() *event.Scripted {
	return &event.Scripted{Name: s.Name, Text: s.Text, Args: s.Args, Lib: s.Lib, Config: s.config}
}

// calling is what the calls of the script are made by.
func (s *scripted) calling(c engine.Config, base store.Base, assign func(engine.AssignRequest) (*roles.Resolved, error), check func(*task.Call) error) workflow.Config {
	var options task.Options
	if s.Options != nil {
		options = *s.Options
	}
	return workflow.Config{
		Options: options,
		Agent:   s.Agent, Agents: slices.Sorted(maps.Keys(c.Agents)),
		Base: base.Commit, BaseTree: base.Tree, MaxAgents: c.MaxAgents,
		Form: s.Form, Types: s.Types, Assign: assign, Check: check, BudgetTokens: c.Budget.Tokens,
		Checks: orNone(slices.Sorted(maps.Keys(c.Checks))),
	}
}

// orNone is a list that is there also where nothing is in it.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// scriptFlags are the flags of run that are about scripts.
func scriptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "eval", Aliases: []string{"e"}, Usage: "run the script `CODE`"},
		&cli.StringFlag{Name: "workflow", Usage: "run the saved workflow `NAME`"},
		&cli.StringFlag{Name: "args", Usage: "args of the script: `JSON`, @FILE, or - for standard input"},
	}
}

// readScript reads the script that the flags name, if they name one.
func (pl *plan) readScript(c *cli.Context, p *place, args []string) (found bool, err error) {
	code, name := c.IsSet("eval"), c.IsSet("workflow")
	switch {
	case !code && !name:
		return false, nil
	case code && name:
		return false, usagef("run: --eval and --workflow exclude each other: both are a script")
	case len(args) > 0 || len(pl.workflow.Command) > 0:
		return false, usagef("run: --eval and --workflow are the script itself; leave the prompt and the command after -- out")
	case code:
		if err := pl.takeScript("(code)", c.String("eval")); err != nil {
			return true, err
		}
		pl.script.Dispatched = p.env.Dispatched
		return true, nil
	}
	path, err := p.savedWorkflow("run: --workflow", c.String("workflow"))
	if err != nil {
		return false, err
	}
	return true, pl.readScriptFile(p, p.shown(path), path)
}

// maxScript bounds a script, in bytes, as other runtimes do.
const maxScript = 512 << 10

func (pl *plan) readScriptFile(p *place, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return refused(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return refused(err)
	}
	pl.nested = p.inNested(path)
	if pl.lies, err = p.within(path); err != nil {
		return refused(err)
	}
	if err := pl.takeScript(filepath.ToSlash(name), string(text)); err != nil {
		return err
	}
	if pl.script.Path, err = filepath.Abs(path); err != nil {
		return err
	}
	pl.script.Form = formOf(pl.script.Path, pl.lies)
	return nil
}

// formOf is the form of a script by the path it was named by, and by where it
// lies in the checkout: links lead from one folder to another.
func formOf(path string, lies []string) script.Form {
	for _, at := range append([]string{path}, lies...) {
		if form := script.FormOf(at); form != script.FormOwn {
			return form
		}
	}
	return script.FormOwn
}

func (pl *plan) takeScript(name, text string) error {
	switch {
	case len(text) > maxScript:
		return usagef("%s: %s: a script may be %s long", pl.says(), Printable(name), Bytes(maxScript))
	case !utf8.ValidString(text):
		return usagef("%s: %s is not UTF-8", pl.says(), Printable(name))
	case strings.TrimSpace(text) == "":
		return usagef("%s: %s: the script is empty", pl.says(), Printable(name))
	}
	pl.script = &scripted{Name: name, Text: text}
	return nil
}

// says is the command that messages name.
func (pl *plan) says() string { return cmp.Or(pl.verb, "run") }

// readArgs reads what the script is given.
func (pl *plan) readArgs(c *cli.Context, p *place) error {
	if !c.IsSet("args") {
		return nil
	}
	if pl.script == nil {
		return usagef("%s: --args is for a script, and there is none", pl.says())
	}
	text := c.String("args")
	from := "what is given"
	switch file, ok := strings.CutPrefix(text, "@"); {
	case ok:
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.dir, file)
		}
		f, err := os.Open(file) // may be a pipe: @<(command)
		if err != nil {
			return usagef("%s: --args: %v", pl.says(), err)
		}
		all, err := io.ReadAll(io.LimitReader(f, maxArgs+1))
		if err = errors.Join(err, f.Close()); err != nil {
			return usagef("%s: --args: %v", pl.says(), err)
		}
		text, from = string(all), file
	case text == "-":
		all, err := io.ReadAll(io.LimitReader(p.env.input(), maxArgs+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		pl.input = all
		text, from = string(all), "standard input"
	}
	if len(text) > maxArgs {
		return usagef("%s: --args: what a script is given may be %s long", pl.says(), Bytes(maxArgs))
	}
	if !json.Valid([]byte(text)) {
		return usagef("%s: --args: %s is not JSON; a text is JSON in quotes: --args '\"text\"'", pl.says(), Printable(from))
	}
	pl.script.Args = json.RawMessage(strings.TrimSpace(text))
	return nil
}

// maxArgs bounds what a script is given, in bytes: it is recorded with the run.
const maxArgs = 16 << 20

// Where saved workflows lie in a repository.
const (
	swarmWorkflows  = ".swarm/workflows"
	claudeWorkflows = script.ClaudeFolder
)

// savedWorkflow is the file of a saved workflow, for a flag or a call that names
// it.
func (p *place) savedWorkflow(verb, name string) (string, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || name == "" {
		return "", usagef("%s %s: want the name of a saved workflow, without folders", verb, Printable(name))
	}
	all := p.savedWorkflows()
	for _, w := range all {
		if w.name == strings.TrimSuffix(name, ".js") {
			return w.path, nil
		}
	}
	var names []string
	for _, w := range all {
		names = append(names, w.name)
	}
	message := fmt.Sprintf("%s %s: there is no such workflow in %s or %s", verb, Printable(name), swarmWorkflows, claudeWorkflows)
	if near := nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return "", usagef("%s", message)
}

// saved is a workflow that was saved.
type saved struct {
	name, path string
	dir        string // the folder of the repository it lies in
}

// savedWorkflows lists the workflows of the checkout; of two with one name the
// first counts.
func (p *place) savedWorkflows() []saved {
	var all []saved
	for _, dir := range []string{swarmWorkflows, claudeWorkflows} {
		entries, err := os.ReadDir(filepath.Join(p.rootDir(), dir))
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".js")
			if !ok || e.IsDir() || slices.ContainsFunc(all, func(w saved) bool { return w.name == name }) {
				continue
			}
			all = append(all, saved{name, filepath.Join(p.rootDir(), dir, e.Name()), dir})
		}
	}
	return all
}

// checkScript refuses a script that is none, and arguments it does not take,
// before anything starts.
func (p *place) checkScript(ctx context.Context, pl *plan) error {
	if pl.script == nil {
		return nil
	}
	switch {
	case len(pl.workflow.Each) > 0, pl.workflow.Count > 0, len(pl.workflow.Command) > 0:
		return usagef("run: --each, --count and a command after -- are not for scripts: a script makes its own calls")
	}
	if err := p.gather(pl.script); err != nil {
		return err
	}
	return p.vet(ctx, pl)
}

// gather reads what of the checkout a script may use: the project's own
// functions, and its types of agents.
func (p *place) gather(s *scripted) error { return errors.Join(p.gatherLib(s), p.gatherTypes(s)) }

// vet refuses a script that is none, and arguments that it does not take.
func (p *place) vet(ctx context.Context, pl *plan) error {
	var err error
	if pl.meta, pl.exports, pl.uses, err = p.metaOf(ctx, pl.script); err != nil {
		return err
	}
	return checkArgs(pl.says(), pl.meta, pl.script.Args)
}

// metaOf is what a script says of itself, nil where it says nothing, what the
// project's own functions are called, and the tools that the script spells out. A
// script that is none is a [*ScriptError].
func (p *place) metaOf(ctx context.Context, s *scripted) (meta *script.Meta, exports []string, uses []script.Use, err error) {
	loaded, err := p.load(ctx, []script.Source{s.source()}, s.Lib)
	if err != nil {
		return nil, nil, nil, err
	}
	if e := loaded[0].Error; e != nil {
		return nil, nil, nil, &ScriptError{Err: e}
	}
	for _, l := range loaded[1:] {
		exports = append(exports, l.Exports...)
	}
	slices.Sort(exports)
	return loaded[0].Meta, exports, loaded[0].Uses, nil
}

// trustScript adds a script that came with the repository, and its lib and
// types, to what needs an approval.
func (pl *plan) trustScript(brought []string) {
	if pl.script == nil {
		return
	}
	for _, file := range pl.lies {
		if pl.nested || slices.Contains(brought, file) {
			pl.wants = append(pl.wants, workflowItem(file, pl.script.Text))
			break
		}
	}
	for _, f := range pl.script.Lib {
		pl.wants = append(pl.wants, config.Item{
			Key: "lib", Origin: config.Origin{Layer: config.Project, File: f.Name}, Text: scriptText(f.Text),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(pl.script.Types)) {
		// One that no call may use, or that is built in, says nothing to anybody.
		if t := pl.script.Types[name]; t.File != "" && t.Refused == "" {
			pl.wants = append(pl.wants, config.Item{
				Key: "type", Origin: config.Origin{Layer: config.Project, File: t.File}, Text: typeText(t),
			})
		}
	}
}

// workflowItem is what the approval of a workflow is of.
func workflowItem(file, text string) config.Item {
	return config.Item{
		Key: "workflow", Origin: config.Origin{Layer: config.Project, File: file}, Text: scriptText(text),
	}
}

// typeText is all of a type that decides what its agents do, and what they
// cost. The name does: one that is built in is replaced by it.
func typeText(t workflow.Type) string {
	lines := []string{fmt.Sprintf("name = %q", t.Name)}
	for _, option := range []struct{ key, value string }{
		{"model", t.Model}, {"effort", t.Effort}, {"role", t.Role},
		{"tools", strings.Join(t.Tools, ", ")}, {"disallowedTools", strings.Join(t.Without, ", ")},
	} {
		if option.value != "" {
			lines = append(lines, fmt.Sprintf("%s = %q", option.key, option.value))
		}
	}
	return strings.Join(append(lines, scriptText(t.Prompt)), "\n")
}

// scriptText is a script as an approval shows and keeps it: two scripts have
// the same only if they are the same.
func scriptText(text string) string {
	return fmt.Sprintf("sha256 %x\n%s", sha256.Sum256([]byte(text)), PrintableText(text))
}

// ScriptError is a script that is refused, or that threw.
type ScriptError struct {
	Err  *script.Error
	Code Code // 0: it is refused
}

func (e *ScriptError) Error() string {
	text := e.Err.Message
	if e.Err.Name != "" && e.Err.Name != "Error" && e.Code != 0 {
		text = e.Err.Name + ": " + text
	}
	if e.Err.Where != "" {
		text = e.Err.Where + ": " + text
	}
	return text
}

// Excerpt is the line of the script that it is about.
func (e *ScriptError) Excerpt() string { return strings.TrimSpace(e.Err.Line) }

// ExitCode is that of a refusal, or of a script that threw.
func (e *ScriptError) ExitCode() int {
	if e.Code != 0 {
		return int(e.Code)
	}
	return int(CodeUsage)
}
