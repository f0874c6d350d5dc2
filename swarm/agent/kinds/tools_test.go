package kinds

import (
	"cmp"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/task"
	"agentswarm/swarm/toolset"
)

// toolCase is the result of a list of tools for a kind.
type toolCase struct {
	tools, without string
	told           string // parts of its launch, with " & " between them; a part with ! in front is not there
	warning        string // all of it, without the agent
	err            string
}

// readers are the parts of a launch that hold an agent to tools that read.
func readers() map[string]string {
	return map[string]string{
		"pi":       "--tools read,grep,find,ls",
		"codex":    `sandbox_mode = 'read-only'`,
		"claude":   "--tools=Read,Grep,Glob & !--tools=Read,Grep,Glob,",
		"opencode": `"*":"deny" & !"edit":"allow" & !"bash":"allow"`,
		"gemini":   `"core":["read_file","read_many_files","grep_search","glob","list_directory"] & toolName = "*"` + "\ndecision = \"deny\"\npriority = 800",
		"qwen":     `"core":["read_file","grep_search","glob","list_directory"]`,
		"copilot":  "--available-tools=view,grep,rg,glob & !bash",
		"builtin":  "--tools=read,grep,find,ls",
	}
}

// toolCases are the tables of each kind.
func toolCases() map[string][]toolCase {
	const all, mixed, found = "Read, Grep, Glob, LS, Edit, Write, Bash", "Read, Grep, Glob, LS, Bash(git log *)", "Read, WebSearch, WebFetch, Skill, mcp__github__get"
	no := func(what string) string { return "it has no " + what }
	parted := "it cannot allow a part of a tool, so it gets no bash(git log *)"
	whole := "it cannot take away a part of a tool, so it loses the whole tool of bash(rm *)"
	return map[string][]toolCase{
		"pi": {
			{tools: "*", told: "!--tools"},
			{tools: all, told: "--tools read,grep,find,ls,edit,write,bash"},
			{tools: mixed, told: "--tools read,grep,find,ls & !bash", warning: parted},
			{tools: found, told: "--tools read", warning: no("WebSearch, WebFetch, Skill, mcp__github__get")},
			{tools: "WebSearch", err: "tools: agents of the kind pi cannot have any of WebSearch"},
			{without: "Edit, Write, WebSearch", told: "--tools read,grep,find,ls,bash"},
			{without: "Bash(rm *)", told: "--tools read,grep,find,ls,edit,write", warning: whole},
			{tools: "Read, Bash", without: "Bash", told: "--tools read"},
			{without: "*", err: "disallowedTools: * takes all tools away"},
		},
		"builtin": {
			{tools: "*", told: "!--tools"},
			{tools: mixed, told: "--tools=read,grep,find,ls", warning: parted},
			{tools: found, told: "--tools=read", warning: no("WebSearch, WebFetch, Skill, mcp__github__get")},
			{without: "Edit", told: "--tools=read,grep,find,ls,write,bash"},
		},
		"codex": {
			{tools: "*", told: "sandbox_mode = 'workspace-write' & web_search = 'disabled'"},
			{tools: all, told: "sandbox_mode = 'workspace-write'"},
			{tools: mixed, told: "sandbox_mode = 'read-only'", warning: parted},
			{tools: found, told: "sandbox_mode = 'read-only' & web_search = 'live'", warning: no("WebFetch, Skill, mcp__github__get")},
			{tools: "WebSearch", told: "sandbox_mode = 'read-only' & web_search = 'live'", warning: "it gets tools that read, which it always has"},
			{tools: "Read, Grep, Bash", told: "sandbox_mode = 'workspace-write'", warning: "it gets all basic tools, since its shell does everything"},
			{tools: "Read, Edit", err: "tools: agents of the kind codex write with their shell, and cannot have read, edit without bash"},
			{without: "Edit, Write", told: "sandbox_mode = 'read-only'", warning: "it gets only tools that read, since it has those or all"},
			{without: "Bash(rm *)", told: "sandbox_mode = 'read-only'", warning: whole + "; it gets only tools that read, since it has those or all"},
			{without: "Read", err: "disallowedTools: agents of the kind codex read with their shell, and read cannot be taken away"},
			{without: "WebSearch, Skill", told: "sandbox_mode = 'workspace-write' & web_search = 'disabled'"},
		},
		"claude": {
			{tools: "*", told: "!--tools= & !dontAsk"},
			{tools: all, told: "--tools=Read,Grep,Glob,Edit,Write,Bash & !dontAsk"},
			{tools: mixed, told: "--tools=Read,Grep,Glob,Bash & --permission-mode dontAsk & --allowed-tools=Read,Grep,Glob,Bash(git log *)"},
			{tools: found, told: "--tools=Read,WebSearch,WebFetch,Skill & !dontAsk", warning: no("mcp__github__get")},
			{tools: "Bash(git log *), Bash", told: "--tools=Bash & !dontAsk"},
			{tools: "Task(scout), TodoWrite", told: "--tools=Task,TodoWrite & --allowed-tools=Task(scout),TodoWrite"},
			{without: "Write, Bash(rm *), WebSearch, mcp__github__get", told: "--disallowed-tools=EnterWorktree, & ,Write,Bash(rm *),WebSearch & !mcp__"},
			{tools: "Bash, Read", without: "Bash(rm *)", told: "--tools=Bash,Read & --disallowed-tools=Bash(rm *)"},
		},
		"opencode": {
			{tools: "*", told: `"*":"allow"`},
			{tools: all, told: `"*":"deny" & "bash":"allow" & "edit":"allow"`},
			{tools: mixed, told: `"*":"deny" & "bash":{"*":"deny","git log *":"allow"} & !"edit"`},
			{tools: "Bash(go test:*), Read", without: "Bash(go test ./x*)", told: `"bash":{"*":"deny","go test *":"allow","go test ./x*":"deny"}`},
			{tools: found, told: `"websearch":"allow" & "webfetch":"allow" & "skill":"allow" & "read":"allow" & !"bash"`, warning: no("mcp__github__get")},
			{tools: "Read, Edit, Bash", told: `"edit":"allow" & "bash":"allow"`, warning: "it gets edit and write together"},
			{tools: "Read, Edit", err: "tools: agents of the kind opencode have edit and write together, or neither"},
			{without: "Bash(rm *), Skill", told: `"*":"allow" & "bash":{"*":"allow","rm *":"deny"} & "skill":"deny"`},
		},
		"gemini": {
			{tools: "*", told: `!"core"`},
			{tools: mixed, told: `"core":["read_file","read_many_files","grep_search","glob","list_directory"]`, warning: parted},
			{tools: found, told: `"core":["read_file","read_many_files","google_web_search","web_fetch","activate_skill"]`, warning: no("mcp__github__get")},
			{tools: "Read, Task", told: `"core":["read_file","read_many_files"]`, warning: no("Task")},
			{without: "Bash(rm *), WebSearch", told: `!"core" & toolName = ["run_shell_command", "google_web_search"]` + "\ndecision = \"deny\"\npriority = 830", warning: whole},
		},
		"copilot": {
			{tools: "*", told: "!--available-tools & --excluded-tools=task,"},
			{tools: all, told: "--available-tools=view,grep,rg,glob,edit,apply_patch,create,bash,read_bash,write_bash,stop_bash,list_bash"},
			{tools: mixed, told: "--available-tools=view,grep,rg,glob & !bash", warning: parted},
			{tools: found, told: "--available-tools=view,skill", warning: no("WebSearch, WebFetch, mcp__github__get")},
			{tools: "Read, Edit", err: "tools: agents of the kind copilot have edit and write together, or neither"},
			{without: "Edit, Write, Bash(rm *)", told: "!--available-tools & documentation,edit,apply_patch,create,bash", warning: whole},
		},
		"qwen": {
			{tools: "*", told: `!"core"`},
			{tools: mixed, told: `"core":["read_file","grep_search","glob","list_directory"]`, warning: parted},
			{tools: found, told: `"core":["read_file","web_search","web_fetch","skill"]`, warning: no("mcp__github__get")},
			{without: "Write, Task", told: `!"core" & "write_file","agent"] & !"allow":["read_file","grep_search","glob","list_directory","edit","write_file"`},
		},
	}
}

