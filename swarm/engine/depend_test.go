package engine

import (
	"strings"
	"testing"

	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// named is a call of a text of sh that goes by a label.
func named(label, text string, dependsOn ...string) *task.Call {
	c := sh(text)
	c.Label, c.Item, c.DependsOn = label, label, dependsOn
	return c
}

func TestDependentsStartFromWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := r.play(
		named("a", "touch a"),
		named("b", "touch b", "a"),
		named("none", "true"),
		named("c", `touch c; echo "$SWARM_BASE" > "$RIG/base"`, "none", "b"),
	)
	for id, s := range all {
		if _, ok := s.Result.(*task.Completed); !ok {
			t.Errorf("%s: %+v", id, s.Result)
		}
	}
	is(t, "what c started from", r.lines("base"), []string{"base+a1+a2"})
	is(t, "the base of c's patch", all["a4"].Result.Done().Patch.Base, "base+a1+a2")
	is(t, "the base of b's patch", all["a2"].Result.Done().Patch.Base, "base+a1")
	is(t, "joins", len(r.spaces.joins), 2)
}

// TestDependentsWait checks that an agent does not start before its
// dependencies have ended, even if the concurrency limit allows it.
func TestDependentsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	say := `echo "$SWARM_ITEM" >> "$RIG/order"; touch "$SWARM_ITEM"`
	last := named("last", say)
	last.After = []string{"second"}
	r.play(named("first", say), named("second", say, "first"), last)
	is(t, "order", r.lines("order"), []string{"first", "second", "last"})
}

func TestDependencyThatDidNotGoWell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, verify, want string }{
		{"failed", "touch x; exit 3", "", "failed"},
		{"unverified", "touch x", "false", "did not pass its check"},
		{"out of scope", "touch x", "", "changed files outside its paths"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Verify = test.verify
			first := named("first", test.text)
			first.Paths = []string{"y"}
			soft := named("soft", `touch y; echo "$SWARM_BASE" > "$RIG/base"`)
			soft.After = []string{"first"}
			all := r.play(first, named("second", "touch z", "first"), named("third", "touch w", "second"), soft)
			for id, why := range map[task.ID]string{"a2": "first, which it depends on, " + test.want, "a3": "second, which it depends on, was cancelled"} {
				c, ok := all[id].Result.(*task.Cancelled)
				if !ok || c.Cause != task.CauseDependency || c.Reason != why {
					t.Errorf("%s = %+v, want cancelled: %s", id, all[id].Result, why)
				}
			}
			is(t, "what the one that only waits started from", r.lines("base"), []string{"base"})
			if _, ran := all["a4"].Result.(*task.Completed); !ran && test.verify == "" {
				t.Errorf("a4 = %+v", all["a4"].Result)
			}
		})
	}
}

func TestDependenciesInConflict(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := r.play(named("a", "touch a"), named("b", "touch conflict"), named("c", "touch c", "a", "b"))
	c, ok := all["a3"].Result.(*task.Cancelled)
	if !ok || c.Cause != task.CauseDependency || !strings.Contains(c.Reason, "a1 and a2 conflict in conflict") {
		t.Errorf("a3 = %+v", all["a3"].Result)
	}
	if len(r.view().Agent("a3").Leases) > 0 {
		t.Error("a workspace was made for an agent that could not start")
	}
}

func TestUnknownDependency(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	_, err := e.StartAll([]*task.Call{named("a", "true"), named("b", "true", "x")})
	if err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("StartAll = %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	is(t, "journaled agents", len(r.view().Agents), 0)
}

// TestDependentsOfALaterOwner checks that a resume runs a failed agent and its
// cancelled dependent, and does not run the completed agent again.
func TestDependentsOfALaterOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := []*task.Call{
		named("good", `echo run >> "$RIG/good"; touch g`),
		named("a", `test -e "$RIG/now" && touch a`),
		named("b", "touch b", "good", "a"),
	}
	r.play(calls...)
	r.touch("now")
	r.play(calls...)
	v := r.view()
	for _, a := range v.Agents {
		if _, ok := a.Status.(*task.Completed); !ok {
			t.Errorf("%s = %+v", a.ID, a.Status)
		}
	}
	is(t, "how often the good one ran", len(r.lines("good")), 1)
	is(t, "b's base", v.Agent("a3").Captured.Patch.Base, "base+a1+a2")
}

