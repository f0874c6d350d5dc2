package lander

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// record says where the transaction of a landing is recorded.
func (ld *Lander) record(landing int) merge.Record {
	return merge.Record{
		Records: ld.State.Checkouts(), ID: fmt.Sprintf("%s.%d", ld.Run.ID, landing), Step: ld.Step,
	}
}

// journalEnd journals the end of a landing, of which nothing else needs the
// record then. An end that is still open is not journaled.
func (ld *Lander) journalEnd(end *event.Landed, err error) error {
	var open *checkouts.OpenError
	if errors.As(err, &open) {
		return err
	}
	if end.OK = err == nil; err != nil {
		end.Reason = err.Error()
	}
	_, jerr := ld.Owner.Append(end)
	if jerr == nil {
		jerr = checkouts.Forget(ld.State.Checkouts(), ld.record(end.ID).ID)
	}
	return errors.Join(blocked(err), jerr)
}

// Settle finds the outcomes of landings whose process died, and journals them. The view
// shows them then.
func (ld *Lander) Settle(ctx context.Context, v *store.View) error {
	for _, l := range v.Landings {
		var err error
		if l.Outcome == nil {
			err = ld.settleOne(ctx, v, l)
		} else {
			err = ld.forget(l.ID)
		}
		if err != nil {
			return fmt.Errorf("settle landing %d of run %s: %w", l.ID, ld.Run.ID, err)
		}
	}
	// A git that was killed may have left a lock on a ref of ours.
	return ld.Repo.UnlockRefs(captureref.Landings(ld.Run.ID))
}

func (ld *Lander) settleOne(ctx context.Context, v *store.View, l *store.Landing) error {
	record := ld.record(l.ID)
	settled, err := merge.Settle(ctx, merge.SettleRequest{
		Repo: ld.Repo, Record: record,
		Intent: merge.Intent{Ref: l.Ref, Old: git.Hash(l.Old), New: git.Hash(l.New), Checkouts: l.Dirs},
	})
	if err != nil {
		return err
	}
	end := &event.Landed{ID: l.ID, OK: settled.Happened}
	if !end.OK {
		end.Reason = "swarm ended while it landed"
	}
	if l.Verb == landing.VerbApply && end.OK {
		end.Files = sumsOf(settled.Files)
	}
	var undone *store.Landing
	var records []event.Event
	if l.Verb == landing.VerbUndo && end.OK {
		undone = v.Landing(l.Of)
	}
	if undone != nil {
		// First, as in journalUndone.
		records = append(records, &event.Undone{ID: l.Of})
	}
	if _, err := ld.Owner.AppendAll(append(records, end)); err != nil {
		return err
	}
	l.Outcome = end
	for _, part := range v.Series(undone) {
		part.Undone = true
	}
	return checkouts.Forget(record.Records, record.ID)
}

// forget removes the record of a landing whose outcome is journaled: the process may
// have died between the two. A record that is open or cannot be read stays.
func (ld *Lander) forget(landing int) error {
	record := ld.record(landing)
	ended, err := checkouts.Lookup(record.Records, record.ID)
	var bad *checkouts.RecordError
	if errors.As(err, &bad) || err == nil && ended == nil {
		return nil
	}
	return errors.Join(err, checkouts.Forget(record.Records, record.ID))
}

// sumsOf are applied files as the journal keeps them.
func sumsOf(files []merge.AppliedFile) map[string]string {
	sums := make(map[string]string, len(files))
	for _, f := range files {
		sums[pathKey(f.Path)] = f.Sum
	}
	return sums
}
