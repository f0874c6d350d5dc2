package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"agentswarm/risk"
	"agentswarm/swarm/assign"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	bounded "agentswarm/swarm/schema"
	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
)

// scriptWord is the first argument of a process that runs a script for this
// one.
const scriptWord = "__script"

// machineMemory is how much such a process may hold, in bytes, before it is
// killed from outside. It ends itself before that.
const machineMemory = 768 << 20

// machine starts a process that runs scripts.
func machine(self string) (*proc.Helper, error) {
	return proc.StartHelper(proc.HelperRequest{
		Binary: self, Args: []string{scriptWord}, Memory: machineMemory,
	})
}

// load lets a process of its own read scripts: a script may be anything, and
// so may what it does to its reader. The files of functions come last.
func (p *place) load(ctx context.Context, sources []script.Source, lib []event.ScriptFile) ([]script.Loaded, error) {
	h, err := machine(p.env.Self)
	if err != nil {
		return nil, err
	}
	loaded, err := script.LoadRemote(ctx, h, sources, libSources(lib))
	var beyond *script.Error
	if errors.As(err, &beyond) {
		return nil, errors.Join(&ScriptError{Err: beyond}, h.Close())
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	for _, l := range loaded[len(sources):] {
		if l.Error != nil {
			return nil, &ScriptError{Err: l.Error}
		}
	}
	for i := range loaded {
		if loaded[i].Error == nil {
			loaded[i].Error = wrongAllow(loaded[i].Allow)
		}
	}
	return loaded, nil
}

// wrongAllow is the first item that grants nothing; nil for none.
func wrongAllow(items []script.Literal) *script.Error {
	for _, item := range items {
		if _, err := risk.ParseGrant(item.Text); err != nil {
			return item.Wrong(fmt.Errorf("allow: %q: %w", item.Text, err))
		}
	}
	return nil
}

func libSources(lib []event.ScriptFile) []script.Source {
	var sources []script.Source
	for _, f := range lib {
		sources = append(sources, script.Source{Name: f.Name, Text: f.Text})
	}
	return sources
}

// libFolder is where a project's own functions lie.
const libFolder = ".swarm/lib"

// gatherLib reads the project's own functions.
func (p *place) gatherLib(s *scripted) error {
	files, err := p.folder(folderRequest{dir: libFolder, ext: ".js", most: maxScript})
	for _, f := range files {
		if len(f.Text) > maxScript {
			return usagef("%s: a file of functions may be %s long", Printable(f.Name), Bytes(maxScript))
		}
	}
	s.Lib = files
	return err
}

// argsSchema is what a script says of its args; nil where it says nothing.
func argsSchema(meta *script.Meta) (*jsonschema.Schema, error) {
	if meta == nil || len(meta.Args) == 0 {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	// A script may come from anywhere: what it says of its args must not make
	// swarm read a file or ask a server.
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const folder = "mem:///"
	const here = folder + "meta.args"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(meta.Args))
	if err == nil {
		err = c.AddResource(here, doc)
	}
	var schema *jsonschema.Schema
	if err == nil {
		schema, err = c.Compile(here)
	}
	if outside, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return nil, usagef("meta.args refers to %s, and nothing outside of the script is read; put it under $defs", Printable(strings.TrimPrefix(outside.URL, folder)))
	}
	if wrong, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if why, ok := errors.AsType[*jsonschema.ValidationError](wrong.Err); ok {
			return nil, usagef("meta.args is no JSON Schema: %s", Printable(describe(why)))
		}
	}
	if err != nil {
		return nil, usagef("meta.args is no JSON Schema: %s", Printable(strings.ReplaceAll(err.Error(), here, "")))
	}
	endless := func(e *jsonschema.ValidationError) bool { _, is := e.ErrorKind.(*kind.RefCycle); return is }
	if e, ok := errors.AsType[*jsonschema.ValidationError](bounded.Check(schema, map[string]any{})); ok && slices.ContainsFunc(leaves(e), endless) {
		return nil, usagef("meta.args is no JSON Schema: it refers to itself without an end")
	}
	return schema, nil
}

// checkArgs holds what a script is given against what its meta says it takes.
func checkArgs(verb string, meta *script.Meta, args json.RawMessage) error {
	schema, err := argsSchema(meta)
	if err != nil {
		return usagef("%s: %v", verb, err)
	}
	if schema == nil {
		return nil
	}
	given := ""
	if args == nil {
		args, given = json.RawMessage("{}"), " (none are given, which is {})"
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err == nil {
		err = bounded.Check(schema, value)
	}
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return usagef("%s: --args: %s%s", verb, Printable(describe(wrong)), given)
	}
	return err
}

