package engine

import (
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// continues returns the conversation that the next attempt of an agent
// continues; nil: it begins a new conversation.
//
// An interrupted attempt has been paid for: its provider refused a request,
// swarm was killed, or a user asked for another attempt. The next attempt
// continues its conversation if the kind can, in a workspace with the same
// changes.
func (e *Engine) continues(a *agentState) *event.Continued {
	done := &a.left
	kind := e.deps.Kinds[SpecOf(e.config, a.using()).Kind]
	switch {
	case done.SessionAttempt == 0 || done.Session == "" || !kind.Can.Fork:
		return nil
	case a.retry != nil && a.retry.Fresh && a.retry.After >= done.SessionAttempt:
		return nil
	case a.switched != nil && a.switched.Attempt >= done.SessionAttempt:
		return nil // another model may not accept the messages of this model
	case kind.Placed && a.at == "":
		return nil
	}
	kept := filepath.Join(e.deps.Run.Attempt(a.id, done.SessionAttempt), sessionName)
	if _, err := os.Lstat(kept); err != nil && len(kind.Sessions) > 0 {
		return nil
	}
	from := done.Patch
	if a.retry != nil && a.retry.Onto != "" && a.retry.After >= done.SessionAttempt {
		from = a.retry.From // the same work on another base
	}
	return &event.Continued{
		Agent: a.id, Attempt: a.attempt, Of: done.SessionAttempt, Session: done.Session,
		Used: done.Conversation, From: from,
	}
}

// carry copies a continued conversation into the work of the attempt. If the
// attempt gets no answer, the next attempt continues the same conversation.
func carry(work *task.Work, c *event.Continued) {
	if c != nil {
		work.Session, work.SessionAttempt, work.Conversation = c.Session, c.Of, c.Used
	}
}

// promptOf is the prompt of the next attempt of an agent. In a conversation that
// is continued the task was said already.
func promptOf(a *agentState, c *event.Continued) string {
	var remarks []string
	for i, r := range a.remarks {
		if r.Brief && i < len(a.remarks)-1 {
			continue // it described the files of that attempt
		}
		if c == nil || r.After >= c.Of {
			remarks = append(remarks, strings.TrimSpace(r.Text))
		}
	}
	prompt := strings.TrimRight(task.Prompt(a.call.Input), "\n")
	about := "This was tried before. Feedback on earlier attempts, oldest first:"
	switch {
	case c == nil && len(remarks) == 0:
		return task.Prompt(a.call.Input)
	case c != nil && len(remarks) == 0:
		return interrupted
	case c != nil:
		prompt, about = resumed, "Feedback on your work, oldest first:"
	}
	return prompt + "\n\n" + about + "\n\n" + strings.Join(remarks, "\n\n") + "\n"
}

const (
	resumed = "You continue the same task, with your own changes in the current directory. Its path may differ from the earlier one. " +
		"Commands that were running have been stopped. Files that git ignores may be missing."
	interrupted = "You were interrupted. " + resumed + " Check the state of the last step, then go on from there. Do not start over.\n"
)
