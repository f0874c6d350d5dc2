package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestSharedResume makes the workspace anew from the last capture. No agent
// that completed runs again.
func TestSharedResume(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	calls := []*task.Call{
		g.shared(`echo a1 >> "$RIG/starts"; echo a > a; rm lines; printf '*\n' > .gitignore`),
		g.shared(`echo a2 >> "$RIG/starts"; test $SWARM_ATTEMPT = 2 || { echo b > b; exit 1; }
			test -e a && test -e b && ! test -e lines && echo c > c`),
	}
	g.play(calls...)
	is(t, "before", task.Word(g.view().Agent("a2").Result()), "failed")
	g.left()
	all := g.play(calls...)
	is(t, "replayed", all["a1"].Replayed, true)
	is(t, "again", task.Word(all["a2"].Result), "completed")
	is(t, "starts", g.lines("starts"), "[a1 a2 a2]")
	is(t, "files", g.files(), ".gitignore a b c")
	is(t, "patch", g.paths("a2"), "b c")
	g.whole()
	g.left()
}

// TestSharedVerifyStopped resumes the check alone.
func TestSharedVerifyStopped(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Verify = `touch "$RIG/checking"; test -e "$RIG/go" || exec sleep 1000`
	call := g.shared(`echo x >> "$RIG/starts"; echo 1 > one`)
	e := g.open(call)
	g.await("checking")
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
		t.Fatal(err)
	}
	g.close(e)
	is(t, "stopped", word(g.view().Agent("a1").Result()), "cancelled stopped")
	g.touch("go")
	is(t, "resumed", word(g.play(call)["a1"].Result), "completed , verified true")
	is(t, "starts", g.lines("starts"), "[x]")
	g.left()
}

// TestSharedCaptureLater keeps a workspace that cannot be captured, for as long
// as that is so, and loses nothing.
func TestSharedCaptureLater(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	calls := []*task.Call{
		g.shared(`echo x >> "$RIG/starts"; echo 1 > one`), g.shared(`echo x >> "$RIG/starts"; echo 2 > two`),
	}
	g.trees.set(errFull)
	for id, s := range g.play(calls...) {
		is(t, string(id), strings.HasPrefix(word(s.Result), "failed capture_failed"), true)
	}
	for range 2 { // while there is hope they are not paid for again
		died(t, g.rig)
		for id, s := range g.play(calls...) {
			is(t, string(id)+" replayed", s.Replayed, true)
		}
	}
	// Another agent works in the very same workspace meanwhile.
	g.trees.set(nil)
	more := g.play(append(calls, g.shared(`test -e one && test -e two && echo 3 > three`))...)
	is(t, "another", task.Word(more["a3"].Result), "completed")
	died(t, g.rig)
	for _, id := range []task.ID{"a1", "a2"} {
		is(t, string(id), word(g.view().Agent(id).Result()), "completed ")
	}
	is(t, "starts", g.lines("starts"), "[x x]")
	is(t, "files", g.files(), "lines one three two")
	g.whole()
	g.left()
}

// TestSharedCaptureAgain retries an agent whose first attempt could not be
// captured: the work of that attempt is in its patch, and the workspace is
// released at the end.
func TestSharedCaptureAgain(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.trees.set(errFull)
	e := g.open(g.shared(`test $SWARM_ATTEMPT = 2 && exec touch two; touch one`), busy2(g))
	is(t, "first", strings.HasPrefix(word(settled(e).Result), "failed capture_failed"), true)
	g.trees.set(nil)
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	is(t, "second", task.Word(settled(e).Result), "completed")
	g.touch("go")
	settled(e)
	g.close(e)
	is(t, "patch", g.paths("a1"), "one two")
	g.whole()
	g.left()
}

// twoShared makes two agents that work in a workspace in turn.
func twoShared(t *testing.T) (*sharedFixture, []*task.Call) {
	t.Helper()
	g := newSharedFixture(t)
	g.config.Jobs = 1
	g.config.Setup = `echo junk > made`
	return g, []*task.Call{
		g.shared(`echo a1 >> "$RIG/starts"; sed s/5/five/ lines > "$RIG/new" && mv "$RIG/new" lines; echo 1 > one`),
		g.shared(`echo a2 >> "$RIG/starts"; sed s/five/V/ lines > "$RIG/new" && mv "$RIG/new" lines; echo 2 > two`),
	}
}

// recordsOfTwo are the kinds of the records of a run of twoShared, after those of
// the calls.
func recordsOfTwo(t *testing.T) []string {
	t.Helper()
	g, calls := twoShared(t)
	var kinds []string
	g.fail = func(e event.Event) error {
		kinds = append(kinds, event.Kind(e))
		return nil
	}
	g.play(calls...)
	return kinds[len(calls):]
}

