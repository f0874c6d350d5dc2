package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/asksocket"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// verbal judges an action by its first word, and records the settlements.
type verbal struct {
	mu   sync.Mutex
	kept []string
}

func (w *verbal) Judge(r JudgeRequest) *Ruling {
	ruling := &Ruling{Request: r, Reason: "it is " + r.Action.Command, Tier: risk.Visible}
	switch word, _, _ := strings.Cut(r.Action.Command, " "); word {
	case "well":
		ruling.Verdict, ruling.Tier = risk.Proceed, risk.Safe
	case "never":
		ruling.Verdict, ruling.Instead = risk.Deny, "another"
	case "grave":
		ruling.Verdict, ruling.Tier = risk.Ask, risk.Destructive
	case "call":
		ruling.Verdict, ruling.Call = risk.Ask, r.Action.Command
	case "drop":
		ruling.Verdict, ruling.Files = risk.Ask, &event.Files{Deletes: []string{"pkg"}}
	case "unless":
		if ruling.Verdict = risk.Proceed; len(r.Denied.Deletes) > 0 {
			ruling.Verdict = risk.Deny
		}
	case "own":
		ruling.Verdict, ruling.Confined = risk.Ask, true
	default:
		ruling.Verdict = risk.Ask
	}
	return ruling
}

func (w *verbal) Record(r *Ruling, s Settlement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, fmt.Sprintf("%s %s %v %s", r.Request.Agent, r.Request.Action.Command, s.Allow, s.By))
}

func (*verbal) Contract(*task.Call, worktree.Workspace) (string, error) { return "be good", nil }

// record lists the settlements, sorted by their text.
func (w *verbal) record() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(w.kept)), "; ")
}

// askSockets are sockets in a folder with a short name.
type askSockets struct{ dir string }

func (e *askSockets) Listen(ctx context.Context, id task.ID, n int, decide func(context.Context, ask.Request) ask.Answer) (string, func() error, error) {
	path := filepath.Join(e.dir, task.AttemptName(id, n))
	s, err := asksocket.Listen(ctx, path, decide)
	if err != nil {
		return "", nil, err
	}
	return s.Address(), s.Close, nil
}

// judging is a rig whose agents have hooks. They run a text of sh, in which
// "may X" asks about the command X and says 0 or 2.
func judging(t *testing.T, text string) (*rig, *verbal) {
	t.Helper()
	r := newRig(t)
	return r, r.judges(text)
}

// judges makes a rig such.
func (r *rig) judges(text string) *verbal {
	r.t.Helper()
	dir, err := os.MkdirTemp("", "ears")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	w := &verbal{}
	r.deps.Judge, r.deps.AskSockets = w, &askSockets{dir: dir}
	r.deps.Questions = inbox.Wait
	r.config.Agents = specs("mine", `read -r prompt
		may() { printf '{"command":"%s"}' "$1" | '`+self+`' __hook 2>> "$RIG/why.$SWARM_AGENT" >&2; echo $? >> "$RIG/may.$SWARM_AGENT"; }
		begin() { '`+self+`' __guard "$1"; echo $? >> "$RIG/may.$SWARM_AGENT"; }
		`+text+`
		printf '{"type":"result","text":"done"}\n'`)
	return w
}

// shown is the answer to a question about a command.
func shown(id, command string, allow bool, span task.Span) inbox.Answer {
	text, _ := json.Marshal(ask.Action{Command: command})
	return inbox.Answer{Replied: event.Replied{ID: id, Allow: allow, For: span}, Shown: inbox.Digest(text)}
}

func TestHookIsAnswered(t *testing.T) {
	t.Parallel()
	r, w := judging(t, `cat "$SWARM_CONTRACT" > "$RIG/contract"; may "well done"; may never; may "ask me"; may "ask no"`)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	for command, allow := range map[string]bool{"ask me": true} {
		if err := answerTo(e, shown(r.opened(1)[0], command, allow, "")); err != nil {
			t.Fatal(err)
		}
	}
	for r.view().Waiting() == nil || r.view().Waiting()[0].ID != r.deps.Run.ID+"-2" {
		time.Sleep(time.Millisecond) // a poll for a process
	}
	q := r.view().Waiting()[0]
	is(t, "tier", q.Risk.Tier, "VISIBLE")
	is(t, "reason", q.Risk.Reason, "it is ask no")
	is(t, "state", task.Word(r.view().Agent("a1").Status), "waiting")
	if err := answerTo(e, shown(q.ID, "ask no", false, "")); err != nil {
		t.Fatal(err)
	}
	is(t, "status", task.Word(settled(e).Result), "completed")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "may", strings.Join(r.lines("may.a1"), " "), "0 2 0 2")
	is(t, "contract", strings.Join(r.lines("contract"), " "), "be good")
	why := strings.Join(r.lines("why.a1"), " ")
	if !strings.Contains(why, "it is never. Instead: another") || !strings.Contains(why, "a person said no") || !strings.Contains(why, NoOtherWay) {
		t.Errorf("it was told %s", why)
	}
	is(t, "record", w.record(), "a1 ask me true person; a1 ask no false person; a1 never false risk; a1 well done true risk")
	is(t, "its records", r.kinds("a1"), "called leased leased started:agent questioned questioned ended captured settled released")
}

