package review

import "agentswarm/swarm/task"

// Decision is a person's verdict on an edit.
type Decision struct {
	Edit    task.EditKey
	Verdict task.Verdict
	Reason  string
	Attempt int // that the person saw
}

// Decided are the decisions on the edits of a patch.
type Decided struct {
	on map[*Edit]Decision
	// Outdated are decisions on edits that the patch does not have, in the order
	// in which they were made.
	Outdated []Decision
}

// On is the decision on an edit; false where there is none.
func (d *Decided) On(e *Edit) (Decision, bool) {
	v, ok := d.on[e]
	return v, ok
}

// Decide applies decisions to a patch in the order in which they were made.
// They may be on edits of an earlier attempt. A decision on a run holds for its
// parts, and the run is decided once all its parts are. Where a file of the
// decisions is not in the patch, an equal edit of another file takes its place:
// the file was moved.
func (x *Index) Decide(patch string, made []Decision) *Decided {
	t := newTargets(x.patches[patch])
	d := &Decided{on: map[*Edit]Decision{}}
	outdated := map[task.EditKey]int{} // index of the latest decision
	for i, decision := range made {
		e := t.find(decision.Edit)
		if e == nil {
			outdated[decision.Edit] = i
			continue
		}
		d.on[e] = decision
		c := t.choices[e]
		for _, part := range c.parts {
			if e == c.whole {
				d.on[part] = decision
			}
		}
		d.derive(c)
	}
	for i, decision := range made {
		if at, ok := outdated[decision.Edit]; ok && at == i {
			d.Outdated = append(d.Outdated, decision)
		}
	}
	return d
}

// Locate returns the edits of a patch that each key leads to: the edit itself,
// then those that show it where it is cut in another way. It is empty for an edit
// that the patch does not have. A moved file is found as [Index.Decide] does.
func (x *Index) Locate(patch string, keys []task.EditKey) [][]*Edit {
	t := newTargets(x.patches[patch])
	all := make([][]*Edit, len(keys))
	for i, k := range keys {
		if e := t.find(k); e != nil {
			c := t.choices[e]
			all[i] = append([]*Edit{e, c.whole}, c.parts...)
		}
	}
	return all
}

// derive decides a run by its parts: a rejected part rejects it.
func (d *Decided) derive(c choice) {
	if len(c.parts) == 0 {
		return
	}
	delete(d.on, c.whole)
	var of Decision
	for _, part := range c.parts {
		one, ok := d.on[part]
		if !ok {
			return
		}
		if of.Verdict != task.Rejected {
			of = one
		}
	}
	d.on[c.whole] = of
}

// targets finds the edits of a patch by keys.
type targets struct {
	choices map[*Edit]choice
	byKey   map[task.EditKey]*Edit
	moved   map[task.EditKey][]*Edit // by keys without a path, those that no key has led to
	paths   map[string]bool
}

func newTargets(all []choice) *targets {
	t := &targets{
		choices: map[*Edit]choice{}, byKey: map[task.EditKey]*Edit{},
		moved: map[task.EditKey][]*Edit{}, paths: map[string]bool{},
	}
	for _, c := range all {
		for _, e := range append([]*Edit{c.whole}, c.parts...) {
			t.choices[e] = c
			t.byKey[e.Key()] = e
			t.paths[e.Path] = true
			t.moved[pathless(e.Key())] = append(t.moved[pathless(e.Key())], e)
		}
	}
	return t
}

func pathless(k task.EditKey) task.EditKey {
	k.Path = ""
	return k
}

// find returns the edit that a key leads to, or nil. A key that has led to an
// edit of another file leads there again.
func (t *targets) find(k task.EditKey) *Edit {
	e := t.byKey[k]
	if others := t.moved[pathless(k)]; e == nil && !t.paths[k.Path] && len(others) > 0 {
		e = others[0]
		t.moved[pathless(k)] = others[1:]
		t.byKey[k] = e
	}
	return e
}
