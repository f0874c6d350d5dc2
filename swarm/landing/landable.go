package landing

import (
	"errors"
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/stage"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// ReviewAuto is the mode of a run in which an agent reviews each patch.
const ReviewAuto = "auto"

// ReviewStage is the name of the stage of such a reviewer.
const ReviewStage = "review"

// ErrUnreviewed says that a patch waits for a reviewer who gave no verdict.
var ErrUnreviewed = errors.New("was not reviewed")

// ErrRefused says that the check of a merge refused a patch. A merge with a check
// tries it again.
var ErrRefused = errors.New("failed the check of a merge")

// ErrUndoes says that a patch takes lines back that landed after its work began. Each merge
// looks at it again, and a person lands it by accepting it.
var ErrUndoes = errors.New("takes back lines that landed after its work began")

// Landable says why a merge does not take a patch without its name; nil if it
// does. The verdict of a person counts more than the result of the agent. review
// is the review mode of the run: [ReviewAuto], or empty.
func Landable(review string, a *store.Agent) error {
	r := a.Result()
	switch {
	case r == nil:
		return errors.New("has not ended")
	case Uncaptured(a) != nil:
		return errors.New("could not be captured")
	case r.Done().Patch == nil:
		return errors.New("changed nothing")
	case a.Rejected():
		return errors.New("was rejected")
	case a.Accepted():
		return refusedByCheck(a)
	case a.Call.Stage != nil && a.Call.Stage.Reads:
		return errors.New("is of a stage that only reads")
	case a.Choice().Of == task.PassedOver:
		return errors.New(passedOver(a))
	case a.Appraisal != nil && !a.Appraisal.Pass:
		return errors.New("did not pass its review")
	}
	if err := unproven(r); err != nil {
		return err
	}
	if a.Appraisal == nil && awaitsReview(review, a.Call) {
		return ErrUnreviewed
	}
	return refusedByCheck(a)
}

// refusedByCheck returns [ErrRefused] for a patch that the check of a merge
// refused, and [ErrUndoes] for a patch that takes lines back, if no person
// accepted it since.
func refusedByCheck(a *store.Agent) error {
	switch {
	case a.Refusal == nil || a.Refusal.Kind == event.RefusedStale:
		return nil
	case a.Refusal.Kind == event.RefusedUndoes:
		return ErrUndoes
	case len(a.Refusal.Needs) > 0:
		return fmt.Errorf("depends on %s, which %w", listed(a.Refusal.Needs), ErrRefused)
	default:
		return ErrRefused
	}
}

// Uncaptured is the failure of an agent whose work could not be kept as a patch. It
// may have changed files. Nil: the work was captured, or the agent left none.
func Uncaptured(a *store.Agent) *task.Failed {
	failed, ok := a.Result().(*task.Failed)
	if !ok || failed.Kind != task.CaptureFailed || failed.Patch != nil {
		return nil
	}
	return failed
}

// ChangedNothing reports whether no agent of a run changed a file, though some could
// and all of them completed.
func ChangedNothing(v *store.View) bool {
	could := false
	for _, a := range v.Agents {
		done, ok := a.Result().(*task.Completed)
		if !ok || done.Patch != nil {
			return false
		}
		could = could || !a.Call.ReadOnly
	}
	return could
}

// Declined reports whether a person or the script decided against the work of an
// agent. Only a command that names the agent takes it then.
func Declined(a *store.Agent) bool { return a.Rejected() || a.Choice().Of == task.PassedOver }

// Workers are the agents that the workflow asked for, without those that review
// their work or name its commits.
func Workers(v *store.View) []*store.Agent {
	var all []*store.Agent
	for _, a := range v.Agents {
		if a.Call.SubjectOf == "" && (a.Call.Stage == nil || a.Call.Stage.Name != ReviewStage) {
			all = append(all, a)
		}
	}
	return all
}

// passedOver says that the script of the run did not take the work of an agent.
func passedOver(a *store.Agent) string {
	if a.Choice().By == "race" {
		return "lost a race of the script"
	}
	return "was not landed by the script"
}

// awaitsReview reports whether a reviewer judges the work of a call before it
// counts.
func awaitsReview(review string, call *task.Call) bool {
	if call.Stage == nil {
		return review == ReviewAuto
	}
	return stage.Awaits(call.Stage.Name, call.Stage.Roster)
}

// unproven says why a patch is not merged that no person has accepted.
func unproven(r task.Result) error {
	switch r := r.(type) {
	case *task.Completed:
		switch {
		case r.Verified != nil && !*r.Verified:
			return errors.New("failed its check")
		case len(r.Patch.OutOfScope) > 0:
			return errors.New("changes files outside its paths")
		case len(r.Patch.Replaced) > 0:
			return fmt.Errorf("puts plain files in place of a submodule: %s", firstOf(r.Patch.Replaced))
		}
		return nil
	case *task.Failed:
		return errors.New("failed")
	case *task.Cancelled:
		return errors.New("was cancelled")
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// firstOf names the first path of a list, and counts the others.
func firstOf(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}
