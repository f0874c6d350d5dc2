package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// after returns a channel that delivers once a wait is over, and a function that
// ends it. The channel of a wait without a limit is nil.
func after(limit time.Duration) (<-chan time.Time, func()) {
	if limit == forever {
		return nil, func() {}
	}
	t := time.NewTimer(limit)
	return t.C, func() { t.Stop() }
}

// teller returns a function that reports the progress of a run to the client,
// if the client asked for that. Each notification counts one more than the
// last, as the protocol demands; the numbers of agents are in its text.
func teller(ctx context.Context, req *sdk.CallToolRequest) func(Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(Progress) {}
	}
	began, told := time.Now(), 0
	return func(p Progress) {
		told++
		text := "the run is about to begin"
		if p.Run != "" {
			text = fmt.Sprintf("run %s: %d of %d agents have ended", p.Run, p.Ended, p.Made)
		}
		// A client that is gone does not read it; the end of ctx tells of that.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(told),
			Message: fmt.Sprintf("%s (%s)", text, time.Since(began).Round(time.Second)),
		})
	}
}

// named returns the whole id of the run that a call is about: the run that is given,
// maybe by the start of its id, the latest of the session, or the latest that any
// session dispatched here. Jobs are known by whole ids.
func (s *server) named(ctx context.Context, run string) (string, error) {
	s.mu.Lock()
	if run == "" {
		run = s.latest
	}
	known := s.jobs[run] != nil
	s.mu.Unlock()
	if known {
		return run, nil
	}
	status, err := s.dispatcher.Status(ctx, run)
	if err != nil {
		return "", err
	}
	return status.Run, nil
}

func (s *server) wait(ctx context.Context, req *sdk.CallToolRequest) (*Status, error) {
	var in runInput
	if err := read(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	limit, err := waitOf(in.Wait, patience(req))
	if err != nil {
		return nil, err
	}
	run, err := s.named(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, req, s.attend(run), limit)
}

// attend returns the job of a run, which it begins where there is none.
func (s *server) attend(run string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[run]; j != nil {
		if at, _ := j.now(); at.Run != "" {
			s.latest = run
		}
		return j
	}
	return s.start(run, func(ctx context.Context, report func(Progress)) (*Status, error) {
		return s.dispatcher.Attend(ctx, run, report)
	})
}

func (s *server) status(ctx context.Context, req *sdk.CallToolRequest) (*Status, error) {
	var in statusInput
	if err := read(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	run := in.Run
	if run == "" {
		s.mu.Lock()
		run = s.latest
		s.mu.Unlock()
	}
	return s.dispatcher.Status(ctx, run)
}

func (s *server) cancel(ctx context.Context, req *sdk.CallToolRequest) (*Status, error) {
	var in runInput
	if err := read(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	if in.Run == "" {
		return nil, errors.New("run: is missing; name the run to stop")
	}
	limit, err := waitOf(in.Wait, cancelWait)
	if err != nil {
		return nil, err
	}
	status, err := s.dispatcher.Status(ctx, in.Run)
	if err != nil || !status.running() {
		return status, err
	}
	if err := s.dispatcher.Cancel(ctx, in.Run); err != nil {
		if status, lost := s.dispatcher.Status(ctx, in.Run); lost == nil && !status.running() {
			return status, nil // it ended by itself
		}
		return nil, err
	}
	return s.untilEnded(ctx, req, in.Run, limit)
}

// untilEnded returns the state of a run once it has ended, or after a time. It
// looks at the journal: the owner may be another process.
func (s *server) untilEnded(ctx context.Context, req *sdk.CallToolRequest, run string, limit time.Duration) (*Status, error) {
	tell := teller(ctx, req)
	poll, ticks := time.NewTicker(pollEvery), time.NewTicker(beat)
	defer poll.Stop()
	defer ticks.Stop()
	enough, stop := after(limit)
	defer stop()
	for {
		status, err := s.dispatcher.Status(ctx, run)
		if err != nil || !status.running() {
			return status, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-enough:
			return status, nil
		case <-ticks.C:
			tell(Progress{Run: run, Ended: status.Ended, Made: status.Agents})
		case <-poll.C:
		}
	}
}
