package task

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func yes() *bool { v := true; return &v }

func work() Work {
	return Work{
		Attempts: 2, Output: "o", OutputFile: "f", Notes: []string{"n"},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Patch:   &Patch{Ref: "r", Commit: "c", Base: "b", File: "p", Files: 1, Added: 2, Deleted: 3},
		Usage:   Usage{Input: 1, Output: 2, CostUSD: 0.5},
		Ignored: []Ignored{{Path: "x", Bytes: 4}}, IgnoredMore: 1, Check: "k",
	}
}

func TestStatusRoundTrip(t *testing.T) {
	t.Parallel()
	for _, give := range []Status{
		&Running{State: Waiting, Attempt: 3, Since: time.Unix(9, 0).UTC()},
		&Completed{Work: work(), Answer: "a", Verified: yes()},
		&Completed{Work: Work{Attempts: 1}},
		&Completed{Structured: json.RawMessage(`{"a":1}`), Whole: &Whole{File: "f", Sum: "s"}},
		&Failed{Work: work(), Kind: Lost, Reason: "r"},
		&Cancelled{Work: work(), Cause: CauseStopped, Reason: "r"},
	} {
		text, err := MarshalStatus(give)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalStatus(text)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, give) {
			t.Errorf("round trip of %s = %#v, want %#v", text, got, give)
		}
	}
}

func TestUnmarshalRefusesUnknownTags(t *testing.T) {
	t.Parallel()
	if _, err := UnmarshalStatus([]byte(`{"status":"asleep"}`)); err == nil {
		t.Error("an unknown status was accepted")
	}
	if _, err := UnmarshalResult([]byte(`{"status":"running"}`)); err == nil {
		t.Error("a running agent was taken for a result")
	}
	if _, err := UnmarshalStatus([]byte(`{"status":"failed","kind":"bored"}`)); err == nil {
		t.Error("an unknown error kind was accepted")
	}
	var c Call
	if err := json.Unmarshal([]byte(`{"input":{"is":"guess"}}`), &c); err == nil {
		t.Error("an unknown input was accepted")
	}
}

func TestCallRoundTrip(t *testing.T) {
	t.Parallel()
	for _, in := range []AgentInput{
		&TypedAgentInput{Type: "t", Role: "r", Prompt: "p"},
		&ForkAgentInput{Parent: "a1", Prompt: "p"},
	} {
		give := &Call{
			Key: "k", Occurrence: 1, Input: in, Agent: "g", Command: []string{"x"},
			Label: "l", Title: "t", Item: "i\xff", Name: "n", Index: 2, Count: 3, Group: "q",
			Phase: "h", Base: "b", BaseTree: "t", Paths: []string{"p/**"},
			DependsOn: []string{"d"}, After: []string{"e"}, Timeout: time.Minute,
			Script: true, Identity: "i", Uncached: true, Schema: json.RawMessage(`{}`),
			Shared: true, Limits: Limits{Turns: 1, Tokens: 2, USD: 3, Idle: 4},
			StopWhen: "s", OnTool: "o", Allow: []string{"push to x"}, Retries: new(int),
			Options: Options{Model: "m", Effort: "e", Tools: []string{"read"}, ReadOnly: true},
		}
		text, err := json.Marshal(give)
		if err != nil {
			t.Fatal(err)
		}
		got := new(Call)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, give) {
			t.Errorf("round trip of %s = %+v, want %+v", text, got, give)
		}
	}
}

