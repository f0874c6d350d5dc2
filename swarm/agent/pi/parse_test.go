package pi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// parse feeds a stream in pieces of a size; 0 is all at once.
func parse(p agent.Parser, stream []byte, size int) []event.Event {
	if size == 0 {
		size = max(1, len(stream))
	}
	var all []event.Event
	for piece := range slices.Chunk(stream, size) {
		// A parser must not keep a borrowed buffer.
		lent := bytes.Clone(piece)
		all = append(all, p.Feed(lent)...)
		clear(lent)
	}
	return append(all, p.End()...)
}

// lines are events as the golden files have them.
func lines(t testing.TB, events []event.Event) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, e := range events {
		line, err := event.Marshal(event.Record{N: int64(i + 1), Event: e})
		if err != nil {
			t.Fatal(err)
		}
		line = bytes.Replace(line, []byte(`"t":"0001-01-01T00:00:00Z",`), nil, 1)
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

// recorded are the streams of the real CLI.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	cases, err := filepath.Glob("testdata/*/in.jsonl")
	if err != nil || len(cases) < 5 {
		t.Fatalf("cases = %q, %v", cases, err)
	}
	all := map[string][]byte{}
	for _, in := range cases {
		stream, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Dir(in)] = stream
	}
	return all
}

// asIf returns the spec of a recorded stream's agent.
func asIf(dir string) *agent.Spec {
	spec := Kind().Spec
	if filepath.Base(dir) == "effort" {
		spec.Effort = "high"
	}
	return &spec
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for dir, stream := range recorded(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			got := lines(t, parse(newEvents(asIf(dir)), stream, 0))
			golden := filepath.Join(dir, "want.jsonl")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, size := range []int{1, 7, 127, 128, 129, 4096} {
				if cut := lines(t, parse(newEvents(asIf(dir)), stream, size)); !bytes.Equal(cut, got) {
					t.Errorf("in pieces of %d it is\n%s", size, cut)
				}
			}
		})
	}
}

