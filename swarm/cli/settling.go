package cli

import (
	"context"
	"fmt"
	"strings"

	"agentswarm/swarm/landing/lander"
	checkouts "agentswarm/worktree/git/checkout"
)

// recoverCheckouts ends the changes of checkouts whose process died, and says
// how. Where that fails a reading command goes on; merge, apply and undo try
// again, and fail.
func (p *place) recoverCheckouts(ctx context.Context) {
	ended, err := checkouts.Recover(ctx, checkouts.RecoverRequest{
		Records: p.State.Checkouts(), Repo: p.Repo, Step: p.env.Step,
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
		where = append(where, lander.BranchName(o.Ref))
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
