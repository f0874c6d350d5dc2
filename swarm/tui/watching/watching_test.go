package watching

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

var update = flag.Bool("update", false, "write the golden files")

var began = time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)

// hundred is a run of 100 agents in all groups.
func hundred() *Snapshot {
	s := &Snapshot{
		Run: "k3x9q2", Status: "running", Live: true, Done: 45, Total: 100, Took: 10 * time.Minute, Left: 7 * time.Minute,
		Spent: "1.2M tok  $3.40", Phase: "rewrite", Began: began, Now: began.Add(10 * time.Minute),
		Landings: []string{"check passed in 12.0s: 4 patches (a1 a2 a3 a4) on main", "merge 1: 12 patches on main, landed, 1 patch refused"},
	}
	for i := range 100 {
		r := Row{
			ID: task.ID(fmt.Sprintf("a%d", i+1)), Label: fmt.Sprintf("move package p%d to the new logger", i), Attempt: 1,
			Tokens: int64(1000 * i), USD: float64(i) / 100, For: time.Duration(i) * time.Second, Started: began.Add(time.Duration(i) * time.Second),
		}
		switch {
		case i%20 == 3:
			r.Group, r.State, r.Running, r.Questions = NeedsYou, "waiting for you", true, 1
			r.Question = &Question{ID: fmt.Sprintf("k3x9q2-%d", i), Wants: "DESTRUCTIVE: rm -rf build", Whole: "DESTRUCTIVE: rm -rf build"}
			r.Doing = r.Question.Wants
		case i < 40:
			r.Group, r.State, r.Running, r.Doing = Working, "working", true, fmt.Sprintf("Edit p%d/log.go", i)
		case i < 50:
			r.Group, r.State, r.Doing, r.Ended = Failed, "failed", "the process ended with 1", began.Add(5*time.Minute)
		case i < 80:
			r.Group, r.State, r.Landing, r.Patch, r.Ended = Ready, "completed", "verified", true, began.Add(6*time.Minute)
		case i < 90:
			r.Group, r.State, r.Running, r.Started = Queued, "queued", true, time.Time{}
		default:
			r.Group, r.State, r.Landing, r.Patch, r.Ended = Done, "completed", "landed", true, began.Add(4*time.Minute)
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// fake records the requests.
type fake struct{ did []string }

func (f *fake) Next(context.Context) (*Snapshot, error) { return hundred(), nil }

func (f *fake) Answer(_ context.Context, q Question, a Answer) (string, error) {
	f.did = append(f.did, fmt.Sprintf("answer %s %t %q", q.ID, a.Allow, a.Text))
	return q.ID + " answered", nil
}

func (f *fake) Do(_ context.Context, a Act) (string, error) {
	f.did = append(f.did, fmt.Sprintf("do %s %s %q", a.Verb, a.Agent, a.Text))
	return "", errors.New("it is\x1b[2J refused")
}

func (f *fake) Enter(_ context.Context, a Act) (string, error) {
	f.did = append(f.did, fmt.Sprintf("enter %s %s %q", a.Verb, a.Agent, a.Text))
	return "", nil
}

func (f *fake) Diff(_ context.Context, id task.ID) ([]tui.Hunk, error) {
	f.did = append(f.did, "diff "+string(id))
	return []tui.Hunk{{Path: "log.go", Language: "go", NewLine: 7, Before: []string{"func f() {"}, Removed: []string{"\tlog.Print(1)"}, Added: []string{"\tslog.Info(\"one\")"}, After: []string{"}"}}}, nil
}

// person types at a screen, and does at once all that it asks for.
type person struct {
	*Screen
	fake *fake
	now  time.Time
	quit bool
}

func sit(width, height int) *person {
	p := &person{fake: &fake{}, now: began}
	p.Screen = New(Request{Source: p.fake, Actions: p.fake, Clock: func() time.Time { return p.now }})
	p.Resize(width, height)
	p.Show(hundred())
	p.now = p.now.Add(time.Second)
	return p
}

func (p *person) types(keys ...tui.Key) {
	for _, k := range keys {
		p.does(p.Update(k))
	}
}

func (p *person) does(e tui.Effect) {
	switch e := e.(type) {
	case nil:
	case *tui.Work:
		p.does(p.Update(e.Do(context.Background())))
	case *tui.Foreground:
		p.does(p.Update(e.Do(context.Background())))
	case *tui.Quit:
		p.quit = true
	}
}

func letters(text string) []tui.Key {
	var all []tui.Key
	for _, r := range text {
		if r == ' ' {
			all = append(all, "space")
		} else {
			all = append(all, tui.Key(r))
		}
	}
	return append(all, "enter")
}

// TestFrames holds the pages of the view at two sizes.
func TestFrames(t *testing.T) {
	t.Parallel()
	pages := []struct {
		name string
		keys []tui.Key
	}{
		{"agents", nil}, {"failed", []tui.Key{"J", "J", "j"}}, {"timeline", []tui.Key{"tab"}}, {"landings", []tui.Key{"tab", "tab"}},
		{"agent", []tui.Key{"enter"}}, {"diff", append(append([]tui.Key{"/"}, letters("p50")...), "d")}, {"help", []tui.Key{"?"}},
	}
	for _, size := range []struct{ width, height int }{{80, 24}, {200, 50}} {
		for _, page := range pages {
			p := sit(size.width, size.height)
			p.types(page.keys...)
			got := strings.Join(p.Lines(), "\n") + "\n"
			got = unreversed(got)
			name := filepath.Join("testdata", fmt.Sprintf("%s_%dx%d.txt", page.name, size.width, size.height))
			if *update {
				if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(name, []byte(got), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s shows\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// unreversed drops the only style that a view without colors has, and blanks at
// the ends of lines.
func unreversed(text string) string {
	text = strings.NewReplacer("\x1b[7m", "", "\x1b[m", "").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// fits holds a picture to its size, and to printable text.
func fits(t *testing.T, p *person, what string) {
	t.Helper()
	lines := p.Lines()
	if len(lines) > p.height {
		t.Fatalf("%s: %d lines at %dx%d", what, len(lines), p.width, p.height)
	}
	for _, line := range lines {
		if n := termtext.Columns(line); n > p.width {
			t.Fatalf("%s: a line of %d columns at %dx%d: %q", what, n, p.width, p.height, line)
		}
		for _, r := range unreversed(line) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%s: %U in %q", what, r, line)
			}
		}
	}
}

// TestSizes: each page fits each size, whatever agents say.
func TestSizes(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"\x1b[2J\x1b]0;title\a", "\u202Etxt.exe\u2066", strings.Repeat("\u0301", 300), strings.Repeat("界", 200),
		strings.Repeat("x", 1<<20), "a\nb\r\tc\x00\xff\xfe", "\u200b\u200d\ufeff",
	}
	for _, size := range []struct{ width, height int }{{1, 1}, {3, 2}, {20, 5}, {79, 11}, {80, 24}, {140, 12}, {141, 60}, {400, 200}} {
		p := sit(size.width, size.height)
		snap := hundred()
		for i := range snap.Rows {
			text := hostile[i%len(hostile)]
			r := &snap.Rows[i]
			r.Label, r.Doing = text, text
			if r.Question != nil {
				r.Question.Wants, r.Question.Whole = text, text
			}
		}
		snap.Phase, snap.Note, snap.Spent, snap.Landings = hostile[0], hostile[1], strings.Repeat("9", 300), hostile
		p.Show(snap)
		for _, k := range []tui.Key{"j", "G", "g", "tab", "tab", "tab", "enter", "esc", "?", "?", "f", "esc", "J", "d", "right", "m", "esc"} {
			p.types(k)
			fits(t, p, "after "+string(k))
		}
		p.Update(tui.Paste(hostile[0]))
		p.types("/")
		p.Update(tui.Paste(strings.Join(hostile, "")))
		fits(t, p, "a prompt")
	}
}

// TestKeys checks that the help describes the effect of each key.
func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys []tui.Key
		did  string // empty: nothing is asked of the actions
		says string // in the picture
	}{
		{"approve", []tui.Key{"a"}, `answer k3x9q2-83 true ""`, "k3x9q2-83 answered"},
		{"deny", []tui.Key{"x"}, `answer k3x9q2-83 false ""`, ""},
		{"answer in words", append([]tui.Key{"c"}, letters("no, not on a Friday")...), `answer k3x9q2-83 false "no, not on a Friday"`, ""},
		{"an answer that is left", []tui.Key{"c", "n", "esc"}, "", ""},
		{"no question", []tui.Key{"J", "a"}, "", "no question waits here"},
		{"send", append([]tui.Key{"J", "m"}, letters("hurry up")...), `do send a40 "hurry up"`, `it is\x1b[2J refused`},
		{"send nothing", []tui.Key{"J", "m", "enter"}, "", ""},
		{"send to one that ended", []tui.Key{"J", "J", "m"}, "", "a41 has ended"},
		{"retry", append([]tui.Key{"J", "J", "r"}, letters("again")...), `do retry a41 "again"`, ""},
		{"retry without feedback", []tui.Key{"J", "J", "r", "enter"}, `do retry a41 ""`, ""},
		{"retry one that runs", []tui.Key{"J", "r"}, "", "has not ended"},
		{"cancel", []tui.Key{"J", "X", "y"}, `do cancel a40 ""`, ""},
		{"cancel after all not", []tui.Key{"J", "X", "n"}, "", ""},
		{"attach", []tui.Key{"A"}, `enter attach a84 ""`, ""},
		{"shell", []tui.Key{"t"}, `enter shell a84 ""`, ""},
		{"editor", []tui.Key{"o"}, `enter edit a84 ""`, ""},
		{"diff", []tui.Key{"J", "J", "J", "d"}, "diff a51", "-    log.Print(1)"},
		{"diff and back", []tui.Key{"J", "J", "J", "d", "d"}, "diff a51", "needs you"},
		{"no patch", []tui.Key{"d"}, "", "a84 has no patch so far"},
		{"help", []tui.Key{"?"}, "", "leave; the run continues"},
		{"filter", append([]tui.Key{"f"}, letters("failed p45")...), "", `filter "failed p45": 1`},
		{"no match", append([]tui.Key{"f"}, letters("zzz")...), "", "no agent matches the filter"},
		{"filter dropped", append(append([]tui.Key{"f"}, letters("zzz")...), "esc"), "", "> a84"},
		{"search", append([]tui.Key{"/"}, letters("p45")...), "", "> a46"},
		{"search on", append(append([]tui.Key{"/"}, letters("p4")...), "n", "n", "N"), "", "> a5"},
		{"sort", []tui.Key{"s"}, "", "sorted by name"},
		{"last", []tui.Key{"G"}, "", "100/100"},
		{"first", []tui.Key{"G", "g"}, "", "1/100"},
		{"previous group", []tui.Key{"J", "J", "K", "K"}, "", "> a84"},
	}
	for _, test := range tests {
		p := sit(100, 30)
		p.types(test.keys...)
		if got := strings.Join(p.fake.did, "; "); got != test.did {
			t.Errorf("%s: did %q, want %q", test.name, got, test.did)
		}
		if got := strings.Join(p.Lines(), "\n"); !strings.Contains(got, test.says) {
			t.Errorf("%s: %q is not in\n%s", test.name, test.says, got)
		}
		for _, k := range []tui.Key{"q", "ctrl+c"} {
			if p.types(k); !p.quit {
				t.Errorf("%s: %s does not leave", test.name, k)
			}
		}
	}
}

// TestSight: a question is answered only once a person could see all of it.
func TestSight(t *testing.T) {
	t.Parallel()
	p := sit(80, 24)
	snap := hundred()
	snap.Rows[83].Question = &Question{ID: "k3x9q2-900", Wants: "other", Whole: "other"}
	p.Show(snap) // in place of the shown question
	p.types("a")
	if len(p.fake.did) > 0 {
		t.Errorf("a new question is answered at once: %q", p.fake.did)
	}
	p.now = p.now.Add(sightTime)
	if p.types("a"); len(p.fake.did) != 1 {
		t.Errorf("it is not answered later: %q", p.fake.did)
	}
	for _, test := range []struct {
		whole string
		keys  []tui.Key
		times int
	}{
		{strings.Repeat("many words ", 100), []tui.Key{"a"}, 0},
		{"two\nlines", []tui.Key{"a"}, 0},
		{strings.Repeat("many words ", 100), []tui.Key{"a", "a"}, 1},
		{strings.Repeat("many words ", 100), []tui.Key{"enter", "a"}, 1},
		{strings.Repeat("x", mostQuestion+1), []tui.Key{"a", "a", "enter", "a"}, 0},
	} {
		p := sit(80, 24)
		snap := hundred()
		snap.Rows[83].Question = &Question{ID: "k3x9q2-83", Wants: "short", Whole: test.whole}
		p.Show(snap)
		p.Lines()
		for _, k := range test.keys {
			p.types(k)
			p.Lines()
		}
		if len(p.fake.did) != test.times {
			t.Errorf("%.20q, %q: answered %d times, want %d", test.whole, test.keys, len(p.fake.did), test.times)
		}
	}
}

// TestGroups: the group of an agent and its reason.
func TestGroups(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	work := task.Work{Patch: &task.Patch{}}
	tests := []struct {
		name  string
		agent store.Agent
		open  []Question
		want  Group
		doing string
	}{
		{"working", store.Agent{Status: &task.Running{State: task.Working}}, nil, Working, ""},
		{"checking", store.Agent{Status: &task.Running{State: task.Checking}}, nil, Working, ""},
		{"asks", store.Agent{Status: &task.Running{State: task.Waiting}}, []Question{{Wants: "w"}}, NeedsYou, "w"},
		{"queued", store.Agent{Status: &task.Running{State: task.Queued}}, nil, Queued, ""},
		{"slot", store.Agent{Status: &task.Running{State: task.WaitingSlot}, Held: "full"}, nil, Queued, "full"},
		{"completed", store.Agent{Status: &task.Completed{Work: work}}, nil, Ready, ""},
		{"verified", store.Agent{Status: &task.Completed{Work: work, Verified: &yes}}, nil, Ready, ""},
		{"check failed", store.Agent{Status: &task.Completed{Work: work, Verified: &no}}, nil, Failed, "check failed"},
		{"nothing changed", store.Agent{Status: &task.Completed{}}, nil, Done, ""},
		{"landed", store.Agent{Status: &task.Completed{Work: work}, Landings: []int{1}}, nil, Done, ""},
		{"conflict", store.Agent{Status: &task.Completed{Work: work}, Conflict: &store.Conflict{Ref: "refs/heads/main"}}, nil, NeedsYou, "conflicts with main: r tries it again on top of that"},
		{"refused", store.Agent{Status: &task.Completed{Work: work}, Refusal: &store.Refusal{}}, nil, Failed, "failed the check of a merge"},
		{"failed", store.Agent{Status: &task.Failed{Work: work, Reason: "boom"}}, nil, Failed, ""},
		{"cancelled", store.Agent{Status: &task.Cancelled{Work: work}}, nil, Done, ""},
	}
	for _, test := range tests {
		test.agent.ID, test.agent.Call = "a1", &task.Call{Input: &task.TypedAgentInput{Prompt: "work"}}
		v := store.Fold(store.Identity{Run: "k3x9q2"}, nil)
		v.Agents = []*store.Agent{&test.agent}
		s := Take(Input{View: v, Questions: map[task.ID][]Question{"a1": test.open}, Now: began})
		if r := s.Rows[0]; r.Group != test.want || test.doing != "" && r.Doing != test.doing {
			t.Errorf("%s: group %s, doing %q; want %s, %q", test.name, r.Group, r.Doing, test.want, test.doing)
		}
	}
}

// BenchmarkKey is a key with the picture after it, of 100 agents.
func BenchmarkKey(b *testing.B) {
	p := sit(200, 50)
	for i := range b.N {
		p.types([]tui.Key{"j", "k"}[i%2])
		p.Lines()
	}
}

// BenchmarkFirstFrame is a new screen and its first picture.
func BenchmarkFirstFrame(b *testing.B) {
	for range b.N {
		sit(200, 50).Lines()
	}
}
