package pi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// asks is a request with only the mandatory fields.
func asks() agent.Request {
	spec := Kind().Spec
	spec.Command = []string{"/bin/pi", "--verbose"}
	return agent.Request{Spec: &spec, Prompt: "do it", State: "/state"}
}

// named is the file of a launch.
func named(l agent.Launch, name string) string {
	for _, f := range l.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	common := []string{
		"/bin/pi", "--verbose", "--mode", "rpc", "--no-extensions", "--extension", "/state/swarm-extension.mjs",
	}
	for _, c := range []struct {
		name   string
		change func(*agent.Request)
		want   []string // the words after the common words
	}{
		{"nothing", func(*agent.Request) {}, nil},
		{"model", func(r *agent.Request) { r.Spec.Model = "p/m" }, []string{"--model", "p/m"}},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "xhigh" }, []string{"--thinking", "xhigh"}},
		{"tools", func(r *agent.Request) { r.Spec.Tools = []string{"read", "bash"} }, []string{"--tools", "read,bash"}},
		{"read-only", func(r *agent.Request) { r.Spec.ReadOnly = true }, []string{"--tools", "read,grep,find,ls"}},
		{
			"read-only of some",
			func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"ls", "read"} },
			[]string{"--tools", "ls,read"},
		},
		{"system", func(r *agent.Request) { r.System = "be brief" }, []string{"--append-system-prompt", "/state/swarm-system.md"}},
		{"session", func(r *agent.Request) { r.Session = "s1" }, []string{"--session-id", "s1"}},
		{"fork", func(r *agent.Request) { r.Parent, r.Session = "p1", "s1" }, []string{"--fork", "p1", "--session-id", "s1"}},
		{"walled", func(r *agent.Request) { r.Walled = true }, nil},
		{"schema", func(r *agent.Request) { r.Schema = json.RawMessage(`{}`) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := asks()
			c.change(&r)
			l, err := Adapter{}.Launch(r)
			if err != nil {
				t.Fatal(err)
			}
			if want := append(slices.Clone(common), c.want...); !slices.Equal(l.Argv, want) {
				t.Errorf("argv\n%q, want\n%q", l.Argv, want)
			}
			env := []string{
				"PI_CODING_AGENT_DIR=/state", "PI_CODING_AGENT_SESSION_DIR=/state/sessions",
				"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0",
			}
			if !slices.Equal(l.Env, env) || !slices.Contains(l.Unset, "PI_SESSION_FILE") {
				t.Errorf("environment %q less %q", l.Env, l.Unset)
			}
			if !l.Open || l.Stdin != "" || l.Finish != nil {
				t.Errorf("stdin: %+v", l)
			}
		})
	}
}

func TestLaunchRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*agent.Request)
		words  string
	}{
		{"command", func(r *agent.Request) { r.Spec.Command = nil }, "its command is empty"},
		{"command of the call", func(r *agent.Request) { r.Command = []string{"x"} }, "command: "},
		{"state", func(r *agent.Request) { r.State = "" }, "needs a state folder"},
		{"effort", func(r *agent.Request) { r.Spec.Effort = "huge" }, `effort: pi does not know "huge"`},
		{"tools", func(r *agent.Request) { r.Spec.Tools = []string{"browser"} }, `tools: "browser"`},
		{"tools that write", func(r *agent.Request) { r.Spec.ReadOnly, r.Spec.Tools = true, []string{"read", "edit"} }, "tools read,edit: an agent that is read-only"},
		{"model", func(r *agent.Request) { r.Spec.Model = "--approve" }, "model: "},
		{"settings", func(r *agent.Request) {
			r.Login.Files = []agent.File{{Name: "settings.json", Data: []byte("{")}}
		}, "settings of pi"},
	} {
		r := asks()
		c.change(&r)
		if _, err := (Adapter{}).Launch(r); err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "agent pi: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.words)
		}
	}
}

