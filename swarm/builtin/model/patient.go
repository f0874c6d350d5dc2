package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// New makes the model at an endpoint.
func New(e *Endpoint) Model {
	switch e.API {
	case Chat:
		return &chatModel{e}
	case Responses:
		return &responsesModel{e}
	case Anthropic:
		return &anthropicModel{e}
	default:
		panic(fmt.Sprintf("model: unknown API %q", e.API))
	}
}

// Close lets go of the connections that wait for another request.
func Close() { http.DefaultClient.CloseIdleConnections() }

// Patient asks again where waiting helps.
type Patient struct {
	Model Model // required
	// Most is how long it waits in all for a request; 0: defaultMost.
	Most time.Duration
	// Told is called before each wait.
	Told func(*Error, time.Duration)

	// sleep waits; tests have no time to.
	sleep func(context.Context, time.Duration) error
	dice  func() float64
}

const (
	defaultMost = 10 * time.Minute
	firstWait   = time.Second
	longestWait = time.Minute
	// mostDown is how long it waits for a missing server without a break. A
	// restarted server is back by then.
	mostDown = 30 * time.Second
)

// Ask asks until there is an answer, an error that no wait mends, or no
// patience left.
func (p *Patient) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	most, sleep, dice := p.Most, p.sleep, p.dice
	if most == 0 {
		most = defaultMost
	}
	if sleep == nil {
		sleep = pause
	}
	if dice == nil {
		dice = rand.Float64
	}
	waited, down := time.Duration(0), time.Duration(0)
	for next := firstWait; ; next = min(2*next, longestWait) {
		reply, err := p.Model.Ask(ctx, r, say)
		var e *Error
		if err == nil || !errors.As(err, &e) || !e.Wait {
			return reply, err
		}
		if e.Down && down == 0 {
			next = firstWait // however long it was overloaded before
		}
		// Half of it is chance: agents that were refused together do not come
		// back together. None comes back before the time that it was told.
		wait := next/2 + time.Duration(dice()*float64(next/2))
		if e.After > 0 {
			wait = e.After + time.Duration(dice()*float64(next/2))
		}
		if down += wait; !e.Down {
			down = 0
		}
		if waited += wait; waited > most || down > mostDown {
			return nil, e
		}
		if p.Told != nil {
			p.Told(e, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
