package inbox

import (
	"path"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Ended keeps the end of a question about files: a loss that was denied stays
// denied to its agent until the same is allowed. It has to be called for each
// reply, once.
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

// isDenial reports whether a person, an earlier answer or the policy of the run
// denied the effect of an action. A denial because no answer came in time or because
// the agent ended is no decision about the effect. A script and the risk rules judge
// each action themselves.
func isDenial(by task.By) bool {
	return by == task.ByPerson || by == task.ByRule || by == task.ByPolicy
}

// Denied returns the losses that were denied to an agent.
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
