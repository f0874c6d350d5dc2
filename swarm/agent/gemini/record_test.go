package gemini

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

// conversation is the id in the recorded files, chats where they are kept.
const (
	conversation = "990f1040-4bb4-40b2-baf9-56f31793f8f9"
	chats        = home + "/tmp/" + project + "/" + chatsName + "/"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/chats/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKept checks that the usage of an agent that was killed is read from its
// conversation: each message once, and only those of its own process. The files
// are those of the CLI, killed in its third turn and continued once.
func TestKept(t *testing.T) {
	t.Parallel()
	killed, continued := recorded(t, "killed"), recorded(t, "continued")
	three := task.Usage{Input: 1150, CacheRead: 2100, Output: 60}
	helper := []byte(`{"sessionId":"h","kind":"subagent"}` + "\n" + `{"id":"m","type":"gemini","tokens":{"input":7,"output":1,"thoughts":2,"total":10}}`)
	cut := killed[:bytes.LastIndex(killed, []byte(`"total":1160`))]
	for _, test := range []struct {
		name   string
		files  map[string][]byte
		before task.Usage
		want   task.Usage
	}{
		{"killed", map[string][]byte{"session-a.jsonl": killed}, task.Usage{}, three},
		{"continued", map[string][]byte{"session-a.jsonl": continued}, three, task.Usage{Input: 13224, Output: 1}},
		{"copied and not continued", map[string][]byte{"session-a.jsonl": killed}, three, task.Usage{}},
		{"killed while it wrote", map[string][]byte{"session-a.jsonl": cut}, task.Usage{}, task.Usage{Input: 1100, CacheRead: 1000, Output: 50}},
		{"another conversation", map[string][]byte{
			"session-a.jsonl": bytes.Replace(killed, []byte(conversation), []byte("other"), 1),
		}, task.Usage{}, task.Usage{}},
		{"with a helper", map[string][]byte{
			"session-a.jsonl": killed, conversation + "/h.jsonl": helper, "other/h.jsonl": helper,
		}, task.Usage{}, task.Usage{Input: 1157, CacheRead: 2100, Output: 63}},
		{"a line that is too long", map[string][]byte{
			"session-a.jsonl": append(bytes.Replace(killed, []byte("\n"), []byte("\n"+strings.Repeat("x", 3<<20)+"\n"), 1), 'x'),
		}, task.Usage{}, three},
	} {
		state := fstest.MapFS{}
		for name, data := range test.files {
			state[chats+name] = &fstest.MapFile{Data: data}
		}
		o := &agent.Outcome{Session: conversation, Usage: task.Usage{CostUSD: 1}}
		spent, err := agent.Recorded(Adapter{}, &agent.Spec{Prior: test.before}, state, o)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got task.Usage
		if spent != nil {
			got = spent.Usage
		}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		if test.want.CostUSD = 1; o.Usage != test.want {
			t.Errorf("%s: the outcome has %+v, want %+v", test.name, o.Usage, test.want)
		}
	}
}

// TestKeptCost checks that usage from files has the cost of its model, and that
// an agent that reported its usage is not paid twice.
func TestKeptCost(t *testing.T) {
	t.Parallel()
	state := fstest.MapFS{chats + "session-a.jsonl": &fstest.MapFile{Data: recorded(t, "killed")}}
	priced := agent.Priced(agent.Aloud(Adapter{}), func(model string, u task.Usage) (float64, bool) {
		return float64(u.Output), model == "gemini-2.5-pro"
	})
	o := &agent.Outcome{Session: conversation}
	if _, err := agent.Recorded(priced, &agent.Spec{}, state, o); err != nil || o.Usage.CostUSD != 60 || o.Usage.ComputedUSD != 60 {
		t.Errorf("the cost is %v, computed %v, %v, want 60", o.Usage.CostUSD, o.Usage.ComputedUSD, err)
	}
	if o.Model != "gemini-2.5-pro" || !o.Worked {
		t.Errorf("the model is %q, worked is %v", o.Model, o.Worked)
	}
	if spent, err := agent.Recorded(priced, &agent.Spec{}, state, o); spent != nil || err != nil {
		t.Errorf("it is paid again: %+v, %v", spent, err)
	}
}

// FuzzRecord reads any file as a conversation: nothing is negative, and a second
// copy of each line changes nothing.
func FuzzRecord(f *testing.F) {
	f.Add(recorded(f, "killed"))
	f.Add(recorded(f, "continued"))
	f.Add([]byte(`{"id":"m","type":"gemini","tokens":{"input":-1,"output":9223372036854775807,"total":9223372036854775807}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var once, twice messages
		for range 2 {
			if err := twice.read(bytes.NewReader(text), ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := once.read(bytes.NewReader(text), ""); err != nil {
			t.Fatal(err)
		}
		used, _ := once.used()
		if again, _ := twice.used(); again != used {
			t.Errorf("read twice it is %+v, want %+v", again, used)
		}
		if used.Input < 0 || used.Output < 0 || used.CacheRead < 0 {
			t.Errorf("it is %+v", used)
		}
		state := fstest.MapFS{chats + "session-a.jsonl": &fstest.MapFile{Data: text, Mode: fs.ModePerm}}
		if _, _, err := (Adapter{}).Recorded(state, conversation); err != nil {
			t.Error(err)
		}
	})
}