// TestSharedDied dies at each record of two agents, and resumes.
func TestSharedDied(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	kinds := recordsOfTwo(t)
	for at, kind := range kinds {
		// The gate takes the first record of each kind.
		if !campaign.Running(t) && slices.Contains(kinds[:at], kind) {
			continue
		}
		g, calls := twoShared(t)
		n := 0
		g.fail = func(e event.Event) error {
			if n++; n > at+2 { // the calls themselves
				kind = event.Kind(e)
				n = 1 << 20
				return crash
			}
			return nil
		}
		e := Open(t.Context(), g.deps, g.config, g.view())
		if _, err := e.StartAll(calls); err != nil {
			t.Fatal(err)
		}
		over := false
		for ended := 0; !over && ended < len(calls); ended++ {
			select {
			case <-e.News():
			case <-e.Halted():
				over = true
			}
		}
		err := e.Close()
		if err == nil {
			break // it came to its end
		}
		if !errors.Is(err, crash) {
			t.Fatalf("Close = %v", err)
		}
		g.mu.Lock()
		g.fail = nil
		g.mu.Unlock()
		died(t, g.rig)
		died(t, g.rig) // it may be done again
		completed := map[string]int{}
		for _, a := range g.view().Agents {
			if _, ok := a.Result().(*task.Completed); ok {
				completed[string(a.ID)] = strings.Count(strings.Join(g.lines("starts"), " "), string(a.ID))
			}
		}
		what := fmt.Sprintf("died at %d, %s: ", at, kind)
		for id, s := range g.play(calls...) {
			is(t, what+string(id), task.Word(s.Result), "completed")
		}
		for id, starts := range completed {
			is(t, what+"starts of "+id, strings.Count(strings.Join(g.lines("starts"), " "), id), starts)
		}
		is(t, what+"files", g.files(), "lines made one two")
		is(t, what+"lines", strings.Contains(g.git("show", g.view().Tip+":lines"), "V"), true)
		g.whole()
		g.untouched()
		is(t, what+"shared", g.view().Shared == nil, true)
	}
}

// TestSharedKilled recovers a workspace in which two were at work.
func TestSharedKilled(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	calls := []*task.Call{
		g.shared(`echo a1 >> "$RIG/starts"; echo 0 > zero`),
		g.shared(`test $SWARM_ATTEMPT = 2 && exec test -e one; echo 1 > one; touch "$RIG/up1"; exec sleep 1000`),
		g.shared(`test $SWARM_ATTEMPT = 2 && exec test -e two; echo 2 > two; touch "$RIG/up2"; exec sleep 1000`),
	}
	g.play(calls[0])
	// A killed process leaves only the files on the disk.
	e := Open(t.Context(), g.deps, g.config, g.view())
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	g.await("up1")
	g.await("up2")
	dead := errors.New("dead")
	g.mu.Lock()
	g.fail = func(event.Event) error { return dead }
	g.mu.Unlock()
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); !errors.Is(err, dead) {
		t.Fatal(err)
	}
	if err := e.Close(); !errors.Is(err, dead) {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.fail = nil
	g.mu.Unlock()
	died(t, g.rig)
	is(t, "first", word(g.view().Agent("a2").Result()), "failed lost: swarm ended while it ran")
	is(t, "its patch", g.paths("a2"), "one two")
	is(t, "patch of the other", g.paths("a3"), "none")
	notes := strings.Join(g.view().Agent("a3").Result().Done().Notes, "; ")
	is(t, "note", strings.HasSuffix(notes, "are in the patch of a2"), true)
	g.left()
	for id, s := range g.play(calls...) {
		is(t, string(id), task.Word(s.Result), "completed")
	}
	is(t, "starts", g.lines("starts"), "[a1]")
	g.whole()
	g.left()
}

// TestSharedRecoversNothing removes a workspace that no agent was in yet.
func TestSharedRecoversNothing(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{false, true} {
		g := newSharedFixture(t)
		lease := &event.Leased{
			Agent: "a1", Attempt: 1, Backend: "worktree", Base: g.base, Shared: true,
			Dir:   filepath.Join(g.deps.Run.State().Trees(g.deps.Run.ID), "shared.a1.1"),
			Index: filepath.Join(g.deps.Run.Attempt("a1", 1), "index"),
		}
		call := g.shared("echo 1 > one")
		g.append(called("a1", call), lease)
		if made {
			if err := os.MkdirAll(lease.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		died(t, g.rig)
		is(t, "result", word(g.view().Agent("a1").Result()), "failed lost: swarm ended while it ran")
		g.left()
		is(t, "resumed", task.Word(g.play(call)["a1"].Result), "completed")
		g.left()
	}
}
