package compare

import (
	"context"
	"slices"

	"agentswarm/swarm/landing/queue"
)

// Way is a way to land patches.
type Way string

// The ways that are compared. All of them refuse a patch only if its own run failed
// twice.
const (
	// Serial tries the patches in turn on those that landed.
	Serial Way = "serial"
	// Halving tries all waiting patches, and halves failed batches, as bors
	// does. It runs a single check at a time.
	Halving Way = "halving"
	// Chain tries each patch on all those before it that have not failed, as the gate of
	// Zuul does. A failure makes those behind it start again.
	Chain Way = "chain"
	// Queue is package queue.
	Queue Way = "queue"
)

// Ways are all of them.
func Ways() []Way { return []Way{Serial, Halving, Chain, Queue} }

// land lands the patches of a world in a way. It returns the patches that landed.
func (w *world) land(ctx context.Context, way Way, slots int) ([]string, error) {
	switch way {
	case Serial:
		return w.serial(), nil
	case Halving:
		return w.halving(), nil
	case Chain:
		return w.chain(slots), nil
	default:
		r := queue.Request{Slots: slots, Gate: w}
		for _, id := range w.ids {
			r.Patches = append(r.Patches, queue.Patch{ID: id})
		}
		out, err := queue.Land(ctx, r)
		if err != nil {
			return nil, err
		}
		return out.Landed, nil
	}
}

// passed runs the check on a patch alone upon a tip, up to twice.
func (w *world) passed(tip []string, id string) bool {
	set := append(slices.Clone(tip), id)
	for range 2 {
		if w.run(set)[0] {
			return true
		}
	}
	return false
}

func (w *world) serial() []string {
	var tip []string
	for _, id := range w.ids {
		if w.passed(tip, id) {
			tip = append(tip, id)
		}
	}
	return tip
}

func (w *world) halving() []string {
	var tip []string
	batches := [][]string{w.ids}
	for len(batches) > 0 {
		batch := batches[0]
		batches = batches[1:]
		switch {
		case len(batch) == 1:
			if w.passed(tip, batch[0]) {
				tip = append(tip, batch[0])
			}
		case w.run(slices.Concat(tip, batch))[0]:
			tip = slices.Concat(tip, batch)
		default:
			half := len(batch) / 2
			batches = append([][]string{batch[:half], batch[half:]}, batches...)
		}
	}
	return tip
}

// chain keeps the verdicts on sets that are still ahead: a round runs only those
// that are new.
func (w *world) chain(slots int) []string {
	var tip []string
	waiting := slices.Clone(w.ids)
	failures := map[string]int{} // failed runs of a patch at the head
	verdicts := map[string]bool{}
	for len(waiting) > 0 {
		sets := w.ahead(tip, waiting[:min(slots, len(waiting))], verdicts)
		var fresh [][]string
		for _, set := range sets {
			if _, known := verdicts[key(set)]; !known {
				fresh = append(fresh, set)
			}
		}
		for i, passed := range w.run(fresh...) {
			verdicts[key(fresh[i])] = passed
		}
		for len(waiting) > 0 {
			head := waiting[0]
			set := append(slices.Clone(tip), head)
			passed, known := verdicts[key(set)]
			if !known {
				break
			}
			if passed {
				tip, waiting = set, waiting[1:]
				continue
			}
			if failures[head]++; failures[head] == 2 {
				waiting = waiting[1:]
				continue
			}
			delete(verdicts, key(set)) // it gets its second run
			break
		}
	}
	return tip
}

// ahead are the sets of a window. Those behind a patch that failed leave it out.
func (w *world) ahead(tip, window []string, verdicts map[string]bool) [][]string {
	var sets [][]string
	on := slices.Clone(tip)
	for _, id := range window {
		set := append(slices.Clone(on), id)
		sets = append(sets, set)
		if passed, known := verdicts[key(set)]; !known || passed {
			on = set
		}
	}
	return sets
}
