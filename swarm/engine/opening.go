package engine

import (
	"fmt"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/task"
)

// Prompts provides the parts of prompts that the engine does not know. Its
// methods are called from several goroutines. They return the same all through
// a run: a provider reads a text common to all agents once.
type Prompts interface {
	// Memory are the files of those names at the top of the commit that the run
	// starts from, in that order, as far as there are such.
	Memory(names ...string) ([]prompt.File, error)
}

// open composes the text before the agent's task.
func (t *attempt) open(r *agent.Request, kind *agent.Kind) error {
	p := prompt.Parts{Core: prompt.Core(), Contract: t.words, Stage: t.call.Stage}
	if t.call.Options.Variant != task.VariantOff {
		p.Variants = t.engine.config.Variants
	}
	if from := t.engine.deps.Prompts; from != nil {
		var err error
		if p.Memory, err = from.Memory(kind.MemoryNames(r)...); err != nil {
			return fmt.Errorf("open the prompt of the agent: %w", err)
		}
	}
	kind.Open(r, p)
	return nil
}
