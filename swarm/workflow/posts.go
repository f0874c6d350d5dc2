package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// Post takes a request that is answered later, or not at all.
func (d *driver) Post(n int, r script.Request) error {
	if err := d.halted(); err != nil {
		return err
	}
	switch r := r.(type) {
	case *script.Cancel:
		return d.cancel(r)
	case *script.Untimer:
		d.untime(r.N)
		return nil
	case *script.Appraise:
		return d.appraise(r)
	case *script.Choose:
		return d.choose(r)
	case *script.Log:
		return d.log(event.Logged{Text: r.Text, Phase: r.Phase})
	case *script.Phase:
		if d.phased[r.Title] {
			return nil
		}
		d.phased[r.Title] = true
		return d.Engine.Note(&event.Phased{Title: r.Title})
	case *script.Timer, *script.Check, *script.Land, *script.Question, *script.Send:
		return d.later(n, r)
	case *script.Call, *script.Merge, *script.PatchText, *script.Evidence, *script.Repo, *script.Nested:
		return fmt.Errorf("a %s is answered at once", script.Verb(r))
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

func (d *driver) cancel(r *script.Cancel) error {
	id := task.ID(r.ID)
	d.sort(d.Engine.Drain())
	if r.Settled || d.replay.asked(id) {
		return nil
	}
	reason := r.Reason
	if reason == "" {
		reason = "cancelled by the script"
	}
	return d.Engine.CancelByScript([]task.ID{id}, reason)
}

// maxLines bounds the lines that a script may have for people.
const maxLines = 10_000

// log journals a line, unless it was said before and is only said again.
func (d *driver) log(line event.Logged) error {
	if d.logged[line] > 0 {
		d.logged[line]--
		return nil
	}
	switch d.lines++; {
	case d.lines > maxLines:
		return nil
	case d.lines == maxLines:
		line = event.Logged{Text: fmt.Sprintf("… more than %d lines: the rest is not kept", maxLines)}
	}
	return d.Engine.Note(&line)
}

func (d *driver) untime(n int) {
	if t := d.timers[n]; t != nil {
		t.Stop()
		delete(d.timers, n)
	}
	delete(d.posted, d.keys[n])
	d.replay.drop(n)
}

// later answers a request with its recorded answer, or begins the work for it.
func (d *driver) later(n int, r script.Request) error {
	w, done, err := d.remembered(n, r)
	if err != nil || done {
		return err
	}
	key := w.key
	switch r := r.(type) {
	case *script.Timer:
		d.after(n, r.MS, func() { d.enter(&event.Entered{Verb: "timer", Key: key}) })
	case *script.Check:
		d.begin(r, key, func(ctx context.Context) (any, error) {
			return d.Tools.Check(ctx, CheckRequest{Key: key, Check: r, Commit: w.commit})
		})
	case *script.Land:
		d.begin(r, key, func(ctx context.Context) (any, error) {
			return d.Tools.Land(ctx, LandRequest{Key: key, Land: r, Patches: w.patches})
		})
	case *script.Send:
		d.begin(r, key, func(context.Context) (any, error) { return d.send(r) })
	case *script.Question:
		return d.ask(n, key, r)
	}
	return nil
}

// wanted is the resolved form of a request that is answered later.
type wanted struct {
	key     string
	commit  string  // of a check
	patches []Patch // of a landing
}

// remembered answers a request with its recorded answer. done is set if it did,
// or if it refused the request.
func (d *driver) remembered(n int, r script.Request) (w wanted, done bool, err error) {
	about := any(r)
	switch r := r.(type) {
	case *script.Check:
		if w.commit, err = d.on(r.On); err == nil {
			err = d.Config.allows(r)
		}
		if err == nil {
			resolved := *r
			resolved.On, about = w.commit, &resolved
		}
	case *script.Land:
		w.patches, err = d.patchList(r.Patches)
	}
	var kerr error
	if w.key, kerr = d.key(r, about); kerr != nil {
		return w, false, kerr
	}
	d.keys[n] = w.key
	var refused *script.Error
	if errors.As(err, &refused) {
		// Not a record: it would be refused again.
		d.refused = append(d.refused, script.Delivery{N: n, Error: refused})
		return w, true, nil
	}
	if err != nil {
		return w, false, err
	}
	if earlier, ok := d.replay.entry(w.key); ok {
		d.replay.insert(held{n: earlier.N, delivery: deliveryOf(n, earlier.Entered)})
		return w, true, nil
	}
	d.posted[w.key] = n
	return w, false, nil
}

// on is the commit that a check runs on.
func (d *driver) on(name string) (string, error) {
	if name == "" || name == "base" {
		return d.Config.Base, nil
	}
	at, err := d.resolve(d.ctx, name)
	return at.Commit, err
}

// place is a commit of the repository.
type place struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// resolve finds the base that a script names. A branch may move, also by the
// script itself. So the first meaning of a name holds for the life of the run.
func (d *driver) resolve(ctx context.Context, name string) (at place, err error) {
	if at, known := d.places[name]; known {
		return at, nil
	}
	key := sumOf("resolve", []byte(name)) + ".0"
	if earlier, ok := d.replay.entry(key); ok {
		if err := json.Unmarshal(earlier.Value, &at); err != nil {
			return at, fmt.Errorf("read what %s was: %w", name, err)
		}
	} else {
		if at.Commit, at.Tree, err = d.Tools.Resolve(ctx, name); err != nil {
			return at, err
		}
		if at.Commit != name {
			value, err := json.Marshal(at)
			if err != nil {
				return at, err
			}
			if err := d.Engine.Note(&event.Entered{Verb: "resolve", Key: key, Value: value}); err != nil {
				return at, err
			}
		}
	}
	d.places[name] = at
	return at, nil
}

// begin does something on a goroutine of its own, whose outcome enters the
// script.
func (d *driver) begin(r script.Request, key string, do func(context.Context) (any, error)) {
	d.work.Go(func() {
		value, err := do(d.ctx)
		var refused *script.Error
		switch {
		case errors.As(err, &refused):
			// No record: the missing thing may be there when a resume asks
			// again.
			d.Engine.Announce(failedEntry(script.Verb(r), key, refused))
		case d.ctx.Err() != nil: // the request is abandoned
		case err != nil:
			d.fail(err)
		default:
			text, err := json.Marshal(value)
			if err != nil {
				d.fail(err)
				return
			}
			d.enter(&event.Entered{Verb: script.Verb(r), Key: key, Value: text})
		}
	})
}

// after does something after a time, unless the timer of the number is given
// back or the script ends before.
func (d *driver) after(n int, ms int64, do func()) {
	d.timers[n] = time.AfterFunc(time.Duration(ms)*time.Millisecond, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.ctx.Err() == nil {
			do()
		}
	})
}

func failedEntry(verb, key string, e *script.Error) *event.Entered {
	return &event.Entered{Verb: verb, Key: key, Error: &event.ScriptError{
		Name: e.Name, Code: string(e.Code), Message: e.Message,
	}}
}

// enter lets a fact enter the script. Any goroutine may call it. An engine that
// could not take it has halted, and says itself why.
func (d *driver) enter(fact *event.Entered) {
	if err := d.Engine.Enter(fact); err != nil && d.ctx.Err() == nil && d.halted() == nil {
		d.fail(err)
	}
}

func (d *driver) send(r *script.Send) (any, error) {
	var notRunning *engine.NotRunningError
	switch err := d.Engine.Send(task.ID(r.ID), r.Text); {
	case err == nil:
		return map[string]bool{"delivered": true}, nil
	case errors.As(err, &notRunning):
		return map[string]any{"delivered": false, "reason": err.Error()}, nil
	case errors.Is(err, engine.ErrClosed):
		return nil, err
	default:
		return map[string]any{"delivered": false, "reason": err.Error()}, nil
	}
}
