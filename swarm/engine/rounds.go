package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/task"
)

// maxAnswers is the number of answers in which an attempt may match its schema.
const maxAnswers = 5

// schemaFile holds the schema of the answer, beside the prompt.
const schemaFile = "schema.json"

// maxQuoted bounds the agent's own last answer as quoted to it.
const maxQuoted = 64 << 10

// rounds are the processes of an attempt. A second process runs if an answer
// does not match its schema and its agent is gone.
type rounds struct {
	schema  *schema.Schema // nil: any answer will do
	n       int            // number of the current round, from 1
	prompt  string         // of the current round
	answers int            // that earlier rounds gave
	now     int            // answers of the current round
	earlier task.Usage     // usage of earlier rounds
	began   time.Time      // when the first began
	waited  time.Duration  // of that, for answers of people
	line    *agent.Line    // to the agent of the current round
}

// mark says of the start of a process which round it is.
func (r *rounds) mark(begun *event.Started) {
	if r.n <= 1 {
		return
	}
	earlier := r.earlier
	begun.Round, begun.Answers, begun.Earlier = r.n, r.answers, &earlier
}

// roundFile is a file of a round of an attempt, whose files are in dir.
func roundFile(dir, name string, round int) string {
	if round > 1 {
		name += "." + strconv.Itoa(round)
	}
	return filepath.Join(dir, name)
}

// file is a file of the current round.
func (t *attempt) file(name string) string { return roundFile(t.dir, name, t.rounds.n) }

// askForSchema prepares an attempt whose answer must match a schema: a file
// for the agent, and words that ask for it. The words are there even for an
// agent that takes the schema itself: it is asked before it has said so.
func (t *attempt) askForSchema() (err error) {
	if t.rounds.schema, err = t.engine.schemas.of(t.call); t.rounds.schema == nil {
		return err
	}
	t.prompt = withSchema(t.prompt, t.call.Schema)
	return t.engine.deps.Run.WriteFile(filepath.Join(t.dir, schemaFile), t.call.Schema)
}

// withSchema is a prompt that asks for an answer by a schema.
func withSchema(prompt string, text []byte) string {
	if prompt = strings.TrimRight(prompt, "\n"); prompt != "" {
		prompt += "\n\n"
	}
	return prompt + "Answer with one JSON object and nothing around it. It must match this JSON Schema, " +
		"which is also in the file that $SWARM_SCHEMA names:\n\n" + string(text) + "\n"
}

// live runs the agent until its answer will do, it has given as many as it
// may, or it ended in another way.
func (t *attempt) live(ctx context.Context) (*agent.Outcome, *ending) {
	if end := t.admitAgent(ctx); end != nil {
		return nil, end
	}
	defer t.vacate()
	if err := t.putBrief(); err != nil {
		return nil, t.notStarted(ctx, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.rounds.n, t.rounds.prompt, t.rounds.began = 1, t.prompt, t.engine.deps.Now()
	held := *t.call
	held.Limits.Turns = t.spec.Turns
	t.guard = &guard{
		call: &held, hooks: t.engine.deps.Hooks, now: t.engine.deps.Now, began: t.rounds.began,
		limits: limitsOf(t.engine.config, &held),
	}
	for {
		o, end := t.round(ctx, stop)
		if end != nil {
			return nil, end
		}
		t.rounds.waited += t.rounds.line.Waited()
		why := t.unfit(o)
		switch {
		case why == nil:
			return o, nil
		case ctx.Err() != nil:
			o.Stopped = context.Cause(ctx)
			return o, nil
		case t.spec.Timeout > 0 && t.left() <= 0:
			o.Limit = task.Timeout
			return o, nil
		}
		if err := t.next(o, why); err != nil {
			return nil, t.notStarted(ctx, err)
		}
	}
}

// unfit returns the fault of an answer whose agent ended well, if the agent may
// be asked again.
func (t *attempt) unfit(o *agent.Outcome) error {
	if t.rounds.schema == nil || o.Stopped != nil || t.answers(o) >= maxAnswers {
		return nil
	}
	if o.Error != nil && o.Error.Kind == task.SchemaMismatch && o.Limit == "" {
		return errors.New(o.Error.Message) // its program saw that itself
	}
	if ok, _, _ := o.Judge(t.spec, true); !ok {
		return nil
	}
	text, err := t.verdict(o).text(false)
	if err != nil {
		return nil // the verdict reports it
	}
	_, err = fit(t.rounds.schema, text, o)
	return err
}

// answers is the number of answers of the attempt. A process that ended without
// an answer counts as an answer.
func (t *attempt) answers(o *agent.Outcome) int { return t.rounds.answers + max(1, o.Answers) }

// next prepares another process with the same prompt, the last answer and the
// fault of that answer.
func (t *attempt) next(o *agent.Outcome, why error) error {
	text, err := t.verdict(o).text(o.Answer == nil)
	if err != nil {
		return err
	}
	r := &t.rounds
	r.answers = t.answers(o)
	r.earlier.Add(o.Usage)
	r.now = 0
	r.n++
	r.prompt = strings.TrimRight(t.prompt, "\n") + fmt.Sprintf(
		"\n\nYou were asked this before, in this folder, and what you changed is still there. "+
			"You answered:\n\n%s\n\nThat does not match the schema: %v\n"+
			"Answer again: the whole JSON object, and nothing around it.\n",
		strings.TrimSpace(head(text, maxQuoted)), why)
	t.work.OutputFile = t.file("stdout")
	return t.engine.deps.Run.WriteFile(t.file("prompt"), []byte(r.prompt))
}

// refuse checks an answer of an agent that still runs. It returns the request
// for another answer if the answer does not match and more answers are allowed.
func (t *attempt) refuse(a *event.Answered) (again string) {
	r := &t.rounds
	r.now++
	if r.schema == nil || r.answers+r.now >= maxAnswers {
		return ""
	}
	o := &agent.Outcome{Answer: a}
	_, err := fit(r.schema, textOf(o), o)
	if err == nil {
		return ""
	}
	if errors.Is(err, schema.ErrNoObject) {
		return "Your answer is not a JSON object. Answer again: one JSON object that matches the schema you were given, " +
			"and nothing around it."
	}
	return fmt.Sprintf("Your answer does not match the schema: %v\n"+
		"Answer again: the whole JSON object, and nothing around it.", err)
}

// timed is the agent with the time that is left for the current round.
func (t *attempt) timed() *agent.Spec {
	spec := *t.spec
	if spec.Timeout > 0 && t.rounds.n > 1 {
		spec.Timeout = max(t.left(), time.Millisecond)
	}
	return &spec
}

// left is the rest of the attempt's time. Waiting for people does not count as
// time of the attempt.
func (t *attempt) left() time.Duration {
	return t.spec.Timeout - (t.engine.deps.Now().Sub(t.rounds.began) - t.rounds.waited)
}

// opened takes the line to the agent of a round.
func (t *attempt) opened(l *agent.Line) {
	t.rounds.line = l
	t.engine.lines.add(t.id, t.n, t.rounds.n, l)
}

// verdict collects the facts that decide about the attempt.
func (t *attempt) verdict(o *agent.Outcome) verdict {
	return verdict{
		call: t.call, spec: t.spec, schema: t.rounds.schema, dir: t.dir, round: t.rounds.n,
		answers: t.answers(o), outcome: o, changed: mayHaveChanged(t.call, t.work.Patch), work: t.work,
		outside: t.outside, address: addressOf(t.engine.deps, t.spec),
	}
}
