package codex

import (
	"bytes"
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
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// feed feeds a stream in pieces of a size; 0 is all at once.
func feed(p *parser, stream []byte, size int) []event.Event {
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

// TestStreams reads recorded output of the real CLI.
func TestStreams(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/in.jsonl")
	if err != nil || len(cases) < 8 {
		t.Fatalf("cases = %q, %v", cases, err)
	}
	for _, in := range cases {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			stream, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, feed(newParser(), stream, 0))
			golden := filepath.Join(dir, "want.jsonl")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
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
		})
	}
}

// opening is how every conversation of these tests begins.
const opening = `{"id":1,"result":{"thread":{"id":"T"},"model":"m"}}
{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}
`

func notice(method, params string) string {
	return fmt.Sprintf(`{"method":%q,"params":{"threadId":"T","turnId":"U",%s}}`, method, params) + "\n"
}

func usage(total, last int) string {
	return notice("thread/tokenUsage/updated", fmt.Sprintf(`"tokenUsage":{"total":{"inputTokens":%d,"outputTokens":%d},"last":{"inputTokens":%d,"outputTokens":%d}}`,
		total, total, last, last))
}

func TestParse(t *testing.T) {
	t.Parallel()
	message := notice("item/completed", `"item":{"type":"agentMessage","id":"m","text":"hi"}`)
	begun := notice("item/started", `"item":{"type":"reasoning","id":"r"}`)
	spent := func(n int64) event.Event { return &event.Spent{Usage: task.Usage{Input: n, Output: n}} }
	for _, test := range []struct {
		name, give string
		want       []event.Event
	}{
		{"the same twice", begun + usage(10, 10) + usage(10, 10), []event.Event{&event.Turn{N: 1}, spent(10)}},
		{"a parent's", usage(110, 10) + usage(130, 20), []event.Event{&event.Turn{N: 1}, spent(10), &event.Turn{N: 2}, spent(20)}},
		{"another turn's", strings.Replace(usage(10, 10), `"U"`, `"V"`, 1), nil},
		{"another conversation's", strings.Replace(message, `"T"`, `"S"`, 1), nil},
		{"nothing counted", begun + usage(0, 0) + begun + usage(0, 0), []event.Event{&event.Turn{N: 1}, &event.Turn{N: 2}}},
		{"parts of one", begun + begun + message, []event.Event{&event.Turn{N: 1}, &event.Text{Text: "hi"}}},
		{
			"interrupted", notice("turn/completed", `"turn":{"id":"U","status":"interrupted"}`),
			[]event.Event{&event.Erred{Kind: task.Other, Message: "the turn ended as interrupted"}},
		},
		{"an earlier end", notice("turn/completed", `"turn":{"id":"X","status":"completed"}`), nil},
		{"no answer", notice("turn/completed", `"turn":{"id":"U","status":"completed"}`), []event.Event{&event.Answered{}}},
		{
			"rerouted", notice("model/rerouted", `"toModel":"other"`),
			[]event.Event{&event.Session{ID: "T", Model: "other", Can: []string{"steer", "schema", "resume"}}},
		},
		{"a late word", `{"id":3,"error":{"code":1,"message":"too late"}}`, nil},
		{
			"no such parent", `{"id":1,"error":{"code":-32600,"message":"no rollout found for thread id x"}}`,
			[]event.Event{&event.Erred{Kind: task.Invalid, Message: "no rollout found for thread id x"}},
		},
		{
			"a question", `{"id":7,"method":"item/commandExecution/requestApproval","params":{}}`,
			[]event.Event{&event.Asked{
				ID:     "item/commandExecution/requestApproval 7",
				Action: []byte(`{"id":7,"method":"item/commandExecution/requestApproval","params":{}}`),
			}},
		},
		{
			"another question", `{"id":"x","method":"item/tool/requestUserInput","params":{}}`,
			[]event.Event{&event.Raw{Line: []byte(`{"id":"x","method":"item/tool/requestUserInput","params":{}}`)}},
		},
		{
			"an end without a beginning", notice("item/completed", `"item":{"type":"mcpToolCall","id":"c","server":"s","tool":"t","status":"failed","arguments":{"a":1},"error":{"message":"no"}}`),
			[]event.Event{
				&event.Turn{N: 1}, &event.ToolStart{ID: "c", Name: "mcp__s__t", Input: []byte(`{"a":1}`)},
				&event.ToolEnd{ID: "c", Output: []byte(`{"error":{"message":"no"}}`)},
			},
		},
		{"unknown", `{"method":"news/of/it","params":{"error":"text"}}`, []event.Event{&event.Raw{Line: []byte(`{"method":"news/of/it","params":{"error":"text"}}`)}}},
		{"no JSON", "Segmentation fault\n{cut", []event.Event{&event.Text{Text: "Segmentation fault"}, &event.Text{Text: "{cut"}}},
		{"other things by known names", `{"method":"mcpServer/status","params":{"error":"text","item":3,"turn":"x"}}`, nil},
		{"blank", " \r\n\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newParser()
			p.Feed([]byte(opening))
			got := feed(p, []byte(test.give), 7)
			if !reflect.DeepEqual(got, test.want) && len(got)+len(test.want) > 0 {
				t.Errorf("got\n%swant\n%s", lines(t, got), lines(t, test.want))
			}
		})
	}
}

