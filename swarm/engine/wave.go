package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentswarm/swarm/agent"
)

// maxAhead is how long the first of a wave is waited for. A provider that takes
// longer costs more in time than what it would have cached.
const maxAhead = 30 * time.Second

// waves are agents that begin with the same words, of which a provider keeps
// what it has read. The first goes ahead; once it has been answered the others
// find its words read.
type waves struct {
	mu   sync.Mutex
	open map[string]chan struct{} // by what they have in common; closed once it is read
}

// waveOf is what agents that begin with the same words have in common; empty
// for those whose kind promises nothing of it.
func waveOf(kind agent.Kind, spec *agent.Spec) string {
	if !kind.Alike {
		return ""
	}
	tools := slices.Sorted(slices.Values(spec.Tools))
	mode := "writes"
	if spec.ReadOnly {
		mode = "reads"
	}
	return strings.Join([]string{spec.Kind, spec.Model, spec.Effort, strings.Join(tools, ","), strings.Join(spec.Without, ","), mode, strconv.FormatInt(spec.MaxThinking, 10)}, "\x00")
}

// join enters a wave. The first gets what lets the others go, which may be called
// more than once; the others wait for that, and get nil.
func (w *waves) join(ctx context.Context, name string, waits func()) (lead func(), err error) {
	w.mu.Lock()
	ahead, found := w.open[name]
	if !found {
		ahead = make(chan struct{})
		if w.open == nil {
			w.open = map[string]chan struct{}{}
		}
		w.open[name] = ahead
	}
	w.mu.Unlock()
	if !found {
		return sync.OnceFunc(func() { close(ahead) }), nil
	}
	select {
	case <-ahead:
		return nil, nil
	default:
	}
	waits()
	late := time.NewTimer(maxAhead)
	defer late.Stop()
	select {
	case <-ahead:
	case <-late.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return nil, nil
}
