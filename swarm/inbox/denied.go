package inbox

import (
	"path"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Ended keeps the end of a question about files: what was denied to its agent
// stays denied, and what is allowed afterwards is not denied any more. It has to
// be called for each reply, once.
func (b *Box) Ended(q *event.Questioned, r *event.Replied) {
	if q == nil || q.Agent == "" || q.Risk == nil || q.Risk.Files == nil {
		return
	}
	files := q.Risk.Files
	d := b.denied[q.Agent]
	if r.Allow {
		d.Deletes, d.Overwrites, d.Cleans = lifted(d.Deletes, files.Deletes), lifted(d.Overwrites, files.Overwrites), lifted(d.Cleans, files.Cleans)
	} else if isDenial(r.By) {
		d.Deletes, d.Overwrites, d.Cleans = joined(d.Deletes, files.Deletes), joined(d.Overwrites, files.Overwrites), joined(d.Cleans, files.Cleans)
	}
	b.denied[q.Agent] = d
}

// isDenial reports whether a no by somebody is about the effect of an action.
// Where its agent is gone there was no answer. A script that says no judges
// each action of its agents itself.
func isDenial(by task.By) bool {
	return slices.Contains([]task.By{task.ByPerson, task.ByRule, task.ByTime, task.ByPolicy}, by)
}

// Denied returns the losses that an agent was denied.
func (b *Box) Denied(agent task.ID) event.Files {
	d := b.denied[agent]
	return event.Files{Deletes: slices.Clone(d.Deletes), Overwrites: slices.Clone(d.Overwrites), Cleans: slices.Clone(d.Cleans)}
}

// joined adds paths to others, each once.
func joined(to, paths []string) []string {
	for _, p := range paths {
		if !slices.Contains(to, p) {
			to = append(to, p)
		}
	}
	return to
}

// lifted returns the losses that stay denied once paths are allowed, with all below them.
func lifted(from, paths []string) []string {
	return slices.DeleteFunc(from, func(one string) bool {
		for {
			if slices.Contains(paths, one) {
				return true
			}
			above := path.Dir(one)
			if above == one {
				return false
			}
			one = above
		}
	})
}
