package builtin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/builtin/model"
)

// kept is a session as a file has it.
func kept(messages ...model.Message) string {
	text := `{"type":"session","version":1,"id":"x","model":"m","api":"chat","shared":"s","tools":[]}` + "\n"
	for i := range messages {
		line, err := json.Marshal(record{Type: "message", Message: &messages[i]})
		if err != nil {
			panic(err)
		}
		text += string(line) + "\n"
	}
	return text
}

func call(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, &model.Call{ID: id, Name: "ls", Input: json.RawMessage("{}")})
	}
	return m
}

func results(parts ...model.Part) model.Message {
	return model.Message{Role: model.User, Parts: parts}
}

func TestReadSession(t *testing.T) {
	t.Parallel()
	say := model.NewMessage(model.User, "go")
	ok := func(id string) model.Part { return &model.Result{ID: id, Text: "ok"} }
	lost := interrupted([]string{"a", "b"})
	tests := []struct {
		name string
		give string
		want []model.Message
		err  string
	}{
		{name: "whole", give: kept(say, call("a"), results(ok("a"))), want: []model.Message{say, call("a"), results(ok("a"))}},
		{name: "cut in the last line", give: kept(say) + `{"type":"message","mess`, want: []model.Message{say}},
		{name: "killed in a tool", give: kept(say, call("a", "b")), want: []model.Message{say, call("a", "b"), results(lost...)}},
		{name: "one result is missing", give: kept(say, call("a", "b"), results(ok("a"))), want: []model.Message{say, call("a", "b"), results(ok("a"), lost[1])}},
		{name: "all are missing, and more is said", give: kept(say, call("a", "b"), say), want: []model.Message{say, call("a", "b"), results(append(lost, say.Parts...)...)}},
		{name: "a result of nothing", give: kept(say, results(ok("z"))), want: []model.Message{say}},
		{name: "two replies", give: kept(call("a"), call("b"), results(ok("b"))), want: []model.Message{call("a"), results(lost[0]), call("b"), results(ok("b"))}},
		{name: "compacted", give: kept(say, say) + `{"type":"compacted","messages":[{"role":"user","parts":[{"type":"text","text":"go"}]}]}` + "\n", want: []model.Message{say}},
		{name: "empty", give: "", err: "holds no conversation"},
		{name: "no header", give: "{}\n", err: `line 1: is "" of version 0: want a session of version 1`},
		{name: "another version", give: `{"type":"session","version":2}` + "\n", err: "of version 2"},
		{name: "an unknown record", give: kept() + `{"type":"x"}` + "\n", err: `line 2: unknown record "x"`},
		{name: "no JSON", give: kept() + "x\n", err: "line 2: "},
	}
	for _, test := range tests {
		got, err := readSession(strings.NewReader(test.give))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %s", test.name, err, test.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got.messages, test.want) {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
}

// TestSessionsInOneFolder holds that nothing is overwritten, and that the
// latest counts.
func TestSessionsInOneFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	for _, id := range []string{"one", "two", "three"} {
		s, err := createSession(dir, &header{Type: "session", Version: sessionVersion, ID: id, API: model.Chat})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	if s, err := openSession(dir); err != nil || s.ID != "three" {
		t.Errorf("the latest is %+v, %v", s, err)
	}
}

func FuzzReadSession(f *testing.F) {
	f.Add(kept(model.NewMessage(model.User, "go"), call("a", "b"), results(&model.Result{ID: "b"})))
	f.Add(kept(call("a"), call("a")))
	f.Add("{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readSession(strings.NewReader(text))
		if err != nil {
			return
		}
		// Whatever was kept: each call is answered at once, and nothing else is.
		var open []string
		for _, m := range s.messages {
			for _, p := range m.Parts {
				if r, ok := p.(*model.Result); ok && m.Role == model.User {
					found := false
					for i, id := range open {
						if found = id == r.ID; found {
							open = append(open[:i], open[i+1:]...)
							break
						}
					}
					if !found {
						t.Fatalf("a result of nothing in %q", text)
					}
				}
			}
			if len(open) > 0 {
				t.Fatalf("calls %q are not answered in %q", open, text)
			}
			if m.Role == model.Assistant {
				for _, c := range m.Calls() {
					open = append(open, c.ID)
				}
			}
		}
		if len(open) > 0 {
			t.Fatalf("calls %q are not answered in %q", open, text)
		}
	})
}
