package event

import "agentswarm/swarm/task"

// Conflict is a patch that was left out of a landing.
type Conflict struct {
	Agent task.ID   `json:"agent"`
	With  []task.ID `json:"with,omitempty"` // empty: the target itself
	Paths []string  `json:"paths"`
	Hunks []Hunk    `json:"hunks,omitempty"`
	Text  string    `json:"text,omitempty"`
}

// Hunk is the place at which two changes meet, in lines of the file with its
// markers.
type Hunk struct {
	Path        string `json:"path"`
	OursStart   int    `json:"ours_start"`
	OursLines   int    `json:"ours_lines"`
	TheirsStart int    `json:"theirs_start"`
	TheirsLines int    `json:"theirs_lines"`
}

// Conflicted records the conflicts of a merge that landed no patch. A merge
// that landed patches records them with its intention.
type Conflicted struct {
	Ref       string     `json:"ref"`
	Tip       string     `json:"tip"` // where the branch was
	Conflicts []Conflict `json:"conflicts"`
	// There are agents whose changes the branch had already.
	There []task.ID `json:"there,omitempty"`
}

func (*Conflicted) kind() string { return "conflicted" }
