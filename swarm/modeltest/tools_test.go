package modeltest

import (
	"encoding/json"
	"strings"
	"testing"
)

// codeMode is how codex offers its tools to newer models, shortened.
const codeMode = `{"model":"m","input":[
	{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]},
	{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"}]},
	{"type":"message","role":"user","content":"go"}]}`

// TestTools has the tools as the clients offer them, shortened.
func TestTools(t *testing.T) {
	t.Parallel()
	const (
		claude = `{"model":"m","system":"Primary working directory: /r","messages":[{"role":"user","content":"x"}],"tools":[
			{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number"}},"required":["command"]}},
			{"name":"Edit","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":true},"required":["file_path","old_string","new_string"]}},
			{"name":"Write","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}}]}`
		pi = `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[
			{"name":"edit","input_schema":{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},"required":["oldText","newText"]}}},"required":["path","edits"]}},
			{"name":"read","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`
		gemini25 = `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"systemInstruction":{"parts":[{"text":"- **Workspace Directories:**\n  - /r\n"}]},"tools":[{"functionDeclarations":[
			{"name":"replace","parametersJsonSchema":{"type":"OBJECT","properties":{"file_path":{"type":"STRING"},"old_string":{"type":"STRING"},"new_string":{"type":"STRING"},"instruction":{"type":"STRING"}},"required":["file_path","instruction","old_string","new_string"]}},
			{"name":"run_shell_command","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"},"is_background":{"type":"BOOLEAN"},"n":{"type":"INTEGER"}},"required":["command","is_background","n"]}}]}]}`
		codex = `{"model":"m","input":"x","tools":[{"type":"function","name":"exec_command","parameters":{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}}]}`
		words = `{"model":"m","input":"x","tools":[{"type":"function","name":"shell","parameters":{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}}}}]}`
		patch = `{"model":"m","input":"x","tools":[{"type":"custom","name":"apply_patch"}]}`
	)
	edit := Call{Name: "{edit}", Args: map[string]any{"path": "a.txt", "old": "x\ny", "new": "z"}}
	write := Call{Name: "{write}", Args: map[string]any{"path": "a.txt", "text": "x\ny\n"}}
	shell := Call{Name: "{shell}", Args: map[string]any{"command": "ls"}}
	tests := []struct {
		name    string
		dialect dialect
		request string
		give    Call
		want    call
	}{
		{"claude edits", anthropic{}, claude, edit, call{name: "Edit", args: `{"file_path":"/r/a.txt","new_string":"z","old_string":"x\ny"}`}},
		{"claude writes", anthropic{}, claude, write, call{name: "Write", args: `{"content":"x\ny\n","file_path":"/r/a.txt"}`}},
		{"an argument of the client's own", anthropic{}, claude, Call{Name: "{shell}", Args: map[string]any{"command": "ls", "timeout": 5}}, call{name: "Bash", args: `{"command":"ls","timeout":5}`}},
		{"pi edits in a list", anthropic{}, pi, edit, call{name: "edit", args: `{"edits":[{"newText":"z","oldText":"x\ny"}],"path":"a.txt"}`}},
		{"pi may not write", anthropic{}, pi, write, call{name: "write", args: `{"path":"a.txt","text":"x\ny\n"}`}},
		{"gemini edits", gemini{}, gemini25, edit, call{name: "replace", args: `{"file_path":"/r/a.txt","instruction":"scripted","new_string":"z","old_string":"x\ny"}`}},
		{"what a shell requires beside", gemini{}, gemini25, shell, call{name: "run_shell_command", args: `{"command":"ls","is_background":false,"n":0}`}},
		{"codex has a shell", responses{}, codex, shell, call{name: "exec_command", args: `{"cmd":"ls"}`}},
		{"codex edits in its shell", responses{}, codex, edit, call{name: "exec_command", args: `{"cmd":"apply_patch \u003c\u003c'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n-y\n+z\n*** End Patch\nEOF\n"}`}},
		{"codex reads in its shell", responses{}, codex, Call{Name: "{read}", Args: map[string]any{"path": "it's"}}, call{name: "exec_command", args: `{"cmd":"cat 'it'\\''s'"}`}},
		{"a command in words", responses{}, words, shell, call{name: "shell", args: `{"command":["bash","-lc","ls"]}`}},
		{"a patch as text", responses{}, patch, write, call{name: "apply_patch", free: true, args: "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch\n"}},
		{"a patch in code", responses{}, codeMode, write, call{name: "exec", space: "functions", free: true, args: `text(await tools.apply_patch("*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch\n"));` + "\n"}},
		{"a command in code", responses{}, codeMode, shell, call{name: "exec", space: "functions", free: true, args: `text(await tools.exec_command({cmd: "ls"}));` + "\n"}},
		{"a tool by its name", anthropic{}, claude, Call{Name: "Odd", Args: map[string]any{"path": "a"}}, call{name: "Odd", args: `{"path":"a"}`}},
		{"no arguments", anthropic{}, claude, Call{Name: "Odd"}, call{name: "Odd", args: `{}`}},
		{"text by its name", responses{}, patch, Call{Name: "apply_patch", Args: map[string]any{"input": "*"}}, call{name: "apply_patch", free: true, args: "*"}},
	}
	for _, tt := range tests {
		c := read(t, tt.dialect, tt.request)
		if have := resolve(c, tt.give); have != tt.want {
			t.Errorf("%s: resolve = %+v, want %+v", tt.name, have, tt.want)
		}
	}
}

