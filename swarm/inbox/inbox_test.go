package inbox

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

func asked(action string) *event.Asked {
	return &event.Asked{ID: "own", Action: json.RawMessage(action)}
}

// allow approves the shown action.
func allow(id string, shown json.RawMessage) Answer {
	return Answer{Shown: Digest(shown), Replied: event.Replied{ID: id, Allow: true}}
}

func forTheRun(q *event.Questioned) Answer {
	a := allow(q.ID, q.Action)
	a.For = task.ForTheRun
	return a
}

func TestDenyAnswersAtOnce(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{Deny, ""} {
		b := New("abcdef", policy, nil)
		q, r := b.Ask("a1", 1, asked(`"push"`))
		if q.ID != "abcdef-1" || q.Ask != "own" || r == nil || r.Allow || r.By != task.ByPolicy || b.Open() != 0 {
			t.Errorf("policy %q: Ask = %+v, %+v", policy, q, r)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	b := New("abcdef", Wait, nil)
	first, r := b.Ask("a1", 1, asked(`{"run": "push"}`))
	if r != nil {
		t.Fatalf("an open question has the reply %+v", r)
	}
	same, _ := b.Ask("a2", 1, asked(`{"run":"push"}`))
	other, _ := b.Ask("a3", 1, asked(`{"run":"pull"}`))
	if _, err := b.Answer(allow("abcdef-9", nil)); !errors.Is(err, ErrNotOpen) {
		t.Errorf("an unknown question was answered: %v", err)
	}
	closed, err := b.Answer(forTheRun(first))
	if err != nil || len(closed) != 2 {
		t.Fatalf("Answer = %v, %v", closed, err)
	}
	if c := closed[0]; c.Question != first || !c.Reply.Allow || c.Reply.By != task.ByPerson {
		t.Errorf("the question has %+v", c)
	}
	if c := closed[1]; c.Question != same || !c.Reply.Allow || c.Reply.By != task.ByPerson || c.Reply.ID != same.ID {
		t.Errorf("the same question has %+v", c)
	}
	if ended := b.End("a3"); len(ended) != 1 || ended[0] != other {
		t.Errorf("another question was closed; %v are open", ended)
	}
	if _, err := b.Answer(Answer{Replied: event.Replied{ID: first.ID}}); !errors.Is(err, ErrNotOpen) {
		t.Errorf("a question was answered twice: %v", err)
	}
	if _, r := b.Ask("a9", 2, asked(`{"run":"push"}`)); r == nil || !r.Allow || r.By != task.ByRule {
		t.Errorf("later the same gets %+v", r)
	}
}

// TestOnlyWhatWasShownIsAnswered checks that no unseen action is allowed, and
// that an answer to another action answers nothing.
func TestOnlyWhatWasShownIsAnswered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		asked  string
		shown  string
		unseen bool // the answer does not name the shown action
		allow  bool
		passes bool
	}{
		{asked: `{"run":"rm"}`, shown: `{ "run" : "rm" }`, allow: true, passes: true},
		{asked: `"a<b"`, shown: `"a\u003cb"`, allow: true, passes: true}, // as the journal has it
		{asked: ``, shown: `null`, allow: true, passes: true},
		{asked: `{"run":"rm"}`, shown: `{"run":"ls"}`, allow: true},
		{asked: `{"run":"rm"}`, shown: `{"run":"ls"}`},
		{asked: `{"run":"rm"}`, shown: `null`, allow: true},
		{asked: ``, shown: `{"run":"ls"}`, allow: true},
		{asked: `{"run":"rm"}`, unseen: true, allow: true},
		{asked: ``, unseen: true, allow: true},
		{asked: `{"run":"rm"}`, unseen: true, passes: true},
	} {
		b := New("abcdef", Wait, nil)
		q, _ := b.Ask("a1", 1, asked(tt.asked))
		a := Answer{Replied: event.Replied{ID: q.ID, Allow: tt.allow, For: task.ForTheRun}}
		if !tt.unseen {
			a.Shown = Digest(json.RawMessage(tt.shown))
		}
		closed, err := b.Answer(a)
		if tt.passes {
			if err != nil || len(closed) != 1 || b.Open() != 0 {
				t.Errorf("%+v: %v, %v", tt, closed, err)
			}
			continue
		}
		other, ok := errors.AsType[*OtherError](err)
		if !ok || other.ID != q.ID || other.Unseen != tt.unseen || b.Open() != 1 {
			t.Errorf("%+v: %v, %v, %d open", tt, closed, err, b.Open())
		}
		if _, r := b.Ask("a2", 1, asked(tt.asked)); r != nil {
			t.Errorf("%+v: what was refused holds for the run: %+v", tt, r)
		}
	}
}

