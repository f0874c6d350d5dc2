package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"agentswarm/swarm/agent"
)

// login finds how Claude Code would log in: by a variable, which outranks the
// user's subscription, else by what claude login has left.
func login(s agent.Surroundings) agent.Login {
	dir := s.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(s.Home, ".claude")
	}
	l := agent.Login{Missing: "set $ANTHROPIC_API_KEY, or $CLAUDE_CODE_OAUTH_TOKEN to what claude setup-token prints"}
	for _, name := range []string{settingsFile, memoryFile} {
		if text, err := s.Read(filepath.Join(dir, name)); err == nil {
			l.Files = append(l.Files, agent.File{Name: name, Data: text})
		}
	}
	for _, way := range []struct {
		name  string
		needs []string
	}{
		{"CLAUDE_CODE_USE_BEDROCK", []string{
			"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_PROFILE",
		}},
		{"CLAUDE_CODE_USE_VERTEX", []string{"GOOGLE_APPLICATION_CREDENTIALS"}},
		{"CLAUDE_CODE_USE_FOUNDRY", []string{"ANTHROPIC_FOUNDRY_API_KEY"}},
		{"ANTHROPIC_AUTH_TOKEN", []string{"ANTHROPIC_AUTH_TOKEN"}},
		{"ANTHROPIC_API_KEY", []string{"ANTHROPIC_API_KEY"}},
		{"CLAUDE_CODE_OAUTH_TOKEN", []string{"CLAUDE_CODE_OAUTH_TOKEN"}},
	} {
		if s.Getenv(way.name) != "" {
			l.Name, l.Env = "by $"+way.name, way.needs
			return l
		}
	}
	text, err := s.Read(filepath.Join(dir, credentialsFile))
	if err != nil {
		return l
	}
	file, until, err := lent(text)
	if err != nil {
		l.Missing = filepath.Join(dir, credentialsFile) + ": " + err.Error() + "; " + l.Missing
		return l
	}
	l.Files = append(l.Files, agent.File{Name: credentialsFile, Data: file})
	l.Name = "subscription, of " + filepath.Join(dir, credentialsFile)
	l.Risk = fmt.Sprintf("agents cannot renew its token, which ends at %s; claude setup-token prints one that lasts a year, for $CLAUDE_CODE_OAUTH_TOKEN",
		until.Format(time.RFC3339))
	return l
}

// lent is a copy of the credentials without what renews them: that works once,
// and of a hundred agents that use it ninety-nine would be logged out, and the
// user with them.
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
