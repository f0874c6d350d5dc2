package fanout

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"agentswarm/risk"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/scope"
	"agentswarm/swarm/task"
)

// fieldNames are the fields of a record, in the order they are told.
func fieldNames() []string {
	return []string{"id", "prompt", "command", "agent", "paths", "depends_on", "timeout", "allow", "role", "model", "effort", "max_thinking_tokens", "tools", "read_only", "variant"}
}

// maxID is the longest id of a task in bytes. People type them.
const maxID = 200

// places are the lines that the fields of a record stand on.
type places map[string]int

// narrow makes tasks of records.
func (r *TasksRequest) narrow(records func(func(record) *TaskError) *TaskError) ([]Task, []places, *TaskError) {
	var tasks []Task
	var all []places
	err := records(func(rec record) *TaskError {
		if len(tasks) == MaxTasks {
			return r.tooMany(rec.line)
		}
		n := &narrowing{TasksRequest: r, task: Task{Line: rec.line}, places: places{}}
		if err := n.record(rec); err != nil {
			return err
		}
		tasks, all = append(tasks, n.task), append(all, n.places)
		return nil
	})
	return tasks, all, err
}

// narrowing is a record on its way to a task.
type narrowing struct {
	*TasksRequest
	task   Task
	places places
}

// record checks the fields in their order, and then how they go together.
func (n *narrowing) record(rec record) *TaskError {
	for _, f := range rec.fields {
		if !slices.Contains(fieldNames(), f.name) {
			return n.wrong(f.line, fieldName(f.name), "unknown field"+didYouMean(f.name, fieldNames()))
		}
		if _, twice := n.places[f.name]; twice {
			return n.wrong(f.line, f.name, "appears twice")
		}
		n.places[f.name] = f.line
		if reason, tip := n.field(f); reason != "" {
			err := n.wrong(f.line, f.name, reason)
			err.Tip = tip
			return err
		}
	}
	if n.Items {
		return n.besideCommand()
	}
	return n.whole()
}

// field reads a value, or returns its fault.
func (n *narrowing) field(f recordField) (reason, tip string) {
	t := &n.task
	switch f.name {
	case "id":
		t.ID, reason = text(f.value)
		if reason == "" && !n.Items {
			reason = checkID(t.ID)
		}
		if reason == "" && len(t.ID) > MaxItem {
			reason = fmt.Sprintf("is longer than the %d KiB of an item", MaxItem>>10)
		}
	case "prompt":
		t.Prompt, reason = text(f.value)
	case "agent":
		t.Agent, reason = text(f.value)
	case "command":
		if _, ok := f.value.(string); ok {
			return `expected a list of words, such as ["go", "test"], got ` + describe(f.value),
				"a command goes through no shell, so its words stand apart"
		}
		if t.Command, reason = words(f.value, `words, such as ["go", "test"]`); reason == "" && t.Command[0] == "" {
			reason = "begins with an empty word: the first is a program"
		}
	case "paths":
		if t.Paths, reason = words(f.value, `globs, such as ["services/a"]`); reason != "" {
			return reason, "without paths a task may change everything"
		}
		for _, p := range t.Paths {
			if bad, ok := errors.AsType[*scope.PatternError](scope.Validate(p)); ok {
				return bad.Error(), bad.Hint()
			}
		}
	case "depends_on":
		t.DependsOn, reason = words(f.value, `ids, such as ["a", "b"]`)
	case "timeout":
		t.Timeout, reason = duration(f.value)
	case "allow":
		t.Allow, reason = words(f.value, "items, such as "+grantExample)
		if reason == "" {
			return checkAllow(t.Allow)
		}
	default:
		return n.option(f), ""
	}
	return reason, ""
}

// grantExample is an example of an allow.
const grantExample = `["push to feature/* branches"]`

// checkAllow refuses items that grant nothing: an agent would be stopped at an
// action that the author meant to allow.
func checkAllow(items []string) (reason, tip string) {
	for _, item := range items {
		if _, err := risk.ParseGrant(item); err != nil {
			return quoted(item) + ": " + err.Error(), "an item is written as in AGENTS.md, such as " + grantExample
		}
	}
	return "", ""
}

// besideCommand checks a record whose command is that of all tasks.
func (n *narrowing) besideCommand() *TaskError {
	for _, name := range append([]string{"prompt", "command", "agent"}, optionFields()...) {
		if line, ok := n.places[name]; ok {
			err := n.wrong(line, name, "does not go with a command after --, which all tasks run")
			err.Tip = "a record then has an id, which is the item, and maybe paths, depends_on, timeout and allow"
			return err
		}
	}
	if n.task.ID == "" {
		return n.wrong(n.task.Line, "id", "is missing: it is the item for the command after --")
	}
	return nil
}

