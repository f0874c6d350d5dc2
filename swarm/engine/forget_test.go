package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

const pondered = `{"type":"thinking","text":"SECRET"}` + "\n" + `{"type":"result","text":"said"}` + "\n"

// left reads the output of an attempt.
func (r *rig) left(id task.ID) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.deps.Run.Attempt(id, 1), "stdout"))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// TestForgets checks that the thoughts of a model are not kept in the output of
// its agent, that all else is kept, and that a command's output is unchanged.
func TestForgets(t *testing.T) {
	t.Parallel()
	blank := strings.Replace(pondered, "SECRET", "      ", 1)
	for kind, want := range map[string]string{"pi": blank, agent.KindCommand: pondered} {
		r := newRig(t)
		r.deps.Kinds["pi"] = agent.Kind{Name: "pi", Adapter: command.Adapter{}}
		r.config.Agents = specs("mine", "read -r p; printf '%s' '"+pondered+"'")
		r.config.Agents["mine"].Kind = kind
		// It may take a while, in which the end must be on record already.
		var then string
		r.fail = func(e event.Event) error {
			if _, ended := e.(*event.Ended); ended {
				then = r.left("a1")
			}
			return nil
		}
		done, ok := r.play(mine())["a1"].Result.(*task.Completed)
		if !ok || done.Answer != "said" {
			t.Fatalf("%s: it ended as %+v", kind, r.view().Agent("a1").Result())
		}
		is(t, kind, r.left("a1"), want)
		is(t, kind+" before its end was on record", then, pondered)
	}
}

// TestForgetsLeft is the same of an owner that died before it came to it. That it
// was done later is not taken for a sign of the agent, which would have worked
// all that time.
func TestForgetsLeft(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprint("ended ", ended), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.deps.Kinds["pi"] = agent.Kind{Name: "pi", Adapter: command.Adapter{}}
			r.config.Agents = specs("mine", "true")
			r.config.Agents["mine"].Kind = "pi"
			r.append(called("a1", mine()), r.leasedAt("a1", 1), &event.Started{Agent: "a1", Attempt: 1, Step: "agent"})
			if ended {
				r.append(&event.Ended{Agent: "a1", Attempt: 1, Stdout: int64(len(pondered))})
			}
			stdout := filepath.Join(r.deps.Run.Attempt("a1", 1), "stdout")
			if err := os.WriteFile(stdout, []byte(pondered), 0o600); err != nil {
				t.Fatal(err)
			}
			wrote := time.Now().Add(time.Hour).Truncate(time.Second)
			if err := os.Chtimes(stdout, wrote, wrote); err != nil {
				t.Fatal(err)
			}
			r.deps.Now = func() time.Time { return wrote.Add(time.Hour) }
			died(t, r)
			is(t, "left", r.left("a1"), strings.Replace(pondered, "SECRET", "      ", 1))
			result := r.view().Agent("a1").Result()
			if ended {
				is(t, "result", word(result), "completed said")
			} else if end := result.Done().Ended; !end.Equal(wrote) {
				t.Errorf("it was at work until %s, want %s", end, wrote)
			}
		})
	}
}

// TestForgetsNoOther: an agent that has put something else in the place of its
// output has nothing written over.
func TestForgetsNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "stdout")
	if err := os.WriteFile(other, []byte(pondered), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if err := forget("pi", link); err == nil {
		t.Error("a link is followed")
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != pondered {
		t.Errorf("what it points to became %q (%v)", b, err)
	}
	is(t, "nothing there", forget("pi", filepath.Join(dir, "none")), nil)
}
