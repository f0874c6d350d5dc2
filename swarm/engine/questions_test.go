package engine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
)

// specs is an agent of the protocol whose program is a text of sh.
func specs(name, text string) map[string]*agent.Spec {
	return map[string]*agent.Spec{name: {
		Name: name, Kind: agent.KindCommand, Command: []string{"sh", "-c", text},
		Input: agent.InputJSONL, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
	}}
}

// question is an agent that asks once and repeats the reply as its answer.
const question = `
	read -r prompt
	printf '{"type":"session","can":["steer"]}\n{"type":"ask","id":"q","action":{"run":"push"}}\n'
	read -r answer; printf '%s' "$answer" > "$RIG/answer.$SWARM_AGENT"
	printf '{"type":"result","text":"done"}\n'`

// allow approves the action of question.
func allow(r event.Replied) inbox.Answer {
	r.Allow = true
	return inbox.Answer{Replied: r, Shown: inbox.Digest(json.RawMessage(`{"run":"push"}`))}
}

func mine() *task.Call {
	return &task.Call{
		Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "mine", Base: "base", BaseTree: "tree",
	}
}

// opened waits until a number of questions wait.
func (r *rig) opened(n int) []string {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) { // a poll for a process
		v := r.view()
		var ids []string
		for _, q := range v.Waiting() {
			ids = append(ids, q.ID)
		}
		if len(ids) == n {
			return ids
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%v wait, want %d", ids, n)
		}
	}
}

func TestQuestionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", question)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	ids := r.opened(1)
	is(t, "its state", task.Word(r.view().Agent("a1").Status), "waiting")
	if err := answerTo(e, inbox.Answer{Replied: event.Replied{ID: "nothing-1"}}); !errors.Is(err, inbox.ErrNotOpen) {
		t.Errorf("an unknown question: %v", err)
	}
	// No approval holds for another action, nor without a look at the action.
	for _, shown := range []string{"", inbox.Digest(json.RawMessage(`{"run":"look"}`))} {
		answer := inbox.Answer{Shown: shown, Replied: event.Replied{ID: ids[0], Allow: true}}
		if _, ok := errors.AsType[*inbox.OtherError](answerTo(e, answer)); !ok {
			t.Errorf("an answer to %q was taken", shown)
		}
	}
	is(t, "what waits", strings.Join(r.opened(1), " "), ids[0])
	if err := answerTo(e, allow(event.Replied{ID: ids[0], Text: "v2", Reason: "fine"})); err != nil {
		t.Fatal(err)
	}
	s := settled(e)
	is(t, "status", task.Word(s.Result), "completed")
	if err := answerTo(e, inbox.Answer{Replied: event.Replied{ID: ids[0]}}); !errors.Is(err, inbox.ErrNotOpen) {
		t.Errorf("answered twice: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "what it was told", strings.Join(r.lines("answer.a1"), " "),
		`{"type":"answer","id":"q","allow":true,"text":"v2","reason":"fine"}`)
	is(t, "its records", r.kinds("a1"),
		"called leased leased started:agent questioned ended captured settled released")
}

func TestQuestionsThatNobodyCanAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", question)
	is(t, "status", task.Word(r.play(mine())["a1"].Result), "completed")
	if got := strings.Join(r.lines("answer.a1"), " "); !strings.Contains(got, `"allow":false`) {
		t.Errorf("it was told %s", got)
	}
	q := r.view().Questions
	if len(q) != 1 || q[0].Reply == nil || q[0].Reply.By != task.ByPolicy {
		t.Errorf("questions = %+v", q)
	}
}

func TestAnswerForTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", question)
	e := Open(t.Context(), r.deps, r.config, nil)
	for range 2 {
		if _, err := e.Start(mine()); err != nil {
			t.Fatal(err)
		}
	}
	ids := r.opened(2)
	if err := answerTo(e, allow(event.Replied{ID: ids[1], For: task.ForTheRun})); err != nil {
		t.Fatal(err)
	}
	r.collect(e, 2)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	r.collect(e, 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a1", "a2", "a3"} {
		if got := strings.Join(r.lines("answer."+id), " "); !strings.Contains(got, `"allow":true`) {
			t.Errorf("%s was told %s", id, got)
		}
	}
}