// TestBrief spares details and nothing else.
func TestBrief(t *testing.T) {
	t.Parallel()
	for dir, stream := range recorded(t) {
		brief := newEvents(asIf(dir))
		brief.Brief()
		got := parse(brief, stream, 0)
		want := parse(newEvents(asIf(dir)), stream, 0)
		for _, e := range want {
			switch e := e.(type) {
			case *event.ToolStart:
				e.Input = nil
			case *event.ToolEnd:
				e.Output = nil
			case *event.Raw:
				e.Line = nil
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in brief it is\n%s\nwant\n%s", dir, lines(t, got), lines(t, want))
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	said := func(stop, text string) string {
		return `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"` + text +
			`"}],"provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":{"total":0.5}},"stopReason":"` + stop + `"}}`
	}
	for _, c := range []struct {
		name, give, want string // the events as their kinds and main values
	}{
		{"nothing", "\n\r\n  \n", ""},
		{"noise", "Warning: something\n", "text Warning: something"},
		{"broken", `{"type":"turn_start"`, `text {"type":"turn_start"`},
		{"unknown", `{"type":"new_in_2"}`, `raw {"type":"new_in_2"}`},
		{"wrong shape", `{"type":7}`, `raw {"type":7}`},
		{"no object", `[1]`, `text [1]`},
		{"header", `{"type":"session","id":"x","cwd":"/w"}`, "session x"},
		{"turns", `{"type":"turn_start"}` + "\n" + `{"type":"turn_start"}`, "turn 1, turn 2"},
		{"a turn again", `{"type":"turn_start"}` + "\n" + `{"type":"auto_retry_start","delayMs":5,"errorMessage":"529 x"}` + "\n" + `{"type":"turn_start"}`, "turn 1, retry overloaded 5"},
		{"answer", said("stop", "yes") + "\n" + `{"type":"agent_settled"}`, "session  p/m, usage 1 2 3 4 0.5, text yes, result yes"},
		{"answer, CR", said("stop", "yes") + "\r\n" + `{"type":"agent_settled"}` + "\r\n", "session  p/m, usage 1 2 3 4 0.5, text yes, result yes"},
		{"no end", said("stop", "yes"), "session  p/m, usage 1 2 3 4 0.5, text yes"},
		{"aborted", said("aborted", "") + "\n" + `{"type":"agent_settled"}`, `session  p/m, usage 1 2 3 4 0.5, error other its last message ended by "aborted"`},
		{"cut short", said("length", "a") + "\n" + `{"type":"agent_settled"}`, "session  p/m, usage 1 2 3 4 0.5, text a, error other its model reached the limit of output for a message"},
		{"nothing said", `{"type":"agent_start"}` + "\n" + `{"type":"agent_settled"}`, "error no_result it ended without a message of its model"},
		{
			"what it said before is no answer to what came later",
			said("stop", "one") + "\n" + `{"type":"response","command":"prompt","id":"swarm-prompt","success":true}` + "\n" + `{"type":"agent_settled"}`,
			"session  p/m, usage 1 2 3 4 0.5, text one, error no_result it ended without a message of its model",
		},
		{"refused prompt", `{"id":"swarm-prompt","type":"response","command":"prompt","success":false,"error":"No API key found for x.\n\nUse /login to"}`, "error auth No API key found for x."},
		{"refused word", `{"id":"swarm-steer","type":"response","command":"prompt","success":false,"error":"no"}`, "text pi refused the command prompt: no"},
		{"other messages", `{"type":"message_end","message":{"role":"user","content":"text"}}` + "\n" + `{ "type":"message_end","message":{"role":"custom","content":7}}`, ""},
		{"its model", strings.Replace(said("stop", ""), `"model":"m"`, `"model":"auto","responseModel":"m7"`, 1), "session  p/m7, usage 1 2 3 4 0.5"},
		{"negative usage", strings.Replace(said("stop", ""), `"input":1`, `"input":-1`, 1), "session  p/m"},
		{"compaction", `{"type":"compaction_end","result":{"summary":"s","usage":{"input":7,"output":8,"cost":{"total":0.25}}}}`, "usage 7 8 0 0 0.25"},
		{"failed compaction", `{"type":"compaction_end","aborted":true}`, ""},
		{"tools", `{"type":"tool_execution_start","toolCallId":"t","toolName":"bash","args":{"command":"x"}}` + "\n" + `{"type":"tool_execution_end","toolCallId":"t","toolName":"bash","result":{},"isError":true}`, `tool_start t bash {"command":"x"}, tool_end t false {}`},
		{"extension", `{"type":"extension_error","event":"tool_call","error":"oh"}`, "text An extension of pi failed in tool_call: oh"},
		{
			"how long to wait",
			`{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"swarm","statusText":"{\"status\":429,\"retryAfterMs\":9000}"}` + "\n" +
				strings.Replace(said("error", ""), `"stopReason"`, `"errorMessage":"odd words","stopReason"`, 1) + "\n" + `{"type":"agent_settled"}`,
			"usage 1 2 3 4 0.5, error rate_limit odd words 9000",
		},
		{
			"nobody listens",
			`{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"swarm","statusText":"{\"refused_by\":\"http://localhost:1\"}"}` + "\n" +
				strings.Replace(said("error", ""), `"stopReason"`, `"errorMessage":"Connection error.","stopReason"`, 1) + "\n" + `{"type":"agent_settled"}`,
			"usage 1 2 3 4 0.5, error overloaded no server answers at http://localhost:1: is the server started?",
		},
		{
			"a request was cut after nobody listened",
			`{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"swarm","statusText":"{\"refused_by\":\"http://localhost:1\"}"}` + "\n" +
				`{"type":"auto_retry_start","delayMs":5,"errorMessage":"Connection error."}` + "\n" +
				strings.Replace(said("error", ""), `"stopReason"`, `"errorMessage":"Connection error.","stopReason"`, 1) + "\n" + `{"type":"agent_settled"}`,
			"retry overloaded 5, usage 1 2 3 4 0.5, error overloaded Connection error.",
		},
		{"not UTF-8", "a\xffb", "text a\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := Kind().Spec
			var got []string
			for _, e := range parse(newEvents(&spec), []byte(c.give), 0) {
				got = append(got, short(e))
			}
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("got  %s\nwant %s", all, c.want)
			}
		})
	}
}

// TestLimits checks that limits which the extension tells of count for the
// answer that they came with, and for no other.
func TestLimits(t *testing.T) {
	t.Parallel()
	spec := Kind().Spec
	text := `{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"swarm","statusText":"{\"limits\":{\"x-ratelimit-remaining-requests\":\"900\",\"x-ratelimit-reset-requests\":\"1s\"}}"}` + "\n" +
		strings.Repeat(`{"type":"message_end","message":{"role":"assistant","model":"m","usage":{"input":1},"stopReason":"stop"}}`+"\n", 2)
	var left []int
	for _, e := range parse(newEvents(&spec), []byte(text), 0) {
		if spent, ok := e.(*event.Spent); ok {
			left = append(left, spent.Left)
		}
	}
	if !slices.Equal(left, []int{900, 0}) {
		t.Errorf("%d requests are left, want 900 and none told", left)
	}
}

// short is an event in a few words.
func short(e event.Event) string {
	words := []any{event.Kind(e)}
	switch e := e.(type) {
	case *event.Text:
		words = append(words, e.Text)
	case *event.Raw:
		words = append(words, string(e.Line))
	case *event.Session:
		words = append(words, e.ID)
		if e.Model != "" {
			words = append(words, e.Model)
		}
	case *event.Turn:
		words = append(words, e.N)
	case *event.Retry:
		words = append(words, e.Kind, e.RetryAfterMS)
	case *event.Spent:
		words = append(words, e.Input, e.Output, e.CacheRead, e.CacheWrite, e.CostUSD)
	case *event.Answered:
		words = append(words, e.Text)
	case *event.Erred:
		words = append(words, e.Kind, e.Message)
		if e.RetryAfterMS > 0 {
			words = append(words, e.RetryAfterMS)
		}
	case *event.ToolStart:
		words = append(words, e.ID, e.Name, string(e.Input))
	case *event.ToolEnd:
		words = append(words, e.ID, e.OK, string(e.Output))
	}
	return strings.TrimSuffix(fmt.Sprintln(words...), "\n")
}

// TestLongLines reads lines of any length, and keeps little of those it passes
// over.
func TestLongLines(t *testing.T) {
	t.Parallel()
	much := strings.Repeat("y", 5<<20)
	for _, c := range []struct{ name, give, want string }{
		{"conversation", `{"type":"agent_end","messages":["` + much + `"]}`, ""},
		{"deltas", `{"type":"message_update","x":"` + much + `"}`, ""},
		{"what a user said", `{"type":"message_end","message":{"role":"toolResult","content":"` + much + `"}}`, ""},
		{"tool", `{"type":"tool_execution_end","toolCallId":"t1","toolName":"read","result":{"x":"` + much + `"},"isError":false}`, "tool_end t1 true "},
		{"failed tool", `{"type":"tool_execution_end","toolCallId":"t1","toolName":"read","result":{"x":"` + much + `"},"isError":true}`, "tool_end t1 false "},
		{"half a megabyte", `{"type":"tool_execution_start","toolCallId":"t1","toolName":"write","args":"` + much[:512<<10] + `"}`, `tool_start t1 write "` + much[:512<<10] + `"`},
		{"too long", `{"type":"other","x":"` + much, "text " + (`{"type":"other","x":"` + much)[:wire.Shown] + " … (line too long)"},
	} {
		for _, size := range []int{0, 64 << 10, 100_001} {
			spec := Kind().Spec
			p := newEvents(&spec)
			got := parse(p, []byte(c.give+"\n"+`{"type":"turn_start"}`+"\n"), size)
			var all []string
			for _, e := range got {
				all = append(all, short(e))
			}
			want := strings.TrimPrefix(c.want+"|turn 1", "|")
			if text := strings.Join(all, "|"); text != want {
				t.Errorf("%s, in pieces of %d: got %.300q, want %.300q", c.name, size, text, want)
			}
		}
	}
}

// FuzzEvents checks that nothing panics, that the cuts and the returned parts
// of a stream do not matter, and that all kept text is valid JSON.
func FuzzEvents(f *testing.F) {
	for _, stream := range recorded(f) {
		for line := range bytes.Lines(stream) {
			if len(line) < 2000 { // longer ones only make it slow
				f.Add(line, 7)
			}
		}
	}
	f.Add([]byte(`{"type":"message_end","message":{"role":"assi`), 1)
	f.Add([]byte(`{"type":"agent_settled"}`+"\n"+`{"type":"message_end","message":{"role":"assistant","content":null}}`), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		spec := Kind().Spec
		whole := parse(newEvents(&spec), stream, 0)
		if size = size%200 + 1; size < 1 {
			size = 1
		}
		cut := parse(newEvents(&spec), stream, size)
		if !reflect.DeepEqual(whole, cut) {
			t.Fatalf("in pieces of %d\n%s, whole\n%s", size, lines(t, cut), lines(t, whole))
		}
		back := released(newEvents(&spec), stream, size)
		if !reflect.DeepEqual(whole, back) {
			t.Fatalf("given back\n%s, whole\n%s", lines(t, back), lines(t, whole))
		}
		for _, e := range whole {
			if raw, ok := e.(*event.Raw); ok && !json.Valid(raw.Line) {
				t.Errorf("raw is %q", raw.Line)
			}
		}
	})
}

// released feeds a stream in pieces, and feeds the returned text again.
func released(p *events, stream []byte, size int) []event.Event {
	var all []event.Event
	for at := 0; at < len(stream); {
		end := min(at+size, len(stream))
		all = append(all, p.Feed(stream[at:end])...)
		at = end
		if back := p.Release(size); back > 0 && at < len(stream) {
			// The whole line follows, as the reader does it.
			next := bytes.IndexByte(stream[at:], '\n')
			if next < 0 {
				next = len(stream) - at - 1
			}
			all = append(all, p.Feed(stream[at-back:at+next+1])...)
			at += next + 1
		} else if back > 0 {
			all = append(all, p.Feed(stream[at-back:])...)
		}
	}
	return append(all, p.End()...)
}
