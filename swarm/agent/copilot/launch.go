package copilot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/toolset"
)

// The files of the state folder that are composed here, or looked for.
const (
	settingsFile = "settings.json"
	configFile   = "config.json"
	// agentFile has the words for the system prompt, and agentName is the name by
	// which an option chooses it.
	agentFile = "agents/" + agentName + ".agent.md"
	agentName = "swarm"
)

// hookSeconds bounds the time of a hook, in seconds: a week, since a person
// decides.
const hookSeconds = 7 * 24 * 60 * 60

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 8 << 20

// Launch starts Copilot CLI with the prompt on stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	s := r.Spec
	if err := refuse(&r); err != nil {
		return agent.Launch{}, err
	}
	argv := slices.Clone(s.Command)
	if len(r.Command) > 0 {
		argv = slices.Clone(r.Command)
	}
	// The hook decides on each action, and the sandbox limits its access.
	argv = append(argv, "--output-format=json", "--allow-all-tools", "--allow-all-paths", "--no-ask-user", "--no-color", "--no-auto-update",
		"--no-custom-instructions", "--disable-builtin-mcps", "--disable-client-telemetry", "--no-remote", "--no-remote-export")
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	if s.Effort != "" {
		argv = append(argv, "--reasoning-effort="+s.Effort)
	}
	if some := tools(s); len(some) > 0 {
		argv = append(argv, "--available-tools="+strings.Join(some, ","))
	}
	argv = append(argv, "--excluded-tools="+strings.Join(append(aside(), theirs(s.Without)...), ","))
	if r.System != "" {
		argv = append(argv, "--agent="+agentName)
	}
	switch {
	case r.Parent != "":
		argv = append(argv, "--resume="+r.Parent)
	case r.Session != "":
		argv = append(argv, "--session-id="+r.Session)
	}
	l := agent.Launch{Argv: argv, Stdin: r.PromptFile, Env: variables(&r), Unset: unset()}
	var err error
	l.Files, err = files(&r)
	return l, err
}

// variables are those that every agent gets. Usage of tokens is exported to the
// stdout of the CLI, soon after each request; metrics would repeat it.
func variables(r *agent.Request) []string {
	all := []string{
		"COPILOT_HOME=" + r.State, "COPILOT_AUTO_UPDATE=false", "COPILOT_OTEL_FILE_EXPORTER_PATH=/proc/self/fd/1",
		"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_METRIC_EXPORT_INTERVAL=86400000", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=false",
	}
	if strings.HasPrefix(r.Login.Name, "provider at ") {
		// The CLI then sends no request to GitHub: no login, telemetry or web search.
		all = append(all, "COPILOT_OFFLINE=true")
	}
	return all
}

// unset are variables that would allow more, start more or send usage elsewhere.
func unset() []string {
	return []string{
		"COPILOT_ALLOW_ALL", "COPILOT_ASSISTED_APPROVAL", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "COPILOT_AUTO_TIER", "COPILOT_CLI_VERSION",
		"COPILOT_OTEL_EXPORTER_TYPE", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER", "OTEL_SDK_DISABLED", "USE_TGREP",
	}
}

// check refuses an option that agents of the kind cannot be given, by its name.
func check(s *agent.Spec) error { return refuse(&agent.Request{Spec: s}) }

// refuse refuses a request that Copilot CLI cannot be given.
func refuse(r *agent.Request) error {
	s := r.Spec
	switch levels := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}; {
	case s.Effort != "" && !slices.Contains(levels, s.Effort):
		return fmt.Errorf("effort %q: copilot knows %s", s.Effort, strings.Join(levels, ", "))
	case len(r.Prompt) > maxPrompt:
		return fmt.Errorf("a prompt of %d bytes: copilot is given at most %d", len(r.Prompt), maxPrompt)
	default:
		return s.CheckReads()
	}
}

// tools are those an agent may use, by the names of Copilot CLI; empty: all.
func tools(s *agent.Spec) []string {
	some := s.Tools
	if len(some) == 0 && s.ReadOnly {
		some = agent.ReadOnlyTools()
	}
	return theirs(some)
}

// theirs are entries of a list by the names of Copilot CLI. For models of
// OpenAI, apply_patch replaces edit and create.
func theirs(list []string) (all []string) {
	names := map[string][]string{
		"read": {"view"}, "grep": {"grep", "rg"}, "find": {"glob"}, "ls": {"view"},
		"edit": {"edit", "apply_patch"}, "write": {"create", "apply_patch"},
		"bash": {"bash", "read_bash", "write_bash", "stop_bash", "list_bash"}, toolset.Skill: {"skill"},
	}
	for _, entry := range list {
		for _, name := range names[entry] {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// lists states which entries Copilot CLI takes: whole tools, given or taken away.
// Models of OpenAI have apply_patch for both, so edit and write come together.
func lists() toolset.Rules {
	return toolset.Rules{More: []string{toolset.Skill}, Denies: true, Pair: true}
}

// aside are tools that start agents outside the limits of a run, wait for a
// person, or read conversations of others.
func aside() []string {
	return []string{"task", "read_agent", "list_agents", "write_agent", "ask_user", "exit_plan_mode", "session_store_sql", "fetch_copilot_cli_documentation"}
}

// files are those of the state folder.
func files(r *agent.Request) ([]agent.File, error) {
	all := slices.Clone(r.Login.Files)
	settings := map[string]any{
		"autoUpdate": false, "memory": false, "includeCoAuthoredBy": false, "disableAllHooks": false, "showTipsOnStartup": false,
		"ide": map[string]any{"autoConnect": false},
	}
	if len(r.Hook) > 0 {
		settings["hooks"] = map[string]any{"preToolUse": []any{map[string]any{
			"type": "command", "timeoutSec": hookSeconds, "bash": argv.Quoted(append(slices.Clone(r.Hook), "--agent", "copilot")),
		}}}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("compose %s of copilot: %w", settingsFile, err)
	}
	all = append(all, agent.File{Name: settingsFile, Data: text})
	if r.System != "" {
		words := "---\nname: " + agentName + "\ndescription: One of the agents that swarm runs\n---\n" + r.System
		all = append(all, agent.File{Name: agentFile, Data: []byte(words)})
	}
	return all, nil
}
