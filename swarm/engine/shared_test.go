package engine

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// until waits in an agent for a file of its workspace, or of the rig's folder.
func until(file string) string { return `while ! test -e "` + file + `"; do sleep 0.01; done; ` }

// TestSharedSeeEachOther checks that shared agents work in the same workspace
// at the same time, and that their patches add up to its content.
func TestSharedSeeEachOther(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Setup = `echo x >> "$RIG/setups"`
	all := g.play(
		g.shared(`echo 1 > one; `+until("two")+`pwd >> "$RIG/dirs"`),
		g.shared(`echo 2 > two; `+until("one")+`pwd >> "$RIG/dirs"`),
	)
	for id, s := range all {
		is(t, string(id), task.Word(s.Result), "completed")
	}
	dirs := g.lines("dirs")
	is(t, "workspaces", len(dirs) == 2 && dirs[0] == dirs[1], true)
	is(t, "setups", g.lines("setups"), "[x]")
	is(t, "files", g.files(), "lines one two")
	g.whole()
	g.left()
}

// TestSharedChain checks that each patch is a change of the capture before, so
// that successive edits of the same lines merge.
func TestSharedChain(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	g.play(
		g.shared(`sed -i s/5/five/ lines; echo a > a`),
		g.shared(`sed -i s/five/V/ lines`),
		g.shared(`true`),
		g.shared(`sed -i s/6/VI/ lines; echo b > b`),
	)
	is(t, "first", g.paths("a1"), "a lines")
	is(t, "second", g.paths("a2"), "lines")
	is(t, "third", g.paths("a3"), "none")
	is(t, "fourth", g.paths("a4"), "b lines")
	is(t, "base of the first", g.patch("a1").Base, g.base)
	is(t, "base of the second", g.patch("a2").Base, g.patch("a1").Commit)
	is(t, "base of the fourth", g.patch("a4").Base, g.patch("a2").Commit)
	is(t, "notes", g.view().Agent("a4").Result().Done().Notes, "[]")
	g.whole()
	// A patch without those before it is merged from its own base.
	out := g.merge("a4")
	is(t, "conflicts", len(out.Conflicts), 1)
	out = g.merge("a1", "a4")
	is(t, "conflicts of two", len(out.Conflicts), 1) // a2 has changed the line beside
	g.left()
}

// TestSharedOrder has the first call captured after the second, and a third
// that builds on both.
func TestSharedOrder(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	first := g.shared(`touch "$RIG/up"; ` + until("two") + until("$RIG/go") + `sed -i s/5/five/ lines`)
	first.Label = "first"
	second := g.shared(until("$RIG/up") + `sed -i s/5/v/ lines; sed -i s/v/5/ lines; sed -i s/4/four/ lines; echo 2 > two`)
	second.Label = "second"
	third := sh("touch three")
	third.DependsOn = []string{"first", "second"}
	third.Base = g.base
	e := g.open(first, second, third)
	is(t, "first to end", settled(e).Agent, "a2")
	g.touch("go")
	g.collect(e, 2)
	g.close(e)
	is(t, "base of the first", g.patch("a1").Base, g.patch("a2").Commit)
	is(t, "joined", g.spaces.joins[0].From, "[a2 a1]")
	note := strings.Join(g.view().Agent("a2").Result().Done().Notes, "; ")
	is(t, "note of the second", strings.HasPrefix(note, "a1 was in the shared workspace"), true)
	out := g.merge("a1", "a2")
	is(t, "conflicts", len(out.Conflicts), 0)
	is(t, "merged", out.Tree, g.git("rev-parse", g.view().Tip+"^{tree}"))
}

