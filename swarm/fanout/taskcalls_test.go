package fanout

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

// listed reads tasks as the tests write them, an object a line.
func listed(t *testing.T, lines ...string) Workflow {
	t.Helper()
	tasks, err := ReadTasks(TasksRequest{Source: "tasks.jsonl", Format: FormatJSONL, Text: []byte(strings.Join(lines, "\n"))})
	if err != nil {
		t.Fatal(err)
	}
	return Workflow{Tasks: tasks, Source: "tasks.jsonl"}
}

func TestCallsOfTasks(t *testing.T) {
	t.Parallel()
	w := listed(t,
		`{"id": "late/one", "prompt": "{name} of {item} {index}/{count} {x}", "agent": "mine", "depends_on": ["c", "b"], "timeout": "2m", "allow": ["push to feature/*"], "model": "small", "effort": "low", "tools": ["read", "bash"]}`,
		`{"id": "b", "command": ["tool", "{item}", "{index}", "{other}"], "paths": ["lib/{a,b}"]}`,
		`{"prompt": "number {index} of {count}", "paths": ["docs/"]}`,
		`{"id": "c", "prompt": "c"}`)
	w.Agent, w.Options = "usual", task.Options{Model: "big", ReadOnly: true}
	calls, err := w.Calls(base())
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(text string) task.AgentInput { return &task.TypedAgentInput{Prompt: text} }
	want := []*task.Call{
		{
			Input: prompt(""), Command: []string{"tool", "b", "2", "{other}"}, Label: "b", Item: "b", Name: "b",
			Index: 2, Count: 4, Paths: []string{"lib/{a,b}"}, Base: "c", BaseTree: "t",
		},
		{
			Input: prompt("number 3 of 4" + limits([]string{"docs/"})), Agent: "usual", Command: []string{},
			Index: 3, Count: 4, Paths: []string{"docs/"}, Base: "c", BaseTree: "t", Options: w.Options,
		},
		{
			Input: prompt("c"), Agent: "usual", Command: []string{}, Label: "c", Item: "c", Name: "c",
			Index: 4, Count: 4, Base: "c", BaseTree: "t", Options: w.Options,
		},
		{
			Input: prompt("one of late/one 1/4 {x}"), Agent: "mine", Command: []string{}, Label: "late/one", Item: "late/one",
			Name: "one", Index: 1, Count: 4, DependsOn: []string{"c", "b"}, Timeout: 2 * time.Minute, Base: "c", BaseTree: "t",
			Allow:   []string{"push to feature/*"},
			Options: task.Options{Model: "small", Effort: "low", Tools: []string{"read", "bash"}, ReadOnly: true},
		},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(calls[i], want[i]) {
			t.Errorf("call %d = %+v (%q), want %+v", i, calls[i], task.Prompt(calls[i].Input), want[i])
		}
	}
}

func TestCallsOfLinesTakesPromptsAsTheyAre(t *testing.T) {
	t.Parallel()
	tasks, err := ReadTasks(TasksRequest{Source: "s", Format: FormatPlain, Text: []byte("do {item} {other}\n{count}")})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := Workflow{Tasks: tasks, Agent: "usual"}.Calls(base())
	if err != nil || len(calls) != 2 || task.Prompt(calls[0].Input) != "do {item} {other}" || task.Prompt(calls[1].Input) != "{count}" {
		t.Errorf("Calls = %+v, %v, want the prompts as they are", calls, err)
	}
	if c := calls[1]; c.Label != "" || c.Index != 2 || c.Count != 2 || c.Agent != "usual" {
		t.Errorf("call = %+v", c)
	}
}

