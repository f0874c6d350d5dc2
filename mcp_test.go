package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostWait is the longest time in seconds that a call of a tool may wait.
const mostWait = 3600

// TestMCP speaks with `swarm mcp` by the client of the SDK, as another harness
// does, and looks at the bytes that enter the context of its model.
func TestMCP(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.env = append(y.env, "SIGNALS="+y.dir)
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
	var version struct{ Version string }
	y.must(json.Unmarshal([]byte(y.ends(0, "version", "--json").stdout), &version))
	if tells := session.InitializeResult().ServerInfo; tells.Name != "swarm" || tells.Version != version.Version || version.Version == "" {
		t.Errorf("the server tells that it is %s %q, and its version is %q", tells.Name, tells.Version, version.Version)
	}
	var structured any // of the last call
	call := func(tool string, args map[string]any) (string, bool) {
		t.Helper()
		// However slow the machine is, the answer is the end of the run.
		if _, given := args["wait_s"]; tool != "dispatch_status" && !given {
			args = maps.Clone(args)
			if args == nil {
				args = map[string]any{}
			}
			args["wait_s"] = mostWait
		}
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		y.must(err)
		all, err := json.Marshal(r)
		y.must(err)
		if len(r.Content) != 1 || strings.Contains(string(all), "SECRET") {
			t.Fatalf("%s answers with more than a value: %s", tool, all)
		}
		structured = r.StructuredContent
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
	params := &mcp.CallToolParams{Name: "dispatch", Arguments: map[string]any{"code": "await agent('! print:SECRET'); return 1", "wait_s": mostWait}}
	params.SetProgressToken("token")
	_, err = session.CallTool(t.Context(), params)
	y.must(err)
	const begins = "the run is about to begin ("
	said := <-told
	if !strings.HasPrefix(said, begins) {
		t.Errorf("progress says %q first", said)
	}
	for strings.HasPrefix(said, begins) { // again every few seconds
		said = <-told
	}
	if !strings.Contains(said, "agents have ended (") {
		t.Errorf("progress says %q once the run has begun", said)
	}
	for code, want := range map[string][2]string{
		"return null":                       {"null", `"value":null`},
		"return":                            {"undefined", ""},
		"return NaN":                        {"null", `"value":null`},
		"return [NaN, undefined, Infinity]": {"[null,null,null]", `"value":[null,null,null]`},
		"return 'null'":                     {"null", `"value":"null"`},
		"```js\nreturn 1\n```":              {"1", `"value":1`},
	} {
		text, failed = call("dispatch", map[string]any{"code": code})
		all, err := json.Marshal(structured)
		y.must(err)
		if text != want[0] || failed || !strings.Contains(string(all), want[1]) || strings.Contains(string(all), "value") != (want[1] != "") {
			t.Errorf("%q comes back as %q and %s (error %v)", code, text, all, failed)
		}
	}
	text, failed = call("dispatch", map[string]any{"code": "```js\nconst = 1\n```"})
	if !failed || !strings.HasPrefix(text, "(code):2:7: ") {
		t.Errorf("a broken script in a fence answers %q (error %v)", text, failed)
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
	var status struct {
		Run, Status string
		Ended       int
	}
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
	text, failed = call("dispatch_wait", map[string]any{"run": status.Run})
	if !failed || text != "run "+status.Run+" stopped: by dispatch_cancel" {
		t.Errorf("dispatch_wait of a cancelled run answers %q (error %v)", text, failed)
	}
	// The runs at work end with the harness, and the next harness continues
	// them. The agent that has ended is not started again.
	text, _ = call("dispatch", map[string]any{"code": `const first = await agent('! append:$SIGNALS/first:x\n! print:' + args.word)
return first.trim() + (await agent('! await:$SIGNALS/go\n! print:more')).trim()`, "args": map[string]any{"word": "once"}, "wait_s": 0})
	y.must(json.Unmarshal([]byte(text), &status))
	for status.Ended < 1 {
		text, _ = call("dispatch_wait", map[string]any{"run": status.Run, "wait_s": 1})
		y.must(json.Unmarshal([]byte(text), &status))
	}
	y.must(session.Close())
	if s := y.ends(0, "ls", "--json"); strings.Contains(s.stdout, `"running"`) {
		t.Errorf("runs outlive the harness: %s", s.stdout)
	}
	y.write("go", "")
	session, err = client.Connect(t.Context(), &mcp.CommandTransport{Command: y.command(nil, "mcp"), TerminateDuration: never}, nil)
	y.must(err)
	if text, failed = call("dispatch_wait", nil); text != "oncemore" || failed {
		t.Errorf("dispatch_wait of the next session answers %q (error %v)", text, failed)
	}
	if got, err := os.ReadFile(filepath.Join(y.dir, "first")); string(got) != "x" {
		t.Errorf("the agent that had ended was started again: %q, %v", got, err)
	}
	y.must(session.Close())
	// The same holds for a server that is killed.
	killed := &mcp.CommandTransport{Command: y.command(nil, "mcp"), TerminateDuration: never}
	session, err = client.Connect(t.Context(), killed, nil)
	y.must(err)
	text, _ = call("dispatch", map[string]any{"code": `const first = await agent('! append:$SIGNALS/early:x\n! print:kept')
return first.trim() + (await agent('! await:$SIGNALS/revived\n! print:alive')).trim()`, "wait_s": 0})
	y.must(json.Unmarshal([]byte(text), &status))
	for status.Ended = 0; status.Ended < 1; {
		text, _ = call("dispatch_wait", map[string]any{"run": status.Run, "wait_s": 1})
		y.must(json.Unmarshal([]byte(text), &status))
	}
	y.must(killed.Command.Process.Kill())
	_ = session.Close() // the server cannot say goodbye
	session, err = client.Connect(t.Context(), &mcp.CommandTransport{Command: y.command(nil, "mcp"), TerminateDuration: never}, nil)
	y.must(err)
	y.write("revived", "")
	if text, failed = call("dispatch_wait", map[string]any{"run": status.Run}); text != "keptalive" || failed {
		t.Errorf("dispatch_wait after a kill of the server answers %q (error %v)", text, failed)
	}
	if got, err := os.ReadFile(filepath.Join(y.dir, "early")); string(got) != "x" {
		t.Errorf("after the kill the agent that had ended was started again: %q, %v", got, err)
	}
	y.must(session.Close())
}
