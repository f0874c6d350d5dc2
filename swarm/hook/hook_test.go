package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/asksocket"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect Dialect
		give    string
		want    []ask.Action
	}{
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf x"},"cwd":"/w"}`, []ask.Action{{Command: "rm -rf x", Cwd: "/w"}}},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}}`, nil},
		{Claude, `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf x"}}`, nil},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a/b"},"cwd":"/w"}`, []ask.Action{{Write: "a/b", Cwd: "/w"}}},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"WebFetch","tool_input":{"url":"https://x.test"}}`, []ask.Action{{Tool: "WebFetch", Target: "https://x.test", Method: "GET"}}},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"mcp__slack__post","tool_input":{}}`, []ask.Action{{Tool: "mcp__slack__post"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["bash","-lc","it's"]}}`, []ask.Action{{Command: `'bash' '-lc' 'it'\''s'`}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n"}}`, []ask.Action{{Write: "a"}, {Write: "b"}, {Write: "c", Removes: true}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":"ls","workdir":"sub"},"cwd":"/w"}`, []ask.Action{{Command: "ls", Cwd: "/w/sub"}}},
		{Gemini, `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls","directory":"/d"}}`, []ask.Action{{Command: "ls", Cwd: "/d"}}},
		{Gemini, `{"hook_event_name":"BeforeTool","tool_name":"update_topic","tool_input":{"title":"x"}}`, nil},
		{Qwen, `{"hook_event_name":"PreToolUse","tool_name":"monitor","tool_input":{"command":"tail -f x"}}`, []ask.Action{{Command: "tail -f x"}}},
		{Qwen, `{"hook_event_name":"PreToolUse","tool_name":"notebook_edit","tool_input":{"notebook_path":"/n"}}`, []ask.Action{{Write: "/n"}}},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"websearch","tool_input":{"query":"x"}}`, nil},
		{Qwen, `{"hook_event_name":"PreToolUse","tool_name":"write_file","tool_input":{"file_path":"/f"}}`, []ask.Action{{Write: "/f"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"exec_command","tool_input":{"command":"ls","cmd":"rm -rf x"},"cwd":"/w"}`, []ask.Action{{Command: "ls", Cwd: "/w"}, {Command: "rm -rf x", Cwd: "/w"}}},
		{Claude, `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a","path":"AGENTS.md"}}`, []ask.Action{{Write: "a"}, {Write: "AGENTS.md"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n  *** Update File: AGENTS.md \n","patch":"*** Add File: b"}}`, []ask.Action{{Write: "a"}, {Write: "AGENTS.md"}, {Write: "b"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"--- /dev/null\n+++ .github/x\t2026-01-01\nrename to AGENTS.md\n"}}`, []ask.Action{{Write: ".github/x"}, {Write: "AGENTS.md"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"+++ \"b/my \\303\\274\"\t\nrename to \"AGENTS\\056md\""}}`, []ask.Action{{Write: "my ü"}, {Write: "AGENTS.md"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"write_stdin","tool_input":{"session_id":1,"chars":"git push\r"}}`, []ask.Action{{Command: "git push\n"}}},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"write_stdin","tool_input":{"session_id":1,"chars":"\u0003"}}`, nil},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"write_stdin","tool_input":{"session_id":1,"chars":""}}`, nil},
		{Codex, `{"hook_event_name":"PreToolUse","tool_name":"request_user_input","tool_input":{"questions":[]},"cwd":"/w"}`, nil},
		{Copilot, `{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":{"command":"rm -rf x","description":"d"}}`, []ask.Action{{Command: "rm -rf x", Cwd: "/w"}}},
		{Copilot, `{"cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"rm -rf x\"}"}`, []ask.Action{{Command: "rm -rf x", Cwd: "/w"}}},
		{Copilot, `{"cwd":"/w","toolName":"create","toolArgs":{"path":"a","file_text":"x"}}`, []ask.Action{{Write: "a", Cwd: "/w"}}},
		{Copilot, `{"cwd":"/w","toolName":"edit","toolArgs":{"path":"a","old_str":"x","new_str":"y"}}`, []ask.Action{{Write: "a", Cwd: "/w"}}},
		{Copilot, `{"cwd":"/w","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Delete File: c\n*** End Patch"}`, []ask.Action{{Write: "c", Cwd: "/w", Removes: true}}},
		{Copilot, `{"cwd":"/w","toolName":"write_bash","toolArgs":{"shellId":"1","input":"git push\r"}}`, []ask.Action{{Command: "git push\n", Cwd: "/w"}}},
		{Copilot, `{"cwd":"/w","toolName":"view","toolArgs":{"path":"/x"}}`, nil},
		{Copilot, `{"cwd":"/w","toolName":"server-post","toolArgs":{}}`, []ask.Action{{Tool: "server-post", Cwd: "/w"}}},
		{Plain, `{"command":"ls","cwd":"/w"}`, []ask.Action{{Command: "ls", Cwd: "/w"}}},
		{Plain, `{"write":"f","removes":true}`, []ask.Action{{Write: "f", Removes: true}}},
	} {
		got, err := c.dialect.Read([]byte(c.give))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: Read(%s) = %+v, %v; want %+v", c.dialect, c.give, got, err, c.want)
		}
	}
}