// whole checks a record with a prompt or command of its own.
func (n *narrowing) whole() *TaskError {
	t := &n.task
	command, isCommand := n.places["command"]
	prompt, isPrompt := n.places["prompt"]
	switch {
	case isCommand && isPrompt:
		return n.wrong(max(command, prompt), "command", "and a prompt are both set; a task has a single one of them")
	case !isCommand && !isPrompt:
		return n.wrong(t.Line, "prompt", "is missing; a task has a prompt or a command")
	case isCommand && t.Agent != "":
		return n.wrong(n.places["agent"], "agent", "does not go with a command; it is for a prompt")
	case isCommand && n.optionBesideCommand() != nil:
		return n.optionBesideCommand()
	case isCommand:
		return n.placeholders(command, "command", errors.Join(checkCommand(t.Command), checkWords(t.Command)), t.Command)
	default:
		return n.placeholders(prompt, "prompt", checkPrompt(t.Prompt), []string{t.Prompt})
	}
}

// placeholders refuses the error of a check, and an item in a task without an
// id.
func (n *narrowing) placeholders(line int, field string, found error, texts []string) *TaskError {
	if found != nil {
		return n.wrong(line, field, found.Error())
	}
	for _, text := range texts {
		for _, word := range []string{"{item}", "{name}"} {
			if n.task.ID == "" && strings.Contains(text, word) {
				err := n.wrong(line, field, word+" is the id, and the task has no id")
				err.Tip = "give the task an id; {index} and {count} need none"
				return err
			}
		}
	}
	return nil
}

// text reads a string that says something.
func text(v any) (string, string) {
	s, ok := v.(string)
	switch {
	case !ok:
		return "", "expected a string, got " + describe(v)
	case strings.TrimSpace(s) == "":
		return "", "is empty"
	case strings.ContainsRune(s, 0):
		return "", "holds a NUL character"
	}
	return s, ""
}

// words reads a list of strings that is not empty. what names the list in
// messages.
func words(v any, what string) ([]string, string) {
	list, ok := v.([]any)
	if !ok {
		return nil, "expected a list of " + what + ", got " + describe(v)
	}
	if len(list) == 0 {
		return nil, "is an empty list"
	}
	all := make([]string, 0, len(list))
	for i, item := range list {
		s, ok := item.(string)
		switch {
		case !ok:
			return nil, fmt.Sprintf("expected a list of %s, got %s at place %d", what, describe(item), i+1)
		case strings.ContainsRune(s, 0):
			return nil, fmt.Sprintf("holds a NUL character at place %d", i+1)
		}
		all = append(all, s)
	}
	return all, ""
}

func duration(v any) (time.Duration, string) {
	s, ok := v.(string)
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		return 0, `expected a duration such as "30m", got ` + describe(v)
	case d <= 0:
		return 0, "expected a duration of more than nothing, got " + describe(v)
	}
	return d, ""
}

// describe names a value in words of people.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case json.Number:
		return "the number " + clipped(v.String())
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case other:
		return string(v)
	default:
		panic(fmt.Sprintf("unhandled %T", v))
	}
}

// checkID returns the reason why an id cannot be a label that is typed as an
// address.
func checkID(id string) string {
	for _, r := range id {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r) {
			return fmt.Sprintf("%s holds %s; an id is of letters, digits and - _ . /", quoted(id), strconv.QuoteRune(r))
		}
	}
	switch {
	case len(id) > maxID:
		return fmt.Sprintf("is longer than %d bytes", maxID)
	case id[0] == '-':
		return quoted(id) + " begins with -, as a flag does"
	case path.Clean(id) != id || id[0] == '/' || id == "." || id == ".." || strings.HasPrefix(id, "../"):
		return quoted(id) + " has between its slashes a part that is empty or only dots"
	case task.ID(id).Number() > 0:
		return quoted(id) + " is how swarm itself calls an agent"
	}
	return ""
}

var bareField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,60}$`) })

// fieldName shows the name of a field, which may be any text.
func fieldName(name string) string {
	if bareField().MatchString(name) {
		return name
	}
	return quoted(name)
}

// didYouMean is the end of a message about a word that is not known.
func didYouMean(word string, known []string) string {
	if near := nearest.Word(word, known); near != "" {
		return "; did you mean " + quoted(near) + "?"
	}
	return ""
}
