package fanout

import (
	"errors"
	"fmt"
	"path"
	"strconv"

	"agentswarm/swarm/task"
)

// Workflow is an instruction as it was given. It is recorded with the run, so
// that a resume makes the same calls from it.
type Workflow struct {
	Prompt  string
	Command []string // the words after --
	Agent   string   // a configured agent
	Each    []string // patterns
	Prefix  string   // where Each is read from
	Count   int      // alternatives; 0: --count was not given
	// Options are the defaults for the options of agents. They are not for
	// commands.
	task.Options

	// Tasks is a list of tasks, or of items for Command. It does not go with
	// Prompt, Each and Count.
	Tasks  []Task
	Source string // how messages call the list
	// Overlap is the treatment of tasks with overlapping paths.
	Overlap OverlapMode
}

// Base is the start of the calls.
type Base struct {
	Commit, Tree string
	Files        []string // all paths of the tree
}

// ErrEmpty says that there is nothing for an agent to do.
var ErrEmpty = errors.New("the prompt is empty")

// Calls turns the workflow into calls, in the order of items, or of tasks with
// each after its dependencies. The same workflow on the same base gives the
// same calls. It returns [ErrEmpty] without a prompt and a command, and other
// errors for settings that do not go together.
func (w Workflow) Calls(base Base) ([]*task.Call, error) {
	if len(w.Tasks) > 0 {
		return w.taskCalls(base)
	}
	if w.Prompt == "" && len(w.Command) == 0 {
		return nil, ErrEmpty
	}
	if w.Count < 0 {
		return nil, fmt.Errorf("--count %d: want 1 or more", w.Count)
	}
	if len(w.Each) == 0 && w.Count == 0 {
		if err := checkNoItems(w.Command); err != nil {
			return nil, err
		}
		return []*task.Call{w.call(base, place{}, false)}, nil
	}
	if err := errors.Join(checkPrompt(w.Prompt), checkCommand(w.Command), checkWords(w.Command)); err != nil {
		return nil, err
	}
	if len(w.Each) == 0 {
		return w.alternatives(base, place{}), nil
	}
	items, err := Items(base.Files, w.Prefix, w.Each)
	if err != nil {
		return nil, err
	}
	var calls []*task.Call
	for i, item := range items {
		p := place{item: item, index: i + 1, count: len(items)}
		if w.Count > 0 {
			calls = append(calls, w.alternatives(base, p)...)
			continue
		}
		calls = append(calls, w.call(base, p, true))
	}
	return calls, nil
}

// alternatives are Count calls for the same thing, of which a single patch can
// land. A single call has no group.
func (w Workflow) alternatives(base Base, p place) []*task.Call {
	calls := make([]*task.Call, 0, w.Count)
	for i := range w.Count {
		one := p
		group, label := "alternatives", "alt-"+strconv.Itoa(i+1)
		if p.item == "" {
			one.item, one.index, one.count = strconv.Itoa(i+1), i+1, w.Count
		} else {
			group, label = p.item, p.item+"#"+strconv.Itoa(i+1)
		}
		c := w.call(base, one, true)
		c.Label = label
		if w.Count > 1 {
			c.Group = group
		}
		calls = append(calls, c)
	}
	return calls
}

func (w Workflow) call(base Base, p place, filled bool) *task.Call {
	prompt, command := w.Prompt, w.Command
	if filled {
		prompt = p.fill(prompt)
		command = make([]string, len(w.Command))
		for i, word := range w.Command {
			command[i] = p.fill(word)
		}
	}
	c := &task.Call{
		Input: &task.TypedAgentInput{Prompt: prompt}, Command: command,
		Agent: w.Agent, Base: base.Commit, BaseTree: base.Tree,
		Item: p.item, Index: p.index, Count: p.count, Options: w.Options,
	}
	if p.item != "" {
		c.Label, c.Name = p.item, path.Base(p.item)
	}
	return c
}
