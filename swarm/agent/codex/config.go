package codex

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/risk/argv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
)

// configFile is the user's configuration, and that of each agent.
const configFile = "config.toml"

// table is a table of TOML, or an object of JSON.
type table = map[string]any

// provider is the name of the provider that replaces the built-in one.
const provider = "swarm"

// hookTime is the time limit of a hook, in seconds: a person may decide. The
// agent ignores a hook that takes longer, so this is a week.
const hookTime = 7 * 24 * 60 * 60

// compose returns the configuration of an agent: the user's, without settings
// of the terminal, and swarm's.
func compose(r *agent.Request) ([]byte, error) {
	settings, err := users(r.Login.Files)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{
		// Features that ask, run programs, or write elsewhere. Nothing of the
		// repository is trusted: it could replace the endpoint, and bring
		// hooks and servers of its own.
		"hooks", "notify", "projects", "approval_policy", "approvals_reviewer", "permissions", "default_permissions",
		"tui", "otel", "notice", "plugins", "marketplaces", "memories", "log_dir", "sqlite_home", "debug",
	} {
		delete(settings, name)
	}
	own(settings, r)
	providers(settings)
	if len(r.Hook) > 0 {
		settings["hooks"] = table{"PreToolUse": []any{table{
			"matcher": ".*",
			"hooks":   []any{table{"type": "command", "command": hook(r.Hook), "timeout": int64(hookTime)}},
		}}}
	}
	text, err := toml.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("write its configuration: %w", err)
	}
	return text, nil
}

// own adds the settings that every agent shares, and those of the request.
func own(settings table, r *agent.Request) {
	settings["approval_policy"] = policy(r)
	settings["sandbox_mode"] = sandbox(r)
	settings["allow_login_shell"] = false
	settings["check_for_update_on_startup"] = false
	settings["cli_auth_credentials_store"] = "file"
	settings["analytics"] = table{"enabled": false}
	settings["feedback"] = table{"enabled": false}
	settings["history"] = table{"persistence": "none"}
	settings["agents"] = table{"enabled": false}
	// Their path, which differs, would come before everything else that is
	// said to the model.
	within(settings, "skills")["bundled"] = table{"enabled": false}
	switch _, chosen := settings["web_search"]; {
	case slices.Contains(r.Spec.Tools, toolset.WebSearch):
		settings["web_search"] = "live"
	case !chosen, len(r.Spec.Tools) > 0:
		settings["web_search"] = "disabled"
	}
	features := within(settings, "features")
	for _, name := range []string{
		"plugins", "apps", "goals", "memories", "multi_agent_v2", "shell_snapshot", "unbounded_connection_retries",
	} {
		features[name] = false
	}
	for _, name := range []string{"multi_agent", "codex_hooks"} {
		delete(features, name)
	}
	features["hooks"] = len(r.Hook) > 0
	if len(r.Login.Env) > 0 {
		shell := within(settings, "shell_environment_policy")
		shell["exclude"] = append(list(shell["exclude"]), anys(r.Login.Env)...)
	}
	if len(r.Spec.Write) > 0 {
		writes := within(settings, "sandbox_workspace_write")
		writes["writable_roots"] = append(list(writes["writable_roots"]), anys(r.Spec.Write)...)
	}
	if only, _ := reads(r.Spec); only || len(r.Spec.Tools) > 0 {
		delete(settings, "mcp_servers") // they bring tools that no list names, and may change anything
	}
	if r.Spec.Model != "" {
		settings["model"] = r.Spec.Model
	}
	if r.Spec.Effort != "" {
		settings["model_reasoning_effort"] = r.Spec.Effort
	}
	if r.System != "" {
		theirs, _ := settings["developer_instructions"].(string)
		settings["developer_instructions"] = strings.TrimLeft(strings.TrimRight(theirs, "\n")+"\n\n"+r.System, "\n")
	}
}

// providers limits the agent's retries. It allows two retries of a broken
// stream, since the work so far would be lost. The agent waits as long as a
// provider says.
func providers(settings table) {
	name, _ := settings["model_provider"].(string)
	all := within(settings, "model_providers")
	if name == "" || name == "openai" {
		name = provider
		// Built-in providers cannot be configured. This is the same provider
		// under another name.
		all[name] = table{
			"name": "OpenAI", "wire_api": "responses", "requires_openai_auth": true,
			"env_http_headers": table{"OpenAI-Organization": "OPENAI_ORGANIZATION", "OpenAI-Project": "OPENAI_PROJECT"},
		}
		if url, _ := settings["openai_base_url"].(string); url != "" {
			all[name].(table)["base_url"] = url
		}
		settings["model_provider"] = name
	}
	if chosen, configured := all[name].(table); configured {
		chosen["request_max_retries"], chosen["stream_max_retries"] = int64(0), int64(2)
	}
}

// hook is the command that asks. Only exit status 2 with a reason on stderr
// keeps a tool from being used, so whatever goes wrong must end like that. The
// words stand in quotes that any shell of a user takes.
func hook(asker []string) string {
	const asks = `"$@"; code=$?; [ $code -eq 0 ] && exit 0; [ $code -eq 2 ] || echo "the hook failed with status $code" >&2; exit 2`
	words := append([]string{"/bin/sh", "-c", asks, "sh"}, asker...)
	return argv.Quoted(append(words, "--agent", "codex"))
}

// users is the user's configuration as it applies: with the profile that it
// names.
func users(files []agent.File) (table, error) {
	settings := table{}
	at := slices.IndexFunc(files, func(f agent.File) bool { return f.Name == configFile })
	if at < 0 {
		return settings, nil
	}
	if err := toml.Unmarshal(files[at].Data, &settings); err != nil {
		return nil, errors.New("the configuration of codex is not TOML: " + err.Error())
	}
	if name, _ := settings["profile"].(string); name != "" {
		profiles, _ := settings["profiles"].(table)
		profile, _ := profiles[name].(table)
		for key, value := range profile {
			settings[key] = value
		}
	}
	delete(settings, "profile")
	delete(settings, "profiles")
	return settings, nil
}

// absolute names files that the configuration in a folder names relative to
// that.
func absolute(settings table, dir string) {
	for _, name := range []string{"model_instructions_file", "model_catalog_json", "experimental_compact_prompt_file"} {
		path, _ := settings[name].(string)
		if path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") {
			settings[name] = filepath.Join(dir, path)
		}
	}
}

// within is a table of a table, which is made where there is none.
func within(t table, name string) table {
	inner, ok := t[name].(table)
	if !ok {
		inner = table{}
		t[name] = inner
	}
	return inner
}

func list(value any) []any {
	values, _ := value.([]any)
	return slices.Clone(values)
}

func anys(words []string) []any {
	values := make([]any, len(words))
	for i, word := range words {
		values[i] = word
	}
	return values
}