func TestSumTellsCallsApart(t *testing.T) {
	t.Parallel()
	base := Call{Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Label: "one"}
	same := Call{Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Label: "two", Title: "other", Index: 4}
	if base.Sum() != same.Sum() {
		t.Error("a label or a position changed the key")
	}
	script := Call{Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Script: true}
	for name, other := range map[string]Call{
		"script":   script,
		"schema":   {Script: true, Schema: json.RawMessage(`{}`)},
		"shared":   {Script: true, Shared: true},
		"limits":   {Script: true, Limits: Limits{Turns: 1}},
		"timeout":  {Script: true, Timeout: 1},
		"stop":     {Script: true, StopWhen: "s"},
		"tool":     {Script: true, OnTool: "s"},
		"allow":    {Script: true, Allow: []string{"push to x"}},
		"grant":    {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Allow: []string{"push to x"}},
		"paths":    {Script: true, Paths: []string{"p"}},
		"identity": {Script: true, Identity: "i"},
		"prompt":   {Input: &TypedAgentInput{Prompt: "q"}, BaseTree: "t"},
		"role":     {Input: &TypedAgentInput{Prompt: "p", Role: "slow"}, BaseTree: "t"},
		"fork":     {Input: &ForkAgentInput{Prompt: "p"}, BaseTree: "t"},
		"tree":     {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "u"},
		"agent":    {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Agent: "x"},
		"command":  {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Command: []string{"x"}},
		"item":     {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Item: "x"},
		"need":     {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", DependsOn: []string{"x"}},
		"model":    {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Options: Options{Model: "x"}},
		"effort":   {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Options: Options{Effort: "x"}},
		"tools":    {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Options: Options{Tools: []string{"read"}}},
		"reader":   {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", Options: Options{ReadOnly: true}},
		"order":    {Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t", After: []string{"x"}},
	} {
		if other.Script && name != "script" {
			other.Input, other.BaseTree = script.Input, script.BaseTree
			if other.Sum() == script.Sum() {
				t.Errorf("another %s has the same key in a script", name)
			}
		}
		if other.Sum() == base.Sum() {
			t.Errorf("another %s has the same key", name)
		}
	}
}

// TestSumWithoutOptions: a call that asks for nothing has the key it had
// before there were options.
func TestSumWithoutOptions(t *testing.T) {
	t.Parallel()
	c := Call{Input: &TypedAgentInput{Prompt: "p"}, BaseTree: "t"}
	if got, want := c.Sum(), "56ba6ca9c3a3dd1294ea8a33a09f46da"; got != want {
		t.Errorf("Sum = %s, want %s", got, want)
	}
}

func TestOptionsOver(t *testing.T) {
	t.Parallel()
	under := Options{Model: "a", Effort: "b", Tools: []string{"read"}, ReadOnly: true}
	for _, tt := range []struct{ give, want Options }{
		{Options{}, under},
		{Options{Model: "x"}, Options{Model: "x", Effort: "b", Tools: []string{"read"}, ReadOnly: true}},
		{Options{Effort: "x", Tools: []string{"ls"}}, Options{Model: "a", Effort: "x", Tools: []string{"ls"}, ReadOnly: true}},
	} {
		if got := tt.give.Over(under); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v over %+v = %+v, want %+v", tt.give, under, got, tt.want)
		}
	}
	if (Options{}).Any() || !(Options{ReadOnly: true}).Any() || !(Options{Tools: []string{"ls"}}).Any() {
		t.Error("Any is wrong")
	}
}

func TestIDNumber(t *testing.T) {
	t.Parallel()
	for give, want := range map[ID]int{
		"a1": 1, "a42": 42, "a0": 0, "a01": 0, "b1": 0, "a": 0, "a+1": 0, "a-1": 0, "": 0,
	} {
		if got := give.Number(); got != want {
			t.Errorf("%q.Number() = %d, want %d", give, got, want)
		}
	}
	if AgentID(7) != "a7" {
		t.Errorf("AgentID(7) = %s", AgentID(7))
	}
}

func TestIdentityStandsInForThePrompt(t *testing.T) {
	t.Parallel()
	one := Call{Script: true, Identity: "i", Input: &TypedAgentInput{Prompt: "p"}}
	two := Call{Script: true, Identity: "i", Input: &TypedAgentInput{Prompt: "q"}}
	if one.Sum() != two.Sum() {
		t.Error("two prompts of one identity have two keys")
	}
}

// TestFell: an agent's own failures are told from those done to it.
func TestFell(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		give       Result
		fell, sent bool // it fell; to send it back says that it did
	}{
		{&Completed{}, false, true},
		{&Completed{Verified: &yes}, false, true},
		{&Completed{Verified: &no}, true, false},
		{&Cancelled{Cause: CauseCancelled}, false, false},
		{&Failed{Kind: Other}, true, false},
		{&Failed{Kind: SchemaMismatch}, true, false},
		{&Failed{Kind: Quota}, false, false},
		{&Failed{Kind: RateLimit}, false, false},
		{&Failed{Kind: Lost}, false, false},
		{&Failed{Kind: StartFailed}, false, false},
	} {
		if Fell(tt.give) != tt.fell || SentBack(tt.give) != tt.sent {
			t.Errorf("%+v: Fell = %t, SentBack = %t, want %t, %t", tt.give, Fell(tt.give), SentBack(tt.give), tt.fell, tt.sent)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind         ErrorKind
		reason, want string
	}{
		{Other, "exit status 1", "exit status 1"},
		{Timeout, "after 1s", "timeout: after 1s"},
		{CauseStopped, "stopped by Ctrl-C", "stopped by Ctrl-C"},
		{CauseStopped, "the run was paused", "stopped: the run was paused"},
		{Killed, "", "killed"},
		{Other, "", "other"},
	} {
		if got := tt.kind.Explain(tt.reason); got != tt.want {
			t.Errorf("%s.Explain(%q) = %q, want %q", tt.kind, tt.reason, got, tt.want)
		}
	}
}
