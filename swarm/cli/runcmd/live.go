package runcmd

import (
	"fmt"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// printSandbox prints the line that names the sandbox of the run.
func printSandbox(b *session.Session) {
	fmt.Fprintln(b.Env.Stderr, "sandbox: "+termtext.Line(plan.SandboxLine(&b.Place, b.Sandbox.Settings, b.Sandbox.Found)))
}

// abilities returns the abilities of the agents of a run.
func abilities(b *session.Session, c engine.Config) func(string) agent.Abilities {
	return plan.Can(cmdline.Kinds(b.Env).ByName(), c)
}

// budgetFact is the budget for the journal. A budget that a resume took away
// must not come back with the next resume.
func (r *driveRequest) budgetFact() *task.Amount {
	if r.config.Budget == (task.Amount{}) && r.prior == nil {
		return nil
	}
	budget := r.config.Budget
	return &budget
}

// turnsFact is that number as an owner records it: agents that a resume let do
// more must not be paid for again to be stopped where they were before.
func (r *driveRequest) turnsFact() *int {
	if r.config.MaxTurns == 0 && r.prior == nil {
		return nil
	}
	turns := r.config.MaxTurns
	return &turns
}

// newReviews has the patches of a run reviewed; nil where it has no reviews.
func newReviews(b *session.Session, e *engine.Engine, r driveRequest) (*reviewer.Reviews, error) {
	return reviewer.New(reviewer.Request{
		Engine: e, Config: r.config, Kinds: cmdline.Kinds(b.Env).ByName(), Run: b.Run, Repo: b.Repo, Frozen: b.Frozen, Prior: r.prior, Warn: b.Deps.Warn,
	})
}

// newSubjects has a model name the commits of a run; nil where it names none.
func newSubjects(b *session.Session, c engine.Config) engine.Subjects {
	return reviewer.NewNamer(reviewer.NamerRequest{
		Config: c, Kinds: cmdline.Kinds(b.Env).ByName(), Base: b.Owner.View().Identity.Base, Run: b.Run, Frozen: b.Frozen,
	})
}

// unsettledCalls are those of the calls that a resume would start an agent for.
func unsettledCalls(b *session.Session, c engine.Config, prior *store.View, calls []*task.Call) (start []*task.Call) {
	recall := engine.NewRecall(b.Deps, c, prior)
	for _, call := range calls {
		if r := recall.Take(call); r == nil || !r.Stands && !r.OnlyCheck {
			start = append(start, call)
		}
	}
	return start
}