// TestHooksAskTheSame merges equal questions of several agents, and allows no
// DESTRUCTIVE action for the run.
func TestHooksAskTheSame(t *testing.T) {
	t.Parallel()
	r, w := judging(t, `may grave`)
	e := Open(t.Context(), r.deps, r.config, nil)
	for range 3 {
		if _, err := e.Start(mine()); err != nil {
			t.Fatal(err)
		}
	}
	ids := r.opened(3)
	if _, ok := errors.AsType[*inbox.OnceError](answerTo(e, shown(ids[1], "grave", true, task.ForTheRun))); !ok {
		t.Error("it was allowed for the run")
	}
	all := shown(ids[1], "grave", true, "")
	all.All = true
	if err := answerTo(e, all); err != nil {
		t.Fatal(err)
	}
	r.collect(e, 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a1", "a2", "a3"} {
		is(t, id, strings.Join(r.lines("may."+id), " "), "0")
	}
	if got := w.record(); strings.Count(got, "true person") != 3 {
		t.Errorf("record = %s", got)
	}
}

// TestHookIsDeniedInTime denies a question that has no answer in time, and
// denies it at once if no person can be asked.
func TestHookIsDeniedInTime(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"late": "no answer came within 1ms", "policy": "no person can be asked"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := judging(t, `may "ask me"`)
			r.config.QuestionTime = time.Millisecond
			if name == "policy" {
				r.deps.Questions, r.config.QuestionTime = inbox.Deny, 0
			}
			is(t, "status", task.Word(r.play(mine())["a1"].Result), "completed")
			is(t, "may", strings.Join(r.lines("may.a1"), " "), "2")
			if why := strings.Join(r.lines("why.a1"), " "); !strings.Contains(why, want) {
				t.Errorf("it was told %s", why)
			}
			if got := w.record(); !strings.Contains(got, "a1 ask me false") {
				t.Errorf("record = %s", got)
			}
			is(t, "waiting", len(r.view().Waiting()), 0)
		})
	}
}

// TestHookWhoseAgentEnds closes the question.
func TestHookWhoseAgentEnds(t *testing.T) {
	t.Parallel()
	r, _ := judging(t, `(may "ask me") & while ! grep -q questioned "$JOURNAL"; do :; done`)
	r.deps.Environ = append(r.deps.Environ, "JOURNAL="+r.deps.Run.Journal())
	is(t, "status", task.Word(r.play(mine())["a1"].Result), "completed")
	v := r.view()
	if len(v.Questions) != 1 || v.Questions[0].Reply == nil || v.Questions[0].Reply.By != task.ByEnd {
		t.Errorf("questions = %+v", v.Questions)
	}
}

// TestAskOfTheProtocolIsJudged allows SAFE actions without a question.
func TestAskOfTheProtocolIsJudged(t *testing.T) {
	t.Parallel()
	r, w := judging(t, `
		for c in "well done" never "ask me"; do
			printf '{"type":"ask","id":"%s","action":{"command":"%s"}}\n' "$c" "$c"
			read -r answer; echo "$answer" >> "$RIG/answers"
		done`)
	r.deps.Questions = inbox.Deny
	is(t, "status", task.Word(r.play(mine())["a1"].Result), "completed")
	is(t, "answers", strings.Join(r.lines("answers"), " "), `{"type":"answer","id":"well done","allow":true,"reason":""} `+
		`{"type":"answer","id":"never","allow":false,"reason":"it is never. Instead: another"} `+
		`{"type":"answer","id":"ask me","allow":false,"reason":"no person can be asked here: questions are denied"}`)
	is(t, "questions", len(r.view().Questions), 2)
	is(t, "record", w.record(), "a1 ask me false policy; a1 never false risk; a1 well done true risk")
}

// TestAskThatIsReadInTwoWays judges nothing that another reader would take for
// something else: a person is asked about all of it, and the judge sees none.
func TestAskThatIsReadInTwoWays(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{
		"a member twice":          `"action":{"command":"ask me","command":"well done"}`,
		"escaped":                 `"action":{"command":"ask me","comm\u0061nd":"well done"}`,
		"in another case":         `"action":{"command":"ask me","COMMAND":"well done"}`,
		"the action twice":        `"action":{"command":"ask me"},"action":{"command":"well done"}`,
		"the action in two cases": `"action":{"command":"ask me"},"Action":{"command":"well done"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := judging(t, `
				printf '%s\n' '{"type":"ask","id":"q",`+ask+`}'
				read -r answer; echo "$answer" >> "$RIG/answers"`)
			r.deps.Questions = inbox.Deny
			is(t, "status", task.Word(r.play(mine())["a1"].Result), "completed")
			is(t, "answers", strings.Join(r.lines("answers"), " "),
				`{"type":"answer","id":"q","allow":false,"reason":"no person can be asked here: questions are denied"}`)
			is(t, "record", w.record(), "")
			questions := r.view().Questions
			if len(questions) != 1 {
				t.Fatalf("there are %d questions, want one", len(questions))
			}
			contains(t, "the question", string(questions[0].Action), "ask me", "well done")
		})
	}
}

// TestSnapshot checks that a capture before an action has all files that the
// agent made by then, and no file that swarm put there for it to read.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	g := newSharedFixture(t)
	g.judges(`echo new > made; cp swarm-brief.md mine.md; may own; rm made; may own`)
	call := mine()
	call.Base, call.BaseTree = g.base, "tree"
	call.Stage = &task.Stage{Name: "implementer", Brief: "a long brief"}
	e := g.open(call)
	settled(e)
	g.close(e)
	is(t, "may", strings.Join(g.lines("may.a1"), " "), "0 0")
	ref := captureref.Attempt(g.deps.Run.ID, "a1", 1)
	is(t, "before it", g.git("ls-tree", "--name-only", ref+".before-1"), "lines\nmade\nmine.md")
	is(t, "before the next", g.git("ls-tree", "--name-only", ref+".before-2"), "lines\nmine.md")
	is(t, "in the end", g.git("ls-tree", "--name-only", ref), "lines\nmine.md")
	is(t, "what it read", g.git("show", ref+":mine.md"), "a long brief")
}
