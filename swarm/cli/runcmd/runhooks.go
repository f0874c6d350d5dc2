package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/runhook"
	"agentswarm/swarm/store"
)

// runHooks are the commands of [hooks] for this run.
func runHooks(b *session.Session, c engine.Config) *runhook.Hooks {
	return &runhook.Hooks{
		Config: c, Run: b.Run, Base: b.Owner.View().Identity.Base.Commit, Dir: b.Root(), Repository: cmdline.Readable(b.Root()),
		Launcher: isolation.Launcher(b.Deps.Launcher.Binary, box.None), Environ: ownEnviron(b.Env.Environ), Complaint: lastWords,
	}
}

// startHook asks the hook whether the run may begin. fresh marks a run that has
// not begun before: if the hook refuses it, nothing of it is left.
func startHook(ctx context.Context, b *session.Session, c engine.Config, fresh bool) error {
	note, refused := runHooks(b, c).StartRun(ctx)
	if note != "" {
		b.Deps.Warn(string(hook.RunStart) + ": " + termtext.Line(note))
	}
	if refused == nil {
		return nil
	}
	if hooked, ok := errors.AsType[*runhook.Error](refused); ok {
		if hooked.Veto {
			hooked.Reason = termtext.Line(hooked.Reason)
		}
		refused = &exit.Error{Code: exit.Approval, Err: hooked}
	}
	err := errors.Join(b.Trees.Close(), b.Owner.Close())
	if fresh {
		_, removing := b.Run.Remove(context.WithoutCancel(ctx))
		err = errors.Join(err, removing)
		// It holds nothing yet.
		_ = os.Remove(b.Run.State().Trees(b.Run.ID))
	}
	return errors.Join(refused, err)
}

// endHook reports the end of the run to the hook. A failure is a warning: the
// run does not depend on it.
func endHook(ctx context.Context, b *session.Session, c engine.Config, v *store.View) {
	note, err := runHooks(b, c).EndRun(ctx, v)
	switch {
	case err != nil:
		b.Deps.Warn(fmt.Sprintf("%s: %v", hook.RunEnd, err))
	case note != "":
		b.Deps.Warn(string(hook.RunEnd) + ": " + termtext.Line(note))
	}
}
