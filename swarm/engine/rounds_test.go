package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// oneNumber asks for an object with a whole number and nothing else.
const oneNumber = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false}`

// numbered is a call of the agent called mine whose answer must match oneNumber.
func numbered() *task.Call {
	call := mine()
	call.Script, call.Schema = true, json.RawMessage(oneNumber)
	return call
}

// prose makes mine an agent that reads its prompt from stdin and prints text.
func (r *rig) prose(text string) {
	r.config.Agents = specs("mine", text)
	spec := r.config.Agents["mine"]
	spec.Input, spec.Format, spec.Success = agent.InputStdin, agent.FormatText, agent.SuccessExit
}

// text is a file of an attempt.
func (r *rig) text(id task.ID, attempt int, name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.deps.Run.Attempt(id, attempt), name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// contains fails the test unless a text holds all of the parts.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s = %q, want %q in it", what, text, part)
		}
	}
}

func TestSchemaInOneConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		echo x >> "$RIG/starts"
		read -r prompt; printf '%s' "$prompt" > "$RIG/first"; cat "$SWARM_SCHEMA" > "$RIG/schema"
		printf '{"type":"usage","output":5}\n{"type":"result","text":"I think it is one"}\n'
		read -r prompt; printf '%s' "$prompt" > "$RIG/second"
		printf '{"type":"result","structured":{"n":"x"}}\n'
		read -r prompt; printf '%s' "$prompt" > "$RIG/third"
		printf '{"type":"result","structured": {"n": 1}}\n'
		read -r finish; printf '%s' "$finish" > "$RIG/finish"`)
	done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
	if !ok {
		t.Fatalf("a1 = %+v", r.view().Agent("a1").Status)
	}
	is(t, "structured", string(done.Structured), `{"n":1}`)
	is(t, "tokens", done.Usage.Output, 5)
	is(t, "processes", len(r.lines("starts")), 1)
	is(t, "the schema", strings.Join(r.lines("schema"), " "), oneNumber)
	var first struct{ Text, Type, Schema json.RawMessage }
	if err := json.Unmarshal([]byte(strings.Join(r.lines("first"), " ")), &first); err != nil {
		t.Fatal(err)
	}
	is(t, "the schema in the prompt", string(first.Schema), oneNumber)
	contains(t, "the prompt", string(first.Text), `p\n\nAnswer with one JSON object`, `\"integer\"`)
	contains(t, "the second message", strings.Join(r.lines("second"), " "), `{"type":"prompt","text":"Your answer is not a JSON object.`)
	contains(t, "the third message", strings.Join(r.lines("third"), " "), `/n: got string, want integer`)
	contains(t, "the last message", strings.Join(r.lines("finish"), " "), `"finish"`)
	is(t, "its records", r.kinds("a1"), "called leased leased started:agent ended captured settled released")
	is(t, "journaled", string(r.view().Agent("a1").Result().(*task.Completed).Structured), `{"n":1}`)
}

// TestSchemaByAnotherProcess has an agent that is gone once it has answered.
func TestSchemaByAnotherProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		echo x >> "$RIG/starts"; echo x >> starts
		printf '{"type":"usage","output":5}\n'
		if test $(wc -l < starts) = 1; then printf '{"type":"result","text":"see {\\"n\\": true}"}\n'
		else printf '{"type":"result","text":"{\\"n\\": 2}"}\n'; fi`)
	r.config.Agents["mine"].Input = agent.InputStdin
	done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
	if !ok {
		t.Fatalf("a1 = %+v", r.view().Agent("a1").Status)
	}
	is(t, "structured", string(done.Structured), `{"n":2}`)
	is(t, "processes", len(r.lines("starts")), 2)
	is(t, "tokens of both", done.Usage.Output, 10)
	is(t, "attempts", done.Attempts, 1)
	is(t, "its patch", done.Patch.Files, 1)
	is(t, "output file", filepath.Base(done.OutputFile), "stdout.2")
	contains(t, "the first output", r.text("a1", 1, "stdout"), "true")
	contains(t, "the second output", r.text("a1", 1, "stdout.2"), `{\"n\": 2}`)
	contains(t, "the second prompt", r.text("a1", 1, "prompt.2"), r.prompt("a1", 1), "see {\"n\": true}", "/n: got boolean, want integer")
	is(t, "its records", r.kinds("a1"),
		"called leased leased started:agent ended started:agent ended captured settled released")
}

