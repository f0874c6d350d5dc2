package landing

import (
	"regexp"
	"sync"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// itemVariable is a variable that has a value for a single agent only.
var itemVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{?SWARM_(ITEM|AGENT|ATTEMPT)\b`)
})

// RunCheck returns the check of the merge at the end of a run, by the check of its
// agents. It is empty if that names a variable of a single agent, which has no value for
// the merge; named reports that.
func RunCheck(verify string) (check string, named bool) {
	if itemVariable().MatchString(verify) {
		return "", true
	}
	return verify, false
}

// PassedAlone reports whether the agent's own check, which has the text own, passed on its
// patch and is the check of the merge. It says nothing of a copy of the agent's work.
func PassedAlone(a *store.Agent, own, check string) bool {
	done, ok := a.Status.(*task.Completed)
	return ok && a.Copy == 0 && own == check && done.Verified != nil && *done.Verified
}