func TestCallsOfItemsFillTheCommand(t *testing.T) {
	t.Parallel()
	tasks, err := ReadTasks(TasksRequest{Source: "s", Format: FormatPlain, Items: true, Text: []byte("x/\xff{index}\ny")})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := Workflow{Tasks: tasks, Command: []string{"tool", "{item}", "{name}:{index}/{count}"}}.Calls(base())
	if err != nil || len(calls) != 2 {
		t.Fatalf("Calls = %+v, %v", calls, err)
	}
	c := calls[0]
	if want := []string{"tool", "x/\xff{index}", "\xff{index}:1/2"}; !reflect.DeepEqual(c.Command, want) {
		t.Errorf("command = %q, want %q", c.Command, want)
	}
	if c.Item != "x/\xff{index}" || c.Label != c.Item || c.Name != "\xff{index}" || task.Prompt(c.Input) != "" {
		t.Errorf("call = %+v", c)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	want := "\n\nChange only files that match `services/a`, `docs/*.md` or `x/{a,b}/` (read from the top of the " +
		"repository; a folder includes everything below it); swarm does not merge a change to any other file."
	if got := limits([]string{"services/a", "docs/*.md", "x/{a,b}/"}); got != want {
		t.Errorf("limits = %q, want %q", got, want)
	}
	if got := limits([]string{"a"}); !strings.Contains(got, "match `a` (") {
		t.Errorf("limits of one = %q", got)
	}
}

// TestAsked: the sentence about paths is left out of the prompt, and a command has
// no prompt.
func TestAsked(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{nil, {"a"}, {"a", "b/*.go"}} {
		tasks := []Task{{Line: 1, ID: "t", Prompt: "do it", Paths: paths}}
		calls, err := Workflow{Tasks: tasks}.Calls(base())
		if err != nil {
			t.Fatal(err)
		}
		if got := Asked(calls[0]); got != "do it" {
			t.Errorf("with the paths %q Asked = %q, want %q", paths, got, "do it")
		}
	}
	if got := Asked(&task.Call{Input: &task.TypedAgentInput{}, Command: []string{"true"}, Paths: []string{"a"}}); got != "" {
		t.Errorf("of a command Asked = %q", got)
	}
}

func TestCallsOfTasksRefuses(t *testing.T) {
	t.Parallel()
	tasks := []Task{{Line: 1, ID: "a", Prompt: "p"}}
	for _, tc := range []struct {
		give Workflow
		want string
	}{
		{Workflow{Tasks: tasks, Prompt: "p"}, "a list of tasks does not go with a prompt: its records have their own"},
		{Workflow{Tasks: tasks, Each: []string{"*"}}, "--each does not go with a list of tasks, which has the items itself"},
		{Workflow{Tasks: tasks, Count: 2}, "--count does not go with a list of tasks"},
		{
			Workflow{Tasks: tasks, Command: []string{"sh", "-c", "x {item}"}},
			`{item} inside the script of a shell would be run as code; write "$SWARM_ITEM" there`,
		},
	} {
		if calls, err := tc.give.Calls(base()); err == nil || err.Error() != tc.want {
			t.Errorf("Calls = %+v, %v, want %s", calls, err, tc.want)
		}
	}
}

func TestCyclesAreRefused(t *testing.T) {
	t.Parallel()
	line := func(id, on string) string {
		return fmt.Sprintf(`{"id": %q, "prompt": "p", "depends_on": [%q]}`, id, on)
	}
	var long []string
	for i := range 20 {
		long = append(long, line(fmt.Sprintf("t%d", i), fmt.Sprintf("t%d", (i+1)%20)))
	}
	for _, tc := range []struct {
		give []string
		want string
	}{
		{[]string{`{"prompt": "p"}`, line("b", "c"), line("c", "b")}, `s:2: depends_on: b → c → b is a cycle; no task of it could begin`},
		{
			[]string{line("waits", "d"), line("d", "c"), line("b", "d"), line("c", "b")},
			`s:2: depends_on: d → c → b → d is a cycle; no task of it could begin`,
		},
		{long, `s:1: depends_on: t0 → t1 → t2 → t3 → t4 → (11 more) → t16 → t17 → t18 → t19 → t0 is a cycle; no task of it could begin`},
	} {
		text, _ := refused(t, TasksRequest{Source: "s", Format: FormatJSONL, Text: []byte(strings.Join(tc.give, "\n"))})
		if text != tc.want {
			t.Errorf("refused with %s, want %s", text, tc.want)
		}
	}
	w := Workflow{Source: "s", Tasks: []Task{{Line: 3, ID: "a", Prompt: "p", DependsOn: []string{"b"}}, {Line: 4, ID: "b", Prompt: "p", DependsOn: []string{"a"}}}}
	if _, err := w.Calls(base()); err == nil || err.Error() != "s:3: depends_on: a → b → a is a cycle; no task of it could begin" {
		t.Errorf("Calls = %v, want that it is a cycle", err)
	}
	if got := w.Overlaps(); got != nil {
		t.Errorf("Overlaps = %v, want none", got)
	}
}

// TestOrder: every task comes after those it depends on, and of those that
// could come next the first in the list does.
func TestOrder(t *testing.T) {
	t.Parallel()
	d := rand.New(rand.NewSource(1))
	cycles := 0
	for round := range 2000 {
		tasks := make([]Task, 1+d.Intn(12))
		rank := d.Perm(len(tasks))
		for i := range tasks {
			tasks[i].ID = fmt.Sprint("t", i)
		}
		for i := range tasks {
			for j := range tasks {
				// In the last rounds anything goes, cycles too.
				if i != j && d.Intn(4) == 0 && (rank[j] < rank[i] || round > 1500) {
					tasks[i].DependsOn = append(tasks[i].DependsOn, tasks[j].ID)
				}
			}
		}
		order, cycle := ordered(tasks)
		if cycle != nil {
			cycles++
			if round <= 1500 {
				t.Fatalf("ordered(%+v) found the cycle %v", tasks, cycle)
			}
			for n, i := range cycle {
				if on := tasks[cycle[(n+1)%len(cycle)]].ID; !slices.Contains(tasks[i].DependsOn, on) {
					t.Fatalf("ordered(%+v) found the cycle %v, and %d does not depend on %s", tasks, cycle, i, on)
				}
			}
			continue
		}
		done := map[string]bool{}
		for _, i := range order {
			for first, other := range tasks {
				if !done[other.ID] && !slices.ContainsFunc(other.DependsOn, func(id string) bool { return !done[id] }) {
					if first != i {
						t.Fatalf("ordered(%+v) = %v: %d comes where %d could", tasks, order, i, first)
					}
					break
				}
			}
			done[tasks[i].ID] = true
		}
		if len(done) != len(tasks) {
			t.Fatalf("ordered(%+v) = %v misses some", tasks, order)
		}
	}
	if cycles < 50 {
		t.Errorf("%d cycles: this tries little", cycles)
	}
}

func overlapping(t *testing.T) Workflow {
	return listed(t,
		`{"id": "all", "prompt": "p", "paths": ["services/"], "depends_on": ["a"]}`,
		`{"id": "line-3", "prompt": "p", "paths": ["docs"]}`,
		`{"prompt": "p", "paths": ["services/b", "**/*.md"]}`,
		`{"id": "a", "prompt": "p", "paths": ["services/a"]}`,
		`{"id": "free", "prompt": "p"}`,
		`{"id": "last", "prompt": "p", "paths": ["services/a/x"], "depends_on": ["all"]}`)
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	// all depends on a, and last on all: of these only line 3 is in the way.
	want := []Overlap{
		{A: 1, B: 2, Lines: [2]int{2, 3}, Labels: [2]string{"line-3", ""}, Example: "docs/x.md"},
		{A: 2, B: 3, Lines: [2]int{3, 4}, Labels: [2]string{"", "a"}, Example: "services/a/x.md"},
		{A: 2, B: 0, Lines: [2]int{3, 1}, Labels: [2]string{"", "all"}, Example: "services/b"},
		{A: 2, B: 5, Lines: [2]int{3, 6}, Labels: [2]string{"", "last"}, Example: "services/a/x/x.md"},
	}
	w := overlapping(t)
	if got := w.Overlaps(); !reflect.DeepEqual(got, want) {
		t.Errorf("Overlaps = %+v, want %+v", got, want)
	}
	w.Overlap = OverlapWarn
	calls, err := w.Calls(base())
	if err != nil || slices.ContainsFunc(calls, func(c *task.Call) bool { return len(c.After) > 0 || c.Label == "line-3_" }) {
		t.Errorf("Calls = %+v, %v, want calls that do not wait", calls, err)
	}
}

func TestOverlapSerialize(t *testing.T) {
	t.Parallel()
	w := overlapping(t)
	w.Overlap = OverlapSerialize
	calls, err := w.Calls(base())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range calls {
		got += fmt.Sprintf("%s after %q on %q\n", c.Label, c.After, c.DependsOn)
	}
	// The id of a task equals the name that another would get from its line.
	want := `line-3 after [] on []
line-3_ after ["line-3"] on []
a after ["line-3_"] on []
all after ["line-3_"] on ["a"]
free after [] on []
last after ["line-3_"] on ["all"]
`
	if got != want {
		t.Errorf("calls are\n%swant\n%s", got, want)
	}
}

func TestOverlapRefuse(t *testing.T) {
	t.Parallel()
	for _, mode := range []OverlapMode{OverlapRefuse, OverlapUnset} {
		w := overlapping(t)
		w.Overlap = mode
		calls, err := w.Calls(base())
		want := `tasks.jsonl:3: paths: overlap with those of line 2: both may change "docs/x.md" (and 3 more such pairs)`
		var bad *TaskError
		if !errors.As(err, &bad) || err.Error() != want || !strings.Contains(bad.Hint(), "--overlap serialize") {
			t.Errorf("%s: Calls = %+v, %v, want %s", mode, calls, err, want)
		}
	}
}

func TestOverlapModeIsAWord(t *testing.T) {
	t.Parallel()
	for _, m := range []OverlapMode{OverlapWarn, OverlapSerialize, OverlapRefuse} {
		var got OverlapMode
		if err := got.UnmarshalText([]byte(m.String())); err != nil || got != m {
			t.Errorf("%s comes back as %s, %v", m, got, err)
		}
	}
	for give, want := range map[string]string{
		"unset":     `"unset" is not one of warn, serialize, refuse`,
		"serialise": `"serialise" is not one of warn, serialize, refuse; did you mean "serialize"?`,
	} {
		var m OverlapMode
		if err := m.UnmarshalText([]byte(give)); err == nil || err.Error() != want || m != OverlapUnset {
			t.Errorf("UnmarshalText(%q) = %s, %v, want %s", give, m, err, want)
		}
	}
}

// checkTasks checks the promises about every accepted list: it is recorded
// whole, and gives a call for each task.
func checkTasks(t *testing.T, w Workflow) {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back Workflow
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, w) {
		t.Fatalf("%s came back as %+v, %v, want %+v", text, back, err, w)
	}
	calls, err := back.Calls(base())
	if err != nil || len(calls) != len(w.Tasks) {
		t.Fatalf("Calls of %s = %+v, %v", text, calls, err)
	}
	called := map[string]bool{}
	for _, c := range calls {
		for _, on := range slices.Concat(c.DependsOn, c.After) {
			if !called[on] {
				t.Fatalf("%s: %q is called before %q, which it waits for", text, c.Label, on)
			}
		}
		called[c.Label] = true
	}
}

