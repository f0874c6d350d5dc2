package codex

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// asking is a request that a test changes.
func asking(change func(*agent.Request)) agent.Request {
	spec := Kind().Spec
	spec.Command = []string{"/opt/codex", "-c", "x=1"}
	r := agent.Request{Spec: &spec, Prompt: "the prompt", State: "/state"}
	if change != nil {
		change(&r)
	}
	return r
}

// launch returns the launch of a request, with the settings of the agent.
func launch(t *testing.T, change func(*agent.Request)) (agent.Launch, table) {
	t.Helper()
	l, err := Adapter{}.Launch(asking(change))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(l.Files, func(f agent.File) bool { return f.Name == configFile })
	settings := table{}
	if err := toml.Unmarshal(l.Files[at].Data, &settings); err != nil {
		t.Fatal(err)
	}
	return l, settings
}

// config is a login with a configuration.
func config(text string) agent.Login {
	return agent.Login{Files: []agent.File{{Name: configFile, Data: []byte(text)}, {Name: authFile, Data: []byte("{}")}}}
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	l, settings := launch(t, func(r *agent.Request) { r.Login = config("") })
	if want := []string{"/opt/codex", "-c", "x=1", "app-server"}; !reflect.DeepEqual(l.Argv, want) {
		t.Errorf("argv %q", l.Argv)
	}
	if want := []string{"CODEX_HOME=/state"}; !reflect.DeepEqual(l.Env, want) || !slices.Contains(l.Unset, "CODEX_SQLITE_HOME") {
		t.Errorf("env %q, unset %q", l.Env, l.Unset)
	}
	if len(l.Files) != 2 || l.Files[1].Name != authFile || !l.Open || l.Stdin != "" {
		t.Errorf("files %v, open %t, stdin %q", l.Files, l.Open, l.Stdin)
	}
	for name, want := range map[string]any{
		"approval_policy": "never", "sandbox_mode": "workspace-write", "allow_login_shell": false, "check_for_update_on_startup": false,
		"web_search": "disabled", "model_provider": "swarm", "analytics": table{"enabled": false}, "agents": table{"enabled": false},
		"skills": table{"bundled": table{"enabled": false}},
	} {
		if !reflect.DeepEqual(settings[name], want) {
			t.Errorf("%s = %v, want %v", name, settings[name], want)
		}
	}
	own := settings["model_providers"].(table)["swarm"].(table)
	if own["name"] != "OpenAI" || own["requires_openai_auth"] != true || own["request_max_retries"] != int64(0) || own["stream_max_retries"] != int64(2) {
		t.Errorf("provider %v", own)
	}
	if _, hooks := settings["hooks"]; hooks || settings["features"].(table)["hooks"] != false {
		t.Error("it has hooks")
	}
}

// TestScratch has no state among temporary files.
func TestScratch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state, tmp string
		moved      bool
	}{
		{"/home/u/s", "", false},
		{"/tmp/s", "", true},
		{"/tmp/s", "/var/tmp", false},
		{"/tmpfs/s", "/tmp", false},
		{"/x/tmp/run/s", "/x/tmp/", true},
	} {
		l, _ := launch(t, func(r *agent.Request) { r.State, r.Tmp = test.state, test.tmp })
		moved := slices.Contains(l.Env, "TMPDIR="+test.state+"/scratch")
		made := slices.ContainsFunc(l.Files, func(f agent.File) bool { return f.Name == "scratch/.keep" })
		if moved != test.moved || made != test.moved {
			t.Errorf("%s, %s: env %q, files %v", test.state, test.tmp, l.Env, l.Files)
		}
	}
}

