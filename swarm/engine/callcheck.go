package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"agentswarm/risk"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/task"
)

// Hooks run the functions that watch over agents.
type Hooks interface {
	// Decide calls a function, given by its source, with a value and returns
	// the function's result.
	Decide(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error)
}

// ErrNoHooks refuses a call with functions in a run that cannot run any.
var ErrNoHooks = errors.New("functions cannot be run here")

// CheckCall refuses a call that could not be carried out as it asks, before
// anything of it is started, by agents of these kinds. The error names the
// option.
func CheckCall(c Config, kinds map[string]agent.Kind, call *task.Call) error {
	if err := checkOptions(c, kinds, call); err != nil {
		return err
	}
	if len(call.Schema) == 0 {
		return nil
	}
	if _, err := schema.Compile(call.Schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// CheckCall is the function of this name for a call of the run, and refuses
// functions where nothing can run them. [Engine.StartAll] asks it too.
func (e *Engine) CheckCall(call *task.Call) error {
	for _, hook := range []struct{ name, source string }{
		{"stopWhen", call.StopWhen}, {"onTool", call.OnTool},
	} {
		if hook.source != "" && e.deps.Hooks == nil {
			return fmt.Errorf("%s: %w", hook.name, ErrNoHooks)
		}
	}
	if err := checkOptions(e.config, e.deps.Kinds, call); err != nil {
		return err
	}
	if _, err := e.schemas.of(call); err != nil {
		return err
	}
	return nil
}

// checkCalls is CheckCall for many.
func (e *Engine) checkCalls(calls []*task.Call) error {
	for _, call := range calls {
		if err := e.CheckCall(call); err != nil {
			return err
		}
	}
	return nil
}

// checkOptions refuses options that are out of range, and those that the
// agent of the call does not show enough of itself for.
func checkOptions(c Config, kinds map[string]agent.Kind, call *task.Call) error {
	for _, item := range call.Allow {
		if _, err := risk.ParseGrant(item); err != nil {
			return fmt.Errorf("allow: %s: %w", brief(strconv.Quote(item)), err)
		}
	}
	l := call.Limits
	for _, option := range []struct {
		name string
		bad  bool
	}{
		{"limits.turns", l.Turns < 0},
		{"limits.tokens", l.Tokens < 0},
		{"limits.usd", l.USD < 0 || math.IsNaN(l.USD) || math.IsInf(l.USD, 0)},
		{"limits.ms", call.Timeout < 0},
		{"limits.idleMs", l.Idle < 0},
		{"retries", call.Retries != nil && *call.Retries < 0},
	} {
		if option.bad {
			return fmt.Errorf("%s: must be a number from 0 up", option.name)
		}
	}
	if call.Agent != "" && c.Agents[call.Agent] == nil {
		return nil // its attempt says that there is no such agent
	}
	spec := SpecOf(c, call)
	if c.MaxTurns > 0 && spec.Format != agent.FormatJSONL {
		return fmt.Errorf("--max-turns: agent %q does not show its turns: it has format = %q, not %q",
			spec.Name, spec.Format, agent.FormatJSONL)
	}
	if err := checkChoices(spec, kinds, call); err != nil {
		return err
	}
	if kind := kinds[spec.Kind]; kind.Check != nil {
		if err := kind.Check(spec); err != nil {
			return fmt.Errorf("agent %s: %w", spec.Name, err)
		}
	}
	for _, option := range []struct {
		name, what string
		set        bool
	}{
		{"limits.turns", "its turns", l.Turns > 0},
		{"limits.tokens", "its tokens", l.Tokens > 0},
		{"limits.usd", "its cost", l.USD > 0},
		{"stopWhen", "how far it is", call.StopWhen != ""},
		{"onTool", "its actions", call.OnTool != ""},
	} {
		if option.set && spec.Format != agent.FormatJSONL {
			return fmt.Errorf("%s: agent %q does not show %s: it has format = %q, not %q",
				option.name, spec.Name, option.what, spec.Format, agent.FormatJSONL)
		}
	}
	if call.OnTool != "" && spec.Input != agent.InputJSONL {
		return fmt.Errorf("onTool: agent %q takes no answers about its actions: it has input = %q, not %q",
			spec.Name, spec.Input, agent.InputJSONL)
	}
	return nil
}

// schemas caches the parsed schemas of the run's calls: many calls share a
// schema.
type schemas struct {
	mu   sync.Mutex // guards read
	read map[string]*schema.Schema
}

// of is the schema of a call; nil where it has none.
func (s *schemas) of(call *task.Call) (*schema.Schema, error) {
	if len(call.Schema) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.read[string(call.Schema)]; known != nil {
		return known, nil
	}
	compiled, err := schema.Compile(call.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.read == nil {
		s.read = map[string]*schema.Schema{}
	}
	s.read[string(call.Schema)] = compiled
	return compiled, nil
}
