package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// talker is a kind whose agents keep a conversation, which is a file.
type talker struct{ command.Adapter }

const talk = `
	test "$(stat -c %a "$STATE/login" "$STATE")" = "600
700" || exit 4
	test "$DIR" = "$(pwd)" || exit 5
	printf '%s;' "$(cat "$STATE/login")" "$KEY" "${GONE-unset}" "$PRIOR" >> "$STATE/talk/said"
	printf '%s\n' "$(cat)" >> "$STATE/talk/said"
	printf '{"type":"session","id":"%s","model":"m1"}\n{"type":"usage","output":5}\n{"type":"result","text":"ok"}\n' "$SESSION"`

func (talker) Launch(r agent.Request) (agent.Launch, error) {
	session := r.Session
	if r.Parent != "" {
		session += "<" + r.Parent
	}
	return agent.Launch{
		Argv: []string{"sh", "-c", "set -e; mkdir -p $STATE/talk; echo secret > $STATE/other" + talk}, Stdin: r.PromptFile,
		Env:   []string{"STATE=" + r.State, "DIR=" + r.Dir, "SESSION=" + session, "PRIOR=" + strings.Repeat("x", int(r.Spec.Prior.Output))},
		Unset: []string{"GONE"}, Files: []agent.File{{Name: "login", Data: r.Login.Files[0].Data}},
	}, nil
}

// talkers adds the kind talker to the rig, with an agent of it.
func (r *rig) talkers() {
	r.deps.Kinds["talker"] = agent.Kind{
		Name: "talker", Adapter: talker{}, Sessions: []string{"talk"}, Can: agent.Abilities{Fork: true},
		Login: func(s agent.Surroundings) agent.Login {
			return agent.Login{
				Name: "key", Env: []string{"KEY", "API_KEY"},
				Files: []agent.File{{Name: "login", Data: []byte("login of " + s.Home)}},
			}
		},
	}
	r.deps.Surroundings = agent.Surroundings{Home: "ada"}
	r.deps.Environ = append(r.deps.Environ, "KEY=k", "GONE=here")
	r.config.Agents = map[string]*agent.Spec{"t": {
		Name: "t", Kind: "talker", Command: []string{"talker"},
		Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
	}}
}

func talks(prompt string) *task.Call {
	return &task.Call{Input: &task.TypedAgentInput{Prompt: prompt}, Agent: "t", Base: "base", BaseTree: "tree"}
}

func (r *rig) said(id task.ID) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.deps.Run.Attempt(id, 1), "session", "talk", "said"))
	if err != nil {
		r.t.Error(err)
	}
	return string(text)
}

// TestState checks that an agent of a kind has a state folder, of which only
// the conversation is kept, and that another agent can continue it.
func TestState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.talkers()
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	one := talks("one")
	if _, err := e.Start(one); err != nil {
		t.Fatal(err)
	}
	first, ok := settled(e).Result.(*task.Completed)
	if !ok {
		t.Fatal("the first did not complete")
	}
	id := sessionID(r.deps.Run.ID, "a1", 1, 1)
	is(t, "session", first.Session, id)
	is(t, "model", first.Model, "m1")
	two := talks("two")
	two.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "two"}
	if _, err := e.Start(two); err != nil {
		t.Fatal(err)
	}
	second, ok := settled(e).Result.(*task.Completed)
	if !ok {
		t.Fatal("the second did not complete")
	}
	is(t, "fork", second.Session, sessionID(r.deps.Run.ID, "a2", 1, 1)+"<"+id)
	is(t, "usage of the conversation", second.Conversation.Output, int64(10))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "said by the first", r.said("a1"), "login of ada;k;unset;;one\n")
	is(t, "said by the second", r.said("a2"), "login of ada;k;unset;;one\nlogin of ada;k;unset;xxxxx;two\n")
	for _, name := range []string{"box", "session/login", "session/other"} {
		if _, err := os.Lstat(filepath.Join(r.deps.Run.Attempt("a1", 1), name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestForkOfNothing checks that an agent that reported no conversation cannot
// be forked.
func TestForkOfNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.talkers()
	r.config.Agents["c"] = specs("c", `echo '{"type":"result","text":"ok"}'`)["c"]
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	defer func() { _ = e.Close() }()
	first := talks("p")
	first.Agent = "c"
	if _, err := e.Start(first); err != nil {
		t.Fatal(err)
	}
	settled(e)
	call := talks("more")
	call.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "more"}
	if _, err := e.Start(call); err == nil || err.Error() != "fork: a1: "+ErrNoParent.Error() {
		t.Errorf("Start = %v", err)
	}
}

// TestSessionLinks checks that the targets of a conversation's links are not
// kept.
func TestSessionLinks(t *testing.T) {
	t.Parallel()
	outside, from, to := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "to")
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "key"), []byte("k"), 0o600),
		os.WriteFile(filepath.Join(from, "plain"), []byte("p"), 0o600),
		os.Symlink(filepath.Join(outside, "key"), filepath.Join(from, "link")),
		os.Symlink(outside, filepath.Join(from, "folder")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := copySession(from, to, []string{"*"}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(to)
	if err != nil || len(entries) != 1 || entries[0].Name() != "plain" {
		t.Errorf("it kept %v, %v", entries, err)
	}
	instead := filepath.Join(t.TempDir(), "state")
	if err := os.Symlink(outside, instead); err != nil {
		t.Fatal(err)
	}
	if err := copySession(instead, filepath.Join(t.TempDir(), "to"), []string{"*"}); err == nil || err.Error() != "state is not a folder" {
		t.Errorf("of a link in place of the folder: %v", err)
	}
}

// TestHalfASession checks that half a conversation is not continued as if it
// were whole.
func TestHalfASession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.talkers()
	kind := r.deps.Kinds["talker"]
	kind.Sessions = []string{"talk", "["} // the second cannot be kept
	r.deps.Kinds["talker"] = kind
	var told []string
	r.deps.Warn = func(text string) { told = append(told, text) }
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	defer func() { _ = e.Close() }()
	if _, err := e.Start(talks("one")); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if len(told) != 1 || !strings.Contains(told[0], "a1: its conversation cannot be kept") {
		t.Errorf("told %q", told)
	}
	if _, err := os.Lstat(filepath.Join(r.deps.Run.Attempt("a1", 1), "session")); !os.IsNotExist(err) {
		t.Errorf("half of it is kept: %v", err)
	}
	two := talks("two")
	two.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "two"}
	if _, err := e.Start(two); !errors.Is(err, ErrNoParent) {
		t.Errorf("a fork of it: Start = %v", err)
	}
}