// TestLaunchOptions has one option a row, and its effect.
func TestLaunchOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*agent.Request)
		path   string // of a setting
		want   any
	}{
		{"model", func(r *agent.Request) { r.Spec.Model = "gpt-5.5" }, "model", "gpt-5.5"},
		{"model over the user's", func(r *agent.Request) { r.Login, r.Spec.Model = config(`model = "a"`), "b" }, "model", "b"},
		{"the user's model", func(r *agent.Request) { r.Login = config(`model = "a"`) }, "model", "a"},
		{"a profile's model", func(r *agent.Request) {
			r.Login = config("model = \"a\"\nprofile = \"p\"\n[profiles.p]\nmodel = \"b\"\nsandbox_mode = \"danger-full-access\"")
		}, "model", "b"},
		{"no profile", func(r *agent.Request) {
			r.Login = config("profile = \"p\"\n[profiles.p]\nsandbox_mode = \"danger-full-access\"")
		}, "sandbox_mode", "workspace-write"},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "high" }, "model_reasoning_effort", "high"},
		{"system", func(r *agent.Request) { r.System = "ours" }, "developer_instructions", "ours"},
		{"system behind the user's", func(r *agent.Request) {
			r.System, r.Login = "ours", config(`developer_instructions = "theirs"`)
		}, "developer_instructions", "theirs\n\nours"},
		{"read only", func(r *agent.Request) { r.Spec.ReadOnly = true }, "sandbox_mode", "read-only"},
		{"read only behind walls", func(r *agent.Request) { r.Spec.ReadOnly, r.Walled = true, true }, "sandbox_mode", "danger-full-access"},
		{"tools that read", func(r *agent.Request) { r.Spec.Tools = []string{"grep"} }, "sandbox_mode", "read-only"},
		{"all tools", func(r *agent.Request) { r.Spec.Tools = agent.AllTools() }, "sandbox_mode", "workspace-write"},
		{"walls", func(r *agent.Request) { r.Walled = true }, "sandbox_mode", "danger-full-access"},
		{"write", func(r *agent.Request) { r.Spec.Write = []string{"/cache"} }, "sandbox_workspace_write.writable_roots", []any{"/cache"}},
		{"the key is kept from commands", func(r *agent.Request) { r.Login.Env = []string{"MY_KEY"} }, "shell_environment_policy.exclude", []any{"MY_KEY"}},
		{"hooks are on", func(r *agent.Request) {
			r.Hook, r.Login = []string{"swarm"}, config("[features]\nhooks = false")
		}, "features.hooks", true},
		{"no trust", func(r *agent.Request) { r.Login = config("[projects.\"/p\"]\ntrust_level = \"trusted\"") }, "projects", nil},
		{"no hooks of the user", func(r *agent.Request) {
			r.Login = config("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"")
		}, "hooks", nil},
		{"servers stay", func(r *agent.Request) { r.Login = config("[mcp_servers.s]\ncommand = \"x\"") }, "mcp_servers.s.command", "x"},
		{"servers may write", func(r *agent.Request) {
			r.Spec.ReadOnly, r.Login = true, config("[mcp_servers.s]\ncommand = \"x\"")
		}, "mcp_servers", nil},
		{"retries of a provider", func(r *agent.Request) {
			r.Login = config("model_provider = \"p\"\n[model_providers.p]\nname = \"p\"\nrequest_max_retries = 9")
		}, "model_providers.p.request_max_retries", int64(0)},
		{"its name stays", func(r *agent.Request) { r.Login = config("model_provider = \"p\"\n[model_providers.p]\nname = \"p\"") }, "model_provider", "p"},
		{"another endpoint", func(r *agent.Request) { r.Login = config(`openai_base_url = "http://x/v1"`) }, "model_providers.swarm.base_url", "http://x/v1"},
		{"a local model", func(r *agent.Request) { r.Login = config(`model_provider = "ollama"`) }, "model_provider", "ollama"},
		{"web search stays", func(r *agent.Request) { r.Login = config(`web_search = "live"`) }, "web_search", "live"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, settings := launch(t, test.change)
			var got any = settings
			for _, name := range strings.Split(test.path, ".") {
				inner, _ := got.(table)
				got = inner[name]
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s = %v, want %v", test.path, got, test.want)
			}
		})
	}
}

func TestLaunchRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		want   string
		change func(*agent.Request)
	}{
		{"tools: ", func(r *agent.Request) { r.Spec.Tools = []string{"read", "bash"} }},
		{"tools: ", func(r *agent.Request) { r.Spec.Tools = []string{"edit"} }},
		{"tools read,bash: ", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "bash"} }},
		{"pty: ", func(r *agent.Request) { r.Spec.PTY = true }},
		{"command: ", func(r *agent.Request) { r.Command = []string{"x"} }},
		{"command is empty", func(r *agent.Request) { r.Spec.Command = nil }},
		{"no state", func(r *agent.Request) { r.State = "" }},
		{"schema: ", func(r *agent.Request) { r.Schema = json.RawMessage("{") }},
		{"not TOML", func(r *agent.Request) { r.Login = config("[") }},
	} {
		if _, err := (Adapter{}).Launch(asking(test.change)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Launch = %v, want %q", err, test.want)
		}
	}
}