func TestOnceIsOnce(t *testing.T) {
	t.Parallel()
	b := New("abcdef", Wait, nil)
	q, _ := b.Ask("a1", 1, asked(`"push"`))
	once := allow(q.ID, q.Action)
	once.For = task.Once
	if _, err := b.Answer(once); err != nil {
		t.Fatal(err)
	}
	if _, r := b.Ask("a1", 1, asked(`"push"`)); r != nil {
		t.Errorf("an answer for once held twice: %+v", r)
	}
}

// TestNothingIsNotTheSame checks that an answer for the run to a question
// without an action allows nothing else.
func TestNothingIsNotTheSame(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"", "null", `""`, "{}", " {} "} {
		b := New("abcdef", Wait, nil)
		q, _ := b.Ask("a1", 1, asked(action))
		other, _ := b.Ask("a2", 1, asked(action))
		closed, err := b.Answer(forTheRun(q))
		if err != nil || len(closed) != 1 || closed[0].Question == other {
			t.Errorf("action %q: an answer held for another question: %v, %v", action, closed, err)
		}
		if _, r := b.Ask("a3", 1, asked(action)); r != nil {
			t.Errorf("action %q: later got %+v", action, r)
		}
	}
}

func TestEndClosesTheAgentsOwn(t *testing.T) {
	t.Parallel()
	b := New("abcdef", Wait, nil)
	q, _ := b.Ask("a1", 1, asked(`1`))
	b.Ask("a2", 1, asked(`2`))
	if ended := b.End("a1"); len(ended) != 1 || ended[0] != q || b.Open() != 1 {
		t.Errorf("End = %v, %d open", ended, b.Open())
	}
	if _, err := b.Answer(allow(q.ID, q.Action)); !errors.Is(err, ErrNotOpen) {
		t.Errorf("the question of an agent that ended was answered: %v", err)
	}
}

// TestLaterOwner checks that ids continue, that answers for the run still hold,
// and that open questions are closed.
func TestLaterOwner(t *testing.T) {
	t.Parallel()
	b := New("abcdef", Wait, []event.Event{
		&event.Questioned{ID: "abcdef-1", Agent: "a1", Action: json.RawMessage(`"push"`)},
		&event.Questioned{ID: "abcdef-2", Agent: "a2", Action: json.RawMessage(`"pull"`)},
		&event.Questioned{ID: "abcdef-3", Agent: "a3", Action: json.RawMessage(`"rest"`)},
		&event.Replied{ID: "abcdef-1", Allow: true, For: task.ForTheRun, By: task.ByPerson},
		&event.Replied{ID: "abcdef-2", Allow: true, For: task.ForTheRun, By: task.ByPolicy},
	})
	q, r := b.Ask("a4", 1, asked(`"push"`))
	if q.ID != "abcdef-4" || r == nil || !r.Allow {
		t.Errorf("Ask = %+v, %+v", q, r)
	}
	if _, r := b.Ask("a4", 1, asked(`"pull"`)); r != nil {
		t.Errorf("what no person answered holds: %+v", r)
	}
	if _, err := b.Answer(allow("abcdef-3", json.RawMessage(`"rest"`))); !errors.Is(err, ErrNotOpen) {
		t.Errorf("a question of an earlier owner was answered: %v", err)
	}
}

func TestPolicyWords(t *testing.T) {
	t.Parallel()
	var p Policy
	if err := p.UnmarshalText([]byte("wait")); err != nil || p != Wait {
		t.Errorf("wait = %q, %v", p, err)
	}
	if err := p.UnmarshalText([]byte("ask")); err == nil {
		t.Error("an unknown policy was accepted")
	}
}

