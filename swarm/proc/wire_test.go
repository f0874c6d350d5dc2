package proc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestSpecTravels(t *testing.T) {
	t.Parallel()
	spec := Spec{
		Argv: []string{"a", "\xff"}, Env: []string{"K=\x80\n"}, Dir: "/\xfe",
		Stdout: "/o", Stderr: "/e", Merge: true, Low: true,
		OutputLimit: 5, Grace: time.Minute, Sandbox: []byte(`{"x":1}`),
		Terminal: &Size{Rows: 7, Cols: 300}, Door: "/d\xff",
	}
	line, err := encodeSpec(&spec, 42)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Errorf("it is not one line: %q", line)
	}
	got, from, err := decodeSpec(line)
	tag := from.tag
	if err != nil || tag != 42 || from.outside != ownNamespace() || !reflect.DeepEqual(got, spec) {
		t.Errorf("decodeSpec = %+v, %d, %v, want %+v, 42", got, tag, err, spec)
	}
	spec.OutputLimit, spec.Grace, spec.Terminal, spec.Stdin = 0, 0, nil, "/in\xfd"
	if line, err = encodeSpec(&spec, 0); err != nil {
		t.Fatal(err)
	}
	got, _, err = decodeSpec(line)
	if got.Terminal != nil || got.Stdin != spec.Stdin {
		t.Errorf("without a terminal: %+v, want stdin %q", got, spec.Stdin)
	}
	if err != nil || got.OutputLimit != DefaultOutputLimit || got.Grace != DefaultGrace {
		t.Errorf("defaults are %d and %v, %v", got.OutputLimit, got.Grace, err)
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	for r := Lost; r <= Disk; r++ {
		text, _ := r.MarshalText()
		var got Reason
		if err := got.UnmarshalText(text); err != nil || got != r {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", text, got, err, r)
		}
	}
	if err := new(Reason).UnmarshalText([]byte("fine")); err == nil {
		t.Error("an unknown reason is accepted")
	}
	if got := Reason(99).String(); got != "reason(99)" {
		t.Errorf("String = %q", got)
	}
}

func TestAsksToStop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		string(encodeStop()): true, "": false, "{}\n": false, "stop\n": false,
	} {
		if got := asksToStop([]byte(line)); got != want {
			t.Errorf("asksToStop(%q) = %v, want %v", line, got, want)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"output":{"stdout":1,"stderr":2}}`))
	f.Add([]byte(`{"exit":{"reason":"exited","code":1}}`))
	f.Add([]byte(`{"exit":{},"output":{}}`))
	f.Add([]byte("panic: oops\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := parseReport(line)
		if ok != ((r.Output == nil) != (r.Exit == nil)) {
			t.Fatalf("parseReport(%q) = %+v, %v", line, r, ok)
		}
		if !ok {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseReport(again); !ok || !reflect.DeepEqual(got, r) {
			t.Fatalf("parseReport(%q) = %+v, want %+v", again, got, r)
		}
	})
}

func FuzzDecodeSpec(f *testing.F) {
	f.Add([]byte(`{"argv":["YQ=="],"dir":"Lw==","stdout":"YQ==","stderr":"YQ=="}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if spec, _, err := decodeSpec(line); err == nil && spec.check() != nil {
			t.Fatalf("decodeSpec(%q) accepts %+v", line, spec)
		}
	})
}
