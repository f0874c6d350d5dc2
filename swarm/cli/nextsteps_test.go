package cli

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/terminal"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestNextStepsCanBeTyped: each command that follows a run is printed as it can be
// typed, at most maxSteps of them.
func TestNextStepsCanBeTyped(t *testing.T) {
	t.Parallel()
	patch := &task.Patch{Files: 1}
	ended := func(id task.ID, group string, status task.Status) *store.Agent {
		return &store.Agent{ID: id, Call: &task.Call{Group: group}, Status: status, Attempt: 1}
	}
	good := &task.Completed{Work: task.Work{Patch: patch}}
	failed := &task.Failed{Kind: task.Other}
	inConflict := func(id task.ID) *store.Agent {
		a := ended(id, "", good)
		a.Conflict = &store.Conflict{Ref: "refs/heads/main"}
		return a
	}
	scoped := &task.Completed{Work: task.Work{Patch: &task.Patch{Files: 1, OutOfScope: []string{"x"}}}}
	for _, tt := range []struct {
		name string
		view store.View
		want string
	}{
		{"running", store.View{Status: store.RunRunning}, "wait R"},
		{"stopped", store.View{Status: store.RunStopped}, "resume R"},
		{"paused", store.View{Status: store.RunPaused}, "resume R"},
		{"nothing", store.View{Status: store.RunCompleted}, ""},
		{"some failed", store.View{
			Status: store.RunDegraded, Agents: []*store.Agent{ended("a1", "", failed), ended("a2", "", good)},
		}, "show R --failed|retry R --failed|merge R"},
		{"alternatives", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{ended("a1", "g", good), ended("a2", "g", good)},
		}, "diff R --unlanded|merge R/a1 # or a2"},
		{"conflicts", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{inConflict("a2"), inConflict("a3")},
		}, "merge --resolve R/a2|retry R/a2 --onto main|merge --resolve R/a3"},
		{"by name only", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{ended("a1", "", scoped)},
		}, "diff R/a1|merge R/a1|accept R/a1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := tt.view
			v.Identity.Run = "R"
			p := cmdline.Without(cmdline.Env{Calls: "swarm"})
			var got []string
			for _, step := range view.NextSteps(p, &v) {
				command, ok := strings.CutPrefix(step, "swarm ")
				if !ok {
					t.Errorf("step %q cannot be typed", step)
				}
				got = append(got, command)
				typed, _, _ := strings.Cut(command, " # ")
				env := cmdline.Env{Getenv: getenv.Func()}
				if _, err := argv.Parse(newApp(env, builtin(env)), strings.Fields(typed)); err != nil {
					t.Errorf("step %q: %v", step, err)
				}
			}
			if want := strings.Split(tt.want, "|"); !slices.Equal(got, want) && (tt.want != "" || len(got) > 0) {
				t.Errorf("next is %q, want %q", got, want)
			}
		})
	}
}

// TestEveryFlagHasAGroup holds that the help of a command with many flags names
// each of them once, under a topic.
func TestEveryFlagHasAGroup(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Getenv: getenv.Func()}
	for _, cmd := range builtin(env) {
		shown := 0
		for _, g := range flagGroups(cmd) {
			shown += len(g.flags)
			if g.title == "Other flags" {
				for _, f := range g.flags {
					t.Errorf("%s: flag %s is in no group; see flagTopics", cmd.Name, argv.Dashed(f.Names()[0]))
				}
			}
			if g.common && g.title != "Flags" && len(g.flags) > mostCommon {
				t.Errorf("%s: %d common flags, want at most %d", cmd.Name, len(g.flags), mostCommon)
			}
		}
		if all := len(visibleFlags(cmd)); shown != all {
			t.Errorf("%s: %d flags in groups, want %d", cmd.Name, shown, all)
		}
	}
}

// TestShortFlagsMeanOne holds that a short flag means the same everywhere.
func TestShortFlagsMeanOne(t *testing.T) {
	t.Parallel()
	env := cmdline.Env{Getenv: getenv.Func()}
	for _, cmd := range builtin(env) {
		for _, f := range cmd.Flags {
			names := f.Names()
			for short, long := range map[string]string{"w": "watch", "j": "jobs", "q": "quiet", "y": "yes", "f": "follow", "d": "detach"} {
				if slices.Contains(names, short) && names[0] != long {
					t.Errorf("%s: -%s is --%s, want --%s", cmd.Name, short, names[0], long)
				}
			}
			for _, name := range names {
				if len(name) == 1 && len(names) == 1 {
					t.Errorf("%s: -%s has no long form", cmd.Name, name)
				}
			}
		}
	}
}

func TestStateStyle(t *testing.T) {
	t.Parallel()
	term := terminal.Output{Color: true}
	table := terminal.Table{Term: term, Columns: []terminal.Column{{Title: "A", Style: terminal.StateStyle}, {Title: "B", Right: true, Style: terminal.StateStyle}, {Title: "C"}}}
	table.Row("completed, retry", "no", "completed")
	table.Row("queued", "", "x")
	want := []string{
		"\x1b[1mA                  B  C\x1b[0m",
		"\x1b[32mcompleted, retry\x1b[0m  \x1b[1;31mno\x1b[0m  completed",
		"\x1b[2mqueued\x1b[0m                x",
	}
	if got := table.Lines(0); !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
	for _, line := range table.Lines(10) {
		if terminal.Columns(line) > 10 {
			t.Errorf("line %q takes %d columns, want at most 10", line, terminal.Columns(line))
		}
	}
	if n := terminal.Columns("\x1b[1;31mab\x1b[0mc"); n != 3 {
		t.Errorf("columns = %d, want 3: colors take none", n)
	}
}
