package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// read feeds a stream in pieces of a size; 0 is all at once.
func read(p agent.Parser, stream []byte, size int) []event.Event {
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

func TestStreams(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/in.jsonl")
	if err != nil || len(cases) < 3 {
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
			got := lines(t, read(&events{}, stream, 0))
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
		})
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	stream := append(bytes.Repeat([]byte("x"), 3*maxLine), "\n"+`{"type":"result","text":"after"}`+"\n"...)
	for _, size := range []int{0, 64 << 10, maxLine} {
		got := read(&events{}, stream, size)
		if len(got) != 2 {
			t.Fatalf("in pieces of %d: %d events", size, len(got))
		}
		text, ok := got[0].(*event.Text)
		if !ok || len(text.Text) > 2048 || !strings.HasSuffix(text.Text, "(line too long)") {
			t.Errorf("the long line became %.60q…", text)
		}
		if answer, ok := got[1].(*event.Answered); !ok || answer.Text != "after" {
			t.Errorf("the next line became %+v", got[1])
		}
	}
}

func TestLongestLine(t *testing.T) {
	t.Parallel()
	frame := `{"type":"text","text":""}`
	stream := []byte(strings.Replace(frame, `""`, `"`+strings.Repeat("y", maxLine-len(frame))+`"`, 1) + "\n")
	got := read(&events{}, stream, 1000)
	if text, ok := got[0].(*event.Text); !ok || len(text.Text) != maxLine-len(frame) {
		t.Errorf("a line of %d bytes is not read whole", len(stream)-1)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", task.OutputLimit)
	for _, test := range []struct{ name, give, want string }{
		{"empty", "", ""},
		{"short", "one\ntwo\n", "one\ntwo\n"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"long", long + "x", long[len(long)-(task.OutputLimit-2):] + "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{0, 1, 7} {
				got := read(&text{}, []byte(test.give), size)
				answer, ok := got[0].(*event.Answered)
				if len(got) != 1 || !ok || answer.Text != test.want {
					t.Errorf("in pieces of %d: %.40v…, want %.40q…", size, answer, test.want)
				}
			}
		})
	}
}

// FuzzEvents feeds arbitrary output of an agent. The cuts must not matter, the
// kept part of a line is bounded, and every event can be written as JSON.
func FuzzEvents(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*/in.jsonl")
	for _, in := range cases {
		stream, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stream, 7)
	}
	f.Add([]byte("\r\n{\n\n\"\x00\xff"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		whole := read(&events{}, stream, 0)
		want := lines(t, whole)
		p := &events{}
		if got := lines(t, read(p, stream, 1+int(uint(size)%100))); !bytes.Equal(got, want) {
			t.Errorf("in pieces\n%s\nat once\n%s", got, want)
		}
		if cap(p.line) > chunkKept {
			t.Errorf("%d bytes are kept", cap(p.line))
		}
		if !utf8.Valid(want) {
			t.Errorf("not UTF-8: %q", want)
		}
		for line := range bytes.Lines(want) {
			if !json.Valid(line) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}
