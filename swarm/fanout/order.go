package fanout

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// checkNames refuses ids that stand there twice, and dependencies that cannot
// be.
func (r *TasksRequest) checkNames(tasks []Task, all []places) *TaskError {
	first := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if t.ID == "" {
			continue
		}
		if before, twice := first[t.ID]; twice {
			line, field := t.Line, ""
			if all != nil {
				line, field = all[i]["id"], "id"
			}
			return r.wrong(line, field, fmt.Sprintf("%s appears twice; line %d has it first",
				quoted(t.ID), tasks[before].Line))
		}
		first[t.ID] = i
	}
	for i, t := range tasks {
		for n, id := range t.DependsOn {
			_, known := first[id]
			reason := ""
			switch {
			case id == t.ID && known:
				reason = quoted(id) + " is the task itself"
			case !known:
				reason = "no task " + quoted(id) + didYouMean(id, ids(tasks))
			case slices.Contains(t.DependsOn[:n], id):
				reason = quoted(id) + " appears twice"
			}
			if reason != "" {
				return r.wrong(all[i]["depends_on"], "depends_on", reason)
			}
		}
	}
	if _, cycle := ordered(tasks); cycle != nil {
		return r.wrong(all[cycle[0]]["depends_on"], "depends_on",
			shownCycle(tasks, cycle)+" is a cycle; no task of it could begin")
	}
	return nil
}

func ids(tasks []Task) []string {
	var all []string
	for _, t := range tasks {
		if t.ID != "" {
			all = append(all, t.ID)
		}
	}
	return all
}

// shownCycle is a → b → a. Of a long cycle the middle is left out.
func shownCycle(tasks []Task, cycle []int) string {
	var names []string
	for _, i := range append(cycle[:len(cycle):len(cycle)], cycle[0]) {
		name := tasks[i].ID
		if checkID(name) != "" { // an item
			name = quoted(name)
		}
		names = append(names, name)
	}
	if n := len(names) - 10; n > 1 {
		names = slices.Replace(names, 5, 5+n, fmt.Sprintf("(%d more)", n))
	}
	return strings.Join(names, " → ")
}

// ordered returns the order of the calls of tasks, by position: that of the
// list, but each after its dependencies. If there is none, it returns the
// positions of a cycle, each before its dependency, the first in the list
// first. Every dependency names a task, and no task names the same task twice.
func ordered(tasks []Task) (order, cycle []int) {
	waits := make([]int, len(tasks))
	next := make([][]int, len(tasks))
	needs := dependencies(tasks)
	ready := &positions{}
	for i := range tasks {
		for _, j := range needs[i] {
			next[j] = append(next[j], i)
		}
		if waits[i] = len(needs[i]); waits[i] == 0 {
			*ready = append(*ready, i) // ascending, which is a heap
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, i)
		for _, j := range next[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	if len(order) < len(tasks) {
		return nil, findCycle(needs, waits)
	}
	return order, nil
}

// dependencies are the positions that each task depends on.
func dependencies(tasks []Task) [][]int {
	at := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if t.ID != "" {
			at[t.ID] = i
		}
	}
	needs := make([][]int, len(tasks))
	for i, t := range tasks {
		for _, id := range t.DependsOn {
			if j, ok := at[id]; ok {
				needs[i] = append(needs[i], j)
			}
		}
	}
	return needs
}

// findCycle follows waiting tasks until it meets a task again: each of those
// waits for another.
func findCycle(needs [][]int, waits []int) []int {
	waiting := func(i int) bool { return waits[i] > 0 }
	step := make([]int, len(needs)) // from 1
	var path []int
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	for step[at] == 0 {
		path = append(path, at)
		step[at] = len(path)
		at = needs[at][slices.IndexFunc(needs[at], waiting)]
	}
	cycle := path[step[at]-1:]
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}

// positions is a heap, the least first.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }

// Push adds a position, as [heap.Interface] asks.
func (p *positions) Push(x any) { *p = append(*p, x.(int)) }

// Pop takes the last position.
func (p *positions) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
