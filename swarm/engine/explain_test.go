package engine

import (
	"fmt"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// TestOutside checks that no message about an agent has a path that exists only
// in its sandbox, nor the rest of a cut path.
func TestOutside(t *testing.T) {
	t.Parallel()
	const says = `echo "see /inside/log" >&2; exit 3`
	long := strings.Repeat("x", 290) // so long that the line is cut
	cut := `echo "see /inside/log, ` + long + `" >&2; exit 3`
	for _, test := range []struct{ name, setup, verify, call, want string }{
		{"long line of an agent", "", "", cut, "failed other: exit status 3: ide)/log, " + long},
		{"long line of a setup", cut, "", "true", "failed start_failed: setup: exit status 3: ide)/log, " + long},
		{"long line of a check", "", cut, "touch x", "[verify: exit status 3: ide)/log, " + long + "]"},
		{"agent", "", "", says, "failed other: exit status 3: see (outside)/log"},
		{"setup", says, "", "true", "failed start_failed: setup: exit status 3: see (outside)/log"},
		{"check", "", says, "touch x", "[verify: exit status 3: see (outside)/log]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Setup, r.config.Verify = test.setup, test.verify
			r.deps.Sandbox = func(SandboxRequest) (Enclosure, error) {
				return Enclosure{Outside: func(text string) string { return strings.ReplaceAll(text, "/inside/", "(outside)/") }}, nil
			}
			result := r.play(sh(test.call))["a1"].Result
			if test.verify != "" {
				is(t, "notes", fmt.Sprint(result.Done().Notes), test.want)
				is(t, "journal", r.view().Agent("a1").Checked.Note, strings.Trim(test.want, "[]"))
			} else {
				is(t, "result", word(result), test.want)
			}
		})
	}
	t.Run("check before a crash", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.config.Verify = "false"
		r.append(called("a1", sh("true")), r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1), &event.Checked{
			Agent: "a1", Attempt: 1, Code: 3, Note: "verify: exit status 3: see (outside)/log",
		})
		died(t, r)
		is(t, "notes", fmt.Sprint(r.view().Agent("a1").Result().Done().Notes), "[verify: exit status 3: see (outside)/log]")
	})
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

// TestUnknownOptionOfWorker checks that an agent which has begun is not
// reported to refuse an option, for any output of its tools.
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
