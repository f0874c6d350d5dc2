package pi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// settingsFile is where pi keeps its settings, below its state folder.
const settingsFile = "settings.json"

// appendFile is the file with the user's additions to pi's system prompt.
const appendFile = "APPEND_SYSTEM.md"

// homeFile tells where the user's own state folder is. It is ours: pi does not
// look at it.
const homeFile = "swarm-home"

// state are the files of an agent: those of the user, and ours.
func state(r *agent.Request, tools []string) ([]agent.File, error) {
	var files []agent.File
	var own []byte
	home, system := "", r.System
	for _, f := range r.Login.Files {
		switch {
		case f.Name == settingsFile:
			own = f.Data
		case f.Name == homeFile:
			home = string(f.Data)
		case f.Name == appendFile && system != "":
			// Pi takes only one of them.
			system = strings.TrimRight(string(f.Data), "\n") + "\n\n" + system
		default:
			files = append(files, f)
		}
	}
	text, err := settings(own)
	if err != nil {
		return nil, err
	}
	files = append(files, agent.File{Name: settingsFile, Data: text})
	if system != "" {
		files = append(files, agent.File{Name: systemFile, Data: []byte(system)})
	}
	text, err = extension(extensionOptions{Hook: r.Hook, Tools: tools, Bin: bin(home)})
	if err != nil {
		return nil, err
	}
	return append(files, agent.File{Name: extensionFile, Data: text}), nil
}

// settings returns the user's settings without forbidden and useless members,
// with those that swarm needs.
func settings(own []byte) ([]byte, error) {
	all := map[string]any{}
	if len(own) > 0 {
		if err := wire.Lenient(own, &all); err != nil {
			return nil, fmt.Errorf("read the settings of pi: %w", err)
		}
	}
	for _, name := range []string{
		// They name missing files, or would be started in each agent.
		"packages", "extensions", "skills", "prompts", "themes", "theme", "sessionDir", "npmCommand",
		// --model picks from these where it is not exact.
		"enabledModels",
		"lastChangelogVersion",
	} {
		delete(all, name)
	}
	for name, value := range map[string]any{
		// Swarm's retries rule; these cover errors in the middle of a turn.
		"retry": map[string]any{
			"enabled": true, "maxRetries": 2, "baseDelayMs": 2000, "maxAgentDelayMs": 10_000,
			"provider": map[string]any{"maxRetries": 0},
		},
		"defaultProjectTrust":    "never",
		"cacheWarming":           "off", // it asks the model by itself
		"enableInstallTelemetry": false,
		"enableAnalytics":        false,
		"quietStartup":           true,
	} {
		all[name] = value
	}
	return json.MarshalIndent(all, "", "  ")
}

// bin is where the user's own pi has put programs it uses.
func bin(home string) string {
	if home == "" {
		return ""
	}
	return home + "/bin"
}

//go:embed extension.mjs
var extensionSource string

// extensionOptions are the options of the extension.
type extensionOptions struct {
	// Hook is the command that asks before a tool is used; empty: none is.
	Hook []string `json:"hook"`
	// Tools are all that may be used; nil: any.
	Tools []string `json:"tools"`
	// Bin is a folder that comes last in PATH; empty: none.
	Bin string `json:"bin"`
}

// extension is the file that pi loads.
func extension(o extensionOptions) ([]byte, error) {
	if len(o.Hook) > 0 {
		o.Hook = append(slices.Clone(o.Hook), "--agent", "plain")
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return []byte("const options = " + string(text) + ";\n\n" + extensionSource), nil
}
