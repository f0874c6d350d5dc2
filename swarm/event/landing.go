package event

import "agentswarm/swarm/task"

// Intended is a landing or an apply about to move something of the user's.
// It is on disk before anything moves.
type Intended struct {
	ID     int       `json:"id"`           // from 1 within the run
	Verb   string    `json:"verb"`         // merge, apply or undo
	Of     int       `json:"of,omitempty"` // the landing that an undo takes back
	Ref    string    `json:"ref,omitempty"`
	Old    string    `json:"old,omitempty"` // empty: the ref was made by it
	New    string    `json:"new,omitempty"`
	Hold   string    `json:"hold,omitempty"` // our own ref on New
	Dirs   []string  `json:"dirs,omitempty"` // the checkouts that follow
	Agents []task.ID `json:"agents,omitempty"`
	// Attempt is the attempt whose patch an apply took from its single agent;
	// 0: older versions did not record it.
	Attempt int    `json:"attempt,omitempty"`
	Key     string `json:"key,omitempty"` // of the script's request
	// Continues is the id of the landing before it in the same merge, if that moves
	// the branch several times; 0: this is the first.
	Continues int `json:"continues,omitempty"`
	// More is set if the merge continues after it. Its verdicts still count
	// then.
	More bool `json:"more,omitempty"`
	// Command is the text of the check that the merged tree passed.
	Command string `json:"command,omitempty"`
	// Style holds the options of the command line for the commits of a merge.
	Style *CommitStyle `json:"style,omitempty"`
	// Earlier names the earlier attempts, such as a3.1, whose patches were taken. Their
	// agents have not landed by it.
	Earlier []string `json:"earlier,omitempty"`
	// Copies names the copies of workspaces, such as a3-1, whose patches were taken
	// in place of those of their agents.
	Copies []string `json:"copies,omitempty"`
	// Parts are those of Copies that hold only some edits of the agent's patch.
	// Their agents have not landed by it.
	Parts []string `json:"parts,omitempty"`

	Conflicts []Conflict `json:"conflicts,omitempty"`
	Refused   []Refusal  `json:"refused,omitempty"`
	// There are agents whose changes the branch had already.
	There    []task.ID `json:"there,omitempty"`
	Verified *bool     `json:"verified,omitempty"`
}

// CommitStyle holds the options of a command line for the commits of a merge.
type CommitStyle struct {
	Message  string   `json:"message,omitempty"`
	Trailers []string `json:"trailers,omitempty"`
	Squash   bool     `json:"squash,omitempty"`
	Author   string   `json:"author,omitempty"` // user or agent; empty: as configured
}

// Landed is the end of an intention: it happened, or it was given up with
// nothing moved.
type Landed struct {
	ID     int    `json:"id"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
	// Files is the result of an apply: path to a digest of kind and content.
	Files map[string]string `json:"files,omitempty"`
}

// Undone is a landing or an apply that was taken back.
type Undone struct {
	ID int `json:"id"`
}
