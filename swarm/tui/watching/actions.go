package watching

import (
	"context"

	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

// Source brings snapshots.
type Source interface {
	// Next returns the run as it is. It waits until something has changed or the
	// clock has gone on. An error ends the view.
	Next(context.Context) (*Snapshot, error)
}

// Verb is an action on an agent.
type Verb string

// The actions. Send, Cancel and Retry run beside the view; Attach, Shell and Edit
// have the terminal.
const (
	Send   Verb = "send"
	Cancel Verb = "cancel"
	Retry  Verb = "retry"
	Attach Verb = "attach"
	Shell  Verb = "shell"
	Edit   Verb = "edit"
)

// Act is an action with its text: a message, feedback, or the file to edit.
type Act struct {
	Verb  Verb
	Agent task.ID // required
	Text  string
	Line  int // of the file; 0: its start
}

// Answer is the answer of a person to a question.
type Answer struct {
	Allow bool
	Text  string // of a question for words, or the reason that the agent gets
}

// Actions carries out actions. A text that is returned is shown to the person.
type Actions interface {
	// Answer answers a question as it was shown.
	Answer(context.Context, Question, Answer) (said string, err error)
	// Do carries out an action beside the view.
	Do(context.Context, Act) (said string, err error)
	// Enter carries out an action that has the terminal.
	Enter(context.Context, Act) (said string, err error)
	// Diff reads the patch of an agent.
	Diff(context.Context, task.ID) ([]tui.Hunk, error)
}
