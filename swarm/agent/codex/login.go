package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/swarm/agent"
)

// authFile holds a login, below the state folder.
const authFile = "auth.json"

// installationFile has the id of an installation, below the state folder, and
// maxInstallation bounds it, in bytes.
const (
	installationFile = "installation_id"
	maxInstallation  = 256
)

// login finds the login that codex would use, in its own order: the key for a
// single run, the stored login, and last a general key.
func login(s agent.Surroundings) agent.Login {
	home := s.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(s.Home, ".codex")
	}
	var found agent.Login
	settings := table{}
	if text, err := s.Read(filepath.Join(home, configFile)); err == nil {
		if toml.Unmarshal(text, &settings) == nil {
			absolute(settings, home)
			if moved, err := toml.Marshal(settings); err == nil {
				text = moved
			}
		}
		found.Files = append(found.Files, agent.File{Name: configFile, Data: text})
	}
	for _, name := range []string{"AGENTS.md", "AGENTS.override.md"} {
		if text, err := s.Read(filepath.Join(home, name)); err == nil {
			found.Files = append(found.Files, agent.File{Name: name, Data: text})
		}
	}
	// Without this file each agent makes an id of its own. Its provider then counts
	// another installation.
	if id, err := s.Read(filepath.Join(home, installationFile)); err == nil && len(id) > 0 && len(id) <= maxInstallation {
		found.Files = append(found.Files, agent.File{Name: installationFile, Data: id})
	}
	settings, err := users(found.Files)
	if err != nil {
		settings = table{} // the launch reports the error
	}
	found.Env = ofServers(settings)
	name, _ := settings["model_provider"].(string)
	all, _ := settings["model_providers"].(table)
	custom, configured := all[name].(table)
	found.Provider = name
	needs, _ := custom["requires_openai_auth"].(bool)
	base, _ := custom["base_url"].(string)
	if name == "" || name == "openai" {
		base, _ = settings["openai_base_url"].(string)
	}
	found.Addresses = map[string]string{"": base}
	switch {
	case name == "" || name == "openai" || configured && needs:
		stored(s, home, &found)
	case configured:
		ofProvider(s, name, custom, &found)
	default:
		found.Name = "built-in provider " + name
		if name == "amazon-bedrock" {
			found.Env = append(found.Env, "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
				"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
		}
	}
	slices.Sort(found.Env)
	found.Env = slices.Compact(found.Env)
	return found
}

// stored finds a login with OpenAI. Keys become part of the state of an agent:
// its commands can print the variables of their environment.
func stored(s agent.Surroundings, home string, found *agent.Login) {
	if key := s.Getenv("CODEX_API_KEY"); key != "" {
		found.Name = "key in $CODEX_API_KEY"
		found.Files = append(found.Files, keyFile(key))
		return
	}
	text, err := s.Read(filepath.Join(home, authFile))
	if err == nil && ofFile(text, found) {
		return
	}
	if key := s.Getenv("OPENAI_API_KEY"); key != "" {
		found.Name = "key in $OPENAI_API_KEY"
		found.Files = append(found.Files, keyFile(key))
		return
	}
	found.Missing = "a key in $CODEX_API_KEY or $OPENAI_API_KEY, or codex login " +
		`(with cli_auth_credentials_store = "file": what a keyring holds cannot be handed to agents)`
}

func keyFile(key string) agent.File {
	return agent.File{Name: authFile, Data: object{"auth_mode": "apikey", "OPENAI_API_KEY": key}.json()}
}

// ofFile takes the login that codex has stored, and reports whether there is
// one. A refresh token works once: two agents with a copy would log each other
// out, and the user too. Without it they use the access token until it expires.
func ofFile(text []byte, found *agent.Login) bool {
	var auth map[string]json.RawMessage
	if json.Unmarshal(text, &auth) != nil {
		return false
	}
	var tokens map[string]any
	_ = json.Unmarshal(auth["tokens"], &tokens) // null, where there are none
	if access, _ := tokens["access_token"].(string); access != "" {
		tokens["refresh_token"] = ""
		auth["tokens"] = object(tokens).json()
		found.Name = "ChatGPT login of codex"
		found.Risk = "agents share its access token and cannot renew it: once it has ended they fail, until codex itself was used again; " +
			"its usage limits are for all agents together"
	} else {
		var key string
		if json.Unmarshal(auth["OPENAI_API_KEY"], &key) != nil || key == "" {
			return false
		}
		found.Name = "key stored by codex login"
	}
	copied, err := json.Marshal(auth)
	if err != nil {
		return false
	}
	found.Files = append(found.Files, agent.File{Name: authFile, Data: copied})
	return true
}

// ofProvider is the login of a provider that the user configured.
func ofProvider(s agent.Surroundings, name string, p table, found *agent.Login) {
	said := "provider " + name + " of config.toml"
	found.Env = append(found.Env, values(p["env_http_headers"])...)
	key, _ := p["env_key"].(string)
	switch {
	case key == "":
		found.Name = said
	case s.Getenv(key) == "":
		found.Missing = "$" + key + ", which " + said + " needs"
	default:
		found.Name = said + ", key in $" + key
		found.Env = append(found.Env, key)
	}
}

// ofServers are the variables that the user's MCP servers need.
func ofServers(settings table) []string {
	var names []string
	servers, _ := settings["mcp_servers"].(table)
	for _, value := range servers {
		server, _ := value.(table)
		if name, _ := server["bearer_token_env_var"].(string); name != "" {
			names = append(names, name)
		}
		names = append(names, values(server["env_http_headers"])...)
		for _, variable := range list(server["env_vars"]) {
			if named, ok := variable.(table); ok {
				variable = named["name"]
			}
			if name, _ := variable.(string); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

func values(value any) []string {
	var words []string
	named, _ := value.(table)
	for _, word := range named {
		if word, _ := word.(string); word != "" {
			words = append(words, word)
		}
	}
	return words
}