func TestAnswersOfAScriptFitItsChoices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, action string
		give         event.Replied
		want         string // empty: refused
	}{
		{name: "choice", action: `{"question":"q","choices":["Land","wait"]}`, give: event.Replied{Allow: true, Text: " land "}, want: "Land"},
		{name: "none", action: `{"question":"q","choices":["land","wait"]}`, give: event.Replied{Allow: true, Text: "go"}},
		{name: "yes is no choice", action: `{"question":"q","choices":["land","wait"]}`, give: event.Replied{Allow: true}},
		{name: "yes is one", action: `{"question":"q","choices":["yes","no"]}`, give: event.Replied{Allow: true}, want: "yes"},
		{name: "no", action: `{"question":"q"}`, give: event.Replied{}, want: "no"},
		{name: "text", action: `{"question":"q"}`, give: event.Replied{Allow: true, Text: "the staging one"}, want: "the staging one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			box := New("abcdef", Wait, nil)
			q, _ := box.Ask("", 0, &event.Asked{Action: []byte(tt.action)})
			tt.give.ID = q.ID
			closed, err := box.Answer(Answer{Replied: tt.give, Shown: Digest(q.Action)})
			var none *ChoiceError
			if errors.As(err, &none) != (tt.want == "") {
				t.Fatalf("Answer(%+v) = %v", tt.give, err)
			}
			if tt.want == "" {
				if box.Open() != 1 {
					t.Error("a refused answer closed the question")
				}
				return
			}
			if got := closed[0].Reply.Text; got != tt.want {
				t.Errorf("Answer(%+v) says %q, want %q", tt.give, got, tt.want)
			}
		})
	}
}

func TestEndKey(t *testing.T) {
	t.Parallel()
	box := New("abcdef", Wait, nil)
	q, _ := box.Ask("", 0, &event.Asked{Action: []byte(`{"question":"q"}`)})
	q.Key = "k"
	if ended := box.EndKey("other"); len(ended) != 0 {
		t.Errorf("another key ended %d questions", len(ended))
	}
	if ended := box.EndKey("k"); len(ended) != 1 || box.Open() != 0 {
		t.Errorf("its key ended %d questions and left %d open", len(ended), box.Open())
	}
}

// TestSecretsAreNoAnswer: actions that differ only in a removed secret are
// asked separately. An answer for the run ends with the owner that knows the
// secret.
func TestSecretsAreNoAnswer(t *testing.T) {
	t.Parallel()
	l := Looked{Risk: &event.Risk{Tier: "VISIBLE"}, Shown: json.RawMessage(`"send [redacted]"`)}
	b := New("abcdef", Wait, nil)
	q, _ := b.AskAbout("a1", 1, asked(`"send x"`), l)
	same, _ := b.AskAbout("a2", 1, asked(`"send x"`), l)
	other, _ := b.AskAbout("a3", 1, asked(`"send y"`), l)
	if string(q.Action) != `"send [redacted]"` || !q.Redacted {
		t.Errorf("the question has %s, redacted: %v", q.Action, q.Redacted)
	}
	given := allow(q.ID, q.Action)
	given.For = task.ForTheRun
	closed, err := b.Answer(given)
	if err != nil || len(closed) != 2 || closed[1].Question != same {
		t.Fatalf("Answer = %v, %v", closed, err)
	}
	if b.Open() != 1 || !b.EndOne(other.ID) {
		t.Error("another secret was answered alike")
	}
	if _, r := b.AskAbout("a4", 1, asked(`"send x"`), l); r == nil || !r.Allow {
		t.Errorf("the same later: %+v", r)
	}
	if _, r := b.AskAbout("a4", 1, asked(`"send y"`), l); r != nil {
		t.Errorf("another later: %+v", r)
	}
	if _, r := b.Ask("a4", 1, asked(`"send [redacted]"`)); r != nil {
		t.Errorf("what is shown of it, by its letters: %+v", r)
	}
	later := New("abcdef", Wait, []event.Event{q, closed[0].Reply})
	for _, action := range []string{`"send x"`, `"send y"`} {
		if _, r := later.AskAbout("a1", 1, asked(action), l); r != nil {
			t.Errorf("%s of a later owner: %+v", action, r)
		}
	}
}