// TestAnswerTool has the tools by which claude and qwen take an answer.
func TestAnswerTool(t *testing.T) {
	t.Parallel()
	const value = `{"a":1}`
	turn := Turn{Answer: json.RawMessage(value)}
	ask := func(name string, messages string) *answer {
		return newAnswer(read(t, anthropic{}, `{"model":"m","tools":[{"name":"`+name+`"}],"messages":[{"role":"user","content":"x"}`+messages+`]}`), turn, 1)
	}
	for _, name := range answerTools() {
		a := ask(name, "")
		if len(a.calls) != 1 || a.calls[0] != (call{name: name, args: value}) || a.stop != StopCalls {
			t.Errorf("answer with %s = %+v, want a call", name, a)
		}
		a = ask(name, `,{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"`+name+`"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}`)
		if len(a.calls) != 0 || a.words() == value || a.stop != StopEnd {
			t.Errorf("answer after %s took one = %+v, want an end", name, a)
		}
	}
	if a := ask("Other", ""); a.words() != value || len(a.calls) != 0 {
		t.Errorf("answer without a tool for it = %+v, want text", a)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a\n<cwd>/r/x</cwd>\n", "Current working directory: /r/x", "Working directory: /r/x\nIs directory", " - Primary working directory: /r/x\n",
		"I'm currently working in the directory: /r/x\n", "- **Workspace Directories:**\n  - /r/x\n", "working directory: `/r/x`",
	} {
		c := &conversation{system: "first\n", said: []said{{by: byUser, text: text}}}
		if have := c.folder(); have != "/r/x" {
			t.Errorf("folder of %q = %q, want /r/x", text, have)
		}
	}
	if have := (&conversation{system: "in no directory"}).folder(); have != "" {
		t.Errorf("folder = %q, want none", have)
	}
}

// TestFillOnce holds which of two arguments fills a property that both are called.
func TestFillOnce(t *testing.T) {
	t.Parallel()
	s := shape{Properties: map[string]shape{"content": {Type: "string"}}}
	for range 50 {
		if got := s.fill(map[string]any{"content": "a", "text": "b"}, ""); got["content"] != "b" {
			t.Fatalf("fill = %v, want the last by name", got)
		}
	}
}

// TestUser has the words of the user between additions of clients.
func TestUser(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		dialect dialect
		request string
		want    string
		since   int
	}{
		{"claude", anthropic{}, `{"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>a</system-reminder>"},{"type":"text","text":"go"}]},
			{"role":"system","content":"where"},{"role":"assistant","content":[{"type":"tool_use","name":"b"}]},
			{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]},{"type":"text","text":"<system-reminder>b</system-reminder>"}]}]}`, "go", 1},
		{"codex", responses{}, codeMode, "go", 0},
		{"a later prompt", chat{}, `{"messages":[{"role":"user","content":"a"},{"role":"tool","content":"r"},{"role":"user","content":"b"},{"role":"tool","content":"r"},{"role":"tool","content":"r"}]}`, "b", 2},
		{"gemini", gemini{}, `{"contents":[{"role":"user","parts":[{"text":"<session_context>x"}]},{"role":"user","parts":[{"text":"go"}]}]}`, "go", 0},
	}
	for _, tt := range tests {
		user, since := read(t, tt.dialect, tt.request).user()
		if user != tt.want || since != tt.since {
			t.Errorf("%s: user = %q, %d, want %q, %d", tt.name, user, since, tt.want, tt.since)
		}
	}
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	for _, d := range []dialect{anthropic{}, chat{}, responses{}, gemini{}} {
		for _, body := range []string{"", "[]", "{", `{"messages":[],"contents":[],"input":[1]}`, `{"messages":[1],"contents":[1],"input":[1]}`,
			`{"messages":[{}],"contents":[{}],"input":"x","tools":7}`} {
			if _, err := d.read(at(t), []byte(body)); err == nil {
				t.Errorf("%T.read(%s): want an error", d, strings.TrimSpace(body))
			}
		}
	}
}