// describe is the first few things that are wrong with a value, and where.
func describe(e *jsonschema.ValidationError) string {
	var all []string
	for _, leaf := range leaves(e) {
		text := strings.TrimSpace(strings.ReplaceAll(leaf.Error(), "\n", " "))
		if at := strings.LastIndex(text, "- at "); at >= 0 {
			text = text[at+2:]
		}
		all = append(all, strings.TrimPrefix(text, "at '': "))
	}
	// The library walks maps, whose order changes from time to time.
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), 3)], "; ")
}

// leaves are the problems that have no cause below them.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// runScript lets a script make the calls of a run, and returns how it ended;
// nil where the run was stopped first.
func (b *bench) runScript(ctx context.Context, e *engine.Engine, r driveRequest) (*script.Outcome, error) {
	s := r.script
	tools, err := b.scriptTools(r.config)
	if err != nil {
		return nil, err
	}
	tools.await = e.AwaitSubjects
	assigned := &assign.Assigner{Config: r.config, Kinds: b.env.kinds().ByName()}
	if conf, err := b.env.userConfig(); err == nil && r.prior == nil && r.config.Roles != nil {
		known := b.env.knownProviders(conf, r.config.Roles.Providers)
		assigned.CheckModels, r.config.Roles.Lacking = known.Check, known.Lacking()
	}
	check := readyCalls(ctx, b.newReadiness(r.config, b.isolation, r.anyway), e.CheckCall)
	calling := s.calling(r.config, r.base, assigned.Script(), b.checkAllow(s.Dispatched, check))
	calling.Walled, calling.Can = b.walled(), b.abilities(r.config)
	calling.Warned = s.warned
	calling.Fit = engine.Fits(r.config.Agents, b.deps.Kinds)
	outcome, err := workflow.Drive(ctx, workflow.Request{
		Engine: e, Tools: tools, Prior: r.prior, Script: s.record(),
		Config:  calling,
		Machine: b.machine,
		Nested:  func(_ context.Context, n *script.Nested) (*script.Source, error) { return b.nestedScript(s, n) },
	})
	if err == nil && outcome.Error == nil {
		sayUnused(b.env.Stderr, r.config.Roles, assigned.Flags())
	}
	return outcome, errors.Join(err, tools.Close())
}

// machine runs a script in a process of its own.
func (b *bench) machine(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
	self, err := b.self()
	if err != nil {
		return script.Outcome{}, err
	}
	return machineOf(self)(ctx, start, host)
}

// machineOf runs scripts, each in a process of its own.
func machineOf(self string) func(context.Context, script.Start, script.Host) (script.Outcome, error) {
	return func(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
		h, err := machine(self)
		if err != nil {
			return script.Outcome{}, err
		}
		outcome, err := script.RunRemote(ctx, h, start, &watched{host, h.Gone()})
		if runaway, ok := errors.AsType[*script.Error](err); ok {
			// The process did not come to an end, and so the script did.
			outcome, err = script.Outcome{Error: runaway}, nil
		}
		closed := h.Close()
		if h.OutOfMemory() && ctx.Err() == nil && outcome.Value == nil {
			return script.Outcome{Error: &script.Error{Name: "Error", Code: script.CodeRunaway, Message: fmt.Sprintf(
				"the script held more than %s of memory", Bytes(machineMemory))}}, nil
		}
		return outcome, errors.Join(err, closed)
	}
}

// nestedScript finds a workflow that a script calls, if it may be run.
func (p *place) nestedScript(s *scripted, n *script.Nested) (*script.Source, error) {
	path, source, err := p.findNested(s, n)
	if err != nil {
		return nil, err
	}
	return source, p.trustNested(path, source.Text)
}

