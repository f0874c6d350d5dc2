package box

// Walls are what stands around one agent, as its supervisor is told. They
// hold no secrets.
type Walls struct {
	Rung Rung `json:"rung"`
	// Open leaves the file system as it is, but for the pieces: the agent may
	// write wherever its user may.
	Open bool `json:"open,omitempty"`
	// Pieces are mounted in this order, on top of a file system that is
	// otherwise read-only. One whose path lies below another comes after it.
	Pieces []Piece `json:"pieces,omitempty"`
}

// Piece is something that is put at a path. Exactly one of From, Lower,
// Scratch and Empty says what.
type Piece struct {
	At string `json:"at"` // required, absolute
	// Optional leaves the piece out where there is nothing at its path.
	Optional bool `json:"optional,omitempty"`

	From  string `json:"from,omitempty"` // a file or folder that is bound there
	Write bool   `json:"write,omitempty"`

	// Lower, the topmost first, and Upper are the layers of an overlay, which
	// can be written to; Work is the empty folder the kernel wants beside Upper.
	Lower []string `json:"lower,omitempty"`
	Upper string   `json:"upper,omitempty"`
	Work  string   `json:"work,omitempty"`

	// Scratch is an empty folder in memory that can be written to.
	Scratch bool `json:"scratch,omitempty"`
	// Empty hides what is there: a folder becomes an empty one that can be
	// read only, anything else is as /dev/null.
	Empty bool `json:"empty,omitempty"`
}

// Place is what an agent is given, from which Compose makes its walls.
type Place struct {
	// Pieces are the workspace, its git dir, the files of the attempt.
	Pieces []Piece
	State  string // required: the state folder, of which only Pieces are seen
	Home   string // of the user; empty: there is none
	// Private is a folder of the attempt's own, on a real disk, where its
	// view of HOME and its /tmp keep what it writes.
	Private string // required
	Hide    []string
	Write   []string
	// Sockets are the folders of swarm's own sockets, which agents cannot reach.
	Sockets []string
	Getenv  func(string) string // required; of the caller
}
