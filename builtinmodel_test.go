package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/swarm/modeltest"
)

// modelCommand is `model FILE [LOG]`: a provider that speaks Chat Completions
// answers by a script until the end of the test. $MODEL is its address. Line n
// of FILE, counted from 0, answers a conversation with n results of tools. It
// is an object: "text", "name" and "arguments" of a call, or "status". A
// conversation with more results gets the last line. LOG gets a line for each
// request.
func modelCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: model FILE [LOG]")
	}
	log := io.Discard
	if len(args) == 2 {
		file, err := os.Create(ts.MkAbs(args[1]))
		ts.Check(err)
		ts.Defer(func() { ts.Check(file.Close()) })
		log = file
	}
	var turns []modelTurn
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var turn modelTurn
		ts.Check(json.Unmarshal([]byte(line), &turn))
		turns = append(turns, turn)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role string }
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &asked) != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		if _, err := fmt.Fprintf(log, "%s\n", body); err != nil { // a single write: requests come at once
			http.Error(w, "no log", http.StatusInternalServerError)
			return
		}
		n := 0
		for _, m := range asked.Messages {
			if m.Role == "tool" {
				n++
			}
		}
		turns[min(n, len(turns)-1)].write(w)
	}))
	ts.Defer(server.Close)
	ts.Setenv("MODEL", server.URL+"/v1")
}

type modelTurn struct {
	Text, Name string
	Arguments  json.RawMessage
	Status     int
}

func (t modelTurn) write(w http.ResponseWriter) {
	if t.Status != 0 {
		http.Error(w, `{"error":{"message":"`+t.Text+`"}}`, t.Status)
		return
	}
	type obj = map[string]any
	delta, finish := obj{"content": t.Text}, "stop"
	if t.Name != "" {
		finish = "tool_calls"
		delta["tool_calls"] = []obj{{"index": 0, "id": "c1", "type": "function", "function": obj{"name": t.Name, "arguments": string(t.Arguments)}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []obj{
		{"model": "m", "choices": []obj{{"index": 0, "delta": delta}}},
		{"model": "m", "choices": []obj{{"index": 0, "delta": obj{}, "finish_reason": finish}}},
		{"model": "m", "choices": []obj{}, "usage": obj{"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}},
	} {
		text, err := json.Marshal(chunk)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// modelsCommand is `models KEY NAME…`: a provider has these models, for who has
// the key, until the test is over, and $MODELS is where, without a path. Each of
// them says "Done.".
func modelsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: models KEY NAME…")
	}
	server, err := modeltest.New(modeltest.Script{
		Key: args[0], Models: args[1:],
		Rules: []modeltest.Rule{{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}, Usage: &modeltest.Usage{Input: 1_000_000, Output: 500_000}}}},
	})
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("MODELS", server.URL())
}
