package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// Run runs a script to its end. It uses the calling goroutine alone.
//
// The script sees the answers of its host and nothing else. The same answers
// and deliveries give the same requests and the same outcome. The end of ctx
// ends the script at once, in the middle of a loop too. It waits only for work
// inside a single built-in function of the language.
func Run(ctx context.Context, start Start, host Host) Outcome {
	m := newMachine(ctx, start, host)
	release := m.interruptWith(ctx)
	defer release()
	return m.run(ctx)
}

// machine is a script that runs. All of it belongs to a single goroutine.
type machine struct {
	rt *goja.Runtime
	intrinsics
	ask  func(Request) (json.RawMessage, error) // host.Do
	post func(int, Request) error               // host.Post
	next func() (Delivery, error)               // host.Next

	begin   Start
	sources map[string]Source // the scripts, by name
	context *asyncContext
	api     *goja.Object // the globals, as std is given them

	main     *goja.Promise // the promise of the script itself
	agents   []*child      // in the order of their calls
	working  int           // how many of them have not ended
	byID     map[string]*child
	ending   *goja.Symbol // of results: how they ended
	posted   map[int]func(Delivery)
	returned map[int]bool // the timers that were given back
	numbers  int
	spent    int64
	failures []failure
	phase    string

	faults map[*goja.Object]Code // the errors that were made here
	noted  map[*goja.Object]bool // the errors whose cause is in failures
	lost   map[*goja.Object]bool // the errors that end the branches of a race
	// refused are the errors by which the run refuses something: the host's, and
	// those of the budget and of limits.
	refused map[*goja.Object]bool
	warned  map[string]bool // the warnings that were written

	timers    map[int]bool // those of setTimeout that have not fired
	timersSet int

	rejected []*goja.Promise // without a handler so far
	// broken is the fault that stops the host. The script does not see it.
	broken error
}

func newMachine(ctx context.Context, start Start, host Host) *machine {
	m := &machine{
		rt:       newRuntime(),
		begin:    start,
		sources:  make(map[string]Source),
		byID:     make(map[string]*child),
		ending:   goja.NewSymbol("status"),
		posted:   make(map[int]func(Delivery)),
		returned: make(map[int]bool),
		timers:   make(map[int]bool),
		faults:   make(map[*goja.Object]Code),
		noted:    make(map[*goja.Object]bool),
		lost:     make(map[*goja.Object]bool),
		refused:  make(map[*goja.Object]bool),
		warned:   make(map[string]bool),
	}
	m.ask = func(r Request) (json.RawMessage, error) { return host.Do(ctx, r) }
	m.post = host.Post
	m.next = func() (Delivery, error) { return host.Next(ctx) }
	m.context = newAsyncContext(start.Source)
	m.rt.SetAsyncContextTracker(m.context)
	m.rt.SetPromiseRejectionTracker(m.trackRejection)
	return m
}

// interruptWith stops the script when ctx ends. The returned function waits
// until no other goroutine uses the runtime.
func (m *machine) interruptWith(ctx context.Context) (release func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		m.rt.Interrupt(context.Cause(ctx))
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

func (m *machine) run(ctx context.Context) (out Outcome) {
	// The language itself is foreign code with foreign input. Its panic ends
	// the script, not the caller.
	defer func() {
		if x := recover(); x != nil {
			out = Outcome{Error: &Error{Name: "Error", Message: fmt.Sprintf("the script engine gave up: %v", x)}}
		}
	}()
	err := m.evaluate()
	for err == nil && m.main.State() == goja.PromiseStatePending {
		if ctx.Err() != nil || m.broken != nil {
			break
		}
		if !m.expects() {
			return m.end(Outcome{Error: m.stuck()})
		}
		err = m.step()
	}
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case m.broken != nil:
		return Outcome{Error: plain(m.broken)}
	case err != nil:
		return m.end(Outcome{Error: m.describeError(err)})
	case m.main.State() == goja.PromiseStateRejected:
		return m.end(Outcome{Error: m.describe(m.main.Result())})
	}
	return m.end(m.finished(ctx))
}

// finished is the outcome of a script that came to its end.
func (m *machine) finished(ctx context.Context) Outcome {
	var value json.RawMessage
	var refused error
	err := m.enter(func() { value, refused = m.encodeLeaving(m.main.Result(), "the return value") })
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case err != nil:
		return Outcome{Error: m.describeError(err)}
	case refused != nil:
		return Outcome{Error: m.describeError(refused)}
	}
	return Outcome{Value: value}
}