// TestTheReasonIsForAll: an agent that gets the answer to another's question
// gets the words of the person, too.
func TestTheReasonIsForAll(t *testing.T) {
	t.Parallel()
	looked := Looked{Risk: &event.Risk{Tier: "VISIBLE"}}
	for forWhom, later := range map[task.Span]bool{task.Once: false, task.ForTheRun: true} {
		b := New("abcdef", Wait, nil)
		q, _ := b.AskAbout("a1", 1, asked(`"push"`), looked)
		b.AskAbout("a2", 1, asked(`"push"`), looked)
		closed, err := b.Answer(Answer{Shown: Digest(q.Action), Replied: event.Replied{ID: q.ID, For: forWhom, Reason: "use a branch"}})
		if err != nil || len(closed) != 2 || !strings.HasPrefix(closed[1].Reply.Reason, "use a branch (answered ") {
			t.Errorf("%s: Answer = %+v, %v", forWhom, closed, err)
		}
		if _, r := b.AskAbout("a3", 1, asked(`"push"`), looked); later && (r == nil || !strings.HasPrefix(r.Reason, "use a branch (answered ")) {
			t.Errorf("%s: later the same gets %+v", forWhom, r)
		}
	}
}

// TestGraverIsAskedAbout checks that a yes holds for the risk that was shown:
// if the same action is DESTRUCTIVE elsewhere, it is asked again.
func TestGraverIsAskedAbout(t *testing.T) {
	t.Parallel()
	looked := func(tier, reason string) Looked { return Looked{Risk: &event.Risk{Tier: tier, Reason: reason}} }
	hard, grave := looked("HARD_TO_REVERSE", "it writes outside"), looked("DESTRUCTIVE", "it overwrites")
	for _, tt := range []struct {
		name   string
		answer bool
		span   task.Span
		first  Looked // the answered question
		open   Looked // the open question of another agent
		closes bool
		later  Looked
		holds  bool
	}{
		{"yes", true, task.Once, hard, hard, true, hard, false},
		{"yes where another is graver", true, task.Once, hard, grave, false, grave, false},
		{"yes where another is less grave", true, task.Once, grave, hard, false, hard, false},
		{"yes to what is grave", true, task.Once, grave, grave, false, grave, false},
		{"yes for another reason", true, task.Once, hard, looked("HARD_TO_REVERSE", "else"), false, hard, false},
		{"yes for the run", true, task.ForTheRun, hard, grave, false, grave, false},
		{"yes for the run, and no worse", true, task.ForTheRun, hard, looked("VISIBLE", "else"), true, looked("VISIBLE", "else"), true},
		{"yes for the run to what nobody looked at", true, task.ForTheRun, Looked{}, grave, false, grave, false},
		{"no", false, task.Once, hard, grave, false, grave, false},
		{"no for the run", false, task.ForTheRun, hard, grave, true, grave, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := New("abcdef", Wait, nil)
			q, _ := b.AskAbout("a1", 1, asked(`"cp a b"`), tt.first)
			other, _ := b.AskAbout("a2", 1, asked(`"cp a b"`), tt.open)
			closed, err := b.Answer(Answer{Shown: Digest(q.Action), Replied: event.Replied{ID: q.ID, Allow: tt.answer, For: tt.span}})
			if err != nil || (len(closed) == 2) != tt.closes || b.EndOne(other.ID) == tt.closes {
				t.Errorf("Answer = %+v, %v; want the other closed: %v", closed, err, tt.closes)
			}
			if _, r := b.AskAbout("a1", 2, asked(`"cp a b"`), tt.later); (r != nil) != tt.holds || r != nil && r.Allow != tt.answer {
				t.Errorf("later it gets %+v, want that it holds: %v", r, tt.holds)
			}
			again := New("abcdef", Wait, []event.Event{q, closed[0].Reply})
			if _, r := again.AskAbout("a1", 3, asked(`"cp a b"`), tt.later); (r != nil) != tt.holds {
				t.Errorf("of a later owner it gets %+v, want that it holds: %v", r, tt.holds)
			}
		})
	}
}
