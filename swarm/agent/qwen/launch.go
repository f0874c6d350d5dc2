package qwen

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
	"agentswarm/swarm/wire"
)

// The files of the state folder that are composed here, or looked for.
const (
	settingsFile = "settings.json"
	memoryFile   = "QWEN.md"
	trustFile    = "trustedFolders.json"
	systemFile   = "swarm-system.md"
	schemaFile   = "swarm-schema.json"
	// enforcedFile has the settings that win over all others.
	enforcedFile = "swarm-settings.json"
	// They are not written: variables that the user has in a file, and which way
	// of logging in variables name.
	envFile = ".env"
	wayFile = "way"
)

// hookMS is the time limit of a hook: a person decides. The CLI takes a hook
// that times out as approval, so this is a week.
const hookMS = 7 * 24 * 60 * 60 * 1000

// maxPrompt is the most bytes that the CLI reads from stdin. It cuts longer
// prompts.
const maxPrompt = 8 << 20

// Launch starts Qwen Code with the prompt on stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	s := r.Spec
	argv := slices.Clone(s.Command)
	if len(r.Command) > 0 {
		argv = slices.Clone(r.Command)
	}
	argv = append(argv, "--output-format", "stream-json", "--approval-mode", "default", "--chat-recording",
		"--extensions=none", "--allowed-mcp-server-names=none")
	if err := refuse(&r); err != nil {
		return agent.Launch{}, err
	}
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	if objects(r.Schema) {
		argv = append(argv, "--json-schema=@"+path.Join(r.State, schemaFile))
	}
	switch {
	case r.Parent != "":
		// It gives the fork an id of its own choice.
		argv = append(argv, "--resume="+r.Parent, "--fork-session")
	case r.Session != "":
		argv = append(argv, "--session-id="+r.Session)
	}
	l := agent.Launch{
		Argv: argv, Stdin: r.PromptFile,
		Env: []string{
			"QWEN_HOME=" + r.State, "QWEN_CODE_SYSTEM_SETTINGS_PATH=" + path.Join(r.State, enforcedFile), "QWEN_CODE_NO_RELAUNCH=true",
			"QWEN_CODE_SUPPRESS_YOLO_WARNING=1", "QWEN_DISABLE_AUTO_TITLE=1", "QWEN_USAGE_STATISTICS_ENABLED=false", "QWEN_TELEMETRY_ENABLED=false",
			"QWEN_CODE_DISABLE_CRON=1", "NO_BROWSER=true",
		},
		Unset: []string{
			"QWEN_SANDBOX", "QWEN_RUNTIME_DIR", "QWEN_CODE_TRUSTED_FOLDERS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "QWEN_CODE_UNATTENDED_RETRY",
			"QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE", "QWEN_CODE_SESSION_ID", "QWEN_CODE_IDE_SERVER_PORT", "QWEN_CODE_IDE_WORKSPACE_PATH",
			"QWEN_CODE_MANAGED_NPM_PIN", "QWEN_CODE_MANAGED_NPM_ROOT", "QWEN_CODE_RELAUNCH_ARGS",
		},
	}
	if r.System != "" {
		// The CLI takes words for its system prompt by an option alone.
		l.Argv = append(l.Argv, "--append-system-prompt="+r.System)
	}
	for _, f := range r.Login.Files {
		switch f.Name {
		case envFile:
			l.Env = append(l.Env, strings.Fields(string(f.Data))...)
		case wayFile:
			l.Argv = append(l.Argv, "--auth-type="+string(f.Data))
		}
	}
	var err error
	l.Files, err = files(r)
	return l, err
}

// check returns an error that names an option which no agent of the kind
// supports.
func check(s *agent.Spec) error { return refuse(&agent.Request{Spec: s}) }

