package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/activity"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/control"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/review"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
	"agentswarm/swarm/tui/reviewing"
	"agentswarm/swarm/tui/watching"
)

// watchView brings snapshots of a run, and carries out actions by the commands
// that do the same when they are typed.
type watchView struct {
	*CommandRunner
	run *store.Run

	mu       sync.Mutex // guards the fields below; held while the run is read
	tail     *store.Tail
	activity *activity.Reader
	known    map[task.ID]activity.Now
	looked   time.Time
	last     int64 // the number of the latest record that was shown; -1: none
	died     bool
	// asked are the questions that were shown, by id and digest.
	asked map[string]waiting.Question
}

func newWatchView(p *cmdline.Place, c *cli.Context, env cmdline.Env, run *store.Run) *watchView {
	v := &watchView{CommandRunner: NewCommandRunner(p, c, env), run: run, tail: run.Tail(), last: -1, asked: map[string]waiting.Question{}}
	if id, err := run.Identity(); err == nil {
		v.activity = activityOf(p, run, id)
	}
	return v
}

func (v *watchView) close() error {
	v.CommandRunner.Close()
	v.mu.Lock() // a look may be under way
	defer v.mu.Unlock()
	return v.tail.Close()
}

// Next waits for a change, or, of a live run, for the clock.
func (v *watchView) Next(ctx context.Context) (*watching.Snapshot, error) {
	first := v.last < 0
	tick := time.NewTicker(watchGap)
	defer tick.Stop()
	for {
		if !first {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-tick.C:
			}
		}
		first = false
		snap, err := v.look()
		if snap != nil || err != nil {
			return snap, err
		}
	}
}

// look takes a snapshot; nil where nothing has changed.
func (v *watchView) look() (*watching.Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view, err := v.tail.View()
	if err != nil {
		return nil, err
	}
	view.Interrupted()
	if live := view.Status == store.RunRunning; !live && view.Last == v.last && view.Died == v.died {
		return nil, nil
	}
	v.last, v.died = view.Last, view.Died
	now := time.Now()
	in := watching.Input{
		View: view, Doing: v.doing(view, now), Questions: map[task.ID][]watching.Question{},
		Review: session.ReviewOf(view), Budget: spending.Budget(view, task.Amount{}), Now: now,
	}
	for _, q := range waiting.Of(view) {
		v.asked[q.ID+" "+q.Shown()] = q
		in.Questions[q.Agent] = append(in.Questions[q.Agent], questionOf(q))
	}
	return watching.Take(in), nil
}

// doing reads the work of agents, unless that was done only just now.
func (v *watchView) doing(view *store.View, now time.Time) map[task.ID]activity.Now {
	if v.activity == nil {
		return nil
	}
	if now.Sub(v.looked) >= lookGap {
		v.looked, v.known = now, map[task.ID]activity.Now{}
		for _, a := range view.Agents {
			if does := v.activity.Look(a); does != (activity.Now{}) {
				v.known[a.ID] = does
			}
		}
	}
	return v.known
}

// questionOf is a question as the view shows it.
func questionOf(q waiting.Question) watching.Question {
	_, words := inbox.InquiryOf(&q.Questioned)
	return watching.Question{ID: q.ID, Shown: q.Shown(), Wants: questionText(q.Question), Whole: wholeQuestion(q.Question), Words: words}
}

// Answer answers a question as it was shown.
func (v *watchView) Answer(ctx context.Context, shown watching.Question, a watching.Answer) (string, error) {
	if err := v.Place.Personal("answering questions"); err != nil {
		return "", err
	}
	v.mu.Lock()
	q, ok := v.asked[shown.ID+" "+shown.Shown]
	v.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("%s waits no more", shown.ID)
	}
	answer := &control.Answer{Allow: a.Allow}
	if a.Text != "" {
		var err error
		if answer, err = answerText(q, a.Text); err != nil {
			return "", err
		}
	}
	answer.ID, answer.Shown = q.ID, q.Shown()
	if err := give(ctx, v.Place, q, answer); err != nil {
		return "", err
	}
	return outcomeText(q, answer), nil
}

func (v *watchView) address(id task.ID) string { return v.run.ID + "/" + string(id) }

// Do carries out an action beside the view.
func (v *watchView) Do(ctx context.Context, act watching.Act) (string, error) {
	to := v.address(act.Agent)
	switch act.Verb {
	case watching.Send:
		return v.beside(ctx, "send", to, "--", act.Text)
	case watching.Cancel:
		return v.beside(ctx, "cancel", to)
	case watching.Retry:
		if !v.run.Live() { // the attempt would run in the view
			return "", fmt.Errorf("run %s has just ended; press the key again", v.run.ID)
		}
		return v.beside(ctx, retryArgs(to, act.Text)...)
	default:
		return "", fmt.Errorf("%s needs the terminal", act.Verb)
	}
}

func retryArgs(to, feedback string) []string {
	if feedback == "" {
		return []string{"retry", to}
	}
	return []string{"retry", to, "--feedback=" + feedback}
}

// Enter carries out an action that has the terminal.
func (v *watchView) Enter(ctx context.Context, act watching.Act) (string, error) {
	to := v.address(act.Agent)
	switch act.Verb {
	case watching.Attach:
		return v.InFront(ctx, "attach", to)
	case watching.Shell:
		return v.InFront(ctx, "shell", to)
	case watching.Retry:
		return v.InFront(ctx, retryArgs(to, act.Text)...)
	case watching.Edit:
		return v.Edit(ctx, to, review.Place{Path: act.Text, Line: act.Line})
	default:
		return "", fmt.Errorf("%s does not need the terminal", act.Verb)
	}
}

