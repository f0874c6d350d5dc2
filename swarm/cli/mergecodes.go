package cli

import (
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
)

// mergeCodes are the exit codes of a merge.
func mergeCodes(r *lander.Report) (codes []exit.Code) {
	if r.LeftOut {
		codes = append(codes, exit.Conflict)
	}
	if r.Refused {
		codes = append(codes, exit.Verify)
	}
	if r.Blocked != nil {
		codes = append(codes, exit.Usage)
	}
	return codes
}
