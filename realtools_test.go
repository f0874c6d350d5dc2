package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
	"agentswarm/worktree"
)

// calling is a turn in which a model uses a tool, after since results.
func calling(since int, tool string, args map[string]any) modeltest.Rule {
	return modeltest.Rule{
		When: modeltest.When{Since: at(since)},
		Turn: modeltest.Turn{Calls: []modeltest.Call{{Name: tool, Args: args}}},
	}
}

// saying is a model's answer if no other rule fits.
func saying(text string) modeltest.Rule {
	return modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{text}}}
}

// results are the results of calls that a model got, in order.
func (r *real) results(want int) []string {
	r.t.Helper()
	var all []string
	for _, request := range r.server.Requests() {
		if request.Results > len(all) {
			all = append(all, request.Result)
		}
	}
	if len(all) != want {
		r.t.Fatalf("its model was told of %d calls, want %d: %q", len(all), want, all)
	}
	return all
}

// TestRealRefused checks that the hook of an agent refuses an action without a
// permission, tells its model why, and lets it go on.
func TestRealRefused(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			calling(0, "{shell}", map[string]any{"command": "rm -rf pkg"}),
			calling(1, "{shell}", map[string]any{"command": "ls -d pkg/*/f.txt > left.txt"}),
			saying("I could not."),
		)
		got := r.run(0, "--questions", "deny", "Remove pkg")
		if got.Status != "completed" || got.Patch == nil || got.Patch.Files != 1 || got.Patch.Added != yardItems || got.Patch.Deleted != 0 {
			t.Errorf("it is %s, and its patch %+v, want the list of what is left alone", got.Status, got.Patch)
		}
		log := r.ends(0, "risk", "log")
		if !strings.Contains(log.stdout, "rm -rf pkg") || !strings.Contains(log.stdout, "DESTRUCTIVE") {
			t.Errorf("the record does not tell: %s", log.stdout)
		}
		if told := r.results(2)[0]; !strings.Contains(told, "it deletes folders") {
			t.Errorf("the model was told %q", told)
		}
	})
}

// TestRealOpen holds that agents work, and are asked about, without a sandbox too.
func TestRealOpen(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newRealOn(t, k, worktree.Linked,
			calling(0, "{shell}", map[string]any{"command": "rm -r -f pkg"}),
			calling(1, "{write}", map[string]any{"path": "new.txt", "text": "new\n"}),
			saying("new.txt is there."),
		)
		got := r.run(0, "--questions", "deny", "Write new.txt")
		if got.Patch == nil || got.Patch.Files != 1 || got.Patch.Added != 1 {
			t.Errorf("its patch is %+v", got.Patch)
		}
		if log := r.ends(0, "risk", "log"); !strings.Contains(log.stdout, "DESTRUCTIVE") {
			t.Errorf("the record does not tell: %s", log.stdout)
		}
		if told := r.results(2)[0]; !strings.Contains(told, "it deletes folders") {
			t.Errorf("the model was told %q", told)
		}
	}, agent.KindPi, agent.KindClaude, agent.KindGemini, agent.KindQwen, agent.KindOpencode, agent.KindBuiltin)
}

// writers are the tools, by whichever name, by which an agent changes files.
func writers() []string {
	return []string{
		"Write", "write", "write_file", "Edit", "edit", "replace", "MultiEdit", "NotebookEdit", "notebook_edit", "apply_patch", "patch",
		"Bash", "bash", "run_shell_command", "shell", "shell_command",
	}
}

// TestRealReads holds that an agent that only reads does read, and has nothing
// to write with.
func TestRealReads(t *testing.T) {
	t.Parallel()
	refused := regexp.MustCompile(`(?i)no such tool|not found|tool '\w+' does not exist|unknown tool|not available|unavailable|no tool|read-only file system|failed to write`)
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			calling(0, "{read}", map[string]any{"path": "hello.txt"}),
			calling(1, "{write}", map[string]any{"path": "new.txt", "text": "new\n"}),
			calling(2, "{shell}", map[string]any{"command": "echo new > new.txt"}),
			saying("I may only read."),
		)
		got := r.run(0, "--read-only", "--questions", "deny", "Write new.txt")
		if got.Patch != nil || got.Status != "completed" || strings.TrimSpace(got.Output) != "I may only read." {
			t.Errorf("it is %+v", got)
		}
		told := r.results(3)
		if !strings.Contains(told[0], "hello world") {
			t.Errorf("it read %q", told[0])
		}
		for _, told := range told[1:] {
			if !refused.MatchString(told) {
				t.Errorf("it was told of a call that writes: %q", told)
			}
		}
		for _, request := range r.server.Requests() {
			for _, name := range writers() {
				if slices.Contains(request.Tools, name) {
					t.Fatalf("it is offered %s, of %q", name, request.Tools)
				}
			}
		}
	})
}

// TestRealRemoves holds that an agent can remove a file by force where the hook
// allows it. Codex refuses that by itself unless it has a rule.
func TestRealRemoves(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			calling(0, "{shell}", map[string]any{"command": "rm -f hello.txt"}),
			calling(1, "{shell}", map[string]any{"command": "bash -c 'rm -f pkg/0/f.txt; echo gone'"}),
			saying("It is gone."),
		)
		got := r.run(0, "--questions", "deny", "Remove hello.txt")
		told := r.results(2)
		if got.Status != "completed" || got.Patch == nil || got.Patch.Deleted == 0 {
			t.Errorf("it is %s, and its patch %+v; its model was told %q", got.Status, got.Patch, told)
		}
		if log := r.ends(0, "logs", "a1"); !strings.Contains(log.stdout, "rm -f hello.txt") {
			t.Errorf("the logs do not tell: %s", log.stdout)
		}
	})
}

// TestRealRemovesOpen holds that codex without a sandbox does not refuse by itself
// a command that the hook has passed. Its own sandbox starts nothing where user
// namespaces cannot be nested, so only a refusal is a failure.
func TestRealRemovesOpen(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newRealOn(t, k, worktree.Linked,
			calling(0, "{shell}", map[string]any{"command": "rm -f hello.txt"}),
			calling(1, "{shell}", map[string]any{"command": "for f in pkg/p0/f.txt; do rm -f $f; done"}),
			saying("It is gone."),
		)
		got := r.run(0, "--questions", "deny", "Remove hello.txt")
		for _, told := range r.results(2) {
			if got.Status != "completed" || strings.Contains(told, "rejected") || !strings.Contains(told, "exited with code") {
				t.Errorf("it is %s, and its model was told %q", got.Status, told)
			}
		}
		if log := r.ends(0, "logs", "a1"); !strings.Contains(log.stdout, "rm -f hello.txt") {
			t.Errorf("the logs do not tell: %s", log.stdout)
		}
	}, agent.KindCodex)
}
