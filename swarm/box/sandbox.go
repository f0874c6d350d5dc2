package box

import "fmt"

// Sandbox are what stands around one agent, as its supervisor is told. They
// hold no secrets.
type Sandbox struct {
	Level Level `json:"rung"`
	// Open leaves the file system as it is, but for the pieces and the state
	// folder: the agent may write wherever its user may.
	Open bool `json:"open,omitempty"`
	// Pieces are mounted in this order, on top of a file system that is
	// otherwise read-only. One whose path lies below another comes after it.
	Pieces []Piece `json:"pieces,omitempty"`
}

// Piece is something that is put at a path. Exactly one of From, Lower,
// Scratch and Empty says what.
type Piece struct {
	At string // required, absolute
	// Optional leaves the piece out where there is nothing at From or, of an
	// empty one, at its path.
	Optional bool

	From  string // a file or folder that is bound there
	Write bool

	// Lower, the topmost first, and Upper are the layers of an overlay, which
	// can be written to; Work is the empty folder the kernel wants beside Upper.
	Lower []string
	Upper string
	Work  string
	// Sealed is an overlay that can be read only.
	Sealed bool

	// Scratch is an empty folder in memory that can be written to.
	Scratch bool
	// Empty hides what is there: a folder becomes an empty one that can be
	// read only, anything else is as /dev/null.
	Empty bool
}

// same reports whether a piece shows at its path what lies there anyway.
func (p Piece) same() bool {
	return p.From == p.At || len(p.Lower) == 1 && p.Lower[0] == p.At
}

// Place is what an agent is given, from which Compose makes its sandbox.
type Place struct {
	// Pieces are the workspace, its git dir, the files of the attempt.
	Pieces []Piece
	State  string // required: the state folder, of which only Pieces are seen
	Home   string // of the user; empty: there is none
	View   View   // of Home
	// Private is a folder of the attempt's own, on a real disk, where its
	// view of HOME and its /tmp keep what it writes.
	Private string // required
	// Warm is such a folder of an earlier command, which has ended: what that
	// wrote is seen as if it had always been there. Empty or missing: none.
	Warm string
	// Setup is such a folder of the command that prepared the workspace. Writes
	// of that command to HOME, to caches and to /tmp are seen, and it never
	// changes again. It needs overlays. Empty or missing: none.
	Setup string
	// Plain is a folder with PlainFiles, by their absolute paths. Where something can
	// be mounted agents see them instead of hidden files of the same paths. They write
	// to copies of their own in the view Whole, and to none in the view Apart.
	// Empty: there are none.
	Plain      string
	PlainFiles []string
	// Secret are more files that may hold credentials, which are hidden as known ones.
	Secret []string
	// Hide and Write are paths that agents cannot see, and folders that
	// they write to and all see. They may begin with "~/".
	Hide  []string
	Write []string
	// Closed are folders that agents never write to: the repository, the objects that it
	// borrows, the configuration of the user and the sockets of the run. Without mounts a
	// folder that all agents write to is not opened where one lies in it, for a rule holds
	// for all below.
	Closed []string
	// Sockets are the folders of swarm's own sockets, which agents cannot reach.
	Sockets []string
	// Programs are files and folders that agents cannot do without: the program
	// itself, the folders of PATH, objects that the repository borrows. Those
	// below /tmp and /run are seen there, alone.
	Programs []string
	Getenv   func(string) string // required; of the caller
}

// View is how an agent sees HOME. Whatever the view, secrets are not in it.
type View int

const (
	// Whole is all of HOME, in which writes are private.
	Whole View = iota
	// Apart is a HOME of the agent's own at another path: HomeOf its private folder. The
	// user's can be read.
	Apart
)

func viewNames() []string { return []string{"whole", "apart"} }

// String returns the view's word.
func (v View) String() string {
	if names := viewNames(); v >= 0 && int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("view(%d)", int(v))
}
