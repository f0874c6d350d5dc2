package follow

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/control"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// question is an open question of a test.
func question(id string, agent task.ID, action string) waiting.Question {
	run, _, _ := strings.Cut(id, "-")
	return waiting.Question{Run: run, Label: "pkg/" + string(agent), Question: &store.Question{Questioned: event.Questioned{
		ID: id, Agent: agent, Attempt: 1, Ask: "q", Action: json.RawMessage(action),
	}}}
}

func TestWantsText(t *testing.T) {
	t.Parallel()
	const nothing = "something it does not name"
	long := `"` + strings.Repeat("x", 3*cmdline.WantsWidth) + `"`
	for _, tt := range []struct{ give, want string }{
		{``, nothing},
		{`null`, nothing},
		{`""`, nothing},
		{`"  "`, nothing},
		{`{}`, nothing},
		{`not json`, nothing},
		{`"push to main"`, "push to main"},
		{`"two\nlines"`, `two\nlines`},
		{`"a\u001b[2Jb\u202ec"`, `a\x1b[2Jb\u202ec`},
		{"{\"a\":\"\u202e\"}", `{"a":"\u202e"}`},
		{"{ \"tool\": \"rm\",\n \"n\": 1 }", `{"tool":"rm","n":1}`},
		{long, strings.Repeat("x", cmdline.WantsWidth-1) + terminal.Ellipsis},
	} {
		if got := cmdline.WantsText(json.RawMessage(tt.give)); got != tt.want {
			t.Errorf("wantsText(%.40s) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

// TestPlainAction shows the whole of an action that says more than can be typed.
func TestPlainAction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want string }{
		{`{"command":"ls -l"}`, "ls -l"},
		{`{"git":["push","x"],"cwd":"/r"}`, "git push x (in /r)"},
		{`{"run":"ls"}`, `{"run":"ls"}`},
		{`{"command":"a \u003e b \u0026\u0026 c"}`, "a > b && c"},
		{`{"run":"a \u003e b \u0026\u0026 c \u003c d"}`, `{"run":"a > b && c < d"}`},
		{`{"run":"a \\u003e b \\\u003e"}`, `{"run":"a \\u003e b \\>"}`},
		{`{"command":"rm -r x","command":"ls"}`, `{"command":"rm -r x","command":"ls"}`},
		{`{"command":"rm -r x","COMMAND":"ls"}`, `{"command":"rm -r x","COMMAND":"ls"}`},
		{`{"command":"ls","also":"rm -r x"}`, `{"command":"ls","also":"rm -r x"}`},
	} {
		if got := cmdline.WantsText(plainAction(json.RawMessage(tt.give))); got != tt.want {
			t.Errorf("plainAction(%s) = %s, want %s", tt.give, got, tt.want)
		}
	}
}

// TestWholeAction shows an object in lines, with the characters of its commands as they are.
func TestWholeAction(t *testing.T) {
	t.Parallel()
	const give = `{"run":"a \u003e b \u0026\u0026 c \u003c d"}`
	if got, want := wholeAction(json.RawMessage(give)), "{\n  \"run\": \"a > b && c < d\"\n}"; got != want {
		t.Errorf("wholeAction(%s) = %s, want %s", give, got, want)
	}
}

// FuzzWantsText checks that an agent's action becomes a single printable line.
func FuzzWantsText(f *testing.F) {
	for _, s := range []string{`"x"`, `{"a":[1,"\u001b"]}`, "\"\xff\"", "null", `"` + strings.Repeat("文", 900) + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, action []byte) {
		got := cmdline.WantsText(action)
		if got == "" || termtext.Line(got) != got || terminal.Columns(got) > cmdline.WantsWidth {
			t.Errorf("wantsText(%q) = %q", action, got)
		}
		if whole := wholeAction(action); termtext.Text(whole) != whole {
			t.Errorf("wholeAction(%q) = %q", action, whole)
		}
	})
}

func TestTypedAnswer(t *testing.T) {
	t.Parallel()
	open := []waiting.Question{question("k3x9q2-1", "a1", `1`), question("k3x9q2-2", "a2", `1`)}
	for _, text := range []string{"the second one", "nobody", "yesterday"} {
		if q, got, err := typedAnswer(text, open); err == nil {
			t.Errorf("typedAnswer(%q) = %s %+v, want an error", text, q.ID, got)
		}
	}
	for _, tt := range []struct {
		give, of string
		want     *control.Answer
	}{
		{"\n", "", nil},
		{"y\n", "k3x9q2-1", &control.Answer{Allow: true}},
		{" YES ", "k3x9q2-1", &control.Answer{Allow: true}},
		{"No", "k3x9q2-1", &control.Answer{}},
		{"n.", "k3x9q2-1", &control.Answer{}},
		{"y all", "k3x9q2-1", &control.Answer{Allow: true, All: true}},
		{"y 2", "k3x9q2-2", &control.Answer{ID: "k3x9q2-2", Allow: true}},
		{"n k3x9q2-1", "k3x9q2-1", &control.Answer{ID: "k3x9q2-1"}},
		{"never", "k3x9q2-1", &control.Answer{}},
		{"don't use it", "k3x9q2-1", &control.Answer{Reason: "don't use it"}},
	} {
		q, got, err := typedAnswer(tt.give, open)
		if err != nil || (got == nil) != (tt.want == nil) {
			t.Errorf("typedAnswer(%q) = %+v, %v, want %+v", tt.give, got, err, tt.want)
			continue
		}
		if got != nil && (!reflect.DeepEqual(got, tt.want) || q.ID != tt.of) {
			t.Errorf("typedAnswer(%q) = %s %+v, want %s %+v", tt.give, q.ID, got, tt.of, tt.want)
		}
	}
	for _, line := range []string{"no, because", "n not now", "yes but", "y 9", "n all", "y all of it", "y k3x9q2", "\xff"} {
		if _, got, err := typedAnswer(line, open); err == nil {
			t.Errorf("typedAnswer(%q) = %+v, want an error", line, got)
		}
	}
	if _, got, err := typedAnswer("y", nil); got != nil || err != nil {
		t.Errorf("nothing is open: %+v, %v", got, err)
	}
}

// FuzzTypedAnswer holds that no line which begins like a no allows anything.
func FuzzTypedAnswer(f *testing.F) {
	for _, s := range []string{"y", "n 2", "no, not that", "text", "N\x00", " \t"} {
		f.Add(s)
	}
	open := []waiting.Question{question("k3x9q2-1", "a1", `1`), question("k3x9q2-2", "a2", `1`)}
	f.Fuzz(func(t *testing.T, line string) {
		_, got, err := typedAnswer(line, open)
		words := strings.Fields(strings.ToLower(line))
		if err == nil && got != nil && got.Allow && (words[0] == "no" || words[0] == "n" || words[0] == "no,") {
			t.Errorf("typedAnswer(%q) allows: %+v", line, got)
		}
	})
}

// TestDesk checks that the open questions are the journaled ones, with readers
// at the same time.
func TestDesk(t *testing.T) {
	t.Parallel()
	d := NewOpenQuestions(memory{}, "k3x9q2", nil)
	add := func(all ...event.Event) {
		t.Helper()
		if _, err := d.AppendAll(all); err != nil {
			t.Fatal(err)
		}
	}
	add(&event.Called{Agent: "a1", Call: &task.Call{Label: "one", Input: &task.TypedAgentInput{Prompt: "p"}}})
	for i, id := range []task.ID{"a1", "a2", "a1"} {
		add(&event.Questioned{ID: inbox.ID("k3x9q2", i+1), Agent: id, Attempt: 1})
	}
	before := d.Waiting()
	if got := waiting.IDs(before); got != "k3x9q2-1, k3x9q2-2, k3x9q2-3" || before[0].Label != "one" {
		t.Errorf("open are %s, the first of %q", got, before[0].Label)
	}
	if _, err := d.Append(&event.Replied{ID: "k3x9q2-1"}); err != nil {
		t.Fatal(err)
	}
	if got := waiting.IDs(d.Waiting()); got != "k3x9q2-2, k3x9q2-3" {
		t.Errorf("after an answer %s are open", got)
	}
	add(&event.Settled{Agent: "a1", Result: &task.Completed{}})
	if got := waiting.IDs(d.Waiting()); got != "k3x9q2-2" {
		t.Errorf("after the end of a1 %s are open", got)
	}
	if got := waiting.IDs(before); got != "k3x9q2-1, k3x9q2-2, k3x9q2-3" {
		t.Errorf("what was handed out became %s", got)
	}
	select {
	case <-d.Wake:
	default:
		t.Error("nobody was woken")
	}
}

// memory is a journal that keeps nothing.
type memory struct{}

func (memory) Append(e event.Event) (event.Record, error) { return event.Record{N: 1, Event: e}, nil }

func (memory) AppendAll(all []event.Event) ([]event.Record, error) {
	var records []event.Record
	for _, e := range all {
		records = append(records, event.Record{N: 1, Event: e})
	}
	return records, nil
}

// TestInboxLines fits the inbox to every small terminal.
func TestInboxLines(t *testing.T) {
	t.Parallel()
	var all []waiting.Question
	for i := range 30 {
		all = append(all, question(inbox.ID("k3x9q2", i+1), "a1", `"`+strings.Repeat("文 wide ", 40)+`"`))
	}
	for _, size := range []string{"COLUMNS=80 LINES=24", "COLUMNS=20 LINES=3", "COLUMNS=5 LINES=1"} {
		term := terminal.Output{Descriptor: -1, Getenv: getenv.Func(strings.Fields(size)...)}
		width, height := term.Size()
		lines := inboxLines(all, term)
		if len(lines) > max(height-1, 1) {
			t.Errorf("%s: %d lines", size, len(lines))
		}
		for _, l := range lines {
			if terminal.Columns(l) >= width {
				t.Errorf("%s: %q is too wide", size, l)
			}
		}
	}
}

// TestProgressTyping: while somebody types below the picture, their line is
// not touched, and once they pressed Enter the picture is where it was.
func TestProgressTyping(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := newProgress(&b, terminal.Output{TTY: true, Motion: true, Descriptor: -1, Getenv: getenv.Func("COLUMNS=60", "LINES=20")})
	frame := func(s time.Duration, note string) Frame {
		return Frame{Elapsed: s * time.Second, Note: note, Typing: note != ""}
	}
	wrote := func(step, want string) {
		t.Helper()
		if got := b.String(); got != want {
			t.Errorf("%s: wrote %q, want %q", step, got, want)
		}
		b.Reset()
	}
	bar := func(s string) string {
		return progressBar(terminal.Output{}, Frame{Elapsed: mustDuration(t, s)}, 59)
	}
	p.Show(frame(1, ""))
	wrote("no question", bar("1s")+"\x1b[K\n\x1b[J")
	p.Show(frame(2, "one?"))
	wrote("a question", "\r\x1b[1A"+bar("2s")+"\x1b[K\none?\x1b[K\n\x1b[J")
	p.Show(frame(3, "one?"))
	wrote("as high as before", "\x1b7\r\x1b[2A"+bar("3s")+"\x1b[K\none?\x1b[K\n\x1b8")
	p.Typed("y")
	wrote("a line was typed", "\r\x1b[1A\x1b[J")
	p.Typed(strings.Repeat("y", 60))
	wrote("a line that wraps", "\r\x1b[2A\x1b[J")
	p.Notify("run \x07 wants", true)
	wrote("a notice", "\x1b]9;swarm: run \\a wants\x07\x07")
	p.Show(frame(4, ""))
	wrote("answered", "\r\x1b[2A"+bar("4s")+"\x1b[K\n\x1b[J")
	p.Close()
	p.Notify("late", false)
	p.Typed("late")
	wrote("closed", "")
	for _, term := range []terminal.Output{{TTY: true, Getenv: getenv.Func("TERM=xterm")}, {TTY: true, Motion: true, Getenv: getenv.Func("TERM=linux")}} {
		newProgress(&b, term).Notify("x", true)
		wrote("where it is not understood", "")
	}
}

func mustDuration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRenderNotes(t *testing.T) {
	t.Parallel()
	f := Frame{Note: strings.Repeat("wants ", 40), Hint: "type y"}
	lines := rendered(f, 41, 12)
	if len(lines) != 5 || lines[4] != "type y" || !strings.HasSuffix(lines[3], terminal.Ellipsis) {
		t.Errorf("a long note is %q", lines)
	}
	f.Note = "文文文"
	if lines := rendered(f, 2, 5); len(lines) > 4 {
		t.Errorf("letters wider than the terminal: %q", lines)
	}
	if got := rendered(Frame{Hint: "alone"}, 40, 10); len(got) != 1 {
		t.Errorf("a hint to nothing: %q", got)
	}
}

// TestDestructiveOneByOne checks that a yes to a DESTRUCTIVE action reaches a
// single agent, unless it is for all, and that a no reaches all.
func TestDestructiveOneByOne(t *testing.T) {
	t.Parallel()
	grave := func(id string, agent task.ID) waiting.Question {
		q := question(id, agent, `"rm -rf /srv/data"`)
		q.Risk = &event.Risk{Tier: "DESTRUCTIVE", Reason: "r"}
		return q
	}
	one, two := grave("r-1", "a1"), grave("r-2", "a2")
	for _, tt := range []struct {
		name string
		give *control.Answer
		want bool
	}{
		{"yes", &control.Answer{Allow: true}, false},
		{"yes to all", &control.Answer{Allow: true, All: true}, true},
		{"no", &control.Answer{}, true},
	} {
		if got := two.AnsweredBy(one, &event.Replied{Allow: tt.give.Allow, For: tt.give.For, All: tt.give.All}); got != tt.want {
			t.Errorf("%s: it reaches the other: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := groupHint(waiting.Group{one, two}); !strings.Contains(got, "--all") {
		t.Errorf("the hint to both is %q", got)
	}
}

// TestOutcomeNamesAll holds that an answer says whom it reached.
func TestOutcomeNamesAll(t *testing.T) {
	t.Parallel()
	q := question("r-3", "a3", `"rm -rf /srv/data"`)
	for _, tt := range []struct {
		told []task.ID
		span task.Span
		want string
	}{
		{[]task.ID{"a3"}, "", "r-3 allowed: a3 (pkg/a3)"},
		{[]task.ID{"a3", "a1", "a2", "a4", "a5", "a6"}, "", "r-3 allowed for 6 agents: a1–a6"},
		{[]task.ID{"a3", "a1"}, task.ForTheRun, "r-3 allowed for 2 agents: a1, a3, and for the run"},
	} {
		got := outcomeText(q, &control.Answer{Allow: true, Told: tt.told, For: tt.span})
		if got != tt.want {
			t.Errorf("outcome = %q, want %q", got, tt.want)
		}
	}
}