// refused are inputs that every dialect must refuse.
func refused() map[string]string {
	return map[string]string{
		"empty":          ``,
		"no object":      `[]`,
		"cut":            `{"hook_event_name":"PreToolUse"`,
		"more behind":    `{"hook_event_name":"Stop"} {}`,
		"twice":          `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash","tool_input":{"command":"x"}}`,
		"twice by case":  `{"hook_event_name":"PreToolUse","tool_name":"Read","Tool_Name":"Bash","tool_input":{"command":"x"}}`,
		"twice within":   `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm -rf x"}}`,
		"mark":           "\ufeff" + `{"hook_event_name":"Stop"}`,
		"not UTF-8":      "{\"hook_event_name\":\"Stop\",\"x\":\"\xff\"}",
		"no event":       `{"tool_name":"Read","tool_input":{}}`,
		"unknown event":  `{"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{}}`,
		"no tool":        `{"hook_event_name":"PreToolUse","tool_input":{}}`,
		"no command":     `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`,
		"odd command":    `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":{"x":1}}}`,
		"two folders":    `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x","workdir":"a","cwd":"b"}}`,
		"odd second":     `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x","cmd":{"x":1}}}`,
		"patch of none":  `{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"x"}}`,
		"deep":           strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
		"deep lists":     `{"a":` + strings.Repeat(`[`, 300) + strings.Repeat("]", 300) + "}",
		"unknown member": `{"command":"x","then":"y"}`,
		"two actions":    `{"command":"x","write":"y"}`,
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, give := range refused() {
		for _, d := range []Dialect{Claude, Codex, Copilot, Qwen, Plain} {
			if got, err := d.Read([]byte(give)); err == nil {
				t.Errorf("%s, %s: Read = %+v", name, d, got)
			}
		}
	}
}

// TestRun tells each kind of agent no, and is silent where it may.
func TestRun(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "hook") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := asksocket.Listen(t.Context(), filepath.Join(dir, "s"), func(_ context.Context, r ask.Request) ask.Answer {
		return ask.Answer{Allow: r.Actions[0].Command == "ls", Reason: `no "x"`, Instead: "ls"}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	socket := s.Address()
	for _, d := range []Dialect{Claude, Codex, Gemini, Qwen, Plain} {
		say := func(command string) string {
			if d == Plain {
				return `{"command":"` + command + `"}`
			}
			return `{"hook_event_name":"` + d.before() + `","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`
		}
		for _, c := range []struct{ give, socket, reason string }{
			{say("ls"), socket, ""}, {say("rm"), socket, `no "x". Instead: ls`}, {say("ls"), filepath.Join(dir, "x"), "no person can be asked"},
			{say("ls"), "", "no person can be asked"}, {"x", socket, "could not be read"},
		} {
			var out, errs bytes.Buffer
			code := d.Run(t.Context(), Streams{Stdin: strings.NewReader(c.give), Stdout: &out, Stderr: &errs, Socket: c.socket})
			if c.reason == "" {
				if code != 0 || out.Len()+errs.Len() > 0 {
					t.Errorf("%s: %d, %q, %q; want silence", d, code, &out, &errs)
				}
				continue
			}
			if code != 2 || !strings.Contains(errs.String(), c.reason) {
				t.Errorf("%s: %d, %q; want 2 and %q", d, code, &errs, c.reason)
			}
			if d == Codex != (out.Len() == 0) || d != Codex && !json.Valid(out.Bytes()) {
				t.Errorf("%s: it prints %q", d, &out)
			}
		}
	}
}

func TestDialectWords(t *testing.T) {
	t.Parallel()
	var d Dialect
	if err := d.UnmarshalText([]byte("plain")); err != nil || d != Plain {
		t.Errorf("plain: %q, %v", d, err)
	}
	if err := d.UnmarshalText([]byte("cursor")); err == nil {
		t.Error("cursor is taken")
	}
}

// FuzzRead: nothing panics, and an input with a duplicate name is refused.
func FuzzRead(f *testing.F) {
	for _, give := range refused() {
		f.Add([]byte(give))
	}
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range []Dialect{Claude, Codex, Gemini, Qwen, Plain} {
			if actions, err := d.Read(text); err != nil && actions != nil {
				t.Errorf("%s: %v and %v", d, actions, err)
			}
		}
	})
}