// TestTools checks the result of each entry of a list of tools, by kind:
// arguments and files of its launch, or a warning that names the entry.
func TestTools(t *testing.T) {
	t.Parallel()
	cases := toolCases()
	for _, kind := range All() {
		cases := append(cases[kind.Name], toolCase{tools: "Read, Grep, Glob, LS", told: readers()[kind.Name]})
		if len(cases) < 4 {
			t.Errorf("%s has no table", kind.Name)
		}
		for _, tt := range cases {
			name := kind.Name + ": " + tt.tools + " without " + tt.without
			o, warning, err := fitted(t, kind, tt)
			if err != nil || tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("%s: %v, want %q", name, err, tt.err)
				}
				continue
			}
			if tt.warning != "" {
				tt.warning = "agent " + kind.Name + " (" + kind.Name + "): " + tt.warning
			}
			if warning != tt.warning {
				t.Errorf("%s: warning %q, want %q", name, warning, tt.warning)
			}
			told := launched(t, kind, o)
			for part := range strings.SplitSeq(tt.told, " & ") {
				part, absent := strings.CutPrefix(part, "!")
				if strings.Contains(told, part) == absent {
					t.Errorf("%s: it is told %s\nwant %q there: %t", name, told, part, !absent)
				}
			}
		}
	}
}