// TestLaunchFiles checks the files of the state folder.
func TestLaunchFiles(t *testing.T) {
	t.Parallel()
	r := asks()
	r.System, r.Hook, r.Spec.ReadOnly = "be brief", []string{"/bin/swarm", "hook", `with "quotes"`}, true
	r.Login.Files = []agent.File{
		{Name: "settings.json", Data: []byte("\ufeff" + `{"defaultModel":"m","defaultProjectTrust":"always","packages":["npm:x"],
			"extensions":["x"],"sessionDir":"/elsewhere","retry":{"maxRetries":99},"compaction":{"enabled":false}}`)},
		{Name: "models.json", Data: []byte(`{"providers":{}}`)},
		{Name: "APPEND_SYSTEM.md", Data: []byte("words of the user\n")},
		{Name: homeFile, Data: []byte("/home/u/.pi/agent")},
	}
	l, err := Adapter{}.Launch(r)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Name)
	}
	if want := []string{"models.json", "settings.json", "swarm-system.md", "swarm-extension.mjs"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	if got := named(l, "swarm-system.md"); got != "words of the user\n\nbe brief" {
		t.Errorf("system prompt %q", got)
	}
	var got, want map[string]any
	if err := json.Unmarshal([]byte(named(l, "settings.json")), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"defaultModel":"m","compaction":{"enabled":false},"defaultProjectTrust":"never",
		"cacheWarming":"off","enableInstallTelemetry":false,"enableAnalytics":false,"quietStartup":true,
		"retry":{"enabled":true,"maxRetries":2,"baseDelayMs":2000,"maxAgentDelayMs":10000,"provider":{"maxRetries":0}}}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("settings %v, want %v", got, want)
	}
	first, rest, _ := strings.Cut(named(l, "swarm-extension.mjs"), "\n")
	if want := `const options = {"hook":["/bin/swarm","hook","with \"quotes\"","--agent","plain"],` +
		`"tools":["read","grep","find","ls"],"bin":"/home/u/.pi/agent/bin"};`; first != want {
		t.Errorf("the extension begins with\n%s, want\n%s", first, want)
	}
	if !strings.Contains(rest, "export default function") {
		t.Error("the rest of it is missing")
	}
}

// TestLaunchKeepsAppended leaves the user's additions to the system prompt
// where pi looks for them, unless there is more.
func TestLaunchKeepsAppended(t *testing.T) {
	t.Parallel()
	r := asks()
	r.Login.Files = []agent.File{{Name: "APPEND_SYSTEM.md", Data: []byte("words of the user\n")}}
	l, err := Adapter{}.Launch(r)
	if err != nil || named(l, "APPEND_SYSTEM.md") != "words of the user\n" || named(l, "swarm-system.md") != "" {
		t.Errorf("files %+v, %v", l.Files, err)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	r := asks()
	r.Prompt = "/llama\nis a \u2028 word"
	l, err := Adapter{}.Launch(r)
	if err != nil {
		t.Fatal(err)
	}
	told := func(e event.Event) []byte {
		message, last := l.Respond(e)
		if last {
			message = append(message, "(the end)"...)
		}
		return message
	}
	for _, c := range []struct {
		name string
		give []byte
		want string
	}{
		{"feed", l.Feed, `{"id":"swarm-state","type":"get_state"}` + "\n"},
		{"session", told(&event.Session{ID: "s"}), `{"id":"swarm-prompt","type":"prompt","message":"\n/llama\nis a \u2028 word"}` + "\n"},
		{"another model", told(&event.Session{ID: "s", Model: "m"}), ""},
		{"text", told(&event.Text{Text: "x"}), ""},
		{"error", told(&event.Erred{}), "(the end)"},
		{"again", l.Again("once more"), `{"id":"swarm-prompt","type":"prompt","message":"once more"}` + "\n"},
		{"steer", l.Steer("left"), `{"id":"swarm-steer","type":"prompt","message":"left","streamingBehavior":"steer"}` + "\n"},
	} {
		if string(c.give) != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.give, c.want)
		}
	}
}

// TestKind checks that the kind's abilities fit swarm's use of them.
func TestKind(t *testing.T) {
	t.Parallel()
	k := Kind()
	if k.Name != agent.KindPi || k.Spec.Kind != k.Name || k.Spec.Input != agent.InputJSONL || k.Spec.Success != agent.SuccessAnswer {
		t.Errorf("kind %+v", k)
	}
	if k.Can.Schema || k.Can.Turns || k.Can.Sandbox {
		t.Errorf("it can %+v, which pi cannot", k.Can)
	}
}
