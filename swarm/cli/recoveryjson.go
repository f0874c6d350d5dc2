package cli

import (
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/store"
)

// recoveryObject says that recovery of a run is pending.
type recoveryObject struct {
	Workspaces int    `json:"workspaces"` // that are not captured yet
	Command    string `json:"command"`    // that captures them
}

func newRecoveryObject(v *store.View) *recoveryObject {
	if !v.Died {
		return nil
	}
	return &recoveryObject{Workspaces: v.Uncaptured(), Command: cmdline.Program + " gc"}
}
