package gemini

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
	"agentswarm/swarm/toolset"
	"agentswarm/swarm/wire"
)

// home is the folder of the CLI's files below the folder that it takes for its
// home. project is the name under which it files all conversations there.
const (
	home    = ".gemini"
	project = "swarm"
)

// The files of the state folder that are composed here, or looked for.
const (
	settingsFile = home + "/settings.json"
	memoryFile   = home + "/GEMINI.md"
	envFile      = home + "/.env"
	oauthFile    = home + "/oauth_creds.json"
	accountsFile = home + "/google_accounts.json"
	projectsFile = home + "/projects.json"
	wayFile      = "way" // which way of logging in variables name; not written
	systemFile   = home + "/" + systemName
	policyFile   = home + "/swarm-policy.toml"
	extension    = home + "/extensions/swarm/"
)

// systemName is the file name of the text for the system prompt. The CLI reads
// files of such names as a memory.
const systemName = "swarm-system.md"

// hookMS is the time limit of a hook: a person decides. The CLI takes a hook
// that times out as approval, so this is a week.
const hookMS = 7 * 24 * 60 * 60 * 1000

// Launch starts Gemini CLI with the prompt on stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	s := r.Spec
	argv := slices.Clone(s.Command)
	if len(r.Command) > 0 {
		argv = slices.Clone(r.Command)
	}
	argv = append(argv, "--output-format", "stream-json", "--approval-mode", "default", "--policy", path.Join(r.State, policyFile), "--allowed-mcp-server-names=none")
	switch {
	case s.Effort != "":
		return agent.Launch{}, fmt.Errorf("effort %q: gemini has no option for it", s.Effort)
	case len(r.Prompt) > maxPrompt:
		return agent.Launch{}, fmt.Errorf("a prompt of %d bytes: gemini reads %d", len(r.Prompt), maxPrompt)
	}
	if err := s.CheckReads(); err != nil {
		return agent.Launch{}, err
	}
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	switch {
	case r.Parent != "":
		argv = append(argv, "--resume="+r.Parent)
	case r.Session != "":
		argv = append(argv, "--session-id="+r.Session)
	}
	l := agent.Launch{
		Argv: argv, Stdin: r.PromptFile,
		Env: []string{
			"GEMINI_CLI_HOME=" + r.State, "GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=false",
			"GEMINI_TELEMETRY_ENABLED=false", "NO_BROWSER=true",
		},
		Unset: []string{
			"GEMINI_SANDBOX", "GEMINI_RESTRICTED_MODE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH", "GEMINI_CLI_IDE_SERVER_PORT",
			"GEMINI_CLI_IDE_WORKSPACE_PATH", "GEMINI_CLI_IDE_PID", "GEMINI_CLI_ACTIVITY_LOG_TARGET",
		},
	}
	for _, f := range r.Login.Files {
		if f.Name == envFile {
			l.Env = append(l.Env, strings.Fields(string(f.Data))...)
		}
	}
	var err error
	l.Files, err = files(r)
	return l, err
}

// maxPrompt is the most bytes that the CLI reads from stdin. It cuts longer
// prompts.
const maxPrompt = 8 << 20

// shell is the CLI's name for the tool that runs commands.
const shell = "run_shell_command"

// tools are those an agent may use, by the names of Gemini CLI; empty: all.
func tools(s *agent.Spec) []string {
	some := s.Tools
	if len(some) == 0 && s.ReadOnly {
		some = agent.ReadOnlyTools()
	}
	return theirs(some)
}

// theirs are entries of a list by the names of Gemini CLI.
func theirs(list []string) []string {
	names := map[string][]string{
		"read": {"read_file", "read_many_files"}, "grep": {"grep_search"}, "find": {"glob"}, "ls": {"list_directory"},
		"edit": {"replace"}, "write": {"write_file"}, "bash": {shell},
		toolset.WebSearch: {"google_web_search"}, toolset.WebFetch: {"web_fetch"}, toolset.Skill: {"activate_skill"}, toolset.TodoWrite: {"write_todos"},
	}
	var all []string
	for _, t := range list {
		all = append(all, names[t]...)
	}
	return all
}

// lists states which entries Gemini CLI takes: whole tools, allowed or denied by
// its policy.
func lists() toolset.Rules {
	return toolset.Rules{
		More:   []string{toolset.WebSearch, toolset.WebFetch, toolset.Skill, toolset.TodoWrite},
		Denies: true,
	}
}

// policy says which tools are used without anybody being asked. A tool that it
// denies is not offered to the model.
func policy(some, without []string) []byte {
	rules := ""
	add := func(rule string, priority int, more string) {
		rules += "[[rule]]\ntoolName = " + rule + "\npriority = " + strconv.Itoa(priority) + "\n" + more
	}
	// They wait for a person, and in plan mode nothing is written.
	add(`["enter_plan_mode", "exit_plan_mode", "ask_user"]`+"\ndecision = \"deny\"", 900, "")
	if len(some) == 0 {
		add(`"*"`+"\ndecision = \"allow\"", 800, "")
	} else {
		add(`"*"`+"\ndecision = \"deny\"", 800, "")
		add(`["`+strings.Join(some, `", "`)+`"]`+"\ndecision = \"allow\"", 810, "")
	}
	if len(without) > 0 {
		add(`["`+strings.Join(without, `", "`)+`"]`+"\ndecision = \"deny\"", 830, "")
	}
	if len(some) == 0 || slices.Contains(some, shell) {
		// A rule with a pattern is spared the opinion that git is not to be run in a
		// folder that is not trusted.
		add(`"`+shell+`"`+"\ndecision = \"allow\"", 820, "argsPattern = \".*\"\nallowRedirection = true\n")
	}
	return []byte(rules)
}

