package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/builtin/tool"
	"agentswarm/swarm/task"
)

// agent is a conversation and the work in it. A single goroutine owns it;
// several goroutines use only its face and its bench.
type agent struct {
	o     Options
	tools []*tool.Tool
	bench *tool.Bench
	model model.Model
	face  face

	head         header
	log          *session // nil: not yet, or never
	conversation []model.Message
	frozen       bool   // it is a fork: its prefix is its parent's
	cold         string // why nothing of it is cached, to be said; empty: nothing to say
	temporary    string // a folder to remove

	window  int64
	filled  int64 // tokens of the latest request and its reply, and about those since
	turns   int
	called  string       // the model that replies, as it was told last
	without []string     // members of requests that the server does not take
	begun   string       // the answer, as far as it came before it was cut off
	orders  <-chan order // nil: there will be no more
	prompts []order      // that came while it worked
	steers  []string     // that wait for the next request
	finish  bool         // it is to end with the next reply
	empty   int          // replies in a row that were none
	pieces  int          // those that an answer came in
}

// serve answers prompts until an order to finish, or the end of the orders.
func (a *agent) serve(ctx context.Context, orders <-chan order) error {
	a.orders = orders
	a.face.session(a.head.ID, a.named(a.o.Endpoint.Spec.Model))
	for {
		next, ok, err := a.next(ctx)
		if err != nil || !ok {
			return err
		}
		if len(next.Schema) == 0 {
			next.Schema = a.o.Schema
		}
		if err := a.answer(ctx, next); err != nil {
			return err
		}
		if err := a.face.broken(); err != nil || a.finish {
			return err
		}
	}
}

// next waits for a prompt; ok is false where there will be none. None is begun
// once ctx has ended.
func (a *agent) next(ctx context.Context) (o order, ok bool, err error) {
	for {
		if ctx.Err() != nil {
			return order{}, false, context.Cause(ctx)
		}
		if len(a.prompts) > 0 {
			o, a.prompts = a.prompts[0], a.prompts[1:]
			return o, true, nil
		}
		if a.finish || a.orders == nil {
			return order{}, false, nil
		}
		select {
		case o, ok := <-a.orders:
			a.hear(o, ok)
		case <-ctx.Done():
			return order{}, false, context.Cause(ctx)
		}
	}
}

// hear takes an order.
func (a *agent) hear(o order, ok bool) {
	switch {
	case !ok:
		a.orders = nil
	case o.Type == "prompt":
		a.prompts = append(a.prompts, o)
	case o.Type == "steer" && o.Text != "":
		a.steers = append(a.steers, o.Text)
	case o.Type == "finish":
		a.finish = true
	}
}

// catchUp takes the orders that have come meanwhile.
func (a *agent) catchUp() {
	for a.orders != nil {
		select {
		case o, ok := <-a.orders:
			a.hear(o, ok)
		default:
			return
		}
	}
}

// add adds a message to the conversation and to the log.
func (a *agent) add(m model.Message) error {
	a.conversation = append(a.conversation, m)
	if m.Role == model.User { // the server counts the model's messages
		a.filled += about(m)
	}
	if a.log == nil {
		return nil
	}
	return a.log.add(record{Type: "message", Message: &m})
}

// begin opens the session with the first prompt, whose schema belongs to the
// prefix.
func (a *agent) begin(first *form) error {
	if a.cold != "" {
		a.face.delta(a.cold)
		a.face.text(a.cold)
		a.cold = ""
	}
	if a.turns == 0 && !a.frozen && first != nil {
		a.head.Schema = first.raw
	}
	if a.log != nil || a.o.Session == "" {
		return nil
	}
	log, err := createSession(a.o.Session, &a.head)
	if err != nil {
		return err
	}
	a.log = log
	for i := range a.conversation {
		if err := log.add(record{Type: "message", Message: &a.conversation[i]}); err != nil {
			return err
		}
	}
	return nil
}

