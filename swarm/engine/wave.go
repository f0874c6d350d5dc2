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

// maxAhead bounds the wait for the first agent of a wave. A slower provider
// costs more in time than its cache would save.
const maxAhead = 30 * time.Second

// waves are groups of agents whose prompts begin with the same words, which a
// provider caches. The first agent goes ahead. Once it is answered, the others
// find the words in the cache.
type waves struct {
	mu   sync.Mutex
	open map[string]chan struct{} // by their common part; closed once the provider has read it
}

// waveOf is the key of the common part of agents whose prompts begin with the
// same words; empty for kinds that do not promise such prompts.
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

// join enters a wave. The first agent gets lead, which lets the others go and
// may be called more than once; the others wait for that, and get nil.
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
