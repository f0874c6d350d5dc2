package fanout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// taskCalls makes a call of each task.
func (w Workflow) taskCalls(base Base) ([]*task.Call, error) {
	switch {
	case w.Prompt != "":
		return nil, errors.New("a list of tasks does not go with a prompt: its records have their own")
	case len(w.Each) > 0:
		return nil, errors.New("--each does not go with a list of tasks, which has the items itself")
	case w.Count != 0:
		return nil, errors.New("--count does not go with a list of tasks")
	}
	if err := checkCommand(w.Command); err != nil {
		return nil, err
	}
	order, cycle := ordered(w.Tasks)
	if cycle != nil {
		return nil, &TaskError{
			Source: w.Source, Line: w.Tasks[cycle[0]].Line, Field: "depends_on",
			Reason: shownCycle(w.Tasks, cycle) + " is a cycle; no task of it could begin",
		}
	}
	after, err := w.after()
	if err != nil {
		return nil, err
	}
	labels := w.labels()
	calls := make([]*task.Call, 0, len(order))
	for _, i := range order {
		c := w.taskCall(base, i)
		c.Label, c.After = labels[i], after[i]
		calls = append(calls, c)
	}
	return calls, nil
}

// taskCall is the call of the task at a position, without the effects of other
// tasks.
func (w Workflow) taskCall(base Base, i int) *task.Call {
	t := w.Tasks[i]
	one := Workflow{Command: w.Command, Agent: w.Agent, Options: agent.Lay(t.Options, w.Options)}
	switch {
	case len(w.Command) > 0:
	case len(t.Command) > 0:
		one = Workflow{Command: t.Command}
	default:
		one.Prompt = t.Prompt
		if t.Agent != "" {
			one.Agent = t.Agent
		}
	}
	c := one.call(base, place{item: t.ID, index: i + 1, count: len(w.Tasks)}, !t.Plain)
	if one.Prompt != "" && len(t.Paths) > 0 {
		c.Input = &task.TypedAgentInput{Prompt: task.Prompt(c.Input) + limits(t.Paths)}
	}
	if input, ok := c.Input.(*task.TypedAgentInput); ok {
		input.Role = t.Role
	}
	c.Title, c.Ticket = t.Title, t.Ticket
	c.Paths, c.DependsOn, c.Timeout, c.Allow = t.Paths, t.DependsOn, t.Timeout, t.Allow
	return c
}

// Asked is the prompt of a call as its author wrote it, without the sentence
// about the paths of its task.
func Asked(c *task.Call) string {
	prompt := task.Prompt(c.Input)
	if len(c.Paths) == 0 {
		return prompt
	}
	return strings.TrimSuffix(prompt, limits(c.Paths))
}

// limits is the sentence of a prompt about the paths that its patch may touch.
func limits(paths []string) string {
	shown := make([]string, len(paths))
	for i, p := range paths {
		shown[i] = "`" + p + "`"
	}
	list := shown[0]
	if last := len(shown) - 1; last > 0 {
		list = strings.Join(shown[:last], ", ") + " or " + shown[last]
	}
	return fmt.Sprintf("\n\nChange only files that match %s (read from the top of the repository; "+
		"a folder includes everything below it); swarm does not merge a change to any other file.", list)
}

// labels are those of the tasks, by position. If tasks wait for each other
// because of their paths, all have a label.
func (w Workflow) labels() []string {
	labels := make([]string, len(w.Tasks))
	taken := make(map[string]bool, len(w.Tasks))
	for i, t := range w.Tasks {
		labels[i] = t.ID
		taken[t.ID] = true
	}
	if w.Overlap != OverlapSerialize {
		return labels
	}
	for i, t := range w.Tasks {
		if t.ID != "" {
			continue
		}
		label := "line-" + strconv.Itoa(t.Line)
		for taken[label] {
			label += "_"
		}
		labels[i], taken[label] = label, true
	}
	return labels
}

// after are the labels that each task waits for because of its paths, by
// position, in the order of calls.
func (w Workflow) after() ([][]string, error) {
	after := make([][]string, len(w.Tasks))
	if w.Overlap == OverlapWarn {
		return after, nil
	}
	found, whole := w.overlaps()
	switch {
	case len(found) == 0:
	case w.Overlap != OverlapSerialize:
		return nil, w.refusal(found)
	case !whole:
		return nil, &TaskError{
			Source: w.Source, Reason: fmt.Sprintf("more than %d pairs of tasks have paths that overlap", MaxOverlaps-1),
			Tip: "give the tasks narrower paths, or say --overlap warn",
		}
	}
	for _, o := range found {
		after[o.B] = append(after[o.B], o.Labels[0])
	}
	return after, nil
}