func TestTasksAreRecordedWhole(t *testing.T) {
	t.Parallel()
	for _, mode := range []OverlapMode{OverlapWarn, OverlapSerialize} {
		w := overlapping(t)
		w.Overlap = mode
		w.Tasks[4].Timeout = time.Second
		w.Tasks[4].Agent = "mine"
		checkTasks(t, w)
	}
	checkTasks(t, Workflow{Tasks: []Task{{Line: 2, ID: "\xff"}, {Line: 3, ID: "\xfe"}}, Command: []string{"x", "\x80{item}"}})
	checkTasks(t, Workflow{Tasks: []Task{{Line: 1, Prompt: "{item}", Plain: true}, {Line: 2, Command: []string{"x", ""}}}})
}

func fuzzTasks(f *testing.F, format TaskFormat) {
	f.Fuzz(func(t *testing.T, text []byte, items bool) {
		tasks, err := ReadTasks(TasksRequest{Source: "s", Format: format, Text: text, Items: items})
		var bad *TaskError
		switch last := len(slices.Collect(strings.Lines(string(text)))); {
		case err == nil:
			w := Workflow{Tasks: tasks, Source: "s", Overlap: OverlapSerialize}
			if items {
				w.Command = []string{"tool", "{item}"}
			}
			checkTasks(t, w)
		case !errors.As(err, &bad) || bad.Line < 1 || bad.Line > max(last, 1) || strings.Contains(err.Error(), "\n"):
			t.Errorf("ReadTasks(%q) = %v, want an error of one line about one of %d lines", text, err, last)
		}
	})
}

