package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// TestBadLines: a line that is no message is answered, a batch too, and the session
// goes on.
func TestBadLines(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), newFake(), Client{In: far, Out: far, Version: "v1"}) }()
	in := bufio.NewScanner(near)
	send := func(line string) {
		t.Helper()
		if _, err := io.WriteString(near, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		ID    *int
		Error *struct{ Code int }
	}
	receive := func() (a answer) {
		t.Helper()
		if !in.Scan() {
			t.Fatalf("the session has ended: %v", in.Err())
		}
		if err := json.Unmarshal(in.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	receive()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i, tt := range []struct {
		line string
		code int
	}{
		{"not json", -32700}, {"Content-Length: 20\r", -32700}, {`{"jsonrpc":`, -32700}, {"[]", -32600}, {"42", -32600},
		{`{"id":7,"method":"ping"}`, -32600}, {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600}, {"", 0}, {"\r", 0},
	} {
		send(tt.line)
		if tt.code != 0 {
			if a := receive(); a.ID != nil || a.Error == nil || a.Error.Code != tt.code {
				t.Errorf("%q is answered %+v, want the error %d", tt.line, a, tt.code)
			}
		}
		send(fmt.Sprintf("\ufeff"+`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 10+i))
		if a := receive(); a.ID == nil || *a.ID != 10+i || a.Error != nil {
			t.Errorf("ping after %q is answered %+v", tt.line, a)
		}
	}
	send(`[{"jsonrpc":"2.0","id":90,"method":"ping"},{"jsonrpc":"2.0","id":91,"method":"ping"}]`)
	sum := 0 // the order of the answers is open
	for range 2 {
		if a := receive(); a.ID == nil || a.Error != nil {
			t.Errorf("a batch is answered %+v", a)
		} else {
			sum += *a.ID
		}
	}
	if sum != 90+91 {
		t.Errorf("the answers to a batch have the sum of ids %d, want %d", sum, 90+91)
	}
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// TestLongLine: a line above the limit of the SDK is handed on as it comes.
func TestLongLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 17<<20)
	l, _ := newLines(Client{In: io.NopCloser(strings.NewReader(text + "\nrest")), Out: nil})
	got, err := io.ReadAll(l)
	if err != nil || string(got) != text+"\nrest" {
		t.Errorf("%d bytes of %d were read: %v", len(got), len(text)+5, err)
	}
}
