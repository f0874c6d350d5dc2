package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// way is a way to log in: the variable that selects it, the provider if that is
// not Anthropic, and the variables that it needs in addition to those without
// secrets.
type way struct {
	name, provider string
	needs          []string
}

// clouds are those whose models the CLI can ask; they outrank all else.
func clouds() []way {
	return []way{
		{"CLAUDE_CODE_USE_BEDROCK", "amazon-bedrock", []string{
			"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
			"AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE",
			"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_CA_BUNDLE",
		}},
		{"CLAUDE_CODE_USE_VERTEX", "google-vertex", []string{"GOOGLE_APPLICATION_CREDENTIALS", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT"}},
		{"CLAUDE_CODE_USE_FOUNDRY", "azure-foundry", []string{
			"ANTHROPIC_FOUNDRY_API_KEY", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE",
		}},
	}
}

// login finds the login that Claude Code would use, in its own order: a cloud,
// a key in a variable, the program that prints a key, a long-lived token, else
// the stored login of claude login. Its settings have variables, too, which
// win.
func login(s agent.Surroundings) agent.Login {
	dir := s.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(s.Home, ".claude")
	}
	l := agent.Login{Missing: "set $ANTHROPIC_API_KEY, or $CLAUDE_CODE_OAUTH_TOKEN to the output of claude setup-token"}
	for _, name := range []string{settingsFile, memoryFile} {
		if text, err := s.Read(filepath.Join(dir, name)); err == nil {
			l.Files = append(l.Files, agent.File{Name: name, Data: text})
		}
	}
	settings := filepath.Join(dir, settingsFile)
	env, helper := configured(l.Files)
	try := func(w way) bool {
		switch {
		case l.Name != "":
			return true
		case env[w.name] != "":
			l.Name = w.name + " in " + settings
		case s.Getenv(w.name) != "":
			l.Name = "by $" + w.name
		default:
			return false
		}
		l.Provider = w.provider
		for _, name := range w.needs {
			if env[name] == "" {
				l.Env = append(l.Env, name)
			}
		}
		return true
	}
	for _, w := range clouds() {
		if try(w) {
			l.Risk = "the sandbox hides credentials of clouds below HOME, such as ~/.aws: variables are passed on"
			return l
		}
	}
	const base = "ANTHROPIC_BASE_URL"
	l.Addresses = map[string]string{"": cmp.Or(env[base], s.Getenv(base))}
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"} {
		if try(way{name: name, needs: []string{name}}) {
			return l
		}
	}
	if helper {
		l.Name = "apiKeyHelper of " + settings
		l.Risk = "each agent runs apiKeyHelper itself, in its sandbox: keys below HOME may be hidden there"
		return l
	}
	if !try(way{name: "CLAUDE_CODE_OAUTH_TOKEN", needs: []string{"CLAUDE_CODE_OAUTH_TOKEN"}}) {
		subscribed(&l, s, dir)
	}
	return l
}

// configured reads the logins in the user's settings: variables, and whether a
// program prints the key.
func configured(files []agent.File) (env map[string]string, helper bool) {
	var all struct {
		Env    map[string]any `json:"env"`
		Helper string         `json:"apiKeyHelper"`
	}
	for _, f := range files {
		if f.Name == settingsFile {
			wire.Decode(f.Data, &all) // the launch reports the errors in it
		}
	}
	env = map[string]string{}
	for name, value := range all.Env {
		if text := fmt.Sprint(value); text != "0" && text != "false" {
			env[name] = text
		}
	}
	return env, all.Helper != ""
}

// subscribed uses the stored login of claude login, if there is one.
func subscribed(l *agent.Login, s agent.Surroundings, dir string) {
	text, err := s.Read(filepath.Join(dir, credentialsFile))
	if err != nil {
		return
	}
	file, until, err := lent(text)
	if err != nil {
		l.Missing = filepath.Join(dir, credentialsFile) + ": " + err.Error() + "; " + l.Missing
		return
	}
	l.Files = append(l.Files, agent.File{Name: credentialsFile, Data: file})
	l.Name = "subscription, of " + filepath.Join(dir, credentialsFile)
	l.Risk = fmt.Sprintf("agents cannot renew its token, which expires at %s; claude setup-token prints a token for a year, for $CLAUDE_CODE_OAUTH_TOKEN",
		until.Format(time.RFC3339))
}

// lent returns a copy of the credentials without the refresh token. That works
// once: of a hundred agents that use it ninety-nine would be logged out, and
// the user with them.
func lent(text []byte) (file []byte, until time.Time, err error) {
	var all struct {
		Account map[string]any `json:"claudeAiOauth"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, until, err
	}
	account := all.Account
	if token, _ := account["accessToken"].(string); token == "" {
		return nil, until, fmt.Errorf("it holds no access token")
	}
	delete(account, "refreshToken")
	if ms, ok := account["expiresAt"].(float64); ok {
		until = time.UnixMilli(int64(ms)).UTC()
	}
	file, err = json.Marshal(map[string]any{"claudeAiOauth": account})
	return file, until, err
}