// Diff reads the patch of an agent.
func (v *watchView) Diff(ctx context.Context, id task.ID) ([]tui.Hunk, error) {
	view, err := v.run.View()
	if err != nil {
		return nil, err
	}
	a := view.Agent(id)
	if a == nil || a.Patch() == nil {
		return nil, fmt.Errorf("%s has no patch", id)
	}
	files, err := session.Patches(v.Place).Files(ctx, a, a.Patch())
	if err != nil {
		return nil, err
	}
	return reviewing.Hunks(files), nil
}

// CommandRunner runs commands of this program from a full-screen view.
type CommandRunner struct {
	Place   *cmdline.Place
	env     cmdline.Env
	Context *cli.Context
	// Ctx is that of the view. It ends with the command, also by signals that
	// arrive after a command in the foreground has given them back.
	Ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex // guards stop
	stop   func()
}

// NewCommandRunner returns a runner; the caller closes it.
func NewCommandRunner(p *cmdline.Place, c *cli.Context, env cmdline.Env) *CommandRunner {
	t := &CommandRunner{Place: p, env: env, Context: c, stop: func() {}}
	t.Ctx, t.cancel = context.WithCancelCause(c.Context)
	return t
}

func (t *CommandRunner) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.stop = func() {}
	t.cancel(nil)
}

// as is the context of a command that is typed in a view: it need not only read.
func as(ctx context.Context) context.Context { return context.WithValue(ctx, cmdline.ReadsKey{}, nil) }

// beside carries out a command that has no terminal. It returns the last line of
// its result.
func (t *CommandRunner) beside(ctx context.Context, args ...string) (string, error) {
	env := t.env
	env.Stdin = strings.NewReader("")
	var out, said bytes.Buffer
	code := cmdline.Typed(env)(as(ctx), t.Place.Dir, &out, &said, args...)
	return outcomeOfTyped(code, lastLineOf(out.Bytes()), lastLineOf(said.Bytes()))
}

// InFront runs a command that takes over the terminal. It returns its last line and its error.
func (t *CommandRunner) InFront(ctx context.Context, args ...string) (string, error) {
	_, giveBack := cmdline.TakeSignals() // they are for the command, and do not end the view
	inner, stop := cmdline.OnSignals(as(context.WithoutCancel(ctx)))
	said := &overheard{w: t.env.Stderr}
	code := cmdline.Typed(t.env)(inner, t.Place.Dir, cmdline.Unwrapped(t.env.Stdout), said, args...)
	stop()
	giveBack()
	t.listen()
	text := ""
	if code != int(exit.OK) {
		text = said.line()
	}
	if text == "" { // its own exit code, as of a shell
		return "", nil
	}
	return outcomeOfTyped(code, "", text)
}

// listen has signals end the view again.
func (t *CommandRunner) listen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	ctx, stop := cmdline.OnSignals(context.WithoutCancel(t.Ctx))
	unhook := context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })
	t.stop = func() {
		unhook()
		stop()
	}
}

func outcomeOfTyped(code int, result, said string) (string, error) {
	said = strings.TrimPrefix(said, cmdline.Program+": ")
	switch {
	case code == int(exit.OK) && result != "":
		return result, nil
	case code == int(exit.OK):
		return said, nil
	case said == "":
		return "", fmt.Errorf("exit code %d", code)
	}
	return "", errors.New(said)
}

// Edit opens a file of a workspace, or the workspace, in the person's editor. It returns the last
// line and the error of the command.
func (t *CommandRunner) Edit(ctx context.Context, to string, at review.Place) (string, error) {
	editor, err := cmdline.Editor(t.Place, t.Context)
	if err != nil {
		return "", err
	}
	words := []string{"exec", to, "--", "sh", "-c", editor + ` "$@"`, editor}
	if at.Path == "" {
		return t.InFront(ctx, append(words, ".")...)
	}
	if at.Line > 0 && takesLine(editor) {
		words = append(words, fmt.Sprintf("+%d", at.Line))
	}
	return t.InFront(ctx, append(words, "./"+at.Path)...)
}

// takesLine reports whether an editor takes +LINE before the name of a file.
func takesLine(editor string) bool {
	words := strings.Fields(editor)
	if len(words) == 0 {
		return false
	}
	switch path.Base(words[0]) {
	case "vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "mg", "ed":
		return true
	}
	return false
}

// overheard passes text on to the terminal and remembers its end.
type overheard struct {
	w    io.Writer
	text []byte
}

// mostOverheard bounds the text that is remembered, in bytes.
const mostOverheard = 4 << 10

func (o *overheard) Write(text []byte) (int, error) {
	o.text = append(o.text, text...)
	o.text = o.text[max(0, len(o.text)-mostOverheard):]
	return o.w.Write(text)
}

// Fd lets terminal detection see through it.
func (o *overheard) Fd() uintptr { return cmdline.FdOf(o.w) }

func (o *overheard) line() string { return lastLineOf(o.text) }

// lastLineOf is the last line of a text that is not blank.
func lastLineOf(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:]))
}
