package activity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/claude"
	"agentswarm/swarm/agent/codex"
	"agentswarm/swarm/agent/copilot"
	"agentswarm/swarm/agent/opencode"
	"agentswarm/swarm/agent/pi"
	"agentswarm/swarm/agent/qwen"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// noise is a line without news of an agent's work, longer than the ends of a
// file that are read.
var noise = strings.Repeat(`{"type":"stream_event","event":{}}`+"\n", 3*maxEnd/30)

// TestRetryOfKinds holds that a retry inside the program of each kind is found with
// its reason and its time, at the end of a long file too, until the agent goes on.
func TestRetryOfKinds(t *testing.T) {
	t.Parallel()
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const thread = `{"id":1,"result":{"thread":{"id":"T"},"model":"m"}}` + "\n"
	for _, test := range []struct {
		kind            string
		adapter         agent.Adapter
		head, retry, on string // on is a line that shows that it goes on
		want            store.Again
	}{
		{
			"claude", claude.Adapter{}, "",
			`{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"error":"overloaded","retry_delay_ms":500}`,
			`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hi"}]}}`,
			store.Again{Kind: task.Overloaded, Reason: "overloaded, attempt 1", At: written.Add(500 * time.Millisecond)},
		},
		{
			"codex", codex.Adapter{}, thread,
			`{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"Reconnecting... 1/2","additionalDetails":"slow down, try again in 2s","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":429}}}}}`,
			`{"method":"item/completed","params":{"threadId":"T","item":{"type":"agentMessage","id":"m","text":"hi"}}}`,
			store.Again{Kind: task.RateLimit, Reason: "slow down, try again in 2s", At: written.Add(2 * time.Second)},
		},
		{
			"codex", codex.Adapter{}, thread,
			`{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"Reconnecting... 2/2","additionalDetails":"stream lost","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":503}}}}}`,
			`{"method":"item/completed","params":{"threadId":"T","item":{"type":"agentMessage","id":"m","text":"hi"}}}`,
			store.Again{Kind: task.Overloaded, Reason: "stream lost", At: written.Add(400 * time.Millisecond)},
		},
		{
			"copilot", copilot.Adapter{}, "",
			`{"type":"assistant.turn_retry","data":{"reason":"streaming_error"}}`,
			`{"type":"assistant.message","data":{"messageId":"m","content":"hi","turnId":"0"}}`,
			store.Again{Kind: task.Other, Reason: "streaming_error"},
		},
		{
			"copilot", copilot.Adapter{}, "",
			`{"type":"model.call_failure","data":{"statusCode":500,"retryAttempt":3,"errorMessage":"\"it broke\""}}`,
			`{"type":"assistant.message","data":{"messageId":"m","content":"hi","turnId":"0"}}`,
			store.Again{Kind: task.Overloaded, Reason: "it broke", At: written.Add(4 * time.Second)},
		},
		{
			"opencode", opencode.Adapter{}, "",
			`{"type":"retry","sessionID":"s","message":"Rate limit reached","delayMs":3000}`,
			`{"type":"text","sessionID":"s","part":{"text":"hi"}}`,
			store.Again{Kind: task.RateLimit, Reason: "Rate limit reached", At: written.Add(3 * time.Second)},
		},
		{
			"pi", pi.Adapter{}, "",
			`{"type":"auto_retry_start","attempt":1,"maxAttempts":2,"delayMs":2000,"errorMessage":"529 overloaded"}`,
			`{"type":"tool_execution_start","toolCallId":"c","toolName":"bash","args":{}}`,
			store.Again{Kind: task.Overloaded, Reason: "529 overloaded", At: written.Add(2 * time.Second)},
		},
		{
			"qwen", qwen.Adapter{}, "",
			`{"type":"system","subtype":"retry","data":{"reason":"slow down","attempt":1,"delayMs":60000}}`,
			`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1}}}`,
			store.Again{Kind: task.RateLimit, Reason: "slow down, attempt 1", At: written.Add(time.Minute)},
		},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			for name, head := range map[string]string{"short": test.head, "long": test.head + noise} {
				r := newRig(t, agent.FormatJSONL)
				r.reader.parse = func(*store.Agent) agent.Parser { return test.adapter.Parser(&agent.Spec{Name: test.kind}) }
				r.write(1, "stdout", head+test.retry+"\n")
				stdout := filepath.Join(r.run.Attempt("a1", 1), "stdout")
				if err := os.Chtimes(stdout, written, written); err != nil {
					t.Fatal(err)
				}
				got := r.reader.Retry(r.agent)
				if got == nil || got.Kind != test.want.Kind || got.Reason != test.want.Reason || !got.At.Equal(test.want.At) {
					t.Errorf("%s: status finds %+v, want %+v", name, got, test.want)
				}
				if seen := r.lookAll(); name == "short" && (seen.Again == nil || !seen.Again.At.Equal(test.want.At) || seen.Again.Reason != test.want.Reason) {
					t.Errorf("%s: the progress finds %+v, want %+v", name, seen.Again, test.want)
				}
				r.write(1, "stdout", test.on+"\n")
				if got := r.reader.Retry(r.agent); got != nil {
					t.Errorf("%s: status finds %+v although it goes on", name, got)
				}
				if seen := r.lookAll(); seen.Again != nil {
					t.Errorf("%s: the progress finds %+v although it goes on", name, seen.Again)
				}
			}
		})
	}
}

// lookAll looks until nothing new comes.
func (r *rig) lookAll() (now Now) {
	for range 10 {
		now = r.reader.Look(r.agent)
	}
	return now
}

// TestRetryOnlyOfLive holds that only an agent at work makes a retry, and that the
// output of its latest round counts.
func TestRetryOnlyOfLive(t *testing.T) {
	t.Parallel()
	const retry = `{"type":"retry","kind":"rate_limit","message":"m","retry_after_ms":1000}` + "\n"
	r := newRig(t, agent.FormatJSONL)
	if got := r.reader.Retry(r.agent); got != nil {
		t.Errorf("without output it finds %+v", got)
	}
	r.write(1, "stdout", retry)
	if got := r.reader.Retry(r.agent); got == nil {
		t.Error("it finds no retry")
	}
	r.agent.Status = &task.Running{State: task.Checking}
	if got := r.reader.Retry(r.agent); got != nil {
		t.Errorf("during a check it finds %+v", got)
	}
	r.agent.Status = &task.Running{State: task.Working}
	r.write(1, "stdout.2", `{"type":"text","text":"once more"}`+"\n")
	if got := r.reader.Retry(r.agent); got != nil {
		t.Errorf("in the next round it finds %+v", got)
	}
	r.agent.Attempt = 2
	if got := r.reader.Retry(r.agent); got != nil {
		t.Errorf("in the next attempt it finds %+v", got)
	}
	plain := newRig(t, agent.FormatText)
	plain.write(1, "stdout", retry)
	if got := plain.reader.Retry(plain.agent); got != nil {
		t.Errorf("in plain text it finds %+v", got)
	}
}
