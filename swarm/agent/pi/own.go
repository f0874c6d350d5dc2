package pi

import (
	"encoding/json"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// own are the providers that the user's pi knows beside those of everybody: of
// its logins, of models.json, and of its variables.
func own(l agent.Login) (names []string) {
	for _, k := range keys() {
		names = append(names, k.provider)
	}
	for _, f := range l.Files {
		switch f.Name {
		case "auth.json":
			var logins map[string]json.RawMessage
			if json.Unmarshal(f.Data, &logins) == nil {
				names = append(names, sortedKeys(logins)...)
			}
		case "models.json":
			var models struct {
				Providers map[string]json.RawMessage `json:"providers"`
			}
			if wire.Lenient(f.Data, &models) == nil {
				names = append(names, sortedKeys(models.Providers)...)
			}
		}
	}
	return names
}
