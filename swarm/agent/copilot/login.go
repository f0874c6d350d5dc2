package copilot

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// baseURL is the variable with the address of a provider of the user's own.
const baseURL = "COPILOT_PROVIDER_BASE_URL"

// keys are the variables that log in at such a provider.
func keys() []string {
	return []string{
		"COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_API_KEY_COMMAND", "COPILOT_PROVIDER_HEADERS",
	}
}

// tokens are the variables with a token of GitHub, in the order of the CLI.
func tokens() []string { return []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"} }

// login finds how Copilot CLI would log in: at a provider of the user's own, by
// a token of GitHub, or by the login that is stored.
func login(s agent.Surroundings) agent.Login {
	l := agent.Login{Missing: "set $COPILOT_GITHUB_TOKEN to a token that may use Copilot, or $" + baseURL + " to a provider of your own"}
	if base := s.Getenv(baseURL); base != "" {
		l.Name, l.Provider = "provider at "+address(base), reaches(s, base)
		l.Addresses = map[string]string{"": base}
		for _, key := range keys() {
			if s.Getenv(key) != "" {
				l.Env = append(l.Env, key)
			}
		}
		return l
	}
	for _, token := range tokens() {
		if s.Getenv(token) != "" {
			l.Name, l.Env = "by $"+token, []string{token}
			return l
		}
	}
	path := filepath.Join(cmp.Or(s.Getenv("COPILOT_HOME"), filepath.Join(s.Home, ".copilot")), configFile)
	text, err := s.Read(path)
	if err != nil {
		return l
	}
	if kept := stored(text); kept != nil {
		l.Name, l.Files = "GitHub account, of "+path, []agent.File{{Name: configFile, Data: kept}}
	}
	return l
}

// stored is the login in a config.json of the CLI, without the other
// settings. It is nil where there is none: most systems keep the token in a key ring.
func stored(text []byte) []byte {
	all, err := wire.Settings(text)
	if err != nil {
		return nil
	}
	few := wire.Only(all, "copilotTokens", "copilot_tokens", "lastLoggedInUser", "last_logged_in_user", "loggedInUsers", "logged_in_users")
	if few["copilotTokens"] == nil && few["copilot_tokens"] == nil {
		return nil
	}
	kept, err := json.Marshal(few)
	if err != nil {
		return nil
	}
	return kept
}

// reaches is the provider behind an address, for the lane and the prices.
func reaches(s agent.Surroundings, base string) string {
	kind := s.Getenv("COPILOT_PROVIDER_TYPE")
	if kind == "azure" {
		return "azure"
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return ""
	case kind == "anthropic" && u.Hostname() == "api.anthropic.com":
		return "anthropic"
	case kind != "anthropic" && u.Hostname() == "api.openai.com":
		return "openai"
	}
	return u.Host
}

// address is a base URL without a user and a password.
func address(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "$" + baseURL
	}
	return u.Scheme + "://" + u.Host + u.Path
}
