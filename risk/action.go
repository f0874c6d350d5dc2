package risk

// Action is something an agent is about to do: [*Shell], [*FileWrite], [*Git]
// or [*Outward].
//
//sumtype:decl
type Action interface{ action() string }

// Shell is text for a shell.
type Shell struct {
	Text string
	Cwd  string            // absolute; empty: the top of the place's work tree
	Env  map[string]string // variables of which the values are known
}

// FileWrite is a file written by a tool that is no shell.
type FileWrite struct {
	Path string // absolute, or from Cwd
	Cwd  string
	// Removes says that the file goes: it is deleted, or moved away.
	Removes bool
}

// Git is a git command, less the word "git".
type Git struct {
	Args []string
	Cwd  string
}

// Outward is something that reaches other people or machines by a tool that is
// no shell: a page that is fetched, a message, an issue.
type Outward struct {
	Tool   string // the tool's name, such as "web_fetch"
	Method string // of a request; empty: unknown
	Target string // a URL or an address; empty: unknown
}

func (*Shell) action() string     { return "shell" }
func (*FileWrite) action() string { return "write" }
func (*Git) action() string       { return "git" }
func (*Outward) action() string   { return "outward" }