// findNested finds a workflow that a script calls.
func (p *place) findNested(s *scripted, n *script.Nested) (path string, source *script.Source, err error) {
	name := n.Path
	path = n.Path
	switch {
	case n.Name != "":
		if path, err = p.savedWorkflow("workflow:", n.Name); err != nil {
			return "", nil, unknownScript(err)
		}
		name = n.Name
	case !filepath.IsAbs(path) && s.Path == "":
		return "", nil, unknownScript(fmt.Errorf("workflow: %s: a script that was typed has no folder; give an absolute path", path))
	case !filepath.IsAbs(path):
		from := s.Path
		if filepath.IsAbs(n.From) {
			from = n.From
		}
		path = filepath.Join(filepath.Dir(from), path)
		name = path
	}
	text, err := readText(path, maxScript)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("workflow: %s: there is no such file", path)
	}
	if err != nil {
		return "", nil, unknownScript(err)
	}
	if len(text) > maxScript {
		return "", nil, unknownScript(fmt.Errorf("workflow: %s: a script may be %s long", path, Bytes(maxScript)))
	}
	lies, err := p.within(path)
	if err != nil {
		return "", nil, unknownScript(err)
	}
	return path, &script.Source{Name: name, Text: text, Form: formOf(path, lies)}, nil
}

// trustNested refuses a workflow of the repository that nobody has approved.
func (p *place) trustNested(path, text string) error {
	lies, err := p.within(path)
	if err != nil {
		return unknownScript(err)
	}
	if len(lies) == 0 && !p.inNested(path) {
		return nil
	}
	file := path
	if len(lies) > 0 {
		file = lies[0]
	}
	missing, err := config.Trust{Dir: p.state.Trust()}.Pending([]config.Item{workflowItem(file, text)})
	if err != nil || len(missing) == 0 {
		return err
	}
	return &script.Error{Name: "Error", Code: script.CodePolicy, Message: fmt.Sprintf(
		"workflow: %s comes from this repository and is not approved; read it, then `%s workflow validate %s --trust`",
		file, program, file)}
}

func unknownScript(err error) error {
	return &script.Error{Name: "Error", Code: script.CodeUnknown, Message: err.Error()}
}

// thrownBy is an error as a run keeps it, back in the form of a script's.
func thrownBy(e *event.ScriptError) *script.Error {
	return &script.Error{
		Name: e.Name, Code: script.Code(e.Code), Message: e.Message, Where: e.Where, Line: e.Line,
	}
}

// threw is what a run failed of that its script threw; nil for any other end.
func threw(v *store.View) *ScriptError {
	if v.Status != store.RunFailed || v.Returned == nil || v.Returned.Error == nil {
		return nil
	}
	return &ScriptError{Err: thrownBy(v.Returned.Error), Code: CodeScript}
}

// carryOutScript lets a script make the calls, and waits until all it left
// running has ended.
func (b *bench) carryOutScript(ctx context.Context, e *engine.Engine, r driveRequest) error {
	_, err := b.runScript(ctx, e, r)
	switch {
	case err == nil, errors.Is(err, workflow.ErrHalted):
		return nil
	case ctx.Err() != nil:
		return e.Stop(haltFor(ctx))
	default:
		// Some may be at work, and nobody would wait for them.
		return errors.Join(err, e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: err.Error()}))
	}
}

// counted are the agents that count: all, or those that the script asked for
// when it ran last.
func counted(v *store.View) []*store.Agent {
	if v.Returned == nil || len(v.Returned.Unasked) == 0 {
		return v.Agents
	}
	return slices.DeleteFunc(slices.Clone(v.Agents), func(a *store.Agent) bool {
		return slices.Contains(v.Returned.Unasked, a.ID)
	})
}

// scriptSum is how many agents of a script ended how. Those are wrong that did
// not pass their review.
type scriptSum struct{ completed, failed, wrong int }

// scriptOutcome is the status of a run with a script, of whose agents some
// completed and some failed.
//
// What the budget kept from beginning the script has heard of: where it did
// without, the run went on.
func scriptOutcome(v *store.View, n scriptSum, codes []Code) (store.Status, []Code) {
	none := n.completed == 0 && n.failed > 0
	if slices.Contains(codes, CodePaused) {
		none = false
		codes = slices.DeleteFunc(codes, func(c Code) bool { return c == CodePaused })
		n.failed++
	}
	switch r := v.Returned; {
	case r == nil:
		return store.RunStopped, codes
	case r.Error != nil && script.Code(r.Error.Code) == script.CodeBudget:
		return store.RunPaused, append(codes, CodePaused)
	case r.Error != nil:
		return store.RunFailed, append(codes, CodeScript)
	case none:
		return store.RunFailed, append(codes, CodeDegraded)
	case n.failed+n.wrong > 0:
		return store.RunDegraded, append(codes, CodeDegraded)
	default:
		return store.RunCompleted, codes
	}
}