func FuzzTasksJSONL(f *testing.F) {
	f.Add([]byte(`{"id": "a", "prompt": "do {item}", "paths": ["x/{a,b}"], "timeout": "3m", "allow": ["push to feature/*"]}`+"\n\n"+`{"command": ["x"], "depends_on": ["a"]}`), false)
	f.Add([]byte(`{"id": "a", "paths": ["**"]}`+"\r\n"+`{"id": "b", "depends_on": ["a"]}`), true)
	f.Add([]byte(`{"id": "a", "id": [1, {}], `), false)
	fuzzTasks(f, FormatJSONL)
}

func FuzzTasksTOML(f *testing.F) {
	f.Add([]byte("[[tasks]]\nid = \"a\"\nprompt = '''\ndo\n'''\npaths = [\"x\", 'y/']\nallow = ['push to x']\n[[tasks]]\ncommand = [\"x\"]\ndepends_on = [\"a\"]\n"), false)
	f.Add([]byte("[[tasks]]\nid = \"a\"\n# x\n[[tasks]]\nid = 'b'\ndepends_on = [\"a\"]\ntimeout = \"1s\""), true)
	f.Add([]byte("a.b = [1, {x = 07:00:00}]\n[tasks]\n"), false)
	fuzzTasks(f, FormatTOML)
}

func FuzzTasksPlain(f *testing.F) {
	f.Add([]byte("one\r\n\n two {item}\n"), false)
	f.Add([]byte("a\xff\nb\nb"), true)
	fuzzTasks(f, FormatPlain)
}
