package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/event"
)

// oddLines are lines on which a reader that goes through them once could
// differ from encoding/json.
func oddLines() []string {
	deep := func(n int) string {
		return `{"type":"tool_end","output":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	all := []string{
		`{"type":"text","text":"a","text":"b"}`, `{"type":"text","Text":"b"}`, `{"TYPE":"text","text":"b"}`,
		`{"type":"text","te\u0078t":"b"}`, `{"type":"te\u0078t","text":"b"}`, `{"type":"text","te\u017Ft":"ſ"}`,
		`{"type":"text","text":null}`, `{"type":"text","text":1}`, `{"type":null}`, `{"type":1}`, `{}`, ` { } `,
		`{"type":"text","text":"\ud83d\ude00 \ud83d \ude00 \ud83dx \ud83d\u0041 \u00e9\/\b\f\n\r\t\"\\"}`,
		`{"type":"text","text":"\ud83d\ud83d\ude00\ud83d"}`, `{"type":"text","text":"\u12"}`, `{"type":"text","text":"\u12g4"}`,
		`{"type":"text","text":"\x"}`, `{"type":"text","text":"a` + "\x01" + `b"}`, `{"type":"text","text":"a` + "\t" + `b"}`,
		`{"type":"text","text":"a` + "\x7f\u0080" + `b"}`, `{"type":"text","text":"0123456\"}`, `{"type":"text","text":"0123456\\"}`,
		`{"type":"tool_start","id":"1","name":"n","input":null}`, `{"type":"tool_start","input": [ 1 , { "a" : [ ] } ] }`,
		`{"type":"tool_end","ok":"true"}`, `{"type":"tool_end","ok":null,"output":-0.0e+5}`, `{"type":"tool_end","ok":true,"output":01}`,
		`{"type":"tool_end","output":-}`, `{"type":"tool_end","output":1.}`, `{"type":"tool_end","output":1e}`, `{"type":"tool_end","output":.1}`,
		`{"type":"tool_end","output":tru}`, `{"type":"tool_end","output":truex}`, `{"type":"tool_end","output":{"a"}}`,
		`{"type":"tool_end","output":[1,]}`, `{"type":"tool_end","output":{,}}`, `{"type":"tool_end",}`, `{"type":"tool_end"}x`,
		`{"type":"turn","n":2}`, `{"type":"turn","n":-0}`, `{"type":"turn","n":2.0}`, `{"type":"turn","n":99999999999999999999}`,
		`{"type":"turn","n":null}`, `{"type":"text","text":"x","n":"x"}`, `{"type":"text","text":"x","message":7}`,
		`{"type":"usage","input":5,"output":6,"cache_read":7,"cache_write":8,"cost_usd":0.5}`, `{"type":"usage","input":1e2}`,
		`{"type":"usage","input":5,"requests_left":40}`, `{"type":"usage","input":5,"requests_left":-1}`,
		`{"type":"usage","input":-1}`, `{"type":"usage","cost_usd":-1}`, `{"type":"usage","cost_usd":1e999}`, `{"type":"usage","input":null}`,
		`{"type":"usage","input":"5"}`, `{"type":"usage","cost_usd":"5"}`, `{"type":"other","x":{"type":"text"}}`, `{"type":"\"quoted"}`,
		`{"type":"text","text":"` + "\xff" + `"}`, `{"type":"text","` + "\xff" + `":1}`, `{"type":"result","text":"r","structured":{"a":1}}`,
		`{"type":"session","protocol":"1"}`, `{"a":1}` + "\u00a0", "\u00a0{}", `{"":1}`, `{"type":"text""text":"a"}`, `{"type" "text"}`, `{"type`, `{"a":"`,
		deep(deepest - 1), deep(deepest), deep(deepest + 1), deep(10001), `{"type":"tool_end","output":[}`, `{"type":"tool_end","output":{]}`,
		`{"` + "\u212a" + `ind":"x"}`, `{"type":"text","text":"` + strings.Repeat("é\\n", 40) + `"}`,
	}
	for n := range 20 { // each place in the eight bytes that are looked at together
		for _, c := range []string{`\n`, "\x1f", "\x00", "!", "#", "[", "]", "\u007f", "\u00a2", "\u00dc", "é"} {
			all = append(all, fmt.Sprintf(`{"type":"text","text":"%s%s"}`, strings.Repeat("x", n), c))
		}
	}
	return all
}

// TestQuick compares the reader that goes through a line once with
// encoding/json.
func TestQuick(t *testing.T) {
	t.Parallel()
	for _, line := range oddLines() {
		same(t, []byte(line))
	}
	for _, line := range []string{
		`{"type":"text","text":"a\n"}`, `{"type":"tool_start","id":"1","name":"n","input":{"a":[1]}}`,
		`{"type":"tool_end","id":"1","ok":true,"output":"x"}`, `{"type":"turn","n":1}`,
		`{"type":"usage","input":1,"output":2,"cost_usd":0.25}`, `{"type":"new","x":null}`,
	} {
		if quick([]byte(line), true) == nil {
			t.Errorf("%s is not read quickly", line)
		}
	}
}

// same fails where a line is read in two ways.
func same(t *testing.T, line []byte) {
	t.Helper()
	if len(bytes.TrimSpace(line)) == 0 || bytes.TrimSpace(line)[0] != '{' {
		return
	}
	lent := bytes.Clone(line)
	got, brief := quick(lent, true), quick(lent, false)
	clear(lent)
	if (got == nil) != (brief == nil) {
		t.Errorf("%.200q is %#v, and in brief %#v", line, got, brief)
	}
	if got == nil {
		return
	}
	if want := slow(line); !reflect.DeepEqual(got, want) {
		t.Errorf("%.200q is read as %#v, want %#v", line, got, want)
	}
	if !json.Valid(line) {
		t.Errorf("%.200q is taken for JSON", line)
	}
	switch e := got.(type) {
	case *event.ToolStart:
		e.Input = nil
	case *event.ToolEnd:
		e.Output = nil
	case *event.Raw:
		e.Line = nil
	}
	if !reflect.DeepEqual(got, brief) {
		t.Errorf("%.200q is read in brief as %#v, want %#v", line, brief, got)
	}
}

func FuzzQuick(f *testing.F) {
	for _, line := range oddLines() {
		f.Add([]byte(line))
	}
	cases, _ := filepath.Glob("testdata/*/in.jsonl")
	for _, in := range cases {
		stream, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(stream) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) { same(t, line) })
}

