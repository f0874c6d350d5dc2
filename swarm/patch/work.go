package patch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Work is work of an agent that an address names.
type Work struct {
	Agent   task.ID
	Attempt int    // 0: the latest
	Copy    int    // the number of a copy of its workspace; 0: none
	Module  string // the path of a submodule; empty: none is named
}

// At is the agent with the work that is named. The error is a [*refusal.Error] for an
// attempt without a patch and for a copy without a change.
func (r Reader) At(ctx context.Context, run *store.Run, a *store.Agent, w Work) (*store.Agent, error) {
	switch {
	case w.Copy > 0:
		return r.AtCopy(ctx, run, a, w.Copy)
	case w.Attempt > 0 && w.Attempt != a.Attempt:
		then := a.At(w.Attempt)
		if then == nil {
			return nil, refusal.New("attempt %d of %s holds no patch%s", w.Attempt, a.ID, Earlier(a))
		}
		return then, nil
	default:
		return a, nil
	}
}

// Resolve resolves an address that may end in the number of an attempt, as
// a7.1 does, or in that of a copy, as a7-1 does. The errors are those of
// [store.State.Resolve].
func Resolve(state *store.State, text string) (store.Address, Work, error) {
	a, err := state.Resolve(text)
	missing := (*store.NotFoundError)(nil)
	at := strings.LastIndexAny(text, ".-")
	if !errors.As(err, &missing) || at < 0 {
		return a, Work{}, err
	}
	n, bad := strconv.Atoi(text[at+1:])
	if bad != nil || n < 1 {
		return a, Work{}, err
	}
	found, other := state.Resolve(text[:at])
	switch {
	case other != nil || found.Agent == "":
		return a, Work{}, err
	case text[at] == '.':
		return found, Work{Attempt: n}, nil
	default:
		return found, Work{Copy: n}, nil
	}
}

// Earlier names the earlier attempts of an agent that hold a patch; empty
// for none.
func Earlier(a *store.Agent) string {
	if len(a.Earlier) == 0 {
		return ""
	}
	var names []string
	for _, c := range a.Earlier {
		names = append(names, task.AttemptName(a.ID, c.Attempt))
	}
	return fmt.Sprintf("; an earlier attempt holds one: swarm diff %s", strings.Join(names, ", "))
}

// ResolveModule is [Resolve] of an address that may end in the path of a submodule,
// as a7/libs/core does.
func ResolveModule(state *store.State, text string) (store.Address, Work, error) {
	a, which, err := Resolve(state, text)
	for at := strings.LastIndexByte(text, '/'); at > 0 && err != nil; at = strings.LastIndexByte(text[:at], '/') {
		if _, missing := errors.AsType[*store.NotFoundError](err); !missing {
			break
		}
		found, of, bad := Resolve(state, text[:at])
		if bad != nil || found.Agent == "" || at == len(text)-1 {
			continue
		}
		of.Module = text[at+1:]
		return found, of, nil
	}
	return a, which, err
}

// InModule is an agent whose patch is shown in a submodule alone, if the work names
// one. It returns a [*refusal.Error] if the agent has not changed it.
func (w Work) InModule(a *store.Agent) (*store.Agent, error) {
	if w.Module == "" {
		return a, nil
	}
	var names []string
	if p := a.Patch(); p != nil {
		for i := range p.Modules {
			if p.Modules[i].Path == w.Module {
				return a.AtModule(&p.Modules[i]), nil
			}
			names = append(names, fmt.Sprintf("%s/%s", a.ID, p.Modules[i].Path))
		}
	}
	if len(names) == 0 {
		return nil, refusal.New("%s has changed no submodule, so there is no %s/%s", a.ID, a.ID, w.Module)
	}
	return nil, refusal.New("%s has not changed a submodule %q; it has changed %s", a.ID, w.Module, termtext.List(names, 5))
}
