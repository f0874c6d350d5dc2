package event

import "agentswarm/swarm/task"

// The receivers of a patch that a merge hands back.
const (
	// ToAuthor continues the conversation in which the patch was made.
	ToAuthor = "author"
	// ToNeutral begins a new conversation of the role slow.
	ToNeutral = "neutral"
)

// Markers are conflict markers that an attempt begins with. Work that still has them
// resolves nothing.
type Markers struct {
	// Ours, Base and Theirs are the names that the markers give to the three versions.
	Ours   string       `json:"ours"`
	Base   string       `json:"base"`
	Theirs string       `json:"theirs"`
	Files  []MarkedFile `json:"files"`
}

// MarkedFile is a file with conflict markers.
type MarkedFile struct {
	Path string `json:"path"`
	// Separators counts the lines of "=======" that belong to the file itself.
	Separators int `json:"separators,omitempty"`
}

// HandedBack is the reason why a merge handed a patch back. The new attempt has
// the patch on the tip of the branch, and is to make it fit there.
type HandedBack struct {
	To   string    `json:"to"`   // author or neutral
	Kind string    `json:"kind"` // of the refusal; text for a conflict
	Ref  string    `json:"ref"`  // the branch
	With []task.ID `json:"with,omitempty"`
	// Patch is the patch that was refused. Of an attempt of the neutral agent it is that of
	// the author's first.
	Patch *task.Patch `json:"patch"`
	// Hunks are the places of the conflict, by lines of the tip and of Patch. Only these
	// may take the place of lines that landed.
	Hunks []Hunk `json:"hunks,omitempty"`
}
