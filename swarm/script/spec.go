package script

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"agentswarm/swarm/task"
)

// specKeys are the options of agent() and run() that a host sees.
func specKeys() []string {
	return []string{
		"label", "phase", "schema", "agent", "model", "role", "effort", "maxThinkingTokens", "tools", "disallowedTools", "readOnly", "fork", "agentType", "isolation", "base",
		"paths", "limits", "stopWhen", "onTool", "allow", "retries", "cache", "id", "stage",
	}
}

// request is a call as a script asked for it.
type request struct {
	*Call
	full bool // the whole result, not only its value
}

// request reads the arguments of agent() or run(): a prompt and options, or a
// single object with both.
func (m *machine) request(what string, call goja.FunctionCall) (request, error) {
	known := specKeys()
	if what == "agent" {
		known = append(known, "full")
	}
	prompt, given := call.Argument(0), call.Argument(1)
	if o, ok := prompt.(*goja.Object); ok && absent(given) && o.ClassName() == "Object" && !isPromise(o) {
		known = append(known, "prompt")
		prompt, given = o.Get("prompt"), o
	}
	if !goja.IsString(orUndefined(prompt)) {
		return request{}, invalid("%s: the prompt must be a string, not %s", what, kindOf(prompt))
	}
	if strings.TrimSpace(prompt.String()) == "" {
		return request{}, invalid("%s: the prompt is empty", what)
	}
	o, err := m.readOptions(optionsRequest{what: what, v: given, known: known, lenient: true})
	if err != nil {
		return request{}, err
	}
	if m.form() == FormClaude {
		o.dropInvalid()
	}
	spec, err := o.spec()
	if err != nil {
		return request{}, err
	}
	full, err := o.flag("full")
	if err != nil {
		return request{}, err
	}
	if spec.Phase == "" {
		spec.Phase = m.phase
	}
	if spec.Isolation == "" && m.form() == FormClaude {
		// Agents of these scripts expect to see each other's edits.
		spec.Isolation = "shared"
	}
	return request{&Call{Prompt: prompt.String(), Spec: spec}, full != nil && *full}, nil
}

