package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
)

// TestVersion holds the version that a client is told, and that a client of an
// older protocol is answered in a protocol that it may know.
func TestVersion(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-06-18": "2025-06-18", "1999-01-01": ""} {
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- Serve(t.Context(), newFake(), Client{In: far, Out: far, Version: "v1.2.3"}) }()
		_, err := fmt.Fprintf(near, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"old","version":"0"}}}`+"\n", asked)
		var answer struct {
			Result struct {
				ProtocolVersion string
				ServerInfo      struct{ Name, Version string }
			}
		}
		if err = errors.Join(err, json.NewDecoder(near).Decode(&answer)); err != nil {
			t.Fatal(err)
		}
		got := answer.Result
		if got.ServerInfo.Name != "swarm" || got.ServerInfo.Version != "v1.2.3" {
			t.Errorf("the server says that it is %+v", got.ServerInfo)
		}
		if got.ProtocolVersion == "" || got.ProtocolVersion == asked && want == "" || want != "" && got.ProtocolVersion != want {
			t.Errorf("a client of protocol %s is answered in %q", asked, got.ProtocolVersion)
		}
		if err := errors.Join(near.Close(), <-served); err != nil {
			t.Error(err)
		}
	}
}

// TestMissingRun: a call that names a run which does not exist leaves the latest
// run as it was.
func TestMissingRun(t *testing.T) {
	t.Parallel()
	s, end := session(t, newFake(), nil)
	defer end()
	call(t, s, nameDispatch, map[string]any{"code": "7"})
	if r := call(t, s, nameWait, map[string]any{"run": "none"}); !r.IsError || textIn(t, r) != "there is no run none" {
		t.Errorf("dispatch_wait of a missing run says %s", textIn(t, r))
	}
	for _, tool := range []string{nameWait, nameStatus} {
		if r := call(t, s, tool, nil); r.IsError || stateOf(t, r).Run != run001 {
			t.Errorf("after that %s says %s", tool, textIn(t, r))
		}
	}
}