// TestSchemaMissedByItsProgram asks again an agent whose own program ended it,
// since its answer was not the object that it has to be.
func TestSchemaMissedByItsProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		echo x >> "$RIG/starts"; echo x >> starts
		if test $(wc -l < starts) = 1; then
			printf '{"type":"text","text":"it is one"}\n{"type":"error","kind":"schema","message":"plain text"}\n'; exit 1
		fi
		printf '{"type":"result","structured":{"n":1}}\n'`)
	r.config.Agents["mine"].Input = agent.InputStdin
	done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
	if !ok {
		t.Fatalf("a1 = %+v", r.view().Agent("a1").Status)
	}
	is(t, "structured", string(done.Structured), `{"n":1}`)
	is(t, "processes", len(r.lines("starts")), 2)
	contains(t, "the second prompt", r.text("a1", 1, "prompt.2"), "it is one", "plain text")
}

func TestSchemaIsNeverMatched(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		input        agent.Input
		starts       int
	}{
		{"in one conversation", `
			echo x >> "$RIG/starts"
			while read -r line; do case $line in *finish*) exit;; esac
			echo x >> "$RIG/answers"; printf '{"type":"result","structured":{"n":"x"}}\n'; done`, agent.InputJSONL, 1},
		{"by processes", `
			echo x >> "$RIG/starts"
			echo x >> "$RIG/answers"; printf '{"type":"result","structured":{"n":"x"}}\n'`, agent.InputStdin, 5},
		{"by processes that answer twice", `
			echo x >> "$RIG/starts"
			for i in 1 2; do read -r line; case $line in *finish*) exit;; esac
			echo x >> "$RIG/answers"; printf '{"type":"result","structured":{"n":"x"}}\n'; done`, agent.InputJSONL, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", test.script)
			r.config.Agents["mine"].Input = test.input
			got := word(r.play(numbered())["a1"].Result)
			is(t, "result", got, "failed schema: none of its 5 answers matches the schema; of the last: /n: got string, want integer")
			is(t, "processes", len(r.lines("starts")), test.starts)
			is(t, "answers", len(r.lines("answers")), 5)
		})
	}
}

// TestSchemaOfTwoAnswers asks again if an answer has two values.
func TestSchemaOfTwoAnswers(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]string{
		"structured":       `"structured":{"n":1,"n":2}`,
		"structured twice": `"structured":{"n":1},"structured":{"n":2}`,
		"in another case":  `"structured":{"n":1},"Structured":{"n":2}`,
		"text":             `"text":"{\"n\":1,\"n\":2}"`,
		"text twice":       `"text":"{\"n\":1}","text":"{\"n\":2}"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", `
				while read -r line; do case $line in *finish*) exit;; esac
				echo x >> "$RIG/prompts"; printf '%s\n' "$line" >> "$RIG/asked"
				if test -e "$RIG/again"; then printf '{"type":"result","structured":{"n":3}}\n'
				else touch "$RIG/again"; printf '%s\n' '{"type":"result",`+result+`}'; fi; done`)
			done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
			if !ok {
				t.Fatalf("a1 = %s", word(r.view().Agent("a1").Result()))
			}
			is(t, "structured", string(done.Structured), `{"n":3}`)
			is(t, "prompts", len(r.lines("prompts")), 2)
			contains(t, "what is asked", strings.Join(r.lines("asked"), " "), "does not match")
		})
	}
}

func TestSchemaOfText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3*task.OutputLimit)
	for _, test := range []struct{ name, give, want string }{
		{"whole", `echo '{"n": 3}'`, `{"n":3}`},
		{"a fence", "printf 'So:\\n```json\\n{\"n\": 3}\\n```\\n'", `{"n":3}`},
		{"after much", `head -c 40000 /dev/zero | tr '\0' y; echo '{"n":3}'`, `{"n":3}`},
		{"before much", `echo '{"n":3}'; echo ` + long, `{"n":3}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.prose(test.give)
			done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
			if !ok {
				t.Fatalf("a1 = %s", word(r.view().Agent("a1").Result()))
			}
			is(t, "structured", string(done.Structured), test.want)
			is(t, "processes", r.kinds("a1"), "called leased leased started:agent ended captured settled released")
		})
	}
}

// TestSchemaOfNoChange checks that a change in the workspace does not replace
// the answer that a schema asks for.
func TestSchemaOfNoChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `
		touch f; printf '{"type":"result","text":""}\n'; test -e "$RIG/again" && exit; touch "$RIG/again"`)
	r.config.Agents["mine"].Input = agent.InputStdin
	contains(t, "result", word(r.play(numbered())["a1"].Result), "failed schema: none of its 5 answers", "no JSON object")
}

// TestSchemaTakesTime checks that the time of an attempt is that of all its
// processes.
func TestSchemaTakesTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.prose(`touch "$RIG/began"; echo x >> "$RIG/starts"; echo no`)
	r.deps.Now = func() time.Time {
		if _, err := os.Stat(filepath.Join(r.dir, "began")); err == nil {
			return time.Now().Add(2 * time.Hour)
		}
		return time.Now()
	}
	call := numbered()
	call.Timeout = time.Hour
	is(t, "result", word(r.play(call)["a1"].Result), "failed timeout: ran longer than 1h0m0s")
	is(t, "processes", len(r.lines("starts")), 1)
}

// TestSchemaLeavesOtherEndsAlone checks that an agent which failed is not asked
// again.
func TestSchemaLeavesOtherEndsAlone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ script, want string }{
		{`echo no; exit 3`, "failed other: exit status 3"},
		{`kill -9 $$`, "failed killed: ended by SIGKILL"},
	} {
		r := newRig(t)
		r.prose(`echo x >> "$RIG/starts"; ` + test.script)
		is(t, test.script, word(r.play(numbered())["a1"].Result), test.want)
		is(t, "processes", len(r.lines("starts")), 1)
	}
}

// crashAt makes the owner of a run die when it is about to write its nth
// record of a kind, from 0, and puts the run in order.
func (r *rig) crashAt(kind string, nth int, call *task.Call) {
	r.t.Helper()
	crash, seen := errors.New("crash"), 0
	r.fail = func(e event.Event) error {
		if event.Kind(e) != kind {
			return nil
		}
		if seen++; seen <= nth {
			return nil
		}
		return crash
	}
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	if _, err := e.Start(call); err != nil {
		r.t.Fatal(err)
	}
	<-e.Halted()
	if err := e.Close(); !errors.Is(err, crash) {
		r.t.Fatalf("Close = %v", err)
	}
	r.mu.Lock()
	r.fail = nil
	r.mu.Unlock()
	died(r.t, r)
}

// TestSchemaCrash has owners that die while an agent is asked for the second
// time. No usage is forgotten, and an agent that ended well is not run again.
func TestSchemaCrash(t *testing.T) {
	t.Parallel()
	const asked = "failed lost: swarm ended before it could be asked again: its answer does not match the schema: /n: is missing"
	for _, test := range []struct {
		kind   string
		nth    int
		want   string
		tokens int
		file   string
		starts int // once it was resumed; 0: whether the second began is not decided
	}{
		{"ended", 0, asked, 5, "stdout", 3},
		{"started", 1, asked, 5, "stdout", 0},
		{"ended", 1, `completed {"n":2}`, 10, "stdout.2", 2},
		{"captured", 0, `completed {"n":2}`, 10, "stdout.2", 2},
		{"settled", 0, `completed {"n":2}`, 10, "stdout.2", 2},
		{"released", 0, `completed {"n":2}`, 10, "stdout.2", 2},
	} {
		t.Run(fmt.Sprint(test.kind, test.nth), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", `
				echo x >> starts; echo x >> "$RIG/starts"
				printf '{"type":"usage","output":5}\n'
				if test $(wc -l < starts) = 1; then printf '{"type":"result","structured":{}}\n'
				else printf '{"type":"result","structured":{"n":2}}\n'; fi`)
			r.config.Agents["mine"].Input = agent.InputStdin
			call := numbered()
			r.crashAt(test.kind, test.nth, call)
			result := r.view().Agent("a1").Result()
			is(t, "recovered", word(result), test.want)
			is(t, "tokens", result.Done().Usage.Output, test.tokens)
			is(t, "output file", filepath.Base(result.Done().OutputFile), test.file)
			if strings.HasPrefix(test.want, "completed") {
				is(t, "structured", string(result.(*task.Completed).Structured), `{"n":2}`)
			}
			is(t, "resumed", word(r.play(call)["a1"].Result), `completed {"n":2}`)
			if test.starts > 0 {
				is(t, "processes", len(r.lines("starts")), test.starts)
			}
		})
	}
}

// TestSchemaExhaustedCrash checks that a recovered run reports an agent with
// five wrong answers as its owner would have.
func TestSchemaExhaustedCrash(t *testing.T) {
	t.Parallel()
	for _, input := range []agent.Input{agent.InputStdin, agent.InputJSONL} {
		r := newRig(t)
		r.config.Agents = specs("mine", `
			while read -r line; do case $line in *finish*) exit;; esac
			printf '{"type":"result","structured":{"n":"x"}}\n'; test `+string(input)+` = jsonl || exit 0; done`)
		r.config.Agents["mine"].Input = input
		r.crashAt("settled", 0, numbered())
		is(t, string(input), word(r.view().Agent("a1").Result()),
			"failed schema: none of its 5 answers matches the schema; of the last: /n: got string, want integer")
	}
}

// TestSchemaIsChecked has work that is checked after its second round, by this
// owner or the next.
func TestSchemaIsChecked(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "checked"} {
		r := newRig(t)
		r.config.Verify = "true"
		r.prose(`echo x >> starts; if test $(wc -l < starts) = 1; then echo no; else echo '{"n":7}'; fi`)
		if kind != "" {
			r.crashAt(kind, 0, numbered())
		}
		done, ok := r.play(numbered())["a1"].Result.(*task.Completed)
		if !ok || done.Verified == nil || !*done.Verified {
			t.Fatalf("%q: a1 = %s", kind, word(r.view().Agent("a1").Result()))
		}
		is(t, kind+": structured", string(done.Structured), `{"n":7}`)
		is(t, kind+": output file", filepath.Base(done.OutputFile), "stdout.2")
		is(t, kind+": dropped", slices.Contains(r.spaces.dropped, "a1.1.check"), kind != "")
	}
}