// fitted are the options of a call with lists of tools, as its agent gets them.
func fitted(t *testing.T, kind agent.Kind, tt toolCase) (task.Options, string, error) {
	t.Helper()
	tools, err := toolset.Canonical(toolset.Split(tt.tools))
	if err != nil {
		t.Fatal(err)
	}
	without, err := toolset.Canonical(toolset.Split(tt.without))
	if err != nil {
		t.Fatal(err)
	}
	return engine.Fit(engine.FitRequest{Spec: &kind.Spec, Kind: kind, Options: task.Options{Tools: tools, Without: without}})
}

// launched is all that the program of an agent is started with.
func launched(t *testing.T, kind agent.Kind, o task.Options) string {
	t.Helper()
	spec := kind.Spec
	spec.Command = []string{cmp.Or(kind.Program, "swarm")}
	spec.Tools, spec.Without = o.Tools, o.Without
	if missing := kind.Lists.Missing(toolset.Lists{Tools: o.Tools, Without: o.Without}); missing != "" {
		t.Errorf("%s: %s fits, and cannot be told", kind.Name, missing)
	}
	l, err := kind.Adapter.Launch(agent.Request{Spec: &spec, Prompt: "p", PromptFile: "/p", Dir: "/w", State: "/state", Session: "s"})
	if err != nil {
		t.Errorf("%s: launch with %v without %v: %v", kind.Name, o.Tools, o.Without, err)
	}
	var all strings.Builder
	all.WriteString(strings.Join(l.Argv, " ") + "\n" + strings.Join(l.Env, "\n"))
	for _, f := range l.Files {
		// The program of pi's extension and opencode's plugin name all tools.
		if !strings.HasSuffix(f.Name, ".mjs") && !strings.HasSuffix(f.Name, "swarm.js") {
			all.WriteString("\n" + f.Name + ": " + string(f.Data))
		}
	}
	return all.String()
}

// TestEffortOfType checks efforts that a kind does not know. An effort of a
// type is left out with a warning. An effort of a call stays, to be refused.
func TestEffortOfType(t *testing.T) {
	t.Parallel()
	for name, unknown := range map[string]string{
		"pi":       `it has its own effort, since effort: pi does not know "huge"; want one of `,
		"claude":   `it has its own effort, since effort "huge": claude knows low, medium, high, xhigh, max`,
		"qwen":     `it has its own effort, since effort "huge": qwen knows low, medium, high, xhigh, max`,
		"builtin":  `it has its own effort, since effort "huge": the built-in agent knows `,
		"opencode": "it has no option for the effort huge",
		"gemini":   "it has no option for the effort huge",
		"codex":    "",
	} {
		kind, ok := All().Find(name)
		if !ok {
			t.Fatal(name)
		}
		for _, effort := range []string{"huge", "high"} {
			r := engine.FitRequest{Spec: &kind.Spec, Kind: kind, Options: task.Options{Effort: effort}, Effort: true}
			o, warning, err := engine.Fit(r)
			known := unknown == "" || effort == "high" && kind.Can.Effort
			if err != nil || (o.Effort == effort) != known || (warning == "") != known || effort == "huge" && !strings.Contains(warning, unknown) {
				t.Errorf("%s, %s: %+v, %q, %v", name, effort, o, warning, err)
			}
			r.Effort = false
			if o, warning, err := engine.Fit(r); err != nil || o.Effort != effort || warning != "" {
				t.Errorf("%s, %s of a call: %+v, %q, %v", name, effort, o, warning, err)
			}
		}
	}
}

// TestToolsBelow checks that excluded tools are removed from the agent's
// configured tools, and that a read-only agent stays read-only.
func TestToolsBelow(t *testing.T) {
	t.Parallel()
	for _, kind := range All() {
		for _, tt := range []struct {
			tools    []string
			readOnly bool
			without  string
			want     string
		}{
			{[]string{"read", "grep"}, false, "grep", "read"},
			{nil, true, "grep", "read,find,ls"},
		} {
			if kind.Name == agent.KindCodex {
				continue // it cannot go without a tool that reads
			}
			spec := kind.Spec
			spec.Tools, spec.ReadOnly = tt.tools, tt.readOnly
			o, _, err := engine.Fit(engine.FitRequest{Spec: &spec, Kind: kind, Options: task.Options{Tools: []string{"*"}, Without: []string{tt.without}}})
			if got := strings.Join(o.Tools, ","); err != nil || got != tt.want {
				t.Errorf("%s with %v, read-only %t: %s, %v, want %s", kind.Name, tt.tools, tt.readOnly, got, err, tt.want)
			}
		}
	}
}
