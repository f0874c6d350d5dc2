package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesAreRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name, give string
		want       []string
		end        error
	}{
		{"none", "", nil, io.EOF},
		{"some", "a\n\nb\n", []string{"a", "", "b"}, io.EOF},
		{"not finished", "a\nb", []string{"a"}, io.EOF},
		{"long", long + "\nb\n", []string{long, "b"}, io.EOF},
		{"too long", "a\n" + long + long + "\nb\n", []string{"a"}, errWireLine},
		{"too long without end", long + long, nil, errWireLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newLineReader(iotest.HalfReader(strings.NewReader(tt.give)))
			r.most = 300_000
			for _, want := range tt.want {
				if got, err := r.line(); err != nil || string(got) != want {
					t.Fatalf("line() = %.20q, %v, want %.20q", got, err, want)
				}
			}
			if got, err := r.line(); !errors.Is(err, tt.end) {
				t.Errorf("line() = %.20q, %v, want %v", got, err, tt.end)
			}
		})
	}
}

func TestLinesAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newLineWriter(&out)
	w.most = 100
	if err := w.write(asked{Outcome: &Outcome{Value: json.RawMessage(`"<a href='&'>"`)}}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"outcome":{"value":"<a href='&'>"}}`+"\n"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
	if err := w.write(asked{Do: strings.Repeat("x", 100)}); !errors.Is(err, errWireLine) {
		t.Errorf("write of a long line = %v", err)
	}
	if err := w.write(replied{Value: json.RawMessage(`{`)}); err == nil {
		t.Error("write of what is no JSON = nil, want an error")
	}
}

// pipe is a connection to a process that plays recorded output.
type pipe struct {
	io.Reader
	said bytes.Buffer
}

func (p *pipe) Write(b []byte) (int, error) { return p.said.Write(b) }
func (p *pipe) Close() error                { return nil }

func TestAProcessThatMakesNoSense(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		code       Code   // of an *Error, or
		want       string // in another
	}{
		{"nothing", "", CodeRunaway, "without a word"},
		{"half a line", `{"outcome":{`, CodeRunaway, "without a word"},
		{"no JSON", "panic: x\n", "", "makes no sense"},
		{"other JSON", `{"outcome":1}` + "\n", "", "makes no sense"},
		{"an empty object", "{}\n", "", "no meaning"},
		{"an unknown verb", `{"do":"walk","body":{}}` + "\n", "", `unknown request "walk"`},
		{"a bad body", `{"do":"call","body":{"prompt":1}}` + "\n", "", "read a call"},
		{"an unknown posted verb", `{"post":"walk","n":1}` + "\n", "", `unknown request "walk"`},
		{"its last word", `{"died":{"name":"Error","code":"runaway","message":"memory"}}` + "\n", CodeRunaway, "memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := RunRemote(t.Context(), &pipe{Reader: strings.NewReader(tt.give)}, Start{}, &desk{})
			var e *Error
			if out.Error != nil {
				err = out.Error
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &e) != (tt.code != "") || e != nil && e.Code != tt.code {
				t.Errorf("RunRemote of %q = %v, want %s %q", tt.give, err, tt.code, tt.want)
			}
		})
	}
	// After its context has ended, other errors do not matter.
	errEnough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	for _, tt := range tests {
		if out, err := RunRemote(ctx, &pipe{Reader: strings.NewReader(tt.give)}, Start{}, &desk{}); !errors.Is(err, errEnough) || out.Error != nil {
			t.Errorf("RunRemote of %q in an ended context = %v, %v, want its cause", tt.give, out.Error, err)
		}
	}
	if _, err := LoadRemote(t.Context(), &pipe{Reader: strings.NewReader(`{"loaded":[]}` + "\n")}, []Source{{}}, nil); err == nil {
		t.Error("LoadRemote of a process that forgot a source = nil, want an error")
	}
}

// FuzzWire lets a process say anything.
func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"do":"call","body":{"prompt":"x"}}` + "\n" + `{"next":true}` + "\n" + `{"outcome":{"value":1}}` + "\n"))
	f.Add([]byte(`{"post":"timer","n":1,"body":{"ms":5}}` + "\n" + `{"next":true}` + "\n" + `{"died":{"message":"x"}}` + "\n"))
	f.Add([]byte(`{"post":"log","n":-1,"body":null}` + "\n{}\n"))
	f.Add([]byte(`{"loaded":[{"name":"a","meta":{}}],"error":{}}` + "\n" + `{"n":1,"value":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		out, err := RunRemote(t.Context(), &pipe{Reader: bytes.NewReader(said)}, Start{}, &desk{})
		if err != nil && (out.Value != nil || out.Error != nil) {
			t.Errorf("RunRemote of %q gives an outcome and the error %v", said, err)
		}
		got, err := LoadRemote(t.Context(), &pipe{Reader: bytes.NewReader(said)}, []Source{{Name: "a"}}, nil)
		if err == nil && len(got) != 1 {
			t.Errorf("LoadRemote of %q gives %d answers", said, len(got))
		}
		// The process gets any line, except one that makes it run a script.
		if bytes.Contains(said, []byte("run")) || bytes.Contains(said, []byte("load")) {
			return
		}
		c := &served{lines: make(chan []byte, 1), gone: make(chan struct{}), out: newLineWriter(io.Discard)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			defer close(c.gone)
			_ = c.listen(ctx, bytes.NewReader(said)) // the test waits for its end
		}()
		_ = c.hooks()
	})
}
