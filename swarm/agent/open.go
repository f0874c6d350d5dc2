package agent

import (
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

// MemoryNames are the files of a repository that are meant for agents of the
// kind.
func (k *Kind) MemoryNames(r *Request) []string {
	return append([]string{MemoryFile}, k.memory(r).Own...)
}

func (k *Kind) memory(r *Request) Memory {
	if k.Memory == nil {
		return Memory{}
	}
	return k.Memory(r)
}

// Open adds the texts before the task to a request. The caller passes the parts
// that are known of the call, and all memory and variants. Open leaves out
// files that the agent reads by itself and variants for other families. The
// built-in agent knows its tools and its model itself, and gets the parts.
func (k *Kind) Open(r *Request, p prompt.Parts) {
	p.Memory = prompt.Missing(p.Memory, k.memory(r).Reads)
	if k.Name == KindBuiltin {
		r.Opening = &p
		return
	}
	if k.Tools != nil {
		p.Tools = k.Tools(r)
	}
	p.Variants = variants.Treat(k.familyOf(r.Spec.Model), p.Variants)
	r.System = p.Text() + "\n"
}

// familyOf returns the family of an agent's model: that of the requested name,
// or of the kind's default model.
func (k *Kind) familyOf(model string) variants.Family {
	if model != "" {
		return variants.Of(model)
	}
	return k.Family
}
