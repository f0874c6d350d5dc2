package fleet

import (
	"maps"
	"slices"

	"agentswarm/swarm/manifest"
	"agentswarm/swarm/script"
)

// evidence tells which files an agent changed. Nothing is set up or checked
// here.
func (h *Host) evidence(r *script.Evidence) (any, error) {
	at := slices.IndexFunc(h.agents, func(a *live) bool { return a.id == r.ID })
	m := &manifest.Manifest{Files: []manifest.File{}, Steps: []manifest.Step{}}
	says := h.agents[at].says
	for _, path := range slices.Sorted(maps.Keys(says.Files)) {
		m.Files = append(m.Files, manifest.File{Path: path, Status: "changed"})
	}
	for _, path := range says.Removes {
		m.Files = append(m.Files, manifest.File{Path: path, Status: "deleted"})
	}
	return map[string]any{"text": m.Text(), "files": m.Files, "steps": m.Steps}, nil
}