// answer works on a prompt until there is an answer.
func (a *agent) answer(ctx context.Context, prompt order) error {
	form, err := newForm(prompt.Schema)
	if err != nil {
		return err
	}
	if err := a.begin(form); err != nil {
		return err
	}
	if err := a.add(a.asked(prompt.Text)); err != nil {
		return err
	}
	for {
		if err := a.report(); err != nil {
			return err
		}
		reply, err := a.turn(ctx, form)
		if err != nil {
			return err
		}
		over, err := a.follow(ctx, reply, form)
		if over || err != nil {
			return err
		}
	}
}

// asked is the message with a task. The first has the repository's top before
// it.
func (a *agent) asked(text string) model.Message {
	m := model.NewMessage(model.User, text)
	if top := repository(a.o.Root); top != "" && len(a.conversation) == 0 {
		m.Parts = append([]model.Part{&model.Note{Text: top}}, m.Parts...)
	}
	return m
}

// report adds people's messages since the last turn, and a notice when the end is
// near.
func (a *agent) report() error {
	a.catchUp()
	steers := a.steers
	a.steers = nil
	for _, text := range steers {
		if err := a.add(model.NewMessage(model.User, text)); err != nil {
			return err
		}
	}
	if most := a.o.MaxTurns; most > 0 && a.turns == most-1 {
		return a.note("This is your last turn. Give your answer now, without a tool.")
	}
	return nil
}

// note says something of our own to the model.
func (a *agent) note(text string) error {
	return a.add(model.Message{Role: model.User, Parts: []model.Part{&model.Note{Text: text}}})
}

// turn asks the model once.
func (a *agent) turn(ctx context.Context, form *form) (*model.Reply, error) {
	if a.o.MaxTurns > 0 && a.turns >= a.o.MaxTurns {
		return nil, &Failure{Kind: task.CauseBudget, Text: fmt.Sprintf("there is no answer after %d turns, the most it may take", a.turns)}
	}
	if a.window > 0 && a.filled > a.full() {
		if err := a.compact(ctx, false); err != nil {
			return nil, err
		}
	}
	a.turns++
	a.face.turn(a.turns)
	reply, err := a.patch(ctx, form)
	if err != nil {
		return nil, err
	}
	text, calls := reply.Message.Said(), len(reply.Message.Calls())
	if reply.Stop == model.Cut && calls == 0 {
		a.begun += text // it is told once it is whole
	} else if text = a.begun + text; text != "" {
		a.face.text(text)
	}
	if reply.Message.Said() != "" || calls > 0 { // no API takes thoughts alone
		err = a.add(reply.Message)
	}
	return reply, err
}

// full is the number of tokens above which a conversation is compacted. The
// rest of the window is for the reply, and for results of tools meanwhile.
func (a *agent) full() int64 {
	return max(min(a.window/5*4, a.window-a.o.Endpoint.Facts.MaxOutput), a.window/2)
}

// patch asks, and asks once more where something about the request can be
// mended.
func (a *agent) patch(ctx context.Context, form *form) (*model.Reply, error) {
	shortened := false
	for {
		reply, err := a.ask(ctx, a.request(form))
		var e *model.Error
		switch {
		case err == nil || !errors.As(err, &e):
			return reply, err
		case e.TooLong && !shortened:
			shortened = true
			if err := a.compact(ctx, true); err != nil {
				return nil, err
			}
		case e.Untaken != "" && !slices.Contains(a.without, e.Untaken):
			a.without = append(a.without, e.Untaken)
			a.face.retry(&Failure{Kind: e.Kind, Text: fmt.Sprintf("the server does not take %s, and is asked without (%s)", e.Untaken, e.Text)})
		default:
			return nil, err
		}
	}
}