// TestLongLine has the outcome of a tool that is longer than anything that is
// kept: how it ended is known.
func TestLongLine(t *testing.T) {
	t.Parallel()
	start := notice("item/started", `"item":{"type":"commandExecution","id":"c","command":"x","cwd":"/w","status":"inProgress"}`)
	end := notice("item/completed", `"item":{"type":"commandExecution","id":"c","status":"completed","aggregatedOutput":"`+strings.Repeat("x", wire.MaxLine)+`"}`)
	// The real CLI writes the identifying members last.
	end = `{"method":"item/completed","params":` + end[strings.Index(end, `{"threadId"`):]
	for _, size := range []int{0, 64 << 10, wire.MaxLine} {
		p := newParser()
		p.Feed([]byte(opening))
		got := feed(p, []byte(start+end+usage(5, 5)), size)
		want := []event.Event{
			&event.Turn{N: 1}, &event.ToolStart{ID: "c", Name: "bash", Input: []byte(`{"command":"x","cwd":"/w"}`)},
			&event.ToolEnd{ID: "c", OK: true, Output: []byte(`{"exit_code":null,"output":"","status":"completed"}`)},
			&event.Spent{Usage: task.Usage{Input: 5, Output: 5}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: got\n%.2000swant\n%s", size, lines(t, got), lines(t, want))
		}
	}
}

func TestLongestLine(t *testing.T) {
	t.Parallel()
	frame := strings.TrimSuffix(notice("item/completed", `"item":{"type":"agentMessage","id":"m","text":""}`), "\n")
	long := strings.Repeat("y", wire.MaxLine-len(frame))
	p := newParser()
	p.Feed([]byte(opening))
	got := feed(p, []byte(strings.Replace(frame, `"text":""`, `"text":"`+long+`"`, 1)+"\n"), 1000)
	if len(got) != 2 || got[1].(*event.Text).Text != long {
		t.Errorf("a line of %d bytes is not read whole", wire.MaxLine)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	line := []byte(notice("item/completed", `"item":{"type":"agentMessage","id":"m","text":"`+strings.Repeat("z", 100)+`"}`))
	p := newParser()
	p.Feed([]byte(opening))
	p.Feed(line[:90])
	if back := p.Release(100); back != 0 {
		t.Fatalf("Release of a short line = %d", back)
	}
	if back := p.Release(50); back != 90 {
		t.Fatalf("Release = %d, want 90", back)
	}
	if got := p.Feed(line); len(got) != 2 {
		t.Errorf("fed again it says %s", lines(t, got))
	}
}

// TestBrief drops the data that only a user interface shows, and no request.
func TestBrief(t *testing.T) {
	t.Parallel()
	p := newParser()
	p.Brief()
	p.Feed([]byte(opening))
	item := `"item":{"type":"commandExecution","id":"c","command":"x","status":"completed","aggregatedOutput":"o"}`
	ask := `{"id":7,"method":"x/y"}`
	got := feed(p, []byte(notice("item/started", item)+notice("item/completed", item)+`{"method":"news"}`+"\n"+ask), 0)
	want := []event.Event{
		&event.Turn{N: 1}, &event.ToolStart{ID: "c", Name: "bash"}, &event.ToolEnd{ID: "c", OK: true}, &event.Raw{}, &event.Raw{Line: []byte(ask)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", lines(t, got[:3]))
	}
}

func TestMeans(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		info, message, details string
		want                   task.ErrorKind
		say                    string
		after                  int64
	}{
		{`{"httpConnectionFailed":{"httpStatusCode":401}}`, "unexpected status 401", "", task.Auth, "unexpected status 401", 0},
		{`{"httpConnectionFailed":{"httpStatusCode":403}}`, "x", "", task.Auth, "x", 0},
		{`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, "exceeded retry limit", "", task.RateLimit, "exceeded retry limit", 0},
		{`{"responseStreamDisconnected":{"httpStatusCode":429}}`, "Reconnecting... 1/2", "slow down", task.RateLimit, "slow down", 0},
		{`{"responseStreamDisconnected":{"httpStatusCode":null}}`, "Reconnecting... 1/2", "stream disconnected before completion", task.Overloaded, "stream disconnected before completion", 0},
		{`{"httpConnectionFailed":{"httpStatusCode":402}}`, "pay", "", task.Quota, "pay", 0},
		{`{"httpConnectionFailed":{"httpStatusCode":502}}`, "x", "", task.Overloaded, "x", 0},
		{`{"httpConnectionFailed":{"httpStatusCode":null}}`, "Connection failed: error sending request", "", task.Overloaded, "Connection failed: error sending request", 0},
		{`"usageLimitExceeded"`, "x", "", task.Quota, "x", 0},
		{`"rateLimitExceeded"`, "Please try again in 1.5s.", "", task.RateLimit, "Please try again in 1.5s.", 1500},
		{`"rateLimitExceeded"`, "Please try again in 300ms.", "", task.RateLimit, "Please try again in 300ms.", 300},
		{`"rateLimitExceeded"`, "try again in 2 minutes", "", task.RateLimit, "try again in 2 minutes", 120000},
		{`"rateLimitExceeded"`, "You exceeded your current quota", "", task.Quota, "You exceeded your current quota", 0},
		{`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, "exceeded retry limit", `{"error":{"code":"insufficient_quota"}}`, task.Quota, "exceeded retry limit", 0},
		{`"serverOverloaded"`, "x", "", task.Overloaded, "x", 0},
		{`"internalServerError"`, "x", "", task.Overloaded, "x", 0},
		{`"unauthorized"`, "x", "", task.Auth, "x", 0},
		{`"contextWindowExceeded"`, "x", "", task.Invalid, "x", 0},
		{`"modelNotFound"`, "x", "", task.Invalid, "x", 0},
		{`"cyberPolicy"`, "x", "", task.Refused, "x", 0},
		{`"other"`, `{"error":{"message":"Unsupported value","type":"invalid_request_error"}}`, "", task.Invalid, "Unsupported value (invalid_request_error)", 0},
		{`"other"`, `{"error":{"message":"no"}}`, "", task.Other, "no", 0},
		{`"other"`, "stream disconnected before completion: x", "", task.Overloaded, "stream disconnected before completion: x", 0},
		{`null`, "Missing environment variable: `K`.", "", task.Auth, "Missing environment variable: `K`.", 0},
		{``, "who knows", "", task.Other, "who knows", 0},
	} {
		f := failure{Message: test.message, Info: []byte(test.info), Details: test.details}
		if kind, say, after := f.means(); kind != test.want || say != test.say || after != test.after {
			t.Errorf("means(%s, %q) = %s, %q, %d; want %s, %q, %d", test.info, test.message, kind, say, after, test.want, test.say, test.after)
		}
	}
}

// TestMeansOneThing checks that an error of two names has the same kind each
// time it is read, in the first process and in each later one.
func TestMeansOneThing(t *testing.T) {
	t.Parallel()
	f := failure{Message: "x", Info: []byte(`{"unauthorized":{},"serverOverloaded":{}}`)}
	for range 50 {
		if kind, _, _ := f.means(); kind != task.Auth {
			t.Fatalf("it is %s", kind)
		}
	}
}

// FuzzParse checks that a stream says the same wherever it is cut, also where
// its lines are given back, and that nothing panics.
func FuzzParse(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*/in.jsonl")
	for _, in := range cases {
		stream, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stream, 13)
	}
	f.Add([]byte(opening+usage(3, 3)), 1)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		want := feed(newParser(), stream, 0)
		if got := feed(newParser(), stream, 1+max(0, size)%1000); !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d it says\n%s, else\n%s", size, lines(t, got), lines(t, want))
		}
		for _, e := range want {
			if _, err := event.Marshal(event.Record{Event: e}); err != nil {
				t.Errorf("%+v: %v", e, err)
			}
		}
		brief := newParser()
		brief.Brief()
		if got := feed(brief, stream, 0); len(got) != len(want) {
			t.Errorf("brief it says %d, else %d", len(got), len(want))
		}
		asks := &talk{request: agent.Request{Spec: &agent.Spec{}}}
		for _, e := range want {
			asks.respond(e)
		}
	})
}
