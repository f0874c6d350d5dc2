package control

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"agentswarm/swarm/task"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	g := &target{}
	_, r, runtime := listening(t, g)
	s, err := dialed(t, r, runtime).Attach(t.Context(), &Attach{Agent: "a7"})
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("x"), 2*maxFrame+1)
	for _, f := range []Frame{
		&Input{Bytes: []byte("hello")}, &Resize{Rows: 24, Cols: 80}, &Input{Bytes: long}, &Input{},
	} {
		if err := s.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	var shown bytes.Buffer
	var rest []Frame
	for {
		f, err := s.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := f.(*Output); ok {
			shown.Write(o.Bytes)
			continue
		}
		rest = append(rest, f)
	}
	if want := "HELLO" + strings.ToUpper(string(long)); shown.String() != want {
		t.Errorf("%d bytes came back, want %d", shown.Len(), len(want))
	}
	if want := []Frame{&Notice{Text: "a7 24x80"}, &End{Text: "over"}}; !reflect.DeepEqual(rest, want) {
		t.Errorf("frames = %v", rest)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLeave checks that a client which leaves, and reads to the end, counts as
// gone for the run.
func TestLeave(t *testing.T) {
	t.Parallel()
	var free atomic.Bool
	left := make(chan struct{})
	g := &target{left: func() {
		<-left // it comes to it only then
		free.Store(true)
	}}
	_, r, runtime := listening(t, g)
	s, err := dialed(t, r, runtime).Attach(t.Context(), &Attach{Agent: "a7"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Leave(); err != nil {
		t.Error(err)
	}
	close(left)
	if f, err := s.Read(); !errors.Is(err, io.EOF) || !free.Load() {
		t.Errorf("Read = %v, %v before the run knows", f, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAttachIsRefused(t *testing.T) {
	t.Parallel()
	g := &target{err: errors.New("a7 has no terminal")}
	_, r, runtime := listening(t, g)
	_, err := dialed(t, r, runtime).Attach(t.Context(), &Attach{Agent: "a7"})
	if a, ok := errors.AsType[*AnswerError](err); !ok || a.Kind != task.Other || a.Message != "a7 has no terminal" {
		t.Errorf("Attach = %v", err)
	}
}

// TestCloseEndsAStream checks that a silent attached client does not hold up
// the end of a run.
func TestCloseEndsAStream(t *testing.T) {
	t.Parallel()
	srv, r, runtime := listening(t, &target{})
	s, err := dialed(t, r, runtime).Attach(t.Context(), &Attach{Agent: "a7"})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if f, err := s.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("Read = %v, %v", f, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzFrames reads the bytes of a peer: no panic, nothing over the limit, and a
// frame that was read is written unchanged.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("i\x00\x00\x00\x02hi"))
	f.Add([]byte("r\x00\x00\x00\x16{\"rows\":24,\"cols\":80} "))
	f.Add([]byte("o\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		in := bytes.NewReader(text)
		for {
			frame, err := readFrame(in)
			if err != nil {
				return
			}
			body, err := encodeFrame(frame)
			if err != nil || len(body) > maxFrame {
				t.Fatalf("encode %T: %d bytes, %v", frame, len(body), err)
			}
		}
	})
}
