package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// The files of the state folder that are composed here.
const (
	settingsFile    = "settings.json"
	credentialsFile = ".credentials.json"
	memoryFile      = "CLAUDE.md"
	systemFile      = "swarm-system.md"
	hooksFile       = "swarm-settings.json"
)

// Launch starts Claude Code with its stdin open.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	argv := slices.Clone(r.Spec.Command)
	if len(r.Command) > 0 {
		argv = slices.Clone(r.Command)
	}
	argv = append(argv, "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--include-partial-messages", "--strict-mcp-config", "--exclude-dynamic-system-prompt-sections")
	options, err := options(r)
	if err != nil {
		return agent.Launch{}, err
	}
	l := agent.Launch{
		Argv: append(argv, options...), Open: true, Respond: farewell,
		Feed: message(r.Prompt), Again: message, Steer: message,
		Env: []string{
			"CLAUDE_CONFIG_DIR=" + r.State, "CLAUDE_CODE_MAX_RETRIES=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			// Its memory would be thrown away, and the memory's path would make
			// the common beginning of all agents' prompts differ.
			"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_BUG_COMMAND=1",
		},
		// They would make it take itself for a part of another Claude Code.
		Unset: []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SIMPLE"},
	}
	if r.Walled {
		l.Env = append(l.Env, "IS_SANDBOX=1")
	}
	if n := r.Spec.MaxThinking; n > 0 {
		l.Env = append(l.Env, "MAX_THINKING_TOKENS="+strconv.FormatInt(n, 10))
	}
	l.Files, err = files(r)
	return l, err
}

// farewell lets the agent go after an error: it would wait for more words.
func farewell(e event.Event) (text []byte, last bool) {
	_, failed := e.(*event.Erred)
	return nil, failed
}

// options returns the flags that differ between requests.
func options(r agent.Request) ([]string, error) {
	s := r.Spec
	var argv []string
	add := func(words ...string) { argv = append(argv, words...) }
	// Settings of a repository bring commands without approval, and may send
	// the model's requests to another server, with the user's key.
	add("--setting-sources", "user")
	add(permissions(r)...)
	if len(r.Hook) > 0 {
		add("--settings", path.Join(r.State, hooksFile))
	}
	if s.Model != "" {
		add("--model=" + s.Model)
	}
	if s.Effort != "" {
		if levels := []string{"low", "medium", "high", "xhigh", "max"}; !slices.Contains(levels, s.Effort) {
			return nil, fmt.Errorf("effort %q: claude knows %s", s.Effort, strings.Join(levels, ", "))
		}
		add("--effort", s.Effort)
	}
	if err := s.CheckReads(); err != nil {
		return nil, err
	}
	without := entries(s.Without)
	switch {
	case len(s.Tools) > 0:
		add("--tools=" + strings.Join(whole(s.Tools), ","))
	case s.ReadOnly:
		add("--tools=" + strings.Join(whole(agent.ReadOnlyTools()), ","))
	default:
		// They leave the workspace, wait for other days, or start more agents than
		// anybody counts.
		without = append([]string{
			"EnterWorktree", "ExitWorktree", "CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "SendMessage", "Workflow",
		}, without...)
	}
	if len(without) > 0 {
		add("--disallowed-tools=" + strings.Join(without, ","))
	}
	if r.System != "" {
		add("--append-system-prompt-file", path.Join(r.State, systemFile))
	}
	if n := len(r.Schema); n > maxSchema {
		return nil, fmt.Errorf("schema: %d bytes, and claude takes it as an argument of at most %d", n, maxSchema)
	} else if n > 0 {
		add(schemaFlag + string(r.Schema))
	}
	if r.Parent != "" {
		add("--resume="+r.Parent, "--fork-session")
	}
	if r.Session != "" {
		add("--session-id=" + r.Session)
	}
	return argv, nil
}

const schemaFlag = "--json-schema="

// maxSchema is the longest schema: Linux takes words of 128 KiB, with a zero at
// their end.
const maxSchema = 128<<10 - len(schemaFlag) - 1

// check returns an error that names an option which no agent of the kind
// supports.
func check(s *agent.Spec) error {
	_, err := options(agent.Request{Spec: s})
	return err
}

// message is a word to the agent, as a line for its stdin.
func message(text string) []byte {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	line, err := json.Marshal(map[string]any{
		"type":    "user",
		"message": map[string]any{"role": "user", "content": []content{{"text", text}}},
	})
	if err != nil {
		panic(fmt.Sprintf("claude: a message of strings does not marshal: %v", err))
	}
	return append(line, '\n')
}

// files are those of the state folder.
func files(r agent.Request) ([]agent.File, error) {
	var all []agent.File
	settings := map[string]any{}
	for _, f := range r.Login.Files {
		switch f.Name {
		case settingsFile:
			var err error
			if settings, err = kept(f.Data); err != nil {
				return nil, err
			}
		default:
			all = append(all, f)
		}
	}
	composed := map[string]any{settingsFile: settings}
	if len(r.Hook) > 0 {
		composed[hooksFile] = hooks(r.Hook)
	}
	for _, name := range slices.Sorted(maps.Keys(composed)) {
		text, err := json.Marshal(composed[name])
		if err != nil {
			return nil, fmt.Errorf("compose the settings of claude: %w", err)
		}
		all = append(all, agent.File{Name: name, Data: text})
	}
	if r.System != "" {
		all = append(all, agent.File{Name: systemFile, Data: []byte(r.System)})
	}
	return all, nil
}

// hooks are settings that win over those of the repository, which could turn all
// hooks off: the hook is asked before each tool.
func hooks(hook []string) map[string]any {
	command := argv.Quoted(append(slices.Clone(hook), "--agent", "claude"))
	return map[string]any{
		"disableAllHooks": false,
		"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": "*",
			"hooks":   []any{map[string]any{"type": "command", "command": command, "timeout": hookSeconds}},
		}}},
	}
}

// hookSeconds is the time limit of a hook: a person decides. The CLI takes a
// hook that times out as approval, so this is a week.
const hookSeconds = 7 * 24 * 60 * 60

// kept returns the user's settings that agents share: the model, the provider
// and the login there. It drops settings that start or allow something.
func kept(text []byte) (map[string]any, error) {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("the user's settings.json of claude: %w", err)
	}
	few := map[string]any{}
	for _, name := range []string{
		"model", "env", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "forceLoginMethod", "forceLoginOrgUUID",
		"alwaysThinkingEnabled", "effortLevel", "outputStyle", "language", "includeCoAuthoredBy", "attribution", "modelOverrides",
	} {
		if value, ok := all[name]; ok {
			few[name] = value
		}
	}
	return few, nil
}