// TestSharedCancel ends the first of two agents and leaves the workspace to the
// other.
func TestSharedCancel(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	e := g.open(
		g.shared(`echo 1 > one; exec sleep 1000`),
		g.shared(until("one")+`touch "$RIG/up"; `+until("$RIG/go")+`echo 2 > two; test -e one`),
	)
	g.await("up")
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	is(t, "cancelled", word(settled(e).Result), "cancelled cancelled")
	g.touch("go")
	is(t, "the other", task.Word(settled(e).Result), "completed")
	g.close(e)
	is(t, "patch of the cancelled", g.paths("a1"), "one")
	is(t, "patch of the other", g.paths("a2"), "two")
	g.whole()
	g.left()
}

// TestSharedTimeout does the same for an agent that exceeds its time limit.
func TestSharedTimeout(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	slow := g.shared(`echo 1 > one; exec sleep 1000`)
	slow.Timeout = 1 // at once, or as soon as it runs
	all := g.play(slow, g.shared(`echo 2 > two`))
	is(t, "slow", strings.HasPrefix(word(all["a1"].Result), "failed timeout"), true)
	is(t, "other", task.Word(all["a2"].Result), "completed")
	g.whole()
	g.left()
}

// TestSharedRetry has an agent go on where others have worked since: its patch
// is all that it changed, and none of theirs.
func TestSharedRetry(t *testing.T) {
	t.Parallel()
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprint("fresh ", fresh), func(t *testing.T) {
			t.Parallel()
			g := newSharedFixture(t)
			g.config.Jobs = 1
			e := g.open(
				g.shared(`test $SWARM_ATTEMPT = 2 && { sed -i s/8/eight/ lines; exec test -e two; }
					sed -i s/1/one/ lines; echo a > a; exit 1`),
				g.shared(`sed -i s/5/five/ lines; echo b > two`),
				busy2(g),
			)
			settled(e)
			settled(e)
			if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}, Fresh: fresh}); err != nil {
				t.Fatal(err)
			}
			g.touch("go")
			g.collect(e, 2)
			g.close(e)
			is(t, "again", task.Word(g.view().Agent("a1").Result()), "completed")
			is(t, "its patch", g.paths("a1"), "a lines")
			diff := g.git("diff", g.patch("a1").Base, g.patch("a1").Commit)
			is(t, "holds the first", strings.Contains(diff, "+one\n"), true)
			is(t, "holds the second", strings.Contains(diff, "+eight"), true)
			is(t, "holds the other's", strings.Contains(diff, "+five"), false)
			g.whole()
			g.left()
		})
	}
}

// busy2 is a shared call that holds its place until the rig is touched.
func busy2(g *sharedFixture) *task.Call { return g.shared(until("$RIG/go") + "true") }

// TestSharedRetryWithoutAnEdit has an agent whose second attempt changes
// nothing: the patch of its first attempt stays.
func TestSharedRetryWithoutAnEdit(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	calls := []*task.Call{
		g.shared(`test $SWARM_ATTEMPT = 2 && exit; echo a > a; exit 1`), g.shared(`echo b > b`),
	}
	g.play(calls...)
	before := g.patch("a1")
	g.play(calls...)
	is(t, "status", task.Word(g.view().Agent("a1").Result()), "completed")
	is(t, "patch", g.patch("a1").Commit, before.Commit)
	is(t, "tip", g.view().Tip, g.patch("a2").Commit)
	g.whole()
	g.left()
}

// TestSharedVerify checks each capture in a workspace of its own.
func TestSharedVerify(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	g.config.Verify = `pwd >> "$RIG/checks"; echo junk > junk; ls > "$RIG/ls.$SWARM_AGENT"; test -e good`
	all := g.play(g.shared(`echo 1 > one`), g.shared(`echo 2 > good`), g.shared(`true`))
	is(t, "first", word(all["a1"].Result), "completed , verified false")
	is(t, "second", word(all["a2"].Result), "completed , verified true")
	is(t, "third", word(all["a3"].Result), "completed ")
	for _, dir := range g.lines("checks") {
		is(t, "checked in "+dir, OnlyChecks(dir), true)
	}
	is(t, "checks", len(g.lines("checks")), 2)
	is(t, "seen by the second", g.lines("ls.a2"), "[good junk lines one]")
	is(t, "files", g.files(), "good lines one")
	g.left()
}

