package model

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readEvents returns all events of a stream as "name=data", and the error that
// ended it; io.EOF is nil.
func readEvents(r io.Reader, limit int) (all []string, err error) {
	events := newEventReader(r)
	if limit > 0 {
		events.limit = limit
	}
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e.name+"="+string(e.data))
	}
}

// TestEvents holds the rules of WHATWG HTML 9.2, and the two exceptions.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, give string
		want       []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"=a"}},
		{"a name", "event: message_stop\ndata: {}\n\n", []string{"message_stop={}"}},
		{"a name holds for one event", "event: x\ndata: a\n\ndata: b\n\n", []string{"x=a", "=b"}},
		{"a name without data is dropped", "event: x\n\ndata: b\n\n", []string{"=b"}},
		{"lines are joined", "data: a\ndata: b\n\n", []string{"=a\nb"}},
		{"an empty line of data", "data\n\n", []string{"="}},
		{"two empty lines of data", "data\ndata\n\n", []string{"=\n"}},
		{"only one space is taken off", "data:  a\n\n", []string{"= a"}},
		{"no space", "data:a\n\n", []string{"=a"}},
		{"a comment", ": OPENROUTER PROCESSING\n\ndata: a\n\n", []string{"=a"}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"=a", "=b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"=a", "=b"}},
		{"a byte order mark", "\uFEFFdata: a\n\n", []string{"=a"}},
		{"other fields", "id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []string{"=a"}},
		{"the stream ends in an event", "data: a\n\ndata: b", []string{"=a", "=b"}},
		{"the stream ends in a name", "data: a\n\nevent: x\n", []string{"=a"}},
		{"a colon in the data", "data: {\"a\": 1}\n\n", []string{`={"a": 1}`}},
	} {
		for kind, reader := range map[string]io.Reader{
			"at once":      strings.NewReader(tt.give),
			"byte by byte": iotest.OneByteReader(strings.NewReader(tt.give)),
		} {
			got, err := readEvents(reader, 0)
			if err != nil || strings.Join(got, "|") != strings.Join(tt.want, "|") || len(got) != len(tt.want) {
				t.Errorf("%s, %s: %q, %v; want %q", tt.name, kind, got, err, tt.want)
			}
		}
	}
}

// TestLongEvents: neither a line nor an event grows beyond the limit.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]string{
		"a line":       "data: " + strings.Repeat("x", 100),
		"many lines":   strings.Repeat("data: xxxxxxxx\n", 20) + "\n",
		"a comment":    ":" + strings.Repeat("x", 100),
		"a field name": strings.Repeat("x", 100),
	} {
		if got, err := readEvents(strings.NewReader(give), 64); !errors.Is(err, errLongEvent) || len(got) != 0 {
			t.Errorf("%s: %q, %v, want errLongEvent", name, got, err)
		}
	}
}

// TestBrokenStream: an event that had begun is lost with the connection.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken))
	if got, err := readEvents(r, 0); !errors.Is(err, broken) || len(got) != 1 || got[0] != "=a" {
		t.Errorf("%q, %v, want one event and the error", got, err)
	}
}

// FuzzEvents checks that a stream reads the same in a single piece and byte by
// byte. Each of the replies must take its events without a panic.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "event: x\r\ndata: {\"type\":\"message_start\"}\r\n\r\n", "data\rdata\r\r", "\uFEFF:c\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":{}}}]}}]}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
		"data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}\n\ndata: {\"type\":\"response.completed\"}\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1 << 10
		whole, err := readEvents(bytes.NewReader(stream), limit)
		pieces, err2 := readEvents(iotest.OneByteReader(bytes.NewReader(stream)), limit)
		if (err == nil) != (err2 == nil) || strings.Join(whole, "|") != strings.Join(pieces, "|") {
			t.Errorf("in one piece %q, %v; byte by byte %q, %v", whole, err, pieces, err2)
		}
		say := func(string) {}
		for _, reply := range []accumulator{newChatReply("m", say), newResponsesReply(say), &anthropicReply{say: say}} {
			_, _ = accumulate(bytes.NewReader(stream), reply)
		}
	})
}