// dropInvalid ignores options that Claude Code does not have, if their values
// are not valid here. In Claude Code they have another meaning, if any.
func (o options) dropInvalid() {
	for _, key := range slices.Sorted(maps.Keys(o.given)) {
		switch key {
		case "prompt", "label", "phase", "schema", "model", "effort", "agentType", "isolation":
			continue
		}
		alone := options{m: o.m, what: o.what, given: map[string]goja.Value{key: o.given[key]}}
		_, err := alone.spec()
		if err == nil {
			_, err = alone.flag("full")
		}
		if err != nil {
			o.m.warnHere("%v; it is passed over", err)
			delete(o.given, key)
		}
	}
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// spec checks the form of the options of a call.
func (o options) spec() (Spec, error) {
	var s Spec
	for _, word := range []struct {
		key string
		to  *string
	}{
		{"label", &s.Label},
		{"phase", &s.Phase},
		{"agent", &s.Agent},
		{"role", &s.Role},
		{"model", &s.Model},
		{"effort", &s.Effort},
		{"agentType", &s.AgentType},
		{"isolation", &s.Isolation},
		{"id", &s.Identifier},
	} {
		var err error
		if *word.to, err = o.word(word.key); err != nil {
			return s, err
		}
	}
	switch s.Isolation {
	case "", "worktree", "shared":
	default:
		return s, invalid("%s: isolation must be 'worktree' or 'shared', not '%s'", o.what, s.Isolation)
	}
	for _, part := range []func(*Spec) error{o.lists, o.flags, o.numbers, o.forked, o.structured} {
		if err := part(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (o options) lists(s *Spec) (err error) {
	if s.Paths, err = o.texts("paths"); err != nil {
		return err
	}
	if s.Allow, err = o.texts("allow"); err != nil {
		return err
	}
	if s.Tools, err = o.words("tools"); err != nil {
		return err
	}
	s.Without, err = o.words("disallowedTools")
	return err
}

func (o options) flags(s *Spec) (err error) {
	if s.Cache, err = o.flag("cache"); err != nil {
		return err
	}
	only, err := o.flag("readOnly")
	s.ReadOnly = only != nil && *only
	return err
}

func (o options) numbers(s *Spec) error {
	thinking, _, err := o.number("maxThinkingTokens", 1, 1e9)
	if err != nil {
		return err
	}
	s.Thinking = int64(thinking)
	retries, given, err := o.number("retries", 0, 100)
	if given {
		n := int(retries)
		s.Retries = &n
	}
	return err
}

// forked reads the agent whose conversation continues, which also decides on
// the kind of the agent.
func (o options) forked(s *Spec) (err error) {
	switch {
	case o.get("fork") == nil:
		return nil
	case s.AgentType != "":
		return invalid("%s: a fork goes on with the prompt that its parent began with; drop agentType", o.what)
	case s.Role != "":
		return invalid("%s: a fork keeps its parent's role; drop role", o.what)
	}
	s.Fork, err = o.completed("fork")
	return err
}

// structured reads the options of a call that are more than a word.
func (o options) structured(s *Spec) error {
	var err error
	if v := o.get("schema"); v != nil && !isBlank(v) {
		obj, ok := v.(*goja.Object)
		if !ok || isFunction(obj) || obj.ClassName() == "Array" {
			return o.refuse("schema", v, "an object, a JSON Schema")
		}
		text, err := o.m.encode(v, "schema")
		if err != nil {
			return asOption(o.what, err)
		}
		s.Schema = text
	}
	if s.Base, err = o.tree("base"); err != nil {
		return err
	}
	if s.Limits, err = o.limits(); err != nil {
		return err
	}
	if s.Stage, err = o.stage(); err != nil {
		return err
	}
	if s.StopWhen, err = o.hook("stopWhen"); err != nil {
		return err
	}
	s.OnTool, err = o.hook("onTool")
	return err
}

// stage reads which part of a pipeline a call is.
func (o options) stage() (*task.Stage, error) {
	if o.get("stage") == nil {
		return nil, nil // no stage is no error
	}
	inner, err := o.object("stage", "name", "roster", "words", "reads", "brief")
	if err != nil {
		return nil, err
	}
	s := &task.Stage{}
	if s.Name, err = inner.text("name"); err != nil {
		return nil, err
	}
	if s.Words, err = inner.text("words"); err != nil {
		return nil, err
	}
	if s.Brief, err = inner.text("brief"); err != nil {
		return nil, err
	}
	if s.Roster, err = inner.texts("roster"); err != nil {
		return nil, err
	}
	reads, err := inner.flag("reads")
	if err != nil {
		return nil, err
	}
	s.Reads = reads != nil && *reads
	if s.Name == "" || len(s.Roster) > 0 && !slices.Contains(s.Roster, s.Name) {
		return nil, invalid("%s: stage: name must be one of roster", o.what)
	}
	return s, nil
}

// limits reads the limits of a call.
func (o options) limits() (Limits, error) {
	var l Limits
	inner, err := o.object("limits", "turns", "tokens", "usd", "ms", "idleMs")
	if err != nil {
		return l, err
	}
	const most = 1e12
	var turns int64
	for _, whole := range []struct {
		key string
		to  *int64
	}{{"turns", &turns}, {"tokens", &l.Tokens}, {"ms", &l.MS}, {"idleMs", &l.IdleMS}} {
		f, _, err := inner.number(whole.key, 1, most)
		if err != nil {
			return l, err
		}
		*whole.to = int64(f)
	}
	l.Turns = int(turns)
	l.USD, _, err = inner.number("usd", math.SmallestNonzeroFloat64, most)
	return l, err
}

// hook is an option that is a function, as its source text. It is run
// elsewhere, with nothing but its argument.
func (o options) hook(key string) (string, error) {
	v := o.get(key)
	if v == nil {
		return "", nil
	}
	if !isFunction(v) {
		return "", o.refuse(key, v, "a function")
	}
	text, err := o.m.text(v)
	if err != nil {
		return "", err
	}
	source := text.String()
	if strings.Contains(source, "[native code]") {
		return "", invalid("%s: %s must be a function whose text is here; write it out", o.what, key)
	}
	source = asExpression(source)
	if err := CheckClosed(source); err != nil {
		return "", asOption(o.what+": "+key, err)
	}
	return source, nil
}

// asExpression returns the text of a function as an expression. A method
// becomes an expression only behind the word function. The machine drops the
// last parentheses of an arrow function whose body stands in parentheses.
func asExpression(source string) string {
	const most = 8
	for n := range most {
		text := source + strings.Repeat(")", n)
		if _, err := parser.ParseFile(nil, "", "("+text+"\n)", 0, parser.WithDisableSourceMaps); err == nil {
			return text
		}
	}
	return "function " + source
}

// asOption turns an error into an error about the options of a call.
func asOption(what string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return invalid("%s: %s", what, e.Message)
	}
	if e := (*goja.Exception)(nil); errors.As(err, &e) {
		return err
	}
	return invalid("%s: %v", what, err)
}

// tree returns an option that names a base: a commit or tree, a patch, a result
// with a patch, or the result of merge().
func (o options) tree(key string) (string, error) {
	v := o.get(key)
	if v == nil {
		return "", nil
	}
	if goja.IsString(v) {
		return o.text(key)
	}
	if obj, ok := v.(*goja.Object); ok {
		if tree := o.m.property(obj, "tree"); tree != "" {
			return tree, nil
		}
		id, err := o.m.patchID(o.what+": "+key, v)
		if err == nil && id == "" {
			err = invalid("%s: %s is the result of an agent that changed nothing", o.what, key)
		}
		return id, err
	}
	return "", o.refuse(key, v, "a commit, a patch or what merge() gave")
}
