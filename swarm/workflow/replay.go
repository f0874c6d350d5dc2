package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"agentswarm/swarm/script"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// replay holds the values that entered the script under earlier owners of the
// run, as far as the script has asked for them again.
type replay struct {
	prior   *store.View
	entries map[string]store.ScriptEntry // not taken yet, by key
	ready   []held                       // asked for, in journal order
	patches map[task.ID]*task.Patch
}

// held is a record that waits for its turn.
type held struct {
	n        int64 // its place in the journal
	delivery script.Delivery
	agent    task.ID // whose end it is; empty for another record
	// back is set where the script cancelled the agent then, and has not
	// done so this time.
	back bool
}

func newReplay(prior *store.View) replay {
	r := replay{prior: prior, entries: map[string]store.ScriptEntry{}, patches: map[task.ID]*task.Patch{}}
	if prior != nil {
		for _, e := range prior.Entered {
			if _, twice := r.entries[e.Key]; !twice {
				r.entries[e.Key] = e
			}
		}
	}
	return r
}

// add lets the end of an agent wait for its turn.
func (r *replay) add(id task.ID, next script.Delivery) {
	h := held{delivery: next, agent: id}
	if a := r.prior.Agent(id); a != nil {
		h.n = a.SettledBy
		h.back = a.Cancel != nil && a.Cancel.Script && next.Result.Status == "cancelled"
	}
	r.insert(h)
}

// entry takes the record of a request that entered under an earlier owner.
func (r *replay) entry(key string) (store.ScriptEntry, bool) {
	e, ok := r.entries[key]
	delete(r.entries, key)
	return e, ok
}

func (r *replay) insert(h held) {
	at, _ := slices.BinarySearchFunc(r.ready, h.n, func(a held, n int64) int {
		return int(a.n - n)
	})
	r.ready = slices.Insert(r.ready, at, h)
}

// asked notes that the script cancels an agent, and reports whether its end is
// on record already.
func (r *replay) asked(id task.ID) bool {
	for i := range r.ready {
		if r.ready[i].agent == id {
			r.ready[i].back = false
			return true
		}
	}
	return false
}

// drop forgets the record that answers a request.
func (r *replay) drop(n int) {
	r.ready = slices.DeleteFunc(r.ready, func(h held) bool { return h.agent == "" && h.delivery.N == n })
}

// take takes the earliest record whose turn it is.
func (r *replay) take() (script.Delivery, bool) {
	for i, h := range r.ready {
		if !h.back {
			r.ready = slices.Delete(r.ready, i, i+1)
			return h.delivery, true
		}
	}
	return script.Delivery{}, false
}

// takeHeld takes the earliest record of all.
func (r *replay) takeHeld() (script.Delivery, bool) {
	if len(r.ready) == 0 {
		return script.Delivery{}, false
	}
	h := r.ready[0]
	r.ready = r.ready[1:]
	return h.delivery, true
}

// note remembers the patch of an agent.
func (r *replay) note(id task.ID, p *task.Patch) {
	if p != nil {
		r.patches[id] = p
	}
}

func (r *replay) patchOf(id task.ID, commit string) *task.Patch {
	if p := r.patches[id]; p != nil && p.Commit == commit {
		return p
	}
	return nil
}

// sumOf names a request by its content.
func sumOf(verb string, text []byte) string {
	sum := sha256.Sum256(append([]byte(verb+"\n"), text...))
	return hex.EncodeToString(sum[:16])
}
