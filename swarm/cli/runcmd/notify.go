package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
)

// noticeObject is swarm.notice/1, described in docs/json.md: the standard input
// of the command of --notify.
type noticeObject struct {
	Schema     string          `json:"schema"`
	Event      string          `json:"event"` // question, quota_closed, quota_open or ended
	Run        string          `json:"run"`
	Status     string          `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	Code       *int            `json:"code,omitempty"`
	Waiting    int             `json:"waiting"`
	Question   *waiting.Object `json:"question,omitempty"`
	Until      *time.Time      `json:"until,omitempty"` // of a quota window that is used up
	Repository string          `json:"repository"`
}

const (
	noticeTime = 30 * time.Second       // how long a command may take
	noticeGap  = time.Second            // between two notices of questions
	calmTime   = 200 * time.Millisecond // questions come together, or are answered at once
)

// notifyQuestions runs the command of --notify when questions open, until no
// more can come. Questions that open together go into the same notice.
func notifyQuestions(ctx context.Context, b *session.Session, d *follow.OpenQuestions) {
	if b.Contact.Notify == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := map[string]bool{}
	for pause := calmTime; ; pause = noticeGap {
		select {
		case <-ctx.Done():
			return
		case <-d.Over:
			return
		case <-d.Wake:
		}
		if !calm(ctx, d, pause) {
			return
		}
		open := d.Waiting()
		var fresh []waiting.Question
		for _, q := range open {
			if !told[q.ID] {
				told[q.ID], fresh = true, append(fresh, q)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		first := waiting.NewObject(fresh[0], time.Now())
		notify(ctx, b, d.Over, noticeObject{
			Event: "question", Status: string(store.RunRunning), Waiting: len(open), Question: &first,
		})
	}
}

// calm waits for a moment; false where there is nothing more to ask after it.
func calm(ctx context.Context, d *follow.OpenQuestions, moment time.Duration) bool {
	t := time.NewTimer(moment)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-d.Over:
		return false
	case <-t.C:
		return true
	}
}

// notifyEnd runs the command of --notify at the end of the run, which is told
// also where the run was stopped.
func notifyEnd(ctx context.Context, b *session.Session, v *store.View) {
	if b.Contact.Notify == "" {
		return
	}
	if ctx.Err() != nil { // somebody wants to be gone
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(context.WithoutCancel(ctx), hastyNotice,
			fmt.Errorf("it took longer than %s after the run was stopped", hastyNotice))
		defer done()
	}
	notify(ctx, b, nil, noticeObject{
		Event: "ended", Status: string(v.Status), Reason: v.Reason, Code: &v.Code,
	})
}

// hastyNotice is how long a notice may take once the run was stopped.
const hastyNotice = 5 * time.Second

// notify runs the command of --notify once. A failure is a warning: the run
// does not depend on it. It stops the command when over is closed.
func notify(ctx context.Context, b *session.Session, over <-chan struct{}, n noticeObject) {
	n.Schema, n.Run, n.Repository = "swarm.notice/1", b.Run.ID, cmdline.Readable(b.Root())
	ctx, cancel := context.WithTimeoutCause(ctx, noticeTime, fmt.Errorf("it took longer than %s", noticeTime))
	defer cancel()
	ended := make(chan struct{})
	stopper := make(chan struct{})
	go func() {
		defer close(stopper)
		select {
		case <-over: // nil for the notice of the end: never
			cancel()
		case <-ended:
		}
	}()
	err := runNotice(ctx, b, n)
	close(ended)
	<-stopper
	if err != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		b.Deps.Warn("notify: " + err.Error())
	}
}

// runNotice runs the command. It is the user's own, so that it is given their
// environment and no sandbox; it may well talk to their desktop.
func runNotice(ctx context.Context, b *session.Session, n noticeObject) (err error) {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.Run.Dir, "notify-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input, out := filepath.Join(dir, "notice.json"), filepath.Join(dir, "notify")
	if err := os.WriteFile(input, append(text, '\n'), 0o600); err != nil {
		return err
	}
	sandbox, err := json.Marshal(box.Sandbox{})
	if err != nil {
		return err
	}
	exit, err := engine.Shell(ctx, engine.ShellRequest{
		// Not the run's id: its processes are no agent, and may merge ended
		// agents.
		Launcher: isolation.Launcher(b.Deps.Launcher.Binary, box.None), Sandbox: sandbox, Run: "notify",
		Argv: engine.ShellCommand(b.Contact.Notify), Dir: b.Root(), Env: ownEnviron(b.Env.Environ), Stdin: input, Out: out,
	})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exit.Reason != proc.Exited || exit.Code != 0:
		return fmt.Errorf("ended with %d%s", exit.Code, lastWords(out+".err"))
	}
	return nil
}

// ownEnviron is the environment without the variables that name an agent, pass
// between processes of swarm, or point git elsewhere.
func ownEnviron(environ []string) []string {
	var kept []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SWARM_") && name != "SWARM_STATE_DIR" {
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}

// lastWords is ": " and the last line of a file, if it has any.
func lastWords(file string) string {
	lines := strings.Split(strings.TrimSpace(view.ReadTail(file)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + terminal.ShortenEnd(termtext.Line(last), follow.TellWidth)
	}
	return ""
}

// notifyQuota runs the command of --notify when a quota window is used up, and when
// the account has quota again.
func notifyQuota(ctx context.Context, b *session.Session, d *follow.OpenQuestions) {
	if b.Contact.Notify == "" {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.Over:
			return
		case <-d.QuotaWake:
		}
		for _, e := range d.TakeWindows() {
			now := time.Now()
			n := noticeObject{Event: "quota_open", Status: string(store.RunRunning), Reason: view.QuotaText(e, now), Waiting: len(d.Waiting())}
			if c, closed := e.(*event.QuotaClosed); closed {
				n.Event, n.Until = "quota_closed", c.Until
			}
			notify(ctx, b, d.Over, n)
		}
	}
}
