package gemini

import (
	"path/filepath"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// The ways to log in, as the settings name them.
const (
	byKey    = "gemini-api-key"
	byVertex = "vertex-ai"
	byGoogle = "oauth-personal"
)

// keyVariable holds a key of the provider.
const keyVariable = "GEMINI_API_KEY"

// login finds how Gemini CLI would log in: as its settings say, else by a
// variable, which may stand in a file of its own.
func login(s agent.Surroundings) agent.Login {
	dir := filepath.Join(s.Home, home)
	if other := s.Getenv("GEMINI_CLI_HOME"); other != "" {
		dir = filepath.Join(other, home)
	}
	machine := "/etc/gemini-cli/settings.json"
	if other := s.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"); other != "" {
		machine = other
	}
	l := agent.Login{Missing: "set $GEMINI_API_KEY, or log in by gemini once"}
	take := func(from, name string) []byte {
		text, err := s.Read(filepath.Join(dir, from))
		if err == nil {
			l.Files = append(l.Files, agent.File{Name: name, Data: text})
		}
		return text
	}
	settings := take("settings.json", settingsFile)
	take("GEMINI.md", memoryFile)
	text, _ := s.Read(filepath.Join(dir, ".env"))
	own := wire.Variables(text, func(name string) bool {
		ours := strings.HasPrefix(name, "GEMINI_") || strings.HasPrefix(name, "GOOGLE_")
		return ours && s.Getenv(name) == ""
	})
	if len(own) > 0 {
		l.Files = append(l.Files, agent.File{Name: envFile, Data: []byte(strings.Join(own, "\n"))})
	}
	enforced, _ := s.Read(machine)
	named := selected(enforced, settings)
	is := named
	if is == "" {
		is = way(s, own)
	}
	switch is {
	case byKey:
		l.Addresses = map[string]string{"": value(s, own, "GOOGLE_GEMINI_BASE_URL")}
		switch {
		case s.Getenv(keyVariable) != "":
			l.Name, l.Env = "by $"+keyVariable, []string{keyVariable}
		case value(s, own, keyVariable) != "":
			l.Name = "key in " + filepath.Join(dir, ".env")
		}
	case byVertex:
		l.Name = "Vertex AI"
		l.Addresses = map[string]string{"": value(s, own, "GOOGLE_VERTEX_BASE_URL")}
		l.Env = []string{"GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}
	case byGoogle:
		if len(take("oauth_creds.json", oauthFile)) == 0 {
			l.Missing = filepath.Join(dir, "oauth_creds.json") + " is not there; " + l.Missing
			break
		}
		take("google_accounts.json", accountsFile)
		l.Name = "Google account, of " + filepath.Join(dir, "oauth_creds.json")
		l.Risk = "all agents share the requests a minute and a day that the account has; a key has more"
	}
	if named == "" && is != "" {
		// With another base URL the CLI takes no hint of a variable.
		l.Files = append(l.Files, agent.File{Name: wayFile, Data: []byte(is)})
	}
	return l
}

// selected is the way that settings name, those of the machine first.
func selected(texts ...[]byte) string {
	for _, text := range texts {
		all, err := wire.Settings(text)
		if err != nil {
			continue
		}
		auth := wire.Object(wire.Object(all, "security"), "auth")
		if is, _ := auth["selectedType"].(string); is != "" {
			return is
		}
	}
	return ""
}

// way returns the way to log in that the variables select.
func way(s agent.Surroundings, own []string) string {
	switch {
	case value(s, own, "GOOGLE_GENAI_USE_GCA") == "true":
		return byGoogle
	case value(s, own, "GOOGLE_GENAI_USE_VERTEXAI") == "true":
		return byVertex
	case value(s, own, keyVariable) != "":
		return byKey
	default:
		return ""
	}
}

// value is that of a variable, which may stand in the CLI's own file.
func value(s agent.Surroundings, own []string, name string) string {
	if is := s.Getenv(name); is != "" {
		return is
	}
	return wire.Variable(own, name)
}
