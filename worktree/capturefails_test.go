package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// TestCaptureOverwritesNothing captures the same attempt when its workspace
// holds something else than the time before.
func TestCaptureOverwritesNothing(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), "a", "1\n")
		f.in(f.at(w), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "1")
		first := f.capture(w)
		f.write(f.at(w), "a", "2\n")
		f.in(f.at(w), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "2")
		second := f.capture(w)
		again := f.capture(w)
		r := f.captureRequest(w)
		if second.Ref != r.Ref+".2" || second.HeadRef != r.HeadRef+".2" || second.Patch != r.PatchFile+".2" {
			t.Errorf("the second capture went to %s, %s, %s", second.Ref, second.HeadRef, second.Patch)
		}
		if again.Ref != second.Ref || again.Commit != second.Commit || again.HeadRef != second.HeadRef {
			t.Errorf("the same again went to %s, %s", again.Ref, again.HeadRef)
		}
		for _, c := range []*Capture{first, second} {
			if got := f.git("rev-parse", c.Ref, c.HeadRef); got != string(c.Commit)+"\n"+string(c.Head) {
				t.Errorf("%s, %s = %s, want %s and %s", c.Ref, c.HeadRef, got, c.Commit, c.Head)
			}
		}
		if f.show(first.Commit, "a") != "1\n" || f.show(second.Commit, "a") != "2\n" {
			t.Error("the captures do not hold what they should")
		}
	})
}

// TestCaptureOfNothing has a workspace that its agent removed or replaced.
func TestCaptureOfNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.lease(base)
	rm(f, w.Dir)
	for _, replace := range []func() error{
		func() error { return nil },
		func() error { return os.Symlink(f.root, w.Dir) },
	} {
		must(t, replace())
		var gone *survey.GoneError
		if _, err := f.trees.Capture(t.Context(), f.captureRequest(w)); !errors.As(err, &gone) {
			t.Errorf("Capture = %v, want a GoneError", err)
		}
	}
}

// TestCaptureCancelled must not take a git that was ended for an answer.
func TestCaptureCancelled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		for i, step := range steps()["capture"] {
			if !hasTurn(t, i, b) {
				continue
			}
			t.Run(step, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				base := f.commit("a", "a\n")
				f.open()
				w := f.lease(base)
				work(f, w)
				ctx, cancel := contextWithCause(t)
				f.step = func(name string) error {
					if name == step {
						cancel(errKilled)
					}
					return nil
				}
				c, err := f.trees.Capture(ctx, f.captureRequest(w))
				if step == "published" {
					must(t, err)
				} else if !errors.Is(err, errKilled) {
					t.Errorf("Capture = %+v, %v, want the cause", c, err)
				}
				f.step = nil
				c = f.capture(w)
				if len(c.Notes) > 0 || c.Head == "" {
					t.Errorf("Capture = %+v, want the agent's HEAD and no note", c)
				}
			})
		}
	})
}

// TestCaptureFails keeps all there is when git cannot read it.
func TestCaptureFails(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		f.git("config", "filter.bad.clean", "test ! -e "+marker(f)+" && cat")
		f.git("config", "filter.bad.smudge", "cat")
		f.git("config", "filter.bad.required", "true")
		base := f.commit("a", "a\n", ".gitattributes", "a filter=bad\n")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), "a", "mine\n")
		f.write(f.home, "ran", "")
		var bad *git.Error
		if _, err := f.trees.Capture(t.Context(), f.captureRequest(w)); !errors.As(err, &bad) {
			t.Errorf("Capture = %v, want git's error", err)
		}
		if refs := f.git("for-each-ref", "refs/swarm"); refs != "" {
			t.Errorf("refs = %s, want none", refs)
		}
		text, err := os.ReadFile(filepath.Join(f.at(w), "a"))
		if err != nil || string(text) != "mine\n" {
			t.Errorf("a = %q, %v", text, err)
		}
		rm(f, marker(f))
		f.capture(w)
	})
}
