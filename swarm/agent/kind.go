package agent

import (
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/toolset"
	"agentswarm/variants"
)

// The kinds of agents: KindCommand is any command, KindBuiltin swarm itself,
// and the others are the CLIs of these names.
const (
	KindCommand  = "command"
	KindBuiltin  = "builtin"
	KindPi       = "pi"
	KindCodex    = "codex"
	KindClaude   = "claude"
	KindOpencode = "opencode"
	KindGemini   = "gemini"
	KindQwen     = "qwen"
	KindCopilot  = "copilot"
)

// KindNames lists the kinds that are no command, in the order in which people
// are shown them.
func KindNames() []string {
	return []string{KindPi, KindCodex, KindClaude, KindOpencode, KindGemini, KindQwen, KindCopilot, KindBuiltin}
}

// Kind is the static description of a kind of agent, known before any starts.
type Kind struct {
	Name    string
	Adapter Adapter // required
	// Spec is an agent of the kind that nothing is configured of: its input,
	// format and success.
	Spec Spec

	// Program is the name to look for in PATH; empty for swarm itself.
	Program string
	// Install is the command that installs it, as a person would type it.
	Install string
	Version Versions
	Can     Abilities
	// Lists state which entries of a list of tools its agents can be given.
	Lists toolset.Rules

	// Footprint is the measured memory of one agent that waits for its model,
	// in bytes.
	Footprint int64
	// Gap is the least time between the starts of two agents of the kind.
	Gap time.Duration
	// Quiet is how long a healthy agent may print nothing: some print nothing
	// while their model works. It is the lower bound of the idle time-out,
	// unless the user set that for the agent.
	Quiet time.Duration
	// Stall is how long a stream of its model may send nothing while no tool of the
	// agent runs; 0 is [Stall].
	Stall time.Duration
	// Linger is how long an agent may go on after its answer without a word; 0 is
	// [Linger].
	Linger time.Duration
	// Alike is set where agents with the same model and tools begin with the same
	// words, which a provider can keep.
	Alike bool
	// Fetches is set where its program asks models by the fetch of node. See
	// [Kind.Blocks].
	Fetches bool
	// Paid is set where each agent costs money, as a rule.
	Paid bool
	// Reports is set where its agents report their cost.
	Reports bool
	// Sessions are globs, below the state folder, of the files that another
	// agent needs to continue the conversation. Swarm keeps these files and
	// removes the rest.
	Sessions []string
	// Placed is set where a conversation can be continued only in a workspace at
	// the same path.
	Placed bool
	// Check refuses, before any agent starts, an option that the kind supports
	// but this agent does not, such as an unknown effort. Nil: it refuses
	// nothing.
	Check func(*Spec) error
	// Login finds out how agents of the kind log in. Nil: they do not.
	Login func(Surroundings) Login
	// Providers are those whose models it reaches, by the names that specs give
	// them; empty: any. Bare is set where it is told a model without them.
	Providers []string
	Bare      bool
	// Variables are those of the caller that set its program up, as names and
	// patterns of package environ. Those that a login needs are in [Login.Env].
	Variables []string
	// Memory says which files tell agents of the kind about a repository. Nil:
	// they read none by themselves.
	Memory func(*Request) Memory
	// Tools are the tools offered for a request. Nil: they are unknown.
	Tools func(*Request) prompt.Tools
	// Family is whose models it uses where none is named; empty: not certain.
	Family variants.Family
	// Models are those that the user's own set-up names, where that can be told
	// by reading it. Nil: it cannot.
	Models func(Surroundings) []string
	// Unnamed explains how to name a model for agents that have no default
	// model; empty: there is a default. Nil: there always is.
	Unnamed func(Surroundings) string
	// List is how the program is asked which models it knows. Nil: it cannot be,
	// and Unlisted says why.
	List     *Lister
	Unlisted string
	// Own are the providers that the user's own set-up names, by the login that
	// was found. Nil: that names none.
	Own func(Login) []string
}

// Lister asks a program which models it knows. It is pure, as an [Adapter] is.
type Lister struct {
	// Launch says how it is started, with a state folder and a login, to say it
	// and end.
	Launch func(Request) (Launch, error)
	// Read parses the program's output, which is foreign text.
	Read func(said string) []Listed
}

// Listed is a model that a program knows.
type Listed struct {
	Name   string // as its --model takes it
	Window roles.Window
	// Price is the price in the program's own table; nil where it has none.
	Price *roles.Price
}

// Versions are those of a program that were tried.
type Versions struct {
	Args           []string // arguments that make the program print its version
	Oldest, Newest string   // inclusive, as MAJOR.MINOR.PATCH
	// Broken is the newest MAJOR.MINOR that is known not to work; empty: none is.
	Broken string
}

// Abilities are the options that agents of a kind support. Swarm refuses an
// unsupported option by name and never ignores it.
type Abilities struct {
	Model    bool // to use another model
	Effort   bool // to think more or less
	Thinking bool // to think no more than so many tokens
	Tools    bool // to have only some tools
	ReadOnly bool // to have only tools that read
	Schema   bool // an answer by a schema, natively
	Fork     bool // to go on with the conversation of another agent
	Steer    bool // to be told something while they work
	Turns    bool // to stop after so many turns by themselves
	Hook     bool // to ask before they act
	Sandbox  bool // they have their own sandbox, which is off in swarm's sandbox
}

// Surroundings are the only places that the search for a login may read.
type Surroundings struct {
	Getenv func(string) string
	Home   string
	// Read is the content of a file; an error where there is none.
	Read func(path string) ([]byte, error)
}

// Login is how agents of a kind log in.
type Login struct {
	// Name says it to a person, such as "key in $ANTHROPIC_API_KEY"; empty:
	// none was found.
	Name string
	// Provider is the provider of the login's models, if it differs from the
	// kind's first; empty: it is that, or unknown.
	Provider string
	// Addresses are the URLs of model servers that the user's set-up names, by model
	// or provider; "" is for all others. See [Login.Address].
	Addresses map[string]string
	// Missing describes a valid login, where none was found.
	Missing string
	// Risk describes problems of many agents that use the login at once; empty:
	// none is known.
	Risk string
	// Env are the variables of the caller that the agents need, though they
	// may be secret.
	Env []string
	// Files are files of the user's own installation, logins among them. The
	// adapter puts them into the state of each agent. Names are those below its
	// state folder.
	Files []File
}

// File is a file that is written, for its owner alone, before an agent starts.
type File struct {
	Name string // below the state folder, with slashes
	Data []byte
}

// MemoryFile is the file at the top of a repository that speaks to agents of
// all kinds.
const MemoryFile = "AGENTS.md"

// Memory lists the instruction files at the top of a repository for agents of a
// kind, by their names.
type Memory struct {
	Own   []string // the files that are written for the kind, beside [MemoryFile]
	Reads []string // those that it reads by itself; all others are said to it
}

// ReadOnlyTools returns the tools of an agent that must change nothing, by the
// names that every kind maps to its own.
func ReadOnlyTools() []string { return toolset.Reading() }

// AllTools are all names that every kind maps to its own tools.
func AllTools() []string { return toolset.Basic() }

// Reads reports whether tools are among those that change nothing.
func Reads(tools []string) bool { return toolset.Reads(tools) }
