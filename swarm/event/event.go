// Package event owns the union of everything that happens in a run: journal
// records, which are a run's own facts, and events parsed from an agent's
// output. It owns their JSON too.
//
// It does not decide, keep or show anything: the engine makes records, store
// keeps them, adapters parse output, faces read both.
package event

import (
	"encoding/json"
	"time"

	"agentswarm/swarm/task"
)

// Event is a single thing that happened.
//
// Journal records: [*Opened], [*Called], [*Leased], [*Started], [*Ended],
// [*Captured], [*Checked], [*Settled], [*Released], [*Retried], [*CancelAsked],
// [*RetryAsked], [*Reviewed], [*EditsReviewed], [*Remarked], [*Appraised],
// [*Titled], [*Questioned], [*Replied], [*Sent], [*Verified], [*Refused],
// [*Intended], [*Landed], [*Undone], [*Scripted], [*Entered], [*Logged],
// [*Phased], [*Returned], [*Chosen], [*Paused], [*Held], [*Switched],
// [*QuotaClosed], [*QuotaOpened], [*Parked], [*Closed]. From an agent's output:
// [*Session], [*Text], [*ToolStart], [*ToolEnd], [*Turn], [*Spent],
// [*QuotaUsed] (a record, too), [*Asked], [*Answered], [*Erred], [*Retry],
// [*Raw].
//
//sumtype:decl
type Event interface{ kind() string }

// Opened is a process that became the owner of the run, at its start or to
// resume it.
type Opened struct {
	Pid     int    `json:"pid"`
	Version string `json:"version"`
	Resumed bool   `json:"resumed,omitempty"`
	Walls   string `json:"walls,omitempty"` // the level that agents run inside
	Backend string `json:"backend,omitempty"`
	// PassedOver are the cheaper backends that do not work here, and why.
	PassedOver []string `json:"passed_over,omitempty"`
	// Keeper is the process that ends its gits, should it be killed.
	Keeper      int    `json:"keeper,omitempty"`
	KeeperStart uint64 `json:"keeper_start,omitempty"`
	// Budget limits the spending of the run in its life, from here on.
	Budget *task.Amount `json:"budget,omitempty"`
	// MaxTurns is the number of turns of an attempt, from here on; 0 is any
	// number.
	MaxTurns *int `json:"max_turns,omitempty"`
}

// Called is a call the engine took.
type Called struct {
	Agent task.ID    `json:"agent"`
	Call  *task.Call `json:"call"`
}

// Leased is a workspace made for an attempt. It holds all that another
// process needs to capture and remove it.
type Leased struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Backend string  `json:"backend"`
	Dir     string  `json:"dir"`
	Admin   string  `json:"admin,omitempty"`
	Index   string  `json:"index,omitempty"`
	Base    string  `json:"base"`
	// At, Lower, Under, Along and Shell are those of [worktree.Workspace].
	At    string `json:"at,omitempty"`
	Lower string `json:"lower,omitempty"`
	Under string `json:"under,omitempty"`
	Along string `json:"along,omitempty"`
	Shell string `json:"shell,omitempty"`
	// Shared is set where it is the workspace that shared calls of the run work
	// in together: the attempt is in it, and it outlives the attempt.
	Shared bool `json:"shared,omitempty"`
}

// Started is a supervisor that was spawned; with its start time the pid is
// an identity that outlives the reuse of numbers.
type Started struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Step    string  `json:"step"` // setup, agent or verify
	Pid     int     `json:"pid"`
	Start   uint64  `json:"start"`
	// Round counts the processes of the agent in this attempt, from 2: after an
	// answer that does not match the schema another process asks again. The
	// first has none.
	Round int `json:"round,omitempty"`
	// Answers is the number of answers of earlier rounds, Earlier their usage.
	Answers int         `json:"answers,omitempty"`
	Earlier *task.Usage `json:"earlier,omitempty"`
}

