// Package inbox owns the questions of a run: their ids, which of them are open,
// which are denied at once, and which answers hold for later questions too.
//
// It journals nothing, reaches no agent and shows nothing: the engine does the
// first two with the results of the [Box], and faces read the journal.
package inbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Policy decides about a new question. The zero value denies.
type Policy string

// The policies.
const (
	Deny Policy = "deny" // at once: nobody can be asked
	Wait Policy = "wait" // until somebody answers
)

// UnmarshalText refuses a word that is none.
func (p *Policy) UnmarshalText(text []byte) error {
	switch known := Policy(text); known {
	case Deny, Wait:
		*p = known
		return nil
	default:
		return fmt.Errorf("%q: want wait or deny", text)
	}
}

// Box holds the questions of a run. It belongs to a single goroutine.
type Box struct {
	run    string
	policy Policy
	asked  int
	open   []*event.Questioned
	rules  map[string]*event.Replied // by action
	// whole are the digests of actions that are not shown in full, by
	// question. Later owners do not have them.
	whole  map[string]string
	denied map[task.ID]event.Files // file actions that agents may not do
}

// New returns a box that continues after the questions and replies of earlier
// owners of the run. Their open questions are closed: the agents that asked are
// gone.
func New(run string, policy Policy, earlier []event.Event) *Box {
	b := &Box{run: run, policy: policy, rules: map[string]*event.Replied{}, whole: map[string]string{}, denied: map[task.ID]event.Files{}}
	actions, questions := map[string]string{}, map[string]*event.Questioned{}
	for _, e := range earlier {
		switch e := e.(type) {
		case *event.Questioned:
			b.asked++
			questions[e.ID] = e
			if !e.Redacted { // the allowed action is unknown if secrets were removed
				actions[e.ID] = ruleKey(e)
			}
		case *event.Replied:
			b.remember(actions[e.ID], e)
			b.Ended(questions[e.ID], e)
		}
	}
	return b
}

// ID is the id of the n-th question of a run, from 1: run ids are unique in the
// repository, and so is this.
func ID(run string, n int) string { return fmt.Sprintf("%s-%d", run, n) }

// Ask takes a question. It returns the reply that holds already; nil: a person
// has to answer.
func (b *Box) Ask(agent task.ID, attempt int, asked *event.Asked) (*event.Questioned, *event.Replied) {
	return b.AskAbout(agent, attempt, asked, Looked{})
}

// Looked is the result of the examination of an action.
type Looked struct {
	Risk *event.Risk // nil: it is unknown
	// Shown is the action without its secrets, as the question has it; nil:
	// it has none.
	Shown json.RawMessage
}

// AskAbout is Ask for an examined action. An answer has to be about the shown
// form of the action. An answer for the run holds for the whole action: of two
// actions that differ in a secret, either may be meant to steal it.
func (b *Box) AskAbout(agent task.ID, attempt int, asked *event.Asked, l Looked) (*event.Questioned, *event.Replied) {
	b.asked++
	q := &event.Questioned{
		ID: ID(b.run, b.asked), Agent: agent, Attempt: attempt, Ask: asked.ID, Action: asked.Action, Risk: l.Risk,
	}
	if l.Shown != nil && Digest(l.Shown) != Digest(asked.Action) {
		q.Action, q.Redacted = l.Shown, true
		b.whole[q.ID] = Digest(asked.Action)
	}
	// An action allowed for the run may have become worse since: files that a command
	// writes to may be there by now.
	if rule := b.rules[b.key(q)]; rule != nil && reaches(rule, q) {
		held := *rule
		held.ID, held.By = q.ID, task.ByRule
		held.Reason = because(runAnswer+rule.ID, rule)
		return q, &held
	}
	if b.policy != Wait {
		return q, &event.Replied{
			ID: q.ID, By: task.ByPolicy,
			Reason: "no person can be asked here: questions are denied",
		}
	}
	b.open = append(b.open, q)
	return q, nil
}

// ErrNotOpen says that a question waits for no answer: it has an answer, its
// agent has ended, or there never was such a question.
var ErrNotOpen = errors.New("waits for no answer")

// Closed is a question with its reply.
type Closed struct {
	Question *event.Questioned
	Reply    *event.Replied
}

// Answer is a person's decision about a shown action.
type Answer struct {
	event.Replied
	// Shown is the [Digest] of the action that the person saw. Faces read
	// questions from the journal's file, which agents may be able to change. So
	// a named digest must be that of the asked action, and an approval must
	// name it. Empty: the person saw none, and can only deny.
	Shown string
}

// OtherError is an answer to another action than the asked action.
type OtherError struct {
	ID string
	// Unseen is set if the answer does not name the shown action.
	Unseen bool
}

func (e *OtherError) Error() string {
	if e.Unseen {
		return fmt.Sprintf("question %s cannot be allowed unseen; read it first, or deny it", e.ID)
	}
	return fmt.Sprintf("question %s asks for something else than what was shown; look again", e.ID)
}

// Digest names an action: the same for all ways to write it that differ only
// in blanks or in how JSON escapes a letter for HTML. It is never empty.
func Digest(action json.RawMessage) string {
	sum := sha256.Sum256([]byte(keyOf(action)))
	return hex.EncodeToString(sum[:])
}

