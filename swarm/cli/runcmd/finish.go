package runcmd

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/landcmd"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/workflow/library"
)

// finishRequest says how a run goes on after its agents.
type finishRequest struct {
	json  bool
	merge bool
	into  string
	back  *attempts // runs the attempts of patches that are handed back; nil: none is
	// attest writes a note about the check of the merge.
	attest bool
}

// finish merges if that was asked for, gives the run up and tells how it
// went.
func finish(ctx context.Context, b *session.Session, end *ended, r finishRequest) error {
	var merged *lander.Report
	var mergeErr error
	if r.merge && end.status != store.RunStopped && end.status != store.RunPaused {
		var request lander.MergeRequest
		var named bool
		if request, named, mergeErr = endMerge(b, r); named {
			fmt.Fprintf(b.Env.Stderr, "%s: --merge runs no check: that of the run names a variable of a single agent\n", cmdline.Program)
		}
		if mergeErr == nil {
			merged, mergeErr = mergeEnd(ctx, b, request, r)
		}
	}
	var nothing *lander.NothingError
	if errors.As(mergeErr, &nothing) {
		mergeErr = nil
	}
	codes := end.codes
	if merged != nil {
		codes = append(codes, landcmd.MergeCodes(merged)...)
	}
	if mergeErr != nil {
		codes = append(codes, exit.CodeOf(mergeErr))
	}
	told := len(b.Owner.Notices)
	if err := errors.Join(recode(b, end, codes), b.Owner.Close()); err != nil {
		return err
	}
	for _, notice := range b.Owner.Notices[told:] {
		fmt.Fprintln(b.Env.Stderr, cmdline.Program+": "+termtext.Line(notice))
	}
	v := b.Owner.View()
	// Hooks and the result are not for the reader of standard error, who may be gone.
	if err := view.PrintSummary(&b.Place, b.Run, v, merged); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	sayUnmerged(b, end, r, nothing)
	if mergeErr != nil {
		cmdline.PrintError(b.Env, mergeErr)
	}
	if end.thrown != nil {
		cmdline.PrintError(b.Env, &library.Error{Err: end.thrown, Thrown: true})
	}
	if err := view.PrintResult(&b.Place, v, r.json); err != nil {
		return err
	}
	notifyEnd(ctx, b, v)
	c, err := session.EngineConfig(v)
	if err != nil {
		return err
	}
	endHook(ctx, b, c, v)
	if code := exit.First(codes...); code != exit.OK {
		return &exit.Error{Code: code}
	}
	return nil
}

// mergeEnd merges at the end of a run. It hands rejected patches back and attests the
// check if that was asked for.
func mergeEnd(ctx context.Context, b *session.Session, merge lander.MergeRequest, r finishRequest) (report *lander.Report, err error) {
	if r.back == nil {
		report, err = b.Lander().Merge(ctx, merge)
	} else {
		report, err = b.MergeHandingBack(ctx, merge, r.back)
	}
	if r.attest && merge.Verify != "" {
		err = b.Attest(ctx, merge, report, err)
	}
	return report, err
}

// endMerge is the merge at the end of a run. It lands the patches that pass the check of
// the run's agents together, as `swarm merge --verify` does. Named is set if that check
// names a variable of a single agent, so that the merge has none.
func endMerge(b *session.Session, r finishRequest) (request lander.MergeRequest, named bool, err error) {
	config, err := session.EngineConfig(b.Owner.View())
	if err != nil {
		return request, false, err
	}
	request.Into = r.into
	request.Verify, named = landing.RunCheck(config.Verify)
	if request.Author, err = session.CommitAuthor(&b.Place, request.Style); err != nil || request.Verify == "" {
		return request, named, err
	}
	own, err := b.OwnConfig()
	if err != nil {
		return request, named, err
	}
	request.Queue = lander.QueueOptions{On: true, Slots: own.Slots, Order: own.Order.String(), Screen: own.Screen}
	return request, named, nil
}

// sayUnmerged explains why a requested merge did not happen. The line of next
// steps has the remedy for patches that are left out.
func sayUnmerged(b *session.Session, end *ended, r finishRequest, nothing *lander.NothingError) {
	switch {
	case !r.merge:
	case end.status == store.RunStopped || end.status == store.RunPaused:
		into := ""
		if r.into != "" {
			into = " --into " + r.into
		}
		fmt.Fprintf(b.Env.Stderr, "%s: not merged: the run did not complete, and resume does not merge; then: %s merge %s%s\n",
			cmdline.Program, b.Env.Calls, b.Run.ID, termtext.Line(into))
	case nothing != nil && nothing.Advice != "":
		fmt.Fprintf(b.Env.Stderr, "%s: %s\n", cmdline.Program, termtext.Line(nothing.Error()))
	}
}

// recode journals an exit code that merging has changed: `swarm wait` ends with
// it, too.
func recode(b *session.Session, end *ended, codes []exit.Code) error {
	if exit.First(codes...) == exit.First(end.codes...) {
		return nil
	}
	_, err := b.Owner.Append(&event.Closed{
		Status: string(end.status), Reason: end.reason, Code: int(exit.First(codes...)),
	})
	return err
}
