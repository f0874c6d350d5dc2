package engine

import (
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// TestOutside holds that people are told no path which only the sandbox has.
func TestOutside(t *testing.T) {
	t.Parallel()
	a := &attempt{
		dir: "/state/a1", ear: "/state/ask/1", space: &worktree.Workspace{At: "/inside/w"},
		around: Enclosure{State: "/run/agent", Ask: "/tmp/ask/1"},
	}
	for give, want := range map[string]string{
		"cannot read /run/agent/config.toml: gone": "cannot read (state of the agent)/config.toml: gone",
		"/inside/w/pkg/a.go:3: wrong":              "pkg/a.go:3: wrong",
		"not a repository: /inside/w":              "not a repository: (workspace)",
		"dial /tmp/ask/1":                          "dial (approval socket)",
		"/home/me/f":                               "/home/me/f",
	} {
		if got := a.outside(give); got != want {
			t.Errorf("%q is %q, want %q", give, got, want)
		}
	}
	if got := (&attempt{}).outside("/run/agent"); got != "/run/agent" {
		t.Errorf("without a sandbox it is %q", got)
	}
}

// TestOptionErrors holds by which words a program refuses an option.
func TestOptionErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"error: unknown option '--mode'":          true,
		"error: unexpected argument 'app-server'": true,
		"error: unrecognized subcommand 'app'":    true,
		"Unknown arguments: chat-recording":       true,
		"flag provided but not defined: -x":       true,
		"fatal: not a git repository":             false,
		"model unknown; no option is left":        false,
		"Error: Cannot find module '/opt/cli.js'": false,
	} {
		if got := optionErrors().MatchString(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// TestUnknownOptionOfWorker holds that an agent which has begun is not said to
// refuse an option, for no output of its tools.
func TestUnknownOptionOfWorker(t *testing.T) {
	t.Parallel()
	failed := &task.Failed{Kind: task.Other}
	a := &attempt{engine: &Engine{deps: Deps{Kinds: map[string]agent.Kind{"pi": {Name: "pi"}}}}, spec: &agent.Spec{Kind: "pi"}}
	for name, o := range map[string]*agent.Outcome{
		"it has a session":     {Session: "s", Exit: proc.Exit{Reason: proc.Exited, Code: 1}},
		"its model answered":   {Worked: true, Exit: proc.Exit{Reason: proc.Exited, Code: 1}},
		"it reported an error": {Error: &event.Erred{}, Exit: proc.Exit{Reason: proc.Exited, Code: 1}},
	} {
		if line := a.unknownOption(failed, o); line != "" {
			t.Errorf("%s: %q", name, line)
		}
	}
}
