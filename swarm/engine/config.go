package engine

import (
	"context"
	"encoding/json"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/hook"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/variants"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Config holds the settings of a run, fixed at its start. It is recorded, and a
// resume uses the recorded settings.
type Config struct {
	Jobs      int `json:"jobs"`       // how many agents at once
	MaxAgents int `json:"max_agents"` // how many attempts in the life of the run

	// Unseen is the number of files of the user's checkout with uncommitted
	// changes that agents do not see; 0 if their prompts are not to mention it.
	Unseen int `json:"unseen,omitempty"`

	// MaxFile is the size in bytes above which a new or changed file stays out of
	// captures; 0: the default.
	MaxFile int64 `json:"max_file,omitempty"`
	// MaxSize is the number of bytes that an attempt may write; 0 is any
	// number.
	MaxSize int64 `json:"max_size,omitempty"`

	// Retries is the number of retries of an agent whose failure may pass.
	Retries int `json:"retries,omitempty"`

	// WaitLimits is the longest wait for a quota window that is used up; 0:
	// none is waited for. MaxWindows is the number of windows of a lane that
	// are; 0 is any number.
	WaitLimits time.Duration `json:"wait_limits_ns,omitempty"`
	MaxWindows int           `json:"max_windows,omitempty"`

	Warm   string `json:"warm,omitempty"`   // run by sh -c once, before the first agent
	Setup  string `json:"setup,omitempty"`  // run by sh -c before an agent
	Verify string `json:"verify,omitempty"` // run by sh -c on its work

	// Timeout and IdleTimeout hold for agents that have none of their own.
	Timeout     time.Duration `json:"timeout_ns,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"`

	// Budget limits the spending of the run in its life; a field of 0 is no
	// limit.
	Budget task.Amount `json:"budget,omitzero"`

	// Review is the mode in which patches are reviewed; empty: they are not.
	Review string `json:"review,omitempty"`

	// Agents are the configured agents that calls name.
	Agents map[string]*agent.Spec `json:"agents,omitempty"`

	// MaxTurns is the number of turns of an attempt of any agent; 0 is any
	// number. A call may allow its own fewer.
	MaxTurns int `json:"max_turns,omitempty"`

	// QuestionTime bounds the wait of a question about an action; then it is
	// denied. 0 is 10 minutes.
	QuestionTime time.Duration `json:"question_time_ns,omitempty"`

	// Prices are those that the user set, by the names of models.
	Prices map[string]roles.Price `json:"prices,omitempty"`

	// Providers are further model servers for the built-in agent. They name the
	// variables of keys, and hold none.
	Providers map[string]provider.Provider `json:"providers,omitempty"`
	// Hooks are commands that receive the events of the run.
	Hooks HookCommands `json:"hooks,omitzero"`
	// Roles choose the models of calls; nil in runs of versions that had no
	// roles.
	Roles *roles.Orders `json:"roles,omitempty"`
	// Variants are texts against failure modes of models, of all families.
	Variants []variants.Variant `json:"variants,omitempty"`

	// Checks are the commands, by name, that a script may run by sh -c.
	Checks map[string]string `json:"checks,omitempty"`
}

// HookCommands are the user's own commands that receive the events of a run;
// empty: none.
type HookCommands struct {
	RunStart   HookCommand   `json:"run_start,omitempty"`
	AgentStart HookCommand   `json:"agent_start,omitempty"`
	AgentEnd   HookCommand   `json:"agent_end,omitempty"`
	RunEnd     HookCommand   `json:"run_end,omitempty"`
	Timeout    time.Duration `json:"timeout_ns,omitempty"` // of each; 0 is 30 seconds
	// Timeouts are those of single ones that have another, by their events.
	Timeouts map[hook.Event]time.Duration `json:"timeouts_ns,omitempty"`
}

// HookCommand is a program and its arguments.
type HookCommand []string

// UnmarshalJSON also takes a script for sh -c, which runs of older versions
// have.
func (h *HookCommand) UnmarshalJSON(text []byte) error {
	var script string
	if json.Unmarshal(text, &script) == nil {
		*h = nil
		if script != "" {
			*h = ShellCommand(script)
		}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(h))
}

// Workspaces makes, captures and removes the workspaces of a run.
type Workspaces interface {
	Lease(context.Context, worktree.LeaseRequest) (*worktree.Workspace, error)
	Capture(context.Context, worktree.CaptureRequest) (*worktree.Capture, error)
	Release(context.Context, worktree.Workspace, *worktree.Capture) (worktree.Released, error)
	// Recycle is Release where no process is left that could write to the files.
	Recycle(context.Context, worktree.Workspace, *worktree.Capture) (worktree.Released, error)
	Drop(context.Context, worktree.Workspace) error
	Restore(context.Context, worktree.Workspace, git.Hash) error
	Strays(known []string) ([]worktree.Workspace, error)
	Room(context.Context, worktree.LeaseRequest) (int64, error)
}

// Journal keeps a fact before anyone sees it.
type Journal interface {
	Append(event.Event) (event.Record, error)
	// AppendAll keeps facts together, all or none.
	AppendAll([]event.Event) ([]event.Record, error)
}

// Deps holds the dependencies of an engine.
type Deps struct {
	Run        *store.Run            // required
	Journal    Journal               // required
	Workspaces Workspaces            // required
	Launcher   *proc.Launcher        // required
	Sandbox    Sandbox               // nil: none
	Backend    worktree.Backend      // of workspaces with a single agent
	Kinds      map[string]agent.Kind // required, by name
	Self       string                // the binary of swarm, as agents find it
	Walled     bool                  // a sandbox confines its programs
	// Surroundings are searched for logins.
	Surroundings agent.Surroundings
	Joiner       Joiner             // required where calls depend on others
	Disk         *limit.Disk        // required
	Governor     *governor.Governor // nil: no agent is held back by its provider
	Memory       *limit.Memory      // nil: memory is not watched
	Questions    inbox.Policy       // decides who answers a question
	Judge        Judge              // nil: each question waits for a person
	AskSockets   AskSockets         // required with a Judge
	Attendant    Attendant          // nil: the starts and ends of agents are not reported
	Prompts      Prompts            // nil: agents are told nothing of the repository
	Subjects     Subjects           // nil: no agent is asked for the subjects of commits
	Hooks        Hooks              // nil: no call may have functions
	// Version asks the program of an agent for its version; empty: it is not known.
	// Nil: no program can be asked.
	Version func(context.Context, *agent.Spec) string
	// Recovered is called by [Recover] after each agent, from any goroutine;
	// may be nil.
	Recovered func()
	Unlock    func() error     // removes the locks that killed gits left; nil: nothing
	Environ   []string         // of the process that starts agents
	PassEnv   []string         // the user's patterns of variables that agents get too
	Root      string           // the user's checkout, or the bare repository
	Cores     int              // required
	Warn      func(string)     // required: tells the user about problems
	Now       func() time.Time // required
	// pass gives a context that ends after the wait for the next attempt; nil is
	// context.WithTimeout. Tests shorten it.
	pass func(context.Context, time.Duration) (context.Context, context.CancelFunc)
}

// parallel is the concurrency limit of setups and checks.
func (d Deps) parallel() int { return max(1, d.Cores) }

// startTries is the number of tries to start an attempt: a machine under load
// refuses processes for moments, not for minutes.
const startTries = 4

// startGap is the wait before the second try; the wait grows with each.
const startGap = 200 * time.Millisecond

// backOff is the wait of an agent whose failure may pass before its second
// attempt; each further wait is twice as long, up to maxBackOff. Up to half of
// it again is added by chance, so that a hundred agents that were refused
// together do not come back together.
const (
	backOff    = time.Second
	maxBackOff = time.Minute
)

// maxTold is the longest wait that a provider may ask for before a retry. After
// a longer wait the attempt has failed: a person decides about it.
const maxTold = time.Hour

// captureTime bounds the capture of one workspace, cancelled or not.
const captureTime = 15 * time.Minute