func interrupted(ctx context.Context) Outcome {
	return Outcome{Error: plain(context.Cause(ctx))}
}

// evaluate starts the script, up to where it first waits.
func (m *machine) evaluate() error {
	if err := m.prepare(); err != nil {
		return err
	}
	program, err := Load(m.begin.Source)
	if err != nil {
		return err
	}
	if m.program().args, err = m.decode(m.begin.Args); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	var result goja.Value
	if err := m.enter(func() { result = m.start(program) }); err != nil {
		return err
	}
	main, ok := result.Export().(*goja.Promise)
	if !ok {
		return errors.New("the program is not an async function")
	}
	m.main = main
	return nil
}

// start runs a program up to where it first waits. It is called by code that
// the runtime runs.
func (m *machine) start(p *Program) goja.Value {
	m.sources[p.Source.Name] = p.Source
	for _, warning := range p.Warnings {
		m.warn("%s", warning)
	}
	f, err := m.rt.RunProgram(p.Code)
	if err != nil {
		m.throw(err)
	}
	run, ok := goja.AssertFunction(f)
	if !ok {
		m.throw(errors.New("the program is not a function"))
	}
	v, err := run(goja.Undefined())
	if err != nil {
		m.throw(err)
	}
	return v
}

// enter runs f as code of the runtime and then every due job. It returns the
// error that f threw, or the error that ended the script.
func (m *machine) enter(f func()) error {
	call, _ := goja.AssertFunction(m.rt.ToValue(func(goja.FunctionCall) goja.Value {
		f()
		return goja.Undefined()
	}))
	_, err := call(goja.Undefined())
	return err
}

// expects reports whether anything is still to come.
func (m *machine) expects() bool {
	return m.working > 0 || len(m.posted) > 0
}

// step takes the next delivery and lets the script continue with it.
func (m *machine) step() error {
	d, err := m.next()
	if err != nil {
		m.broken = err
		return nil
	}
	deliver, err := m.receiver(d)
	if err != nil {
		m.broken = err
		return nil
	}
	return m.enter(deliver)
}

// receiver returns the effect of a delivery.
func (m *machine) receiver(d Delivery) (func(), error) {
	if d.Result != nil {
		c := m.byID[d.Result.ID]
		if c == nil {
			return nil, fmt.Errorf("the end of %q was delivered, which this script did not start", d.Result.ID)
		}
		return func() { m.settle(c, d.Result) }, nil
	}
	answer := m.posted[d.N]
	switch {
	case m.returned[d.N]: // it fired while it was given back
		return func() {}, nil
	case answer == nil:
		return nil, fmt.Errorf("the answer of request %d was delivered, which nothing waits for", d.N)
	}
	delete(m.posted, d.N)
	return func() { answer(d) }, nil
}

// send posts a request. answer, which is nil for those that have none, is
// called with its delivery.
func (m *machine) send(r Request, answer func(Delivery)) int {
	m.numbers++
	n := m.numbers
	if err := m.post(n, r); err != nil {
		m.throw(err)
	}
	if answer != nil {
		m.posted[n] = answer
	}
	return n
}

// trackRejection records the rejected promises that the script has not handled
// so far.
func (m *machine) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		m.rejected = append(m.rejected, p)
		return
	}
	// Mostly it is the latest.
	for i, q := range slices.Backward(m.rejected) {
		if q == p {
			m.rejected = slices.Delete(m.rejected, i, i+1)
			return
		}
	}
}

// mostRejections is the limit of unhandled promises that are reported.
const mostRejections = 20

// end reports the rejections that the script never handled. It does so last,
// because the script may handle them until then. A mistake of the script
// itself, or a refusal of the run, ends the script although it returned.
// Otherwise a typo in a call without an await would be a success.
func (m *machine) end(out Outcome) Outcome {
	lost := slices.DeleteFunc(m.rejected, func(p *goja.Promise) bool { return p == m.main })
	for i, p := range lost {
		if v := p.Result(); out.Error == nil && !m.isLost(v) && m.isFatal(v) {
			out = Outcome{Error: m.describe(v)}
			continue
		}
		text := fmt.Sprintf("unhandled rejection: %d more", len(lost)-i)
		if i < mostRejections {
			text = clip("unhandled rejection: " + m.describe(p.Result()).Error())
		}
		m.numbers++
		if err := m.post(m.numbers, &Log{Text: text, Phase: m.phase}); err != nil {
			return Outcome{Error: plain(err)}
		}
		if i == mostRejections {
			break
		}
	}
	return out
}

// plain is an error that the script had no part in.
func plain(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Name: "Error", Message: err.Error()}
}
