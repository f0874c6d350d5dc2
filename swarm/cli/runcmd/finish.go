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
}

// finish merges if that was asked for, gives the run up and tells how it
// went.
func finish(ctx context.Context, b *session.Session, end *ended, r finishRequest) error {
	var merged *lander.Report
	var mergeErr error
	if r.merge && end.status != store.RunStopped && end.status != store.RunPaused {
		var request lander.MergeRequest
		if request, mergeErr = endMerge(b, r); mergeErr == nil {
			merged, mergeErr = mergeEnd(ctx, b, request, r.back)
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

// mergeEnd merges at the end of a run, and hands rejected patches back if back
// runs the attempts.
func mergeEnd(ctx context.Context, b *session.Session, r lander.MergeRequest, back *attempts) (*lander.Report, error) {
	if back == nil {
		return b.Lander().Merge(ctx, r)
	}
	return b.MergeHandingBack(ctx, r, back)
}

// endMerge is the merge at the end of a run. It lands the patches that pass the check of
// the run's agents together, as `swarm merge --verify` does.
func endMerge(b *session.Session, r finishRequest) (lander.MergeRequest, error) {
	config, err := session.EngineConfig(b.Owner.View())
	if err != nil {
		return lander.MergeRequest{}, err
	}
	check, named := landing.RunCheck(config.Verify)
	if named {
		fmt.Fprintf(b.Env.Stderr, "%s: --merge runs no check: that of the run names a variable of a single agent\n", cmdline.Program)
	}
	request := lander.MergeRequest{Into: r.into, Verify: check}
	if request.Author, err = session.CommitAuthor(&b.Place, request.Style); err != nil {
		return request, err
	}
	if check != "" {
		own, err := b.OwnConfig()
		if err != nil {
			return request, err
		}
		request.Queue = lander.QueueOptions{On: true, Order: lander.OrderFewest, Screen: own.Screen}
	}
	return request, nil
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