func TestHook(t *testing.T) {
	t.Parallel()
	l, settings := launch(t, func(r *agent.Request) { r.Hook = []string{"/it's here/swarm", "hook"} })
	group := settings["hooks"].(table)["PreToolUse"].([]any)[0].(table)
	first := group["hooks"].([]any)[0].(table)
	command := first["command"].(string)
	if group["matcher"] != ".*" || first["type"] != "command" ||
		!strings.HasSuffix(command, ` 'sh' '/it'\''s here/swarm' 'hook' '--agent' 'codex'`) {
		t.Errorf("hook %v", group)
	}
	if !strings.Contains(string(l.Feed), `"bypass_hook_trust":true`) {
		t.Errorf("nobody trusts the hook: %s", l.Feed)
	}
	if l, _ := launch(t, nil); strings.Contains(string(l.Feed), "bypass_hook_trust") {
		t.Errorf("hooks are trusted though there is none: %s", l.Feed)
	}
}

// said are the messages that were written, by their methods.
func said(t *testing.T, text []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for one := range strings.Lines(string(text)) {
		var m struct {
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
		}
		if err := json.Unmarshal([]byte(one), &m); err != nil {
			t.Fatal(err)
		}
		all[m.Method] = m.Params
	}
	return all
}

func TestTalk(t *testing.T) {
	t.Parallel()
	l, _ := launch(t, func(r *agent.Request) {
		r.Spec.Model, r.Spec.Effort = "m", "low"
		r.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	})
	begin := said(t, l.Feed)
	start := begin["thread/start"]
	if _, there := start["cwd"]; there {
		t.Error("a conversation that names its folder trusts it")
	}
	if start["model"] != "m" || start["sandbox"] != "workspace-write" || start["approvalPolicy"] != "never" || begin["initialize"] == nil {
		t.Errorf("it begins with %v", begin)
	}
	if text, last := l.Respond(&event.Text{Text: "x"}); text != nil || last {
		t.Errorf("Say of a text = %s, %t", text, last)
	}
	prompt, last := l.Respond(&event.Session{ID: "T"})
	turn := said(t, prompt)["turn/start"]
	if last || turn["threadId"] != "T" || turn["effort"] != "low" || turn["outputSchema"] == nil || !strings.Contains(string(prompt), "the prompt") {
		t.Errorf("the prompt is %s", prompt)
	}
	if text, _ := l.Respond(&event.Session{ID: "T", Model: "other"}); text != nil {
		t.Errorf("it is prompted twice: %s", text)
	}
	for _, text := range [][]byte{l.Again("more"), l.Steer("more")} {
		if turn := said(t, text)["turn/start"]; turn["threadId"] != "T" || !strings.Contains(string(text), "more") {
			t.Errorf("more is %s", text)
		}
	}
	if text, last := l.Respond(&event.Erred{Kind: task.Other}); text != nil || !last {
		t.Errorf("Say of an error = %s, %t", text, last)
	}
	if text, last := l.Respond(&event.Raw{Line: []byte(`{"id":"q","method":"item/tool/requestUserInput"}`)}); last ||
		string(text) != `{"id":"q","error":{"code":-32601,"message":"no person can be asked here"}}`+"\n" {
		t.Errorf("Say of a request = %s, %t", text, last)
	}
	if text, _ := l.Respond(&event.Raw{Line: []byte(`{"method":"x"}`)}); text != nil {
		t.Errorf("Say of a notice = %s", text)
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	l, _ := launch(t, func(r *agent.Request) { r.Parent = "P" })
	fork := said(t, l.Feed)["thread/fork"]
	if fork["threadId"] != "P" || fork["cwd"] != "." || fork["excludeTurns"] != true {
		t.Errorf("fork %v", fork)
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ask   string
		allow bool
		want  string
	}{
		{"item/commandExecution/requestApproval 7", true, `{"id":7,"result":{"decision":"accept"}}` + "\n"},
		{"item/fileChange/requestApproval \"x\"", false, `{"id":"x","result":{"decision":"decline"}}` + "\n"},
		{"execCommandApproval 1", false, `{"id":1,"result":{"decision":"denied"}}` + "\n"},
		{"other 1", true, ""},
		{"", true, ""},
	} {
		if got := (&talk{}).reply(agent.Reply{Ask: test.ask, Allow: test.allow}); string(got) != test.want {
			t.Errorf("reply(%q, %t) = %s, want %s", test.ask, test.allow, got, test.want)
		}
	}
}

// TestRules checks that codex does not refuse by itself the commands that the
// hook asks about. In swarm's sandbox it allows them. Elsewhere it asks its
// client, because a rule that allows would take them out of its sandbox.
func TestRules(t *testing.T) {
	t.Parallel()
	parts := map[string]any{"granular": map[string]any{
		"rules": true, "sandbox_approval": false, "mcp_elicitations": false, "request_permissions": false, "skill_approval": false,
	}}
	for _, test := range []struct {
		name     string
		hook     []string
		wall     bool
		decision string // of each rule; empty: there is none
		policy   any
	}{
		{"asked behind walls", []string{"swarm", "hook"}, true, "allow", "never"},
		{"asked in its own sandbox", []string{"swarm", "hook"}, false, "prompt", parts},
		{"not asked behind walls", nil, true, "", "never"},
		{"not asked", nil, false, "", "never"},
	} {
		l, settings := launch(t, func(r *agent.Request) { r.Hook, r.Walled = test.hook, test.wall })
		at := slices.IndexFunc(l.Files, func(f agent.File) bool { return f.Name == "rules/swarm.rules" })
		if (at >= 0) != (test.decision != "") {
			t.Errorf("%s: rules at %d", test.name, at)
		}
		if at >= 0 {
			for rule := range strings.Lines(string(l.Files[at].Data)) {
				if !strings.HasPrefix(rule, "prefix_rule(") || !strings.HasSuffix(rule, `decision="`+test.decision+"\")\n") {
					t.Errorf("%s: a rule is %s", test.name, rule)
				}
			}
		}
		begin := said(t, l.Feed)
		if got := begin["thread/start"]["approvalPolicy"]; !reflect.DeepEqual(got, test.policy) || !reflect.DeepEqual(settings["approval_policy"], test.policy) {
			t.Errorf("%s: the policy is %v, and %v in its configuration, want %v", test.name, got, settings["approval_policy"], test.policy)
		}
		can, _ := begin["initialize"]["capabilities"].(map[string]any)
		if _, all := can["experimentalApi"]; all != (test.policy != "never") {
			t.Errorf("%s: its client can %v", test.name, can)
		}
	}
}

// TestPassed checks that a command which the hook has passed is accepted once,
// and that people are asked about any other.
func TestPassed(t *testing.T) {
	t.Parallel()
	const asks = `{"id":7,"method":"item/commandExecution/requestApproval","params":{"itemId":"c1"}}`
	ran := func(id, status string) string {
		return notice("hook/completed", fmt.Sprintf(`"run":{"id":%q,"status":%q}`, id, status))
	}
	passed := ran("pre-tool-use:0:/state/config.toml:c1", "completed")
	for _, test := range []struct {
		name, give string
		want       bool
	}{
		{"passed", passed, true},
		{"blocked", ran("pre-tool-use:0:/state/config.toml:c1", "blocked"), false},
		{"another", ran("pre-tool-use:0:/state/config.toml:c2", "completed"), false},
		{"of another event", ran("stop:0:/state/config.toml:c1", "completed"), false},
		{"asked twice", passed + asks + "\n", false},
		{"in an earlier turn", passed + notice("turn/started", `"turn":{"id":"V"}`), false},
		{"not asked by a hook", "", false},
	} {
		p := newParser()
		p.Feed([]byte(opening))
		p.Feed([]byte(test.give))
		got := p.Feed([]byte(asks + "\n"))
		if len(got) != 1 {
			t.Fatalf("%s: %d events", test.name, len(got))
		}
		if _, asked := got[0].(*event.Asked); asked == test.want {
			t.Errorf("%s: it is %s", test.name, event.Kind(got[0]))
		}
		text, _ := (&talk{}).respond(got[0])
		if want := `{"id":7,"result":{"decision":"accept"}}` + "\n"; test.want && string(text) != want || !test.want && text != nil {
			t.Errorf("%s: codex is told %s", test.name, text)
		}
	}
}
