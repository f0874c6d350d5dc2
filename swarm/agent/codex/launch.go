package codex

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
)

// Launch sets up a state folder and starts the agent on it. All that is said
// to it, the prompt too, goes through its stdin.
func (Adapter) Launch(r agent.Request) (agent.Launch, error) {
	if err := refused(&r); err != nil {
		return agent.Launch{}, fmt.Errorf("agent %s: %w", r.Spec.Name, err)
	}
	settings, err := compose(&r)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("agent %s: %w", r.Spec.Name, err)
	}
	files := []agent.File{{Name: configFile, Data: settings}}
	for _, f := range r.Login.Files {
		if f.Name != configFile {
			files = append(files, f)
		}
	}
	env := []string{"CODEX_HOME=" + r.State}
	if below(cmp.Or(r.Tmp, "/tmp"), r.State) {
		env = append(env, "TMPDIR="+r.State+"/"+scratch)
		files = append(files, agent.File{Name: scratch + "/.keep"})
	}
	if len(r.Hook) > 0 {
		files = append(files, agent.File{Name: rulesFile, Data: rules(&r)})
	}
	t := &talk{request: r}
	return agent.Launch{
		Argv:  append(slices.Clone(r.Spec.Command), "app-server"),
		Env:   env,
		Unset: []string{"CODEX_SQLITE_HOME", "CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "RUST_LOG"},
		Files: files,
		Open:  true, Feed: t.begin(), Respond: t.respond, Again: t.again, Steer: t.steer, Reply: t.reply,
	}, nil
}

// rulesFile has rules about commands, below the state folder.
const rulesFile = "rules/swarm.rules"

// rules cover the commands that codex refuses by itself where no person can be
// asked, such as rm -f, and scripts that it cannot read. The hook has asked
// about each before. A rule that allows a command also takes it out of the
// sandbox of codex, so only agents in swarm's sandbox get such rules. Elsewhere
// codex asks its client, which accepts each command that the hook has passed,
// see [parser.passed].
func rules(r *agent.Request) []byte {
	decision := "prompt"
	if r.Walled {
		decision = "allow"
	}
	return []byte(strings.ReplaceAll(`prefix_rule(pattern=[["rm", "/bin/rm", "/usr/bin/rm", "sudo", "/usr/bin/sudo"]], decision="{decision}")
prefix_rule(pattern=["git", ["reset", "rm", "clean", "checkout", "branch", "push"]], decision="{decision}")
prefix_rule(pattern=[["sh", "bash", "zsh", "/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/sh", "/usr/bin/bash", "/usr/bin/zsh"], ["-c", "-lc"]], decision="{decision}")
`, "{decision}", decision))
}

// never is the policy of an agent that never asks.
const never = "never"

// policy returns the cases in which codex asks its client. Without swarm's
// sandbox it asks about commands that a rule names. It never asks to leave its
// sandbox, nor offers that to its model.
func policy(r *agent.Request) any {
	if r.Walled || len(r.Hook) == 0 {
		return never
	}
	return table{"granular": table{
		"rules": true, "sandbox_approval": false, "mcp_elicitations": false, "request_permissions": false, "skill_approval": false,
	}}
}

// scratch is the folder for temporary files of an agent whose state lies among
// such: its sandbox starts nothing then.
const scratch = "scratch"

// below reports whether a path is a folder or lies in it.
func below(folder, path string) bool {
	within, err := filepath.Rel(folder, path)
	return err == nil && within != ".." && !strings.HasPrefix(within, "../")
}

// refused is why a request cannot be mapped; nil where it can.
func refused(r *agent.Request) error {
	s := r.Spec
	switch {
	case len(s.Command) == 0:
		return errors.New("its command is empty")
	case len(r.Command) > 0:
		return errors.New("command: codex starts as it is configured, a call cannot bring a command of its own")
	case s.PTY:
		return errors.New("pty: codex is driven through its standard input and output")
	case r.State == "":
		return errors.New("it has no state folder")
	case len(r.Schema) > 0 && !json.Valid(r.Schema):
		return errors.New("schema: it is not JSON")
	}
	_, err := reads(s)
	return err
}

// check returns an error that names an option which no agent of the kind
// supports.
func check(s *agent.Spec) error {
	_, err := reads(s)
	return err
}

// reads reports whether an agent may only read. Codex reads and writes with a
// single tool, its shell. Its sandbox can forbid writing and nothing else.
func reads(s *agent.Spec) (bool, error) {
	if err := s.CheckReads(); err != nil {
		return true, err
	}
	if s.OnlyReads() {
		return true, nil
	}
	for _, tool := range agent.AllTools() {
		if len(s.Tools) > 0 && !slices.Contains(s.Tools, tool) {
			return false, fmt.Errorf("tools: codex does everything with its shell, so it is given all of %v, or only some of %v: "+
				"it cannot go without %s alone", agent.AllTools(), agent.ReadOnlyTools(), tool)
		}
	}
	return false, nil
}

// sandbox returns the sandbox of the agent's own commands. Swarm's sandbox
// around the agent makes it superfluous: an agent that only reads has a
// read-only workspace there. For root it would start no command there, not even
// one that reads.
func sandbox(r *agent.Request) string {
	switch only, _ := reads(r.Spec); {
	case r.Walled:
		return "danger-full-access"
	case only:
		return "read-only"
	default:
		return "workspace-write"
	}
}