// newTalked is a rig whose owner died when its talker a1 had answered, and the
// folder of that attempt.
func newTalked(t *testing.T) (r *rig, dir string) {
	t.Helper()
	r = newRig(t)
	r.talkers()
	r.append(called("a1", talks("one")), r.leasedAt("a1", 1), &event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 1 << 29, Start: 1})
	dir = r.deps.Run.Attempt("a1", 1)
	said := filepath.Join(dir, "box", "state", "talk", "said")
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "stdout"), []byte(`{"type":"session","id":"s"}`+"\n"+ok), 0o600),
		os.MkdirAll(filepath.Dir(said), 0o700), os.WriteFile(said, []byte("one\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// TestSessionLeft checks that another agent can continue the conversation of an
// agent that had answered when its owner died. If the conversation was lost,
// the result names none.
func TestSessionLeft(t *testing.T) {
	t.Parallel()
	for session, lost := range map[string]bool{"s": false, "": true} {
		r, dir := newTalked(t)
		if lost {
			if err := os.RemoveAll(filepath.Join(dir, "box")); err != nil {
				t.Fatal(err)
			}
		}
		died(t, r)
		result := r.view().Agent("a1").Result()
		is(t, "settled", word(result), "completed ok")
		is(t, "session", result.Done().Session, session)
		if !lost {
			is(t, "said", r.said("a1"), "one\n")
		}
	}
}

// TestSessionLeftTwice kills a recovery after it kept the conversation, while
// it removes the source. The next recovery finds the whole conversation.
func TestSessionLeftTwice(t *testing.T) {
	t.Parallel()
	r, dir := newTalked(t)
	killed := errors.New("killed")
	r.deps.Unlock = func() error {
		return errors.Join(killed, os.MkdirAll(filepath.Join(dir, "box", "state", "talk"), 0o700))
	}
	v := r.view()
	v.Status, v.Died = store.RunStopped, true
	if err := Recover(t.Context(), r.deps, r.config, v); !errors.Is(err, killed) {
		t.Fatalf("Recover = %v", err)
	}
	r.deps.Unlock = nil
	died(t, r)
	is(t, "session", r.view().Agent("a1").Result().Done().Session, "s")
	is(t, "said", r.said("a1"), "one\n")
}

// TestQuiet holds how long agents of a kind may say nothing.
func TestQuiet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.talkers()
	kind := r.deps.Kinds["talker"]
	kind.Quiet = quietest / 2
	r.deps.Kinds["talker"] = kind
	for _, test := range []struct {
		name           string
		own, run, call int64 // seconds
		want           int64
	}{
		{"nobody said", 0, 0, 0, int64(quietest.Seconds())},
		{"less than it needs", 0, 5, 0, int64(kind.Quiet.Seconds())},
		{"more", 0, 5000, 0, 5000},
		{"its own", 7, 5, 0, 7},
		{"the call's", 7, 5, 3, 3},
	} {
		config := r.config
		spec := *config.Agents["t"]
		spec.IdleTimeout = seconds(test.own)
		config.Agents = map[string]*agent.Spec{"t": &spec}
		config.IdleTimeout = seconds(test.run)
		call := talks("p")
		call.Limits.Idle = seconds(test.call)
		a := &attempt{engine: &Engine{config: config, deps: r.deps}, call: call, spec: SpecOf(config, call)}
		a.suit()
		is(t, test.name, a.spec.IdleTimeout, seconds(test.want))
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
