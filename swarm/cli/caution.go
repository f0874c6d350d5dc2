package cli

// caution is how actions of agents are judged. It is recorded with the run, and
// a resume goes on with it.
type caution struct {
	// Confined is what becomes of an action that destroys something, where all
	// of it is the agent's own: ask, or snapshot. Empty: ask.
	Confined string `json:"confined,omitempty"`
	// Allow are the items that were given with the run, by the grammar of
	// AGENTS.md.
	Allow []string `json:"allow,omitempty"`
	// Audit says that what is SAFE is recorded too.
	Audit bool `json:"audit_all,omitempty"`
}

// confinedSnapshot lets what destroys only the agent's own proceed, once it is
// captured.
const confinedSnapshot = "snapshot"