// files returns the files of the state folder. The user's own variables of the
// CLI are not among them.
func files(r agent.Request) ([]agent.File, error) {
	var all []agent.File
	settings, way := map[string]any{}, ""
	for _, f := range r.Login.Files {
		switch f.Name {
		case settingsFile:
			var err error
			if settings, err = kept(f.Data); err != nil {
				return nil, err
			}
		case wayFile:
			way = string(f.Data)
		case envFile:
		default:
			all = append(all, f)
		}
	}
	some := tools(r.Spec)
	enforce(settings, some)
	if way != "" {
		wire.Object(wire.Object(settings, "security"), "auth")["selectedType"] = way
	}
	if r.System != "" {
		memories(settings)
		all = append(all, agent.File{Name: systemFile, Data: []byte(r.System)})
	}
	contents := map[string]any{
		settingsFile: settings,
		projectsFile: map[string]any{"projects": map[string]string{r.Dir: project}},
	}
	if len(r.Hook) > 0 {
		addHook(&r, settings, contents)
	}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		text, err := json.Marshal(contents[name])
		if err != nil {
			return nil, fmt.Errorf("compose %s of gemini: %w", name, err)
		}
		all = append(all, agent.File{Name: name, Data: text})
	}
	return append(all, agent.File{Name: policyFile, Data: policy(some, theirs(r.Spec.Without))}), nil
}

// enforce adds the settings that must hold over the user's.
func enforce(all map[string]any, some []string) {
	set := func(group, name string, value any) { wire.Object(all, group)[name] = value }
	set("general", "enableAutoUpdate", false)
	set("general", "enableAutoUpdateNotification", false)
	set("general", "maxAttempts", 1)
	set("general", "checkpointing", map[string]any{"enabled": false})
	set("general", "sessionRetention", map[string]any{"enabled": false})
	set("privacy", "usageStatisticsEnabled", false)
	set("telemetry", "enabled", false)
	set("model", "maxSessionTurns", -1)
	set("model", "skipNextSpeakerCheck", true)
	set("experimental", "autoMemory", false)
	set("ide", "enabled", false)
	set("tools", "sandbox", false)
	set("security", "toolSandboxing", false)
	// With it the CLI refuses to work where the variable says that the folder is
	// not trusted, instead of ignoring the settings there.
	set("security", "folderTrust", map[string]any{"enabled": false})
	if len(some) > 0 {
		set("tools", "core", some)
	}
}

// memories names the files that are read as a memory: those the user has named,
// and ours.
func memories(settings map[string]any) {
	context := wire.Object(settings, "context")
	names := []any{"GEMINI.md"}
	switch is := context["fileName"].(type) {
	case string:
		names = []any{is}
	case []any:
		names = is
	}
	context["fileName"] = append(slices.Clone(names), systemName)
}

// addHook has the hook asked before each tool. The CLI runs hooks of settings
// only in folders that are trusted, where those of the repository run as well,
// and where the repository's settings may turn all of them off; those of
// extensions everywhere. So no workspace is trusted.
func addHook(r *agent.Request, settings, files map[string]any) {
	hooks := map[string]any{"BeforeTool": []any{map[string]any{
		"matcher": "*",
		"hooks": []any{map[string]any{
			// Settings can turn hooks off by name, so the name is
			// unpredictable.
			"type": "command", "name": "swarm-" + r.Session, "timeout": hookMS,
			"command": argv.Quoted(append(slices.Clone(r.Hook), "--agent", "gemini")),
		}},
	}}}
	wire.Object(settings, "hooksConfig")["enabled"] = true
	files[extension+"gemini-extension.json"] = map[string]any{"name": "swarm", "version": "1.0.0"}
	files[extension+"hooks/hooks.json"] = map[string]any{"hooks": hooks}
}

// kept returns the user's settings that agents share: the model, the login, and
// the names of memory files. It drops settings that start or allow something.
func kept(text []byte) (map[string]any, error) {
	all, err := wire.Settings(text)
	if err != nil {
		return nil, fmt.Errorf("the user's settings.json of gemini: %w", err)
	}
	few := wire.Only(all, "model", "modelConfigs", "billing")
	if security, ok := all["security"].(map[string]any); ok {
		few["security"] = wire.Only(security, "auth")
	}
	if context, ok := all["context"].(map[string]any); ok {
		few["context"] = wire.Only(context, "fileName", "importFormat", "fileFiltering", "discoveryMaxDirs", "memoryBoundaryMarkers", "includeDirectoryTree")
	}
	return few, nil
}