// TestRelease gives lines back that are too long to be kept, and feeds them
// again.
func TestRelease(t *testing.T) {
	t.Parallel()
	long := `{"type":"text","text":"` + strings.Repeat("y", 100_000) + `"}` + "\n"
	stream := []byte(long + "short" + "\n" + long)
	p := &events{}
	found := p.Feed(stream[:70_000])
	if back := p.Release(70_000); back != 0 {
		t.Errorf("Release(70000) = %d of a line that is no longer", back)
	}
	if back := p.Release(1000); back != 70_000 || p.line != nil {
		t.Errorf("Release(1000) = %d, and %d bytes are kept", back, cap(p.line))
	}
	if back := p.Release(1000); back != 0 {
		t.Errorf("Release = %d of nothing", back)
	}
	found = append(append(found, p.Feed(stream)...), p.End()...)
	if len(found) != 3 || found[1].(*event.Text).Text != "short" || len(found[2].(*event.Text).Text) != 100_000 {
		t.Errorf("%d events came of three lines", len(found))
	}
	p.Feed(bytes.Repeat([]byte("z"), maxLine+1))
	if back := p.Release(1000); back != 0 || cap(p.line) > chunkKept {
		t.Errorf("of a line that is cut %d are given back, and %d kept", back, cap(p.line))
	}
}

// BenchmarkEvents reads the typical output of agents: long inputs and outputs
// of tools, and small events between them.
func BenchmarkEvents(b *testing.B) {
	var stream bytes.Buffer
	code := strings.Repeat("\tif err := f(1, \"x\"); err != nil {\n\t\treturn err\n\t}\n", 40)
	for i := range 100 {
		for _, e := range []any{
			map[string]any{"type": "turn", "n": i},
			map[string]any{"type": "text", "text": "I will look at that file now.\n"},
			map[string]any{"type": "tool_start", "id": "t", "name": "edit", "input": map[string]any{"old": code, "new": code}},
			map[string]any{"type": "tool_end", "id": "t", "ok": true, "output": code},
			map[string]any{"type": "usage", "input": 1000, "output": 120, "cost_usd": 0.001},
		} {
			line, err := json.Marshal(e)
			if err != nil {
				b.Fatal(err)
			}
			stream.Write(append(line, '\n'))
		}
	}
	b.SetBytes(int64(stream.Len()))
	b.ReportAllocs()
	for b.Loop() {
		p := &events{brief: true}
		for rest := stream.Bytes(); len(rest) > 0; {
			n := min(len(rest), 64<<10)
			p.Feed(rest[:n])
			rest = rest[n:]
		}
		p.End()
	}
}