// TestSharedGone has an agent remove the workspace. The next agent gets a new
// workspace with all captured work.
func TestSharedGone(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	all := g.play(
		g.shared(`echo 1 > one`), g.shared(`rm -rf "$PWD"`), g.shared(`test -e one && echo 3 > three`),
	)
	is(t, "removed", strings.HasPrefix(word(all["a2"].Result), "failed capture_failed"), true)
	is(t, "next", task.Word(all["a3"].Result), "completed")
	is(t, "files", g.files(), "lines one three")
	g.whole()
	g.left()
}

// TestSharedSetupFails checks that a half-made workspace is not used, and is
// made again for the next agent.
func TestSharedSetupFails(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	g.config.Setup = `echo junk > junk; test "$SWARM_AGENT" = a2`
	all := g.play(g.shared(`echo 1 > one`), g.shared(`echo 2 > two`))
	is(t, "first", strings.HasPrefix(word(all["a1"].Result), "failed start_failed: setup"), true)
	is(t, "second", task.Word(all["a2"].Result), "completed")
	is(t, "files", g.files(), "junk lines two")
	g.left()
}

// TestSharedEmptyAnswer checks that an agent without an answer has done well if
// all its changes are in the patch of another.
func TestSharedEmptyAnswer(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Agents = specs("mine", `echo 1 > one; touch "$RIG/wrote"; `+until("$RIG/go")+`printf '{"type":"result","text":""}\n'`)
	call := g.shared("")
	call.Agent, call.Command = "mine", nil
	call.Input = &task.TypedAgentInput{Prompt: "p"}
	e := g.open(call, g.shared(until("$RIG/wrote")+"echo 2 > two"))
	is(t, "first to end", settled(e).Agent, "a2")
	g.touch("go")
	is(t, "the other", word(settled(e).Result), "completed ")
	g.close(e)
	is(t, "patch", g.paths("a1"), "none")
	is(t, "patch of the first", g.paths("a2"), "one two")
	g.left()
}

// TestSharedRoom checks that no agent waits for the room of a workspace which
// stays to the end of the run.
func TestSharedRoom(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	var free atomic.Int64
	free.Store(1 << 40)
	g.deps.Disk = &limit.Disk{Dir: g.dir, Free: func() (int64, error) { return free.Load(), nil }}
	e := g.open(g.shared(`touch "$RIG/up"; ` + until("$RIG/go") + "echo 1 > one"))
	g.await("up")
	free.Store(0)
	own := sh("true")
	own.Base = g.base
	// Two more shared calls need no more room.
	if _, err := e.StartAll([]*task.Call{own, g.shared("echo 2 > two")}); err != nil {
		t.Fatal(err)
	}
	both := g.collect(e, 2)
	is(t, "another workspace", strings.HasPrefix(word(both["a2"].Result), "failed start_failed: no space"), true)
	is(t, "the same", task.Word(both["a3"].Result), "completed")
	g.touch("go")
	settled(e)
	g.close(e)
	g.left()
}

// TestSharedRefused refuses calls that cannot be in the same workspace.
func TestSharedRefused(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	dependent, elsewhere := g.shared("true"), g.shared("true")
	dependent.After = []string{"x"}
	elsewhere.Base = "other"
	first := g.shared("true")
	first.Label = "x"
	e := Open(t.Context(), g.deps, g.config, nil)
	for _, calls := range [][]*task.Call{{first, dependent}, {first, elsewhere}} {
		if ids, err := e.StartAll(calls); err == nil {
			t.Errorf("took %v", ids)
		}
	}
	g.close(e)
	is(t, "agents", len(g.view().Agents), 0)
}
