package opencode

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// The folders below the state folder that opencode takes for those of its user.
const (
	configHome = "config"
	dataHome   = "data"
	stateHome  = "state"
	// placesDir has a file for each folder in which the conversation took
	// place.
	placesDir = "places"
)

// The files of the state folder that are composed here, or looked for.
const (
	configFile = configHome + "/opencode/opencode.json"
	memoryFile = configHome + "/opencode/AGENTS.md"
	authFile   = dataHome + "/opencode/auth.json"
	pluginFile = configHome + "/swarm.js"
	systemFile = configHome + "/swarm-system.md"
	// These are not written: the rest of the user's configuration, and the
	// variables for the user's own programs.
	otherFile     = "other.json"
	variablesFile = "variables.json"
)

//go:embed swarm.js
var plugin string

// retries is how often a request that failed is made again before it is an
// error.
const retries = 1

// Launch starts opencode with the prompt on stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	s := r.Spec
	argv := slices.Clone(s.Command)
	if len(r.Command) > 0 {
		argv = slices.Clone(r.Command)
	}
	argv = append(argv, "run", "--format", "json", "--title", "swarm", "--auto")
	if err := refuse(s); err != nil {
		return agent.Launch{}, err
	}
	if r.Dir != "" {
		// It would go by $PWD.
		argv = append(argv, "--dir="+r.Dir)
	}
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	if r.Parent != "" {
		argv = append(argv, "--session="+r.Parent, "--fork")
	}
	allowed, err := json.Marshal(permission(s))
	if err != nil {
		return agent.Launch{}, fmt.Errorf("compose the permissions of opencode: %w", err)
	}
	l := agent.Launch{
		Argv: argv, Stdin: r.PromptFile,
		Env: []string{
			"XDG_CONFIG_HOME=" + path.Join(r.State, configHome), "XDG_DATA_HOME=" + path.Join(r.State, dataHome),
			"XDG_STATE_HOME=" + path.Join(r.State, stateHome), "OPENCODE_PERMISSION=" + string(allowed),
			"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_TERMINAL_TITLE=1",
		},
		Unset: []string{
			"OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR", "OPENCODE_DB",
			"OPENCODE_PURE", "OPENCODE_AUTO_SHARE", "OPENCODE_WORKSPACE_ID", "OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME",
			"OPENCODE_ENABLE_QUESTION_TOOL", "OPENCODE_EXPERIMENTAL", "OPENCODE_EXPERIMENTAL_WORKSPACES",
		},
	}
	if !account(r.Login.Files) {
		// They log in to accounts, and look for such at every start.
		l.Env = append(l.Env, "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	}
	l.Files, err = files(r)
	return l, err
}

// refuse returns an error if opencode does not support the spec.
func refuse(s *agent.Spec) error {
	switch {
	case s.Effort != "":
		// Each provider defines its variants.
		return fmt.Errorf("effort %q: opencode says nothing where a model has no such variant", s.Effort)
	case s.Model != "" && !strings.Contains(s.Model, "/"):
		return fmt.Errorf("model %q: opencode wants PROVIDER/MODEL", s.Model)
	case slices.Contains(s.Tools, "edit") != slices.Contains(s.Tools, "write"):
		return fmt.Errorf("tools %s: opencode allows edit and write together, or neither", strings.Join(s.Tools, ","))
	default:
		return s.CheckReads()
	}
}

// files are those of the state folder.
func files(r agent.Request) ([]agent.File, error) {
	var all []agent.File
	config, variables := map[string]any{}, json.RawMessage("{}")
	for _, f := range r.Login.Files {
		switch f.Name {
		case configFile, otherFile:
			if err := merge(config, f.Data); err != nil {
				return nil, err
			}
		case variablesFile:
			variables = f.Data
		default:
			all = append(all, f)
		}
	}
	config["autoupdate"], config["share"], config["snapshot"] = false, "disabled", false
	config["plugin"] = []string{"file://" + path.Join(r.State, pluginFile)}
	instructions, _ := config["instructions"].([]any)
	// The configuration of the repository is not read: it might start programs.
	// Its words are.
	instructions = append(slices.Clone(instructions), path.Join(r.Dir, "AGENTS.md"))
	if r.System != "" {
		instructions = append(instructions, path.Join(r.State, systemFile))
		all = append(all, agent.File{Name: systemFile, Data: []byte(r.System)})
	}
	config["instructions"] = instructions
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("compose the configuration of opencode: %w", err)
	}
	inserted, err := inserted(&r, variables)
	if err != nil {
		return nil, err
	}
	place := sha256.Sum256([]byte(r.Dir))
	return append(all,
		agent.File{Name: configFile, Data: text},
		agent.File{Name: pluginFile, Data: inserted},
		agent.File{Name: placesDir + "/" + hex.EncodeToString(place[:8]), Data: []byte(r.Dir)},
		// With these it takes the package that plugins are written with for
		// installed, and does not fetch it at every start.
		agent.File{Name: configHome + "/opencode/node_modules/.keep"},
		agent.File{Name: configHome + "/opencode/package-lock.json", Data: []byte(`{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`)},
	), nil
}

// inserted returns the plugin with its parameters.
func inserted(r *agent.Request, variables json.RawMessage) ([]byte, error) {
	given := map[string]any{"retries": retries, "places": path.Join(r.State, placesDir), "variables": variables}
	if len(r.Hook) > 0 {
		// It says the same as that agent's own hook, whose tools have the same names.
		given["hook"] = append(slices.Clone(r.Hook), "--agent", "claude")
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("compose the plugin of opencode: %w", err)
	}
	return []byte(strings.Replace(plugin, "const given = null;", "const given = "+string(text)+";", 1)), nil
}

// merge adds the settings that agents share from a configuration of the user:
// the models, the providers and the login there. It drops settings that start
// or allow something. It returns an error if the configuration cannot be read.
func merge(config map[string]any, text []byte) error {
	all, err := wire.Settings(text)
	if err != nil {
		return fmt.Errorf("the user's opencode.json: %w", err)
	}
	for name, value := range wire.Only(all, "$schema", "model", "small_model", "provider", "disabled_providers", "enabled_providers",
		"instructions", "username", "compaction", "lsp", "formatter") {
		more, ok := value.(map[string]any)
		if !ok {
			config[name] = value
			continue
		}
		within := wire.Object(config, name)
		for name, value := range more {
			within[name] = value
		}
	}
	return nil
}

// account reports whether there is a login to an account, which a plugin that
// comes with opencode takes care of.
func account(files []agent.File) bool {
	for _, f := range files {
		var logins map[string]struct{ Type string }
		if f.Name != authFile || json.Unmarshal(f.Data, &logins) != nil {
			continue
		}
		for _, is := range logins {
			if is.Type != "api" {
				return true
			}
		}
	}
	return false
}