// Ended is the end of an attempt's process.
type Ended struct {
	Agent   task.ID        `json:"agent"`
	Attempt int            `json:"attempt"`
	Code    int            `json:"code"`
	Signal  string         `json:"signal,omitempty"`
	Error   task.ErrorKind `json:"error,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Left    int            `json:"left,omitempty"` // processes it left behind, killed
	Stdout  int64          `json:"stdout"`
	Stderr  int64          `json:"stderr"`
	CPU     int64          `json:"cpu_ms,omitempty"`
	MaxRSS  int64          `json:"max_rss,omitempty"` // bytes
	// Enough is set where its call's stopWhen ended it.
	Enough bool `json:"enough,omitempty"`
	// Lingered is set where it had answered and did not end by itself.
	Lingered bool `json:"lingered,omitempty"`
}

// Captured is an attempt whose work is a commit and a patch file, or is
// known to be nothing.
type Captured struct {
	Agent    task.ID        `json:"agent"`
	Attempt  int            `json:"attempt"`
	Patch    *task.Patch    `json:"patch,omitempty"`
	Head     string         `json:"head,omitempty"`
	Complete bool           `json:"complete"`
	Notes    []string       `json:"notes,omitempty"`
	Ignored  []task.Ignored `json:"ignored,omitempty"`
	More     int            `json:"more,omitempty"`
	// Large are files above the size limit of captures, and LargeMore how many
	// the list leaves out. They are in the workspace and not in the patch.
	Large     []task.Ignored `json:"large,omitempty"`
	LargeMore int            `json:"large_more,omitempty"`
	// Tip is set of an attempt in the shared workspace: the commit that holds
	// all of it. The next capture there is a change of that, and Patch is all
	// that the agent has changed there so far.
	Tip string `json:"tip,omitempty"`
}

// Checked is the outcome of the check of an attempt's work.
type Checked struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	OK      bool    `json:"ok"`
	Code    int     `json:"code"`
	Output  string  `json:"output"` // the file
	// Note says for people how it failed, with its last words; empty: it passed, or
	// an older version wrote the journal.
	Note string `json:"note,omitempty"`
}

// Settled is an agent that has ended.
type Settled struct {
	Agent   task.ID     `json:"agent"`
	Attempt int         `json:"attempt"`
	Result  task.Result `json:"-"`
}

// Released is a workspace that is gone: removed, or renamed to Trash. Of an
// attempt in the shared workspace it says that it is not in there any more.
type Released struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Trash   string  `json:"trash,omitempty"`
	// Shared is set where the shared workspace itself is gone; no agent is
	// named then.
	Shared bool `json:"shared,omitempty"`
}

// Retried is an attempt that failed in a way that may pass; another follows.
type Retried struct {
	Agent   task.ID        `json:"agent"`
	Attempt int            `json:"attempt"` // the failed attempt; 0: none began
	Error   task.ErrorKind `json:"error"`
	Reason  string         `json:"reason"`
	// Usage is the usage of all attempts so far.
	Usage *task.Usage `json:"usage,omitempty"`
	// Model is the model that answered in it, as far as it was reported.
	Model string `json:"model,omitempty"`
	Wait  int64  `json:"wait_ms,omitempty"` // until the next attempt
	// Waited is set where it was no more than a wait, for a provider that refused
	// it for now, or for its place when the run was paused: it is none of the
	// attempts that the run may make.
	Waited bool `json:"waited,omitempty"`
}

// CancelAsked is somebody's wish to end agents; all of them when none is
// named.
type CancelAsked struct {
	Agents []task.ID      `json:"agents,omitempty"`
	Cause  task.ErrorKind `json:"cause"`
	Reason string         `json:"reason,omitempty"`
	// Script is set where the script wished it: by cancel, by a race that
	// another won, or by its end.
	Script bool `json:"script,omitempty"`
	// Abandoned is set where the run stopped because its client had left, and
	// not because somebody asked for a stop.
	Abandoned bool `json:"abandoned,omitempty"`
}

// RetryAsked is somebody's wish for another attempt of an agent that ended.
type RetryAsked struct {
	Agent task.ID `json:"agent"`
	// After is the latest attempt at that time; later attempts belong to the
	// wish.
	After    int    `json:"after"`
	Feedback string `json:"feedback,omitempty"`
	// From is the work that the new attempt starts from; nil: the base.
	From *task.Patch `json:"from,omitempty"`
	// Fresh is set where it begins a new conversation.
	Fresh bool `json:"fresh,omitempty"`
	// Onto is the commit that the new attempt starts from in place of its call's
	// base; empty: it starts from that.
	Onto string `json:"onto,omitempty"`
	// Remarks are the ids of the remarks on edits that Feedback holds: they are
	// drafts no longer.
	Remarks []int `json:"remarks,omitempty"`
	// Markers are the conflict markers in the files of From; nil: there are none.
	Markers *Markers `json:"markers,omitempty"`
	// HandedBack is set if a merge handed the patch back, and Feedback is the brief of it.
	HandedBack *HandedBack `json:"handed_back,omitempty"`
}

// Reviewed is a person's opinion of the work of an agent's attempt. It does not
// concern other attempts.
type Reviewed struct {
	Agent   task.ID      `json:"agent"`
	Attempt int          `json:"attempt"`
	Verdict task.Verdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
}

// EditsReviewed is a person's verdict on single edits of an attempt. It holds for
// the same edits of later attempts. A merge goes by [Reviewed] alone.
type EditsReviewed struct {
	Agent   task.ID        `json:"agent"`
	Attempt int            `json:"attempt"`
	Verdict task.Verdict   `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	Edits   []task.EditKey `json:"edits"`
}