// refuse returns an error if Qwen Code does not support the request.
func refuse(r *agent.Request) error {
	s := r.Spec
	switch levels := []string{"low", "medium", "high", "xhigh", "max"}; {
	case s.Effort != "" && !slices.Contains(levels, s.Effort):
		return fmt.Errorf("effort %q: qwen knows %s", s.Effort, strings.Join(levels, ", "))
	case len(r.Prompt) > maxPrompt:
		return fmt.Errorf("a prompt of %d bytes: qwen reads %d", len(r.Prompt), maxPrompt)
	case len(r.System) > maxSystem:
		return fmt.Errorf("%d bytes for the system prompt: qwen takes %d", len(r.System), maxSystem)
	default:
		return s.CheckReads()
	}
}

// maxSystem is the longest text in a single argument of a command line.
const maxSystem = 120 << 10

// objects reports whether a schema describes objects. The answer is the input
// of a tool, so the CLI refuses other schemas at its start.
func objects(schema json.RawMessage) bool {
	var is struct {
		Type any             `json:"type"`
		Ref  json.RawMessage `json:"$ref"`
	}
	return json.Unmarshal(schema, &is) == nil && is.Type == "object" && is.Ref == nil
}

// tools are those an agent may use, by the names of Qwen Code; empty: all.
func tools(s *agent.Spec) []string {
	some := s.Tools
	if len(some) == 0 && s.ReadOnly {
		some = agent.ReadOnlyTools()
	}
	return theirs(some)
}

// theirs are entries of a list by the names of Qwen Code.
func theirs(list []string) []string {
	names := map[string]string{
		"read": "read_file", "grep": "grep_search", "find": "glob", "ls": "list_directory",
		"edit": "edit", "write": "write_file", "bash": "run_shell_command",
		toolset.WebSearch: "web_search", toolset.WebFetch: "web_fetch", toolset.Skill: "skill", toolset.Task: "agent", toolset.TodoWrite: "todo_write",
	}
	var all []string
	for _, t := range list {
		if name := names[t]; name != "" {
			all = append(all, name)
		}
	}
	return all
}

// lists states which entries Qwen Code takes: whole tools, allowed or denied by
// its settings.
func lists() toolset.Rules {
	return toolset.Rules{
		More:   []string{toolset.WebSearch, toolset.WebFetch, toolset.Skill, toolset.Task, toolset.TodoWrite},
		Denies: true,
	}
}

// others are the tools that an agent does not have which is to have some. The
// list of those that it is to have does not keep these away.
func others(some []string) []string {
	all := []string{
		"exec", "edit", "write_file", "read_file", "zoom_image", "grep_search", "glob", "run_shell_command", "todo_write", "save_memory", "agent",
		"skill", "exit_plan_mode", "enter_plan_mode", "web_fetch", "web_search", "image_gen", "list_directory", "lsp", "ask_user_question", "cron_create",
		"cron_list", "cron_delete", "loop_wakeup", "create_sub_session", "list_agents", "task_stop", "task_create", "task_update", "task_list",
		"team_create", "team_delete", "team_plan_approval", "request_shutdown", "send_message", "monitor", "notebook_edit", "tool_call",
		"tool_search", "read_mcp_resource", "enter_worktree", "exit_worktree", "workflow", "artifact", "record_artifact", "record_source",
		"report_findings", "get_goal", "update_goal", "propose_goal", "display_image",
	}
	return slices.DeleteFunc(all, func(t string) bool { return slices.Contains(some, t) })
}

// aside are tools that leave the workspace, wait for other days or for a
// person, or start more agents than anybody counts.
func aside() []string {
	return []string{
		"ask_user_question", "cron_create", "cron_list", "cron_delete", "loop_wakeup", "create_sub_session", "enter_worktree", "exit_worktree",
		"enter_plan_mode", "workflow", "team_create", "propose_goal",
	}
}

