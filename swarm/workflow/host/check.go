package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/repository"
	"agentswarm/swarm/workflow"
	"agentswarm/worktree/git"
)

// MaxCheckOutput is how much of each stream of a check a script is given: the
// end of it.
const MaxCheckOutput = 64 << 10

// errCheckTime is the cause of a check that took longer than the script allows.
var errCheckTime = errors.New("the check took too long")

// checkRun is a check on its way.
type checkRun struct {
	name   string
	argv   []string // a command of the script's own; nil: a configured check
	commit git.Hash
	limit  time.Duration // 0: none
	// landing is the landing whose result is checked; nil: a check of the script.
	landing *lander.CheckTarget
}

// Check runs a check on a commit. An exit code other than 0 is an outcome, and
// no error, and so is a timeout. Check returns a [*script.Error] for a request
// that it refuses.
func (t *Tools) Check(ctx context.Context, r workflow.CheckRequest) (*script.CheckResult, error) {
	switch {
	case len(r.Argv) > 0 && !t.config.Sandbox.Walled():
		return nil, script.Refuse(script.CodePolicy,
			"check: a command of a script runs only in a sandbox, and there is none here; "+
				"put it under [checks] in the configuration and give its name")
	case r.MS < 0:
		return nil, script.Refuse(script.CodeOption, "check: timeout is %d; want milliseconds, or 0 for none", r.MS)
	}
	run := checkRun{name: r.Name, argv: r.Argv, limit: time.Duration(r.MS) * time.Millisecond}
	if len(r.Argv) > 0 {
		run.name = r.Argv[0]
	} else if err := t.known("check", r.Name); err != nil {
		return nil, err
	}
	commit := git.Hash(r.Commit)
	if _, there, err := t.TreeOf(ctx, commit); err != nil || !there {
		return nil, repository.OrUnknown(err, "check: %q is not a commit of this repository", script.Clip(r.Commit))
	}
	run.commit = commit
	return t.check(ctx, run)
}

// known refuses the name of a check that is not configured.
func (t *Tools) known(verb, name string) error {
	if _, ok := t.config.Engine.Checks[name]; ok {
		return nil
	}
	names := slices.Sorted(maps.Keys(t.config.Engine.Checks))
	hint := nearest.DidYouMean(name, names)
	switch {
	case hint != "":
	case len(names) == 0:
		hint = "; the configuration has no table [checks]"
	default:
		hint = "; the checks are " + termtext.List(names, 10)
	}
	return script.Refuse(script.CodeUnknown, "%s: there is no check %q%s", verb, script.Clip(name), hint)
}

// check runs a check in a workspace of its own, after the setup. At most one
// check runs on each core.
func (t *Tools) check(ctx context.Context, r checkRun) (result *script.CheckResult, err error) {
	if err := t.cores.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	defer t.cores.Release(1)
	name := t.checkName(time.Now())
	kept, scratch := filepath.Join(t.config.Run.Dir, "checks", name), t.scratch("check")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	onto, env := git.Hash(t.base.Commit), []string(nil)
	if r.landing != nil {
		onto = r.landing.Onto
		if env, err = lander.CheckEnv(ctx, r.landing.Quarantine, onto, r.commit, kept); err != nil {
			return nil, err
		}
	}
	err = t.config.Sandbox.InSpace(ctx, lander.SpaceRequest{
		Step: engine.CheckStep, Name: name, Commit: r.commit, Onto: onto,
		Saved: filepath.Join(scratch, "index"), Kept: kept, Env: env,
	}, func(s *isolation.Space) error {
		if err := t.prepare(ctx, s, r.name, filepath.Join(kept, "setup")); err != nil {
			return err
		}
		result, err = t.carryOut(ctx, s, r, filepath.Join(kept, "check"))
		return err
	})
	if lacks, ok := errors.AsType[*merge.ModuleError](err); ok {
		return nil, script.Refuse("", "check %s: %v", r.name, lacks)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// checkName returns a name that is unused in this run, under other owners too:
// two checks that begin at once may read the same time.
func (t *Tools) checkName(now time.Time) string {
	return fmt.Sprintf("check.%d.%d", now.UnixNano(), t.made.Add(1))
}

// prepare runs the setup, without which a check would say nothing of the work.
func (t *Tools) prepare(ctx context.Context, s *isolation.Space, name, out string) error {
	if t.config.Engine.Setup == "" {
		return nil
	}
	exit, err := s.Shell(ctx, t.config.Engine.Setup, out)
	if err != nil || exit.Reason == proc.Exited && exit.Code == 0 {
		return err
	}
	last, err := statefile.TailText(out+".err", 500)
	if err != nil {
		return err
	}
	return script.Refuse("", "check %s: setup: %s: %s", name, exit.Words(), strings.TrimSpace(last))
}

// carryOut runs the check itself, within its time.
func (t *Tools) carryOut(ctx context.Context, s *isolation.Space, r checkRun, out string) (*script.CheckResult, error) {
	limited := ctx
	if r.limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, r.limit, errCheckTime)
		defer cancel()
	}
	argv := r.argv
	if argv == nil {
		argv = engine.ShellCommand(t.config.Engine.Checks[r.name])
	}
	exit, err := s.Run(limited, argv, out)
	late := errors.Is(err, errCheckTime)
	if err != nil && !late {
		return nil, err
	}
	result := &script.CheckResult{OK: !late && exit.Reason == proc.Exited && exit.Code == 0, ExitCode: -1}
	if !late && exit.Reason == proc.Exited {
		result.ExitCode = exit.Code
	}
	if result.Stdout, err = statefile.TailText(out+".out", MaxCheckOutput); err != nil {
		return nil, err
	}
	if result.Stderr, err = statefile.TailText(out+".err", MaxCheckOutput); err != nil {
		return nil, err
	}
	switch {
	case late:
		result.Stderr += fmt.Sprintf("swarm: stopped after %s\n", r.limit)
	case exit.Reason != proc.Exited:
		result.Stderr += fmt.Sprintf("swarm: %s\n", exit.Words())
	}
	return result, nil
}
