package activity

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// rig is a run with a single live agent.
type rig struct {
	t      *testing.T
	run    *store.Run
	agent  *store.Agent
	reader *Reader
}

func newRig(t *testing.T, format agent.Format) *rig {
	t.Helper()
	r := &rig{
		t: t, run: &store.Run{ID: "k3x9q2", Dir: t.TempDir()},
		agent: &store.Agent{ID: "a1", Attempt: 1, Status: &task.Running{State: task.Working}},
	}
	r.reader = New(r.run, func(*store.Agent) agent.Parser {
		if format == agent.FormatText {
			return nil
		}
		return command.Adapter{}.Parser(&agent.Spec{Kind: agent.KindCommand, Format: format})
	})
	return r
}

func (r *rig) write(attempt int, name, text string) {
	r.t.Helper()
	dir := r.run.Attempt("a1", attempt)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) want(text string, output int64) {
	r.t.Helper()
	if got := r.reader.Look(r.agent); got.Text != text || got.Usage.Output != output {
		r.t.Errorf("it does %q with %d tokens, want %q with %d", got.Text, got.Usage.Output, text, output)
	}
}

func TestLookAtEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t, agent.FormatJSONL)
	r.want("", 0)
	r.write(1, "stdout", `{"type":"text","text":"I look around\nand then I edit\n"}`+"\n")
	r.want("and then I edit", 0)
	r.write(1, "stdout", `{"type":"tool_start","id":"1","name":"edit","input":{"path":"pkg/kv.go","old":"a"}}`+"\n"+
		`{"type":"usage","input":10,"output":7}`+"\n")
	r.want("edit pkg/kv.go", 7)
	r.write(1, "stdout", `{"type":"usage","output":5}`)
	r.want("edit pkg/kv.go", 7) // the line is not complete
	r.write(1, "stdout", "\n")
	r.want("edit pkg/kv.go", 12)
	r.write(1, "stdout.2", `{"type":"text","text":"once more"}`+"\n")
	r.want("edit pkg/kv.go", 12)
	r.want("once more", 12)

	r.agent.Status = &task.Running{State: task.Checking}
	r.write(1, "verify.out", "ok a\nok b\n\n")
	r.want("ok b", 12)
	r.write(1, "verify.2.out", "")
	r.write(1, "verify.2.err", "cannot find symbol\n")
	r.want("cannot find symbol", 12)

	r.agent.Attempt, r.agent.Status = 2, &task.Running{State: task.Working}
	r.want("", 0)
	r.agent.Status = &task.Completed{}
	r.want("", 0)
	if len(r.reader.of) != 0 {
		t.Error("an agent that has ended is kept")
	}
}

func TestLookAtText(t *testing.T) {
	t.Parallel()
	r := newRig(t, agent.FormatText)
	r.write(1, "stdout", "")
	r.write(1, "stderr", "warming up\n")
	r.want("warming up", 0)
	r.write(1, "stdout", "one\r\ntwo\xff\n \n")
	r.want("two\uFFFD", 0)
	r.write(1, "stdout", strings.Repeat("x", 3*maxLine))
	if got := r.reader.Look(r.agent).Text; len(got) > maxLine {
		t.Errorf("a line of %d bytes", len(got))
	}
}

// TestLookIsBounded checks that a look reads no more than its bound, and that
// later looks read the rest.
func TestLookIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, agent.FormatJSONL)
	line := `{"type":"usage","output":1}` + "\n"
	n := 2*maxLook/len(line) + 10
	r.write(1, "stdout", strings.Repeat(line, n))
	first := r.reader.Look(r.agent).Usage.Output
	r.reader.Look(r.agent)
	last := r.reader.Look(r.agent).Usage.Output
	if first*int64(len(line)) > maxLook || last != int64(n) {
		t.Errorf("the first look read %d of %d lines, the third %d", first, n, last)
	}
}

func TestToolText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, input, want string }{
		{"Edit", `{"file_path":"a/b.go","old_string":"x"}`, "Edit a/b.go"},
		{"bash", `{"command":"go test\n  ./...","description":"tests"}`, "bash go test ./..."},
		{"shell", `{"command":["sh","-c","ls"]}`, "shell sh -c ls"},
		{"x", `"plain"`, "x plain"},
		{"x", `{"n":1}`, "x"},
		{"x", `[1]`, "x"},
		{"x", ``, "x"},
		{"web\nfetch", `{"url":"u"}`, "web fetch u"},
	} {
		if got := toolText(tt.name, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("toolText(%s, %s) = %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

func FuzzToolText(f *testing.F) {
	f.Add("Edit", `{"file_path":"a"}`)
	f.Add("sh", `{"command":["a"]}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		if got := toolText(name, json.RawMessage(input)); strings.ContainsAny(got, "\n\r") {
			t.Errorf("toolText(%q, %q) = %q", name, input, got)
		}
	})
}
