package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP speaks with `swarm mcp` by the client of the SDK, as another harness
// does, and looks at the bytes that enter the context of its model.
func TestMCP(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.write("home/.config/swarm/config.toml", "run.default_agent = \"worker\"\n[agents.worker]\ncommand = [\"fakeagent\", \"obey\"]\n")
	told := make(chan string, 64)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case told <- r.Params.Message:
			default: // enough is known
			}
		},
	})
	// It ends by itself, however long that takes: it is not to be killed.
	transport := &mcp.CommandTransport{Command: y.command(nil, "mcp"), TerminateDuration: never}
	session, err := client.Connect(t.Context(), transport, nil)
	y.must(err)
	call := func(tool string, args map[string]any) (string, bool) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		y.must(err)
		all, err := json.Marshal(r.Content)
		y.must(err)
		if len(r.Content) != 1 || r.StructuredContent != nil {
			t.Fatalf("%s answers with more than one text: %s, %v", tool, all, r.StructuredContent)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	// The agents say a secret word, which only the script hears.
	script := `const said = await parallel(args.words.map(w => () => agent('! print:SECRET ' + w)))
log('SECRET log')
return said.map(s => s.trim().length)`
	text, failed := call("dispatch", map[string]any{"code": script, "args": map[string]any{"words": []string{"one", "three"}}})
	if want := "[10,12]"; text != want || failed {
		t.Errorf("dispatch answers %q (error %v), want the bytes %q", text, failed, want)
	}
	params := &mcp.CallToolParams{Name: "dispatch", Arguments: map[string]any{"code": "await agent('! print:SECRET'); return 1"}}
	params.SetProgressToken("token")
	_, err = session.CallTool(t.Context(), params)
	y.must(err)
	if message := <-told; !strings.HasSuffix(message, "agents have ended") || strings.Contains(message, "SECRET") {
		t.Errorf("progress says %q", message)
	}
	text, failed = call("dispatch", map[string]any{"code": "return 'as it is'"})
	if text != "as it is" || failed {
		t.Errorf("a text comes back as %q (error %v)", text, failed)
	}
	text, failed = call("dispatch", map[string]any{"code": "await agent('! print:SECRET')\nthrow new Error('no good')"})
	if !failed || !strings.HasSuffix(text, ": (code):2:7: no good") || strings.Contains(text, "SECRET") {
		t.Errorf("a script that throws answers %q (error %v)", text, failed)
	}
	text, failed = call("dispatch", map[string]any{"code": "return await agent('! exit:3') ?? 'none'"})
	if text != "none" || failed {
		t.Errorf("a script whose agents all failed answers %q (error %v)", text, failed)
	}
	text, failed = call("dispatch", map[string]any{"code": "const = 1"})
	if !failed || !strings.HasPrefix(text, "(code):1:7: ") {
		t.Errorf("what is no script answers %q (error %v)", text, failed)
	}
	text, failed = call("dispatch", map[string]any{"code": "return await agent('x', { allow: ['push to main'] })"})
	if !failed || !strings.HasSuffix(text, ": (code):1:14: allow is for people: a model handed this script in") {
		t.Errorf("what grants something answers %q (error %v)", text, failed)
	}
	text, _ = call("dispatch", map[string]any{"code": "return await agent('! hang')", "wait_s": 0})
	var status struct{ Run, Status string }
	y.must(json.Unmarshal([]byte(text), &status))
	if status.Status != "running" {
		t.Fatalf("a long run answers %s", text)
	}
	text, _ = call("dispatch_cancel", map[string]any{"run": status.Run})
	y.must(json.Unmarshal([]byte(text), &status))
	if status.Status != "stopped" {
		t.Errorf("a cancelled run answers %s", text)
	}
	text, _ = call("dispatch_status", map[string]any{"run": status.Run})
	if !strings.Contains(text, `"status":"stopped"`) {
		t.Errorf("its status is %s", text)
	}
	// The runs at work end with the harness.
	call("dispatch", map[string]any{"code": "return await agent('! hang')", "wait_s": 0})
	y.must(session.Close())
	if s := y.ends(0, "ls", "--json"); strings.Contains(s.stdout, `"running"`) {
		t.Errorf("runs outlive the harness: %s", s.stdout)
	}
}
