package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
)

// askModels starts codex to print its catalogue of models, which it has with and
// without a login.
func askModels(r agent.Request) (agent.Launch, error) {
	l := agent.Launch{
		Argv:  append(slices.Clone(r.Spec.Command), "debug", "models"),
		Env:   []string{"CODEX_HOME=" + r.State},
		Unset: []string{"CODEX_SQLITE_HOME", "CODEX_THREAD_ID", "RUST_LOG"},
	}
	for _, f := range r.Login.Files {
		if f.Name != configFile { // it may start servers
			l.Files = append(l.Files, f)
		}
	}
	return l, nil
}

// readModels reads the catalogue. It leaves out the models that codex hides
// from people.
func readModels(said string) []agent.Listed {
	var read struct {
		Models []json.RawMessage `json:"models"`
	}
	// It may warn before.
	at := 0
	if !strings.HasPrefix(said, "{") {
		at = strings.Index(said, "\n{") + 1
	}
	if json.NewDecoder(strings.NewReader(said[at:])).Decode(&read) != nil {
		return nil
	}
	var all []agent.Listed
	for _, text := range read.Models {
		var m struct {
			Slug       string `json:"slug"`
			Visibility string `json:"visibility"`
		}
		if json.Unmarshal(text, &m) != nil || m.Slug == "" || m.Visibility == "hide" {
			continue
		}
		var window struct {
			Context int64 `json:"context_window"`
		}
		listed := agent.Listed{Name: m.Slug}
		if json.Unmarshal(text, &window) == nil && window.Context > 0 {
			listed.Window = roles.Window{Context: window.Context}
		}
		all = append(all, listed)
	}
	return all
}
