package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// record says where the transaction of a landing is recorded.
func (b *bench) record(landing int) merge.Record {
	return merge.Record{
		Records: b.state.Checkouts(), ID: fmt.Sprintf("%s.%d", b.run.ID, landing), Step: b.env.Step,
	}
}

// journalEnd journals the end of a landing, of which nothing else needs the
// record then. An end that is still open is not journaled.
func (b *bench) journalEnd(end *event.Landed, err error) error {
	var open *checkouts.OpenError
	if errors.As(err, &open) {
		return err
	}
	if end.OK = err == nil; err != nil {
		end.Reason = err.Error()
	}
	_, jerr := b.owner.Append(end)
	if jerr == nil {
		jerr = checkouts.Forget(b.state.Checkouts(), b.record(end.ID).ID)
	}
	return errors.Join(refusedMove(err), jerr)
}

// recoverCheckouts ends the changes of checkouts whose process died, and says
// how. Where that fails a reading command goes on; merge, apply and undo try
// again, and fail.
func (p *place) recoverCheckouts(ctx context.Context) {
	ended, err := checkouts.Recover(ctx, checkouts.RecoverRequest{
		Records: p.state.Checkouts(), Repo: p.repo, Step: p.env.Step,
	})
	for _, o := range ended {
		fmt.Fprintln(p.env.Stderr, program+": "+Printable(recoveredText(&o)))
		for _, k := range o.Kept {
			fmt.Fprintln(p.env.Stderr, program+": "+Printable(fmt.Sprintf(
				"not overwritten, as it changed meanwhile: %s in %s", listed(k.Paths, 5), k.Dir)))
		}
	}
	if err != nil {
		fmt.Fprintln(p.env.Stderr, program+": "+Printable(err.Error()))
	}
}

// recoveredText says on which side a transaction ended.
func recoveredText(o *checkouts.Outcome) string {
	run, _, _ := strings.Cut(o.ID, ".")
	what := fmt.Sprintf("%s of run %s was cut off", o.Verb, run)
	var where []string
	if o.Ref != "" {
		where = append(where, branchName(o.Ref))
	}
	for _, dir := range o.Dirs {
		where = append(where, "the files of "+dir)
	}
	switch on := strings.Join(where, " and "); {
	case !o.Begun:
		return what + " before it changed anything"
	case o.Happened:
		return fmt.Sprintf("%s; it is completed: %s have all of it", what, on)
	default:
		return fmt.Sprintf("%s; it is rolled back: %s have nothing of it", what, on)
	}
}

// settleLandings finds the outcomes of landings whose process died.
func (b *bench) settleLandings(ctx context.Context, v *store.View) error {
	for _, l := range v.Landings {
		if l.Outcome != nil {
			continue
		}
		if err := b.settleLanding(ctx, v, l); err != nil {
			return fmt.Errorf("settle landing %d of run %s: %w", l.ID, b.run.ID, err)
		}
	}
	// A git that was killed may have left a lock on a ref of ours.
	return b.repo.UnlockRefs(captureref.Landings(b.run.ID))
}

func (b *bench) settleLanding(ctx context.Context, v *store.View, l *store.Landing) error {
	record := b.record(l.ID)
	settled, err := merge.Settle(ctx, merge.SettleRequest{
		Repo: b.repo, Record: record,
		Intent: merge.Intent{Ref: l.Ref, Old: git.Hash(l.Old), New: git.Hash(l.New), Checkouts: l.Dirs},
	})
	if err != nil {
		return err
	}
	end := &event.Landed{ID: l.ID, OK: settled.Happened, Reason: "swarm ended while it landed"}
	if l.Verb == verbApply && end.OK {
		end.Files = sumsOf(settled.Files)
	}
	if _, err := b.owner.Append(end); err != nil {
		return err
	}
	l.Outcome = end
	if undone := v.Landing(l.Of); l.Verb == verbUndo && end.OK && undone != nil {
		if _, err := b.owner.Append(&event.Undone{ID: l.Of}); err != nil {
			return err
		}
		for _, part := range v.Series(undone) {
			part.Undone = true
		}
	}
	return checkouts.Forget(record.Records, record.ID)
}

// sumsOf are applied files as the journal keeps them.
func sumsOf(files []merge.AppliedFile) map[string]string {
	sums := make(map[string]string, len(files))
	for _, f := range files {
		sums[pathKey(f.Path)] = f.Sum
	}
	return sums
}
