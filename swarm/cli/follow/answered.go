package follow

import (
	"agentswarm/swarm/control"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/task"
)

// answeredObject is swarm.answered/1, described in docs/json.md.
type answeredObject struct {
	Schema  string         `json:"schema"`
	Answers []answerObject `json:"answers"`
}

type answerObject struct {
	ID     string    `json:"id"`
	Run    string    `json:"run"`
	Agent  task.ID   `json:"agent,omitempty"`
	Agents []task.ID `json:"agents,omitempty"` // all that the answer reached
	Allow  bool      `json:"allow"`
	Text   string    `json:"text,omitempty"`
	Reason string    `json:"reason,omitempty"`
	For    task.Span `json:"for"`
}

func (o *answeredObject) add(q waiting.Question, a *control.Answer) {
	span := a.For
	if span == "" {
		span = task.Once
	}
	o.Answers = append(o.Answers, answerObject{
		ID: q.ID, Run: q.Run, Agent: q.Agent, Agents: a.Told, Allow: a.Allow, Text: a.Text, Reason: a.Reason, For: span,
	})
}