// TestQuestionOfACancelledAgent checks that no question waits for an ended
// agent.
func TestQuestionOfACancelledAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", question)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	ids := r.opened(1)
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := answerTo(e, allow(event.Replied{ID: ids[0]})); !errors.Is(err, inbox.ErrNotOpen) {
		t.Errorf("it was answered: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if v := r.view(); len(v.Waiting()) != 0 || v.Questions[0].Reply == nil || v.Questions[0].Reply.By != task.ByEnd {
		t.Errorf("questions = %+v", v.Questions[0])
	}
}

// TestTellAgain checks that a message to an attempt is repeated to the next
// attempt: its sender may wait for the effect.
func TestTellAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 1
	r.config.Agents = specs("mine", `
		read -r prompt
		printf '{"type":"session","can":["steer"]}\n'; touch "$RIG/up"
		read -r word; printf '%s\n' "$word" >> "$RIG/words"
		if test $SWARM_ATTEMPT = 1; then printf '{"type":"error","kind":"rate_limit"}\n'
		else printf '{"type":"result","text":"done"}\n'; fi`)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	for err := e.Send("a1", "left"); err != nil; err = e.Send("a1", "left") {
		if !errors.Is(err, agent.ErrNotReady) {
			t.Fatal(err)
		}
	}
	is(t, "result", endOf(settled(e).Result), "completed")
	const word = `{"type":"steer","text":"left"}`
	is(t, "the words", strings.Join(r.lines("words"), " "), word+" "+word)
	is(t, "words on record", strings.Join(r.view().Agent("a1").Words, " "), "left")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		read -r prompt
		printf '{"type":"session","can":["steer"]}\n{"type":"text","text":"up"}\n'; touch "$RIG/up"
		read -r word; printf '%s' "$word" > "$RIG/word"
		printf '{"type":"result","text":"done"}\n'`)
	r.config.Agents["deaf"] = specs("deaf", `read -r prompt; touch "$RIG/deaf"; read -r finish`)["deaf"]
	e := Open(t.Context(), r.deps, r.config, nil)
	deaf := mine()
	deaf.Agent = "deaf"
	for _, c := range []*task.Call{mine(), deaf} {
		if _, err := e.Start(c); err != nil {
			t.Fatal(err)
		}
	}
	r.await("up")
	r.await("deaf")
	if err := e.Send("a2", "left"); !errors.Is(err, agent.ErrNotReady) {
		t.Errorf("an agent that has said nothing: %v", err)
	}
	var gone *NotRunningError
	if err := e.Send("a9", "left"); !errors.As(err, &gone) {
		t.Errorf("an agent that does not run: %v", err)
	}
	// The engine reads the agent's report asynchronously.
	for err := e.Send("a1", "left"); err != nil; err = e.Send("a1", "left") {
		if !errors.Is(err, agent.ErrNotReady) {
			t.Fatal(err)
		}
	}
	settled(e)
	is(t, "the word", strings.Join(r.lines("word"), " "), `{"type":"steer","text":"left"}`)
	if err := e.Cancel([]task.ID{"a2"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if kinds := r.kinds("a1"); !strings.Contains(kinds, "sent") {
		t.Errorf("it is not in the journal: %s", kinds)
	}
}

// TestAnswerAfterTheEnd checks that an answer to an ended agent is not reported
// as heard, even while its work is still being captured.
func TestAnswerAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", `read -r prompt; printf '{"type":"ask","id":"q","action":1}\n{"type":"result","text":"x"}\n'`)
	capturing, goOn := make(chan struct{}), make(chan struct{})
	r.spaces.capture = func(string) error { close(capturing); <-goOn; return nil }
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	<-capturing
	err := answerTo(e, allow(event.Replied{ID: inbox.ID(r.deps.Run.ID, 1)}))
	close(goOn)
	if !errors.Is(err, inbox.ErrNotOpen) {
		t.Errorf("Answer = %v", err)
	}
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
