package runcmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"agentswarm/swarm/assign"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/swarm/workflow/host"
)

// runScript lets a script make the calls of a run, and returns how it ended;
// nil where the run was stopped first.
func runScript(ctx context.Context, b *session.Session, e *engine.Engine, r driveRequest) (*script.Outcome, error) {
	s := r.script
	tools, err := scriptTools(b, r.config, e.AwaitSubjects)
	if err != nil {
		return nil, err
	}
	assigned := &assign.Assigner{Config: r.config, Kinds: cmdline.Kinds(b.Env).ByName()}
	if conf, err := cmdline.UserConfig(b.Env); err == nil && r.prior == nil && r.config.Roles != nil {
		known := plan.KnownProviders(b.Env, conf, r.config.Roles.Providers)
		assigned.CheckModels, r.config.Roles.Lacking = known.Check, known.Lacking()
	}
	check := plan.ReadyCalls(ctx, plan.NewReadiness(&b.Place, r.config, b.Sandbox.Settings, r.anyway), e.CheckCall)
	calling := s.Calling(r.config, r.base, assigned.Script(), plan.CheckAllow(&b.Place, s.Dispatched, check))
	calling.Walled, calling.Can = b.Sandbox.Walled(), abilities(b, r.config)
	calling.Warned = s.Warned
	calling.Fit = engine.Fits(r.config.Agents, b.Deps.Kinds)
	outcome, err := workflow.Drive(ctx, workflow.Request{
		Engine: e, Tools: tools, Prior: r.prior, Script: s.Record(),
		Config: calling,
		Machine: func(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
			return runMachine(ctx, b, start, host)
		},
		Nested: func(_ context.Context, n *script.Nested) (*script.Source, error) {
			return plan.OpenLibrary(&b.Place).Nested(s, n)
		},
	})
	if err == nil && outcome.Error == nil {
		plan.SayUnused(b.Env.Stderr, r.config.Roles, assigned.Flags())
	}
	return outcome, errors.Join(err, tools.Close())
}

// scriptTools makes the tools of the run's script. Of the configuration they take the
// checks and the setup before them.
func scriptTools(b *session.Session, config engine.Config, await func(context.Context, []string)) (*host.Tools, error) {
	return host.New(host.Config{
		Repo: b.Repo, Frozen: b.Frozen, Run: b.Run, Dir: filepath.Join(b.Run.Dir, "script"),
		Identity: b.Owner.View().Identity, View: b.Owner.View, Sandbox: b.Sandbox, Lander: b.Lander(), Cores: b.Deps.Cores,
		Engine: config, Await: await,
		Author: func() (landing.Author, error) { return session.CommitAuthor(&b.Place, landing.StyleRequest{}) },
		// A run that an agent started may do much, but not move the user's branches.
		MayLand: func() error {
			err := b.Personal("landing")
			if _, agent := errors.AsType[*cmdline.AgentError](err); agent {
				return script.Refuse(script.CodePolicy, "land: %v", err)
			}
			return err
		},
	})
}

// carryOutScript lets a script make the calls, and waits until all it left
// running has ended.
func carryOutScript(ctx context.Context, b *session.Session, e *engine.Engine, r driveRequest) error {
	_, err := runScript(ctx, b, e, r)
	switch {
	case err == nil, errors.Is(err, workflow.ErrHalted):
		return nil
	case ctx.Err() != nil:
		return e.Stop(HaltFor(ctx))
	default:
		// Some may be at work, and nothing would wait for them.
		return errors.Join(err, e.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: err.Error()}))
	}
}

// runMachine runs a script in a process of its own.
func runMachine(ctx context.Context, b *session.Session, start script.Start, host script.Host) (script.Outcome, error) {
	self, err := b.Binary(b.Env.Self)
	if err != nil {
		return script.Outcome{}, err
	}
	return process.Runner(self)(ctx, start, host)
}

// counted are the agents that count: all, or those that the script asked for
// when it ran last.
func counted(v *store.View) []*store.Agent {
	if v.Returned == nil || len(v.Returned.Unasked) == 0 {
		return v.Agents
	}
	return slices.DeleteFunc(slices.Clone(v.Agents), func(a *store.Agent) bool {
		return slices.Contains(v.Returned.Unasked, a.ID)
	})
}

// scriptSum is how many agents of a script ended how. Those are wrong that did
// not pass their review.
type scriptSum struct{ completed, failed, wrong int }

// scriptOutcome is the status of a run with a script, some of whose agents
// completed and some failed.
//
// The script knows of agents that the budget did not let begin. If it did
// without them, the run went on.
func scriptOutcome(v *store.View, n scriptSum, codes []exit.Code) (store.Status, []exit.Code) {
	none := n.completed == 0 && n.failed > 0
	if slices.Contains(codes, exit.Paused) {
		none = false
		codes = slices.DeleteFunc(codes, func(c exit.Code) bool { return c == exit.Paused })
		n.failed++
	}
	switch r := v.Returned; {
	case r == nil:
		return store.RunStopped, codes
	case r.Error != nil && script.Code(r.Error.Code) == script.CodeBudget:
		return store.RunPaused, append(codes, exit.Paused)
	case r.Error != nil:
		return store.RunFailed, append(codes, exit.Script)
	case none:
		return store.RunFailed, append(codes, exit.Degraded)
	case n.failed+n.wrong > 0:
		return store.RunDegraded, append(codes, exit.Degraded)
	default:
		return store.RunCompleted, codes
	}
}
