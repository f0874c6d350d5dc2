package engine

import (
	"encoding/json"
	"fmt"

	"agentswarm/swarm/store"
)

// RecordedConfig is the configuration that the latest owner of a run went by. It is an
// error if the record cannot be read.
func RecordedConfig(v *store.View) (Config, error) {
	var own Config
	var script struct {
		Config Config `json:"config"`
	}
	text, into := v.Identity.Config, any(&own)
	if v.Script != nil && v.Script.Config != nil {
		text, into = v.Script.Config, &script
	}
	if err := json.Unmarshal(text, into); err != nil {
		return Config{}, fmt.Errorf("read the configuration of run %s: %w", v.Identity.Run, err)
	}
	if into == any(&script) {
		return script.Config, nil
	}
	return own, nil
}