// Appraised is the opinion of a reviewing agent about another agent's attempt.
// It accepts and rejects nothing.
type Appraised struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Pass    bool    `json:"pass"`
	// By is the reviewer; empty where none was asked, since a check spoke.
	By       task.ID  `json:"by,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// Titled is the subject of a patch's commit as written by a model, or the
// reason why it has the default subject.
type Titled struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Commit  string  `json:"commit"` // of the patch
	By      task.ID `json:"by,omitempty"`
	Subject string  `json:"subject,omitempty"` // empty: Reason says why
	Reason  string  `json:"reason,omitempty"`
}

// Questioned is an action that an agent wants to be allowed, or a script's
// question to a person.
type Questioned struct {
	ID      string          `json:"id"`              // unique in the repository
	Agent   task.ID         `json:"agent,omitempty"` // empty: the script
	Attempt int             `json:"attempt,omitempty"`
	Ask     string          `json:"ask"` // the agent's id of the question
	Action  json.RawMessage `json:"action,omitempty"`
	// Key is that of the script's request.
	Key string `json:"key,omitempty"`
	// Risk is the risk of the action; nil: it was not examined.
	Risk *Risk `json:"risk,omitempty"`
	// Redacted says that secrets were taken out of the action.
	Redacted bool `json:"redacted,omitempty"`
}

// Risk is the risk of an action, with the reason for the question.
type Risk struct {
	Tier   string   `json:"tier"`
	Rules  []string `json:"rules,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// Hint is further help for the person who decides.
	Hint string `json:"hint,omitempty"`
	// Own is set where all that the action destroys is the agent's own, and the sandbox
	// protects all other files.
	Own bool `json:"own,omitempty"`
	// Files are those for which somebody is asked; nil where it is for none.
	Files *Files `json:"files,omitempty"`
}

// Files are the losses of files by an action. Paths are patterns that begin at the
// top of the work tree, which is ".", and are absolute outside of it.
type Files struct {
	Deletes    []string `json:"deletes,omitempty"`
	Overwrites []string `json:"overwrites,omitempty"`
	// Cleans are paths at which only those files are deleted that git does not
	// have.
	Cleans []string `json:"cleans,omitempty"`
}

// Replied is the end of a question.
type Replied struct {
	ID     string `json:"id"`
	Allow  bool   `json:"allow"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
	// For says how long the answer holds.
	For task.Span `json:"for,omitempty"`
	// All is set where a yes to a DESTRUCTIVE action also holds for the other
	// agents that asked for the same action.
	All bool    `json:"all,omitempty"`
	By  task.By `json:"by"`
}

// Sent is a word that somebody sent to a running agent.
type Sent struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Text    string  `json:"text"`
	// Auto is set on a message of swarm itself: near a limit, or as a
	// repetition to the next attempt.
	Auto bool `json:"auto,omitempty"`
	// Round is the process of the attempt that it was sent to, from 1, and Output
	// how many bytes that had written to its stdout by then. 0 is not known.
	Round  int   `json:"round,omitempty"`
	Output int64 `json:"output,omitempty"`
}

// Paused says that nothing new starts, and why; running agents work to their
// end.
type Paused struct {
	Cause  task.ErrorKind `json:"cause"` // CauseBudget, or how agents failed
	Reason string         `json:"reason"`
	// Until is when it is worth resuming; nil: unknown.
	Until *time.Time `json:"until,omitempty"`
}

// Closed is the end of the run, or of this owner's part of it.
type Closed struct {
	Status string `json:"status"` // completed, degraded, failed, stopped or paused
	Reason string `json:"reason,omitempty"`
	Code   int    `json:"code"` // the exit code of the command that ran it
}

func (*Opened) kind() string        { return "opened" }
func (*Called) kind() string        { return "called" }
func (*Leased) kind() string        { return "leased" }
func (*Started) kind() string       { return "started" }
func (*Ended) kind() string         { return "ended" }
func (*Captured) kind() string      { return "captured" }
func (*Checked) kind() string       { return "checked" }
func (*Settled) kind() string       { return "settled" }
func (*Released) kind() string      { return "released" }
func (*Retried) kind() string       { return "retried" }
func (*CancelAsked) kind() string   { return "cancel_asked" }
func (*RetryAsked) kind() string    { return "retry_asked" }
func (*Reviewed) kind() string      { return "reviewed" }
func (*EditsReviewed) kind() string { return "edits_reviewed" }
func (*Appraised) kind() string     { return "appraised" }
func (*Titled) kind() string        { return "titled" }
func (*Questioned) kind() string    { return "questioned" }
func (*Replied) kind() string       { return "replied" }
func (*Sent) kind() string          { return "sent" }
func (*Intended) kind() string      { return "intended" }
func (*Landed) kind() string        { return "landed" }
func (*Undone) kind() string        { return "undone" }
func (*Scripted) kind() string      { return "scripted" }
func (*Entered) kind() string       { return "entered" }
func (*Logged) kind() string        { return "logged" }
func (*Phased) kind() string        { return "phased" }
func (*Returned) kind() string      { return "returned" }
func (*Paused) kind() string        { return "paused" }
func (*Closed) kind() string        { return "closed" }

// Record is an event in its place in a journal.
type Record struct {
	N     int64 // from 1
	Time  time.Time
	Event Event
}

// Kind is the word for an event in JSON.
func Kind(e Event) string { return e.kind() }