// files are those of the state folder.
func files(r agent.Request) ([]agent.File, error) {
	var all []agent.File
	settings, enforced := map[string]any{}, map[string]any{}
	for _, f := range r.Login.Files {
		var err error
		switch f.Name {
		case settingsFile:
			settings, err = kept(f.Data)
		case enforcedFile:
			if enforced, err = wire.Settings(f.Data); err != nil {
				err = fmt.Errorf("the settings of qwen for this machine: %w", err)
			}
		case envFile, wayFile:
		default:
			all = append(all, f)
		}
		if err != nil {
			return nil, err
		}
	}
	enforce(enforced, &r)
	trust := map[string]string{r.Dir: "DO_NOT_TRUST"}
	for _, file := range []struct {
		name string
		is   any
	}{{settingsFile, settings}, {enforcedFile, enforced}, {trustFile, trust}} {
		text, err := json.Marshal(file.is)
		if err != nil {
			return nil, fmt.Errorf("compose %s of qwen: %w", file.name, err)
		}
		all = append(all, agent.File{Name: file.name, Data: text})
	}
	if objects(r.Schema) {
		all = append(all, agent.File{Name: schemaFile, Data: r.Schema})
	}
	return all, nil
}

// enforce adds the settings that must hold over all others.
func enforce(all map[string]any, r *agent.Request) {
	set := func(group, name string, value any) { wire.Object(all, group)[name] = value }
	set("general", "enableAutoUpdate", false)
	set("general", "checkpointing", map[string]any{"enabled": false})
	set("privacy", "usageStatisticsEnabled", false)
	set("telemetry", "enabled", false)
	for _, name := range []string{"enableManagedAutoMemory", "enableManagedAutoDream", "enableAutoSkill", "enableTeamMemory", "enableTeamMemorySync"} {
		set("memory", name, false)
	}
	set("ide", "enabled", false)
	for name, most := range map[string]int{"maxSessionTurns": -1, "maxWallTimeSeconds": -1, "maxToolCalls": -1} {
		set("model", name, most)
	}
	set("model", "skipNextSpeakerCheck", true)
	wire.Object(wire.Object(all, "model"), "generationConfig")["maxRetries"] = 0
	if r.Spec.Effort != "" {
		set("model", "reasoningEffort", r.Spec.Effort)
	}
	set("tools", "sandbox", false)
	set("tools", "shell", map[string]any{"enableInteractiveShell": false})
	set("security", "folderTrust", map[string]any{"enabled": true})
	some := tools(r.Spec)
	not := aside()
	if len(some) > 0 {
		not = others(some)
		set("tools", "core", some)
	}
	for _, name := range theirs(r.Spec.Without) {
		if !slices.Contains(not, name) {
			not = append(not, name)
		}
	}
	set("tools", "disabled", not)
	if len(some) == 0 {
		some = tools(&agent.Spec{Tools: agent.AllTools()})
		some = append(some, "web_fetch", "web_search", "agent", "skill", "notebook_edit", "todo_write")
		some = slices.DeleteFunc(some, func(name string) bool { return slices.Contains(not, name) })
	}
	all["permissions"] = map[string]any{"deny": not, "allow": some}
	all["disableAllHooks"] = false
	if len(r.Hook) > 0 {
		all["hooks"] = map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": "*",
			"hooks": []any{map[string]any{
				"type": "command", "name": "swarm", "timeout": hookMS,
				"command": argv.Quoted(append(slices.Clone(r.Hook), "--agent", "qwen")),
			}},
		}}}
	}
}

// kept returns the user's settings that agents share: the model, the provider
// and the login there. It drops settings that start or allow something.
func kept(text []byte) (map[string]any, error) {
	all, err := wire.Settings(text)
	if err != nil {
		return nil, fmt.Errorf("the user's settings.json of qwen: %w", err)
	}
	few := wire.Only(all, "$version", "model", "modelProviders", "env", "proxy", "codingPlan", "providerMetadata")
	if security, ok := all["security"].(map[string]any); ok {
		few["security"] = wire.Only(security, "auth")
	}
	if general, ok := all["general"].(map[string]any); ok {
		few["general"] = wire.Only(general, "outputStyle", "language", "gitCoAuthor")
	}
	if context, ok := all["context"].(map[string]any); ok {
		few["context"] = wire.Only(context, "fileName", "importFormat", "fileFiltering")
	}
	return few, nil
}
