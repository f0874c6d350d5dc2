package patch

import (
	"errors"
	"testing"

	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestInModule: a submodule that the patch of an agent did not change is refused.
func TestInModule(t *testing.T) {
	t.Parallel()
	agent := func(paths ...string) *store.Agent {
		p := &task.Patch{Commit: "1"}
		for _, path := range paths {
			p.Modules = append(p.Modules, task.ModulePatch{Path: path})
		}
		return &store.Agent{ID: "a7", Status: &task.Completed{Work: task.Work{Patch: p}}}
	}
	for _, tt := range []struct {
		name   string
		give   *store.Agent
		module string
		want   string // the refusal; empty: none
	}{
		{"no submodule is named", agent("libs/core"), "", ""},
		{"one is named", agent("libs/core", "libs/ui"), "libs/ui", ""},
		{"another is named", agent("libs/core"), "libs/ui", `a7 has not changed a submodule "libs/ui"; it has changed a7/libs/core`},
		{"none is changed", agent(), "libs/ui", "a7 has changed no submodule, so there is no a7/libs/ui"},
	} {
		got, err := Work{Module: tt.module}.InModule(tt.give)
		if refused, ok := errors.AsType[*refusal.Error](err); ok != (tt.want != "") || ok && refused.Text != tt.want {
			t.Errorf("%s: InModule = %v, want %q", tt.name, err, tt.want)
			continue
		}
		if tt.want == "" && (tt.module == "") != (got.Module == nil) {
			t.Errorf("%s: InModule shows the submodule %+v", tt.name, got.Module)
		}
	}
}