func TestTimeoutOfACall(t *testing.T) {
	t.Parallel()
	call := sh("true")
	call.Timeout = 7
	is(t, "the limit", int(SpecOf(Config{Timeout: 9}, call).Timeout), 7)
	call.Timeout = 0
	is(t, "the run's limit", int(SpecOf(Config{Timeout: 9}, call).Timeout), 9)
}

func TestOutOfScope(t *testing.T) {
	t.Parallel()
	p := &task.Patch{}
	files := &worktree.Capture{Files: []git.Change{{Path: "a/x"}, {Path: "b/y"}}}
	holdToScope(p, &task.Call{}, files)
	is(t, "without paths", p.OutOfScope, []string{})
	holdToScope(p, &task.Call{Paths: []string{"a/**"}}, files)
	is(t, "with paths", p.OutOfScope, []string{"b/y"})
	holdToScope(nil, &task.Call{Paths: []string{"a/**"}}, files)
}

// TestCapturedModules: the files of submodules stand for the submodule where paths are
// judged.
func TestCapturedModules(t *testing.T) {
	t.Parallel()
	kept := &worktree.Capture{
		Changed: true, Files: []git.Change{{Path: "a"}, {Path: "sub"}},
		Modules: []worktree.ModuleCapture{
			{Path: "sub", Files: []git.Change{{Path: "AGENTS.md"}, {Path: "in"}}, Stat: git.Stat{Files: 2, Added: 1}},
			{Path: "sub/in", Files: []git.Change{{Path: "x"}}, Stat: git.Stat{Files: 1, Added: 2}},
		},
		Stat: git.Stat{Files: 2, Added: 1, Deleted: 1},
	}
	kept.Notes = []worktree.Note{{Kind: worktree.SubmoduleAdded, Path: "libs/new"}}
	record := capturedEvent("a1", 1, worktree.Workspace{}, kept)
	is(t, "only by name", record.Patch.Replaced, []string{"libs/new"})
	is(t, "marked", record.Patch.Marked, []string{"sub/AGENTS.md"})
	holdToScope(record.Patch, &task.Call{Paths: []string{"a", "sub/in/**"}}, kept)
	is(t, "outside", record.Patch.OutOfScope, []string{"sub/AGENTS.md"})
	files, added, deleted := record.Patch.Size()
	is(t, "size", []int{files, added, deleted}, []int{5, 4, 1})
	m, below := record.Patch.ModuleOf("sub/in/x")
	is(t, "the innermost", m.Path+" "+below, "sub/in x")
}

// TestGrandparentSentBack checks that an agent waits for all its dependencies,
// also for those of a dependency that has ended.
func TestGrandparentSentBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := Open(t.Context(), r.deps, r.config, nil)
	hold := named("hold", `touch "$RIG/up"; while ! test -e "$RIG/go"; do :; done`)
	hold.After = []string{"b"}
	if _, err := e.StartAll([]*task.Call{
		named("a", `touch a$SWARM_ATTEMPT; echo a$SWARM_ATTEMPT >> "$RIG/order"`), named("b", "touch b", "a"), hold,
		named("c", `echo c >> "$RIG/order"`, "b"),
	}); err != nil {
		t.Fatal(err)
	}
	settled(e)
	settled(e)
	r.await("up") // c is queued behind it
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	r.touch("go")
	for range 3 {
		settled(e)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "order", r.lines("order"), []string{"a1", "a2", "c"})
}