// request is the next request to the model.
func (a *agent) request(form *form) *model.Request {
	r := &model.Request{
		Shared: a.head.Shared, Own: a.head.Own, Tools: a.head.Tools, Messages: a.conversation,
		CacheKey: a.head.cacheKey(), Without: a.without,
	}
	// An agent with a schema begins anew, and cannot go on in the middle. If
	// tools carry the schema they do not change: they are part of the prefix.
	if form != nil && (a.begun == "" || a.o.Endpoint.API == model.Anthropic) {
		r.Schema, r.Must = form.raw, form.must
		r.Frozen = a.frozen && string(form.raw) != string(a.head.Schema)
	}
	return r
}

// ask sends a request, and reports its cost and the model that answered.
func (a *agent) ask(ctx context.Context, r *model.Request) (*model.Reply, error) {
	reply, err := a.model.Ask(ctx, r, a.face.delta)
	if err != nil {
		return nil, err
	}
	if u := reply.Usage; u != (task.Usage{}) {
		a.face.usage(u, reply.Left)
		a.face.windows(reply.Windows)
		a.filled = u.Input + u.CacheRead + u.CacheWrite + u.Output
	} else {
		a.filled = about(r) + about(reply.Message)
	}
	if name := reply.Model; name != "" && name != a.called {
		if a.called != "" || name != a.o.Endpoint.Spec.Model {
			a.face.session(a.head.ID, a.named(name))
		}
		a.called = name
	}
	return reply, nil
}

// named is a model of its provider, however much that is to think.
func (a *agent) named(model string) string {
	spec := a.o.Endpoint.Spec
	spec.Model, spec.Effort = model, ""
	return spec.String()
}

// about is how many tokens something has that no server has counted yet: a third
// of its bytes, which is more than most texts have.
func about(v any) int64 {
	text, err := json.Marshal(v)
	if err != nil {
		return 0 // then it could not be sent either
	}
	return int64(len(text) / 3)
}

// carryOut carries out the calls of a reply: at once if none changes anything,
// else in order.
func (a *agent) carryOut(ctx context.Context, reply *model.Reply, form *form) ([]model.Part, error) {
	calls := reply.Message.Calls()
	parts := make([]model.Part, len(calls))
	one := func(i int) {
		out := a.use(ctx, calls[i], form)
		if reply.Stop == model.Cut && out.Bad {
			out.Text += "\nYour message was cut off at the most that one may hold: do it in smaller parts."
		}
		parts[i] = &model.Result{ID: calls[i].ID, Text: out.Text, Bad: out.Bad}
	}
	if slices.ContainsFunc(calls, func(c *model.Call) bool { t := a.tool(c.Name); return t != nil && !t.Reads }) {
		for i := range calls {
			if ctx.Err() != nil {
				break
			}
			one(i)
		}
	} else {
		sideBySide(len(calls), one)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return parts, nil
}

// tool is an offered tool; nil: there is no such.
func (a *agent) tool(name string) *tool.Tool {
	i := slices.IndexFunc(a.tools, func(t *tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return a.tools[i]
}

// use carries out a call.
func (a *agent) use(ctx context.Context, c *model.Call, form *form) tool.Outcome {
	if form != nil && c.Name == model.AnswerTool {
		return tool.Outcome{Text: "The answer is looked at."}
	}
	a.face.toolStart(c.ID, c.Name, c.Input)
	var out tool.Outcome
	var wrong map[string]json.RawMessage
	t := a.tool(c.Name)
	switch {
	case t == nil:
		out = tool.Outcome{Bad: true, Text: fmt.Sprintf("there is no tool %q; the tools are %s", c.Name, strings.Join(names(a.head.Tools), ", "))}
	case json.Unmarshal(c.Input, &wrong) == nil && len(wrong) == 1 && wrong[model.Malformed] != nil:
		out = tool.Outcome{Bad: true, Text: "the input is not a JSON object"}
	default:
		out = t.Use(ctx, a.bench, c.Input)
	}
	a.face.toolEnd(c.ID, !out.Bad, out.Text)
	return out
}