// Answer closes a question by somebody's answer. It returns the question, and
// after it those that the answer holds for too, oldest first. An answer to
// something else is an [*OtherError], and closes nothing.
func (b *Box) Answer(a Answer) ([]Closed, error) {
	r := a.Replied
	var found *event.Questioned
	for _, q := range b.open {
		if q.ID == r.ID {
			found = q
		}
	}
	if found == nil {
		return nil, fmt.Errorf("question %s %w", r.ID, ErrNotOpen)
	}
	switch {
	case a.Shown == "" && r.Allow:
		return nil, &OtherError{ID: r.ID, Unseen: true}
	case a.Shown != "" && a.Shown != Digest(found.Action):
		return nil, &OtherError{ID: r.ID}
	}
	if err := fits(found, &r); err != nil {
		return nil, err
	}
	if r.For == task.ForTheRun && r.Allow && onceOnly(found) {
		return nil, &OnceError{ID: r.ID}
	}
	r.By = task.ByPerson
	closed := []Closed{{found, &r}}
	key := b.key(found)
	b.remember(key, &r)
	var kept []*event.Questioned
	for _, q := range b.open {
		switch {
		case q == found:
		case key != "" && b.key(q) == key && AlsoAnswers(&r, found, q):
			how := sameAnswer
			if r.For == task.ForTheRun {
				how = runAnswer
			}
			closed = append(closed, Closed{q, &event.Replied{
				ID: q.ID, Allow: r.Allow, Text: r.Text, By: task.ByPerson, Reason: because(how+r.ID, &r),
			}})
		default:
			kept = append(kept, q)
		}
	}
	b.open = kept
	return closed, nil
}

// These begin the reason of an answer that was given to another question.
const (
	sameAnswer = "answered with the same of others in "
	runAnswer  = "answered for the run in "
)

// HasOwnReason reports whether a person gave a reason with an answer.
func HasOwnReason(r *event.Replied) bool {
	return r.By == task.ByPerson && r.Reason != "" &&
		!strings.HasPrefix(r.Reason, sameAnswer) && !strings.HasPrefix(r.Reason, runAnswer)
}

// because is the reason for a question that is closed by the answer to another.
// It includes the words of the person: they help this agent as much as the
// other.
func because(how string, r *event.Replied) string {
	if r.Reason == "" {
		return how
	}
	return r.Reason + " (" + how + ")"
}

// OnceError is an answer that would hold for the run, to a question that has to
// be asked each time.
type OnceError struct{ ID string }

func (e *OnceError) Error() string {
	return fmt.Sprintf("question %s is about something DESTRUCTIVE, which is allowed once and never for the run", e.ID)
}

// onceOnly reports whether an answer to a question does not hold for later
// questions.
func onceOnly(q *event.Questioned) bool { return q.Risk != nil && q.Risk.Tier == "DESTRUCTIVE" }

// reaches reports whether an answer for the run holds for another question
// about the same action. A no always does. A yes does not if the action, now or
// for another agent, needs an approval each time.
func reaches(r *event.Replied, q *event.Questioned) bool { return !r.Allow || !onceOnly(q) }

// AlsoAnswers reports whether the answer to a question also answers another
// open question about the same action: for the run, or because both questions
// are the same. They are the same if both have the same risk, which they need
// not: a command may be graver for another agent. A yes to a DESTRUCTIVE action
// holds for its agent alone, unless the answer is for all.
func AlsoAnswers(r *event.Replied, found, other *event.Questioned) bool {
	if r.For == task.ForTheRun {
		return reaches(r, other)
	}
	if r.Allow && !r.All && onceOnly(other) {
		return false
	}
	one, two := found.Risk, other.Risk
	return one != nil && two != nil && one.Tier == two.Tier && one.Reason == two.Reason
}

// EndOne closes an open question, and reports whether it was there.
func (b *Box) EndOne(id string) bool {
	n := len(b.open)
	b.open = slices.DeleteFunc(b.open, func(q *event.Questioned) bool { return q.ID == id })
	return len(b.open) < n
}

// End closes the questions of an agent whose attempt is over, and returns
// them.
func (b *Box) End(agent task.ID) []*event.Questioned {
	var ended []*event.Questioned
	kept := b.open[:0:0]
	for _, q := range b.open {
		if q.Agent == agent {
			ended = append(ended, q)
		} else {
			kept = append(kept, q)
		}
	}
	b.open = kept
	return ended
}

// EndKey closes the open questions of a script's request, and returns them.
func (b *Box) EndKey(key string) []*event.Questioned {
	var ended []*event.Questioned
	b.open = slices.DeleteFunc(b.open, func(q *event.Questioned) bool {
		if q.Agent != "" || q.Key != key {
			return false
		}
		ended = append(ended, q)
		return true
	})
	return ended
}

// Waiting returns the open question of an id; nil where there is none.
func (b *Box) Waiting(id string) *event.Questioned {
	at := slices.IndexFunc(b.open, func(q *event.Questioned) bool { return q.ID == id })
	if at < 0 {
		return nil
	}
	return b.open[at]
}

// Open is the number of open questions.
func (b *Box) Open() int { return len(b.open) }

func (b *Box) remember(key string, r *event.Replied) {
	if r.For == task.ForTheRun && key != "" && r.By == task.ByPerson {
		b.rules[key] = r
	}
}

// key is ruleKey of the whole action.
func (b *Box) key(q *event.Questioned) string {
	if whole := b.whole[q.ID]; whole != "" {
		return whole
	}
	return ruleKey(q)
}

// ruleKey is the key of a rule about a question; empty if it can have none. The
// permissions of agents answer no question of a script.
func ruleKey(q *event.Questioned) string {
	if q.Agent == "" {
		return ""
	}
	return keyOf(q.Action)
}

// keyOf is an action without its blanks and escaped as the journal escapes
// it, so that the same action is known again. Where there is none nothing is
// the same.
func keyOf(action json.RawMessage) string {
	var compact, b bytes.Buffer
	if json.Compact(&compact, action) != nil {
		return ""
	}
	json.HTMLEscape(&b, compact.Bytes())
	if text := b.String(); text != "null" && text != `""` && text != "{}" {
		return text
	}
	return ""
}
