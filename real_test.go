package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
	"agentswarm/worktree"
)

// realKind is an agent CLI, and how it finds a model server: as its own users
// would tell it.
type realKind struct {
	name     string
	model    string
	required bool              // the suite fails where it is not installed
	home     map[string]string // files below HOME; {URL} stands for the server's
	env      []string
}

func realKinds() []realKind {
	return []realKind{
		{
			name: agent.KindPi, model: "fake/fake-model", required: true,
			home: map[string]string{".pi/agent/models.json": `{"providers":{"fake":{"baseUrl":"{URL}","api":"anthropic-messages","apiKey":"fake",
				"models":[{"id":"fake-model","contextWindow":200000,"maxTokens":32000,
				"cost":{"input":3,"output":15,"cacheRead":0.3,"cacheWrite":3.75}}]}}}`},
		},
		{
			name: agent.KindCodex, model: "fake-model", required: true,
			home: map[string]string{".codex/config.toml": `
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{URL}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`},
			env: []string{"OPENAI_API_KEY=fake"},
		},
		{
			name: agent.KindClaude, model: "fake-model", required: true,
			env: []string{"ANTHROPIC_BASE_URL={URL}", "ANTHROPIC_API_KEY=fake"},
		},
		{
			name: agent.KindOpencode, model: "fake/fake-model",
			home: map[string]string{".config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible",
				"options":{"baseURL":"{URL}/v1","apiKey":"fake"},"models":{"fake-model":{"limit":{"context":200000,"output":32000},
				"cost":{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75}}}}}}`},
		},
		{
			name: agent.KindGemini, model: "gemini-2.5-pro",
			env: []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL={URL}"},
		},
		{
			name: agent.KindQwen, model: "fake-model",
			env: []string{"OPENAI_API_KEY=fake", "OPENAI_BASE_URL={URL}/v1", "OPENAI_MODEL=fake-model"},
		},
		{
			// Its key is masked in its output, so the key is no word of the tests.
			name: agent.KindCopilot, model: "fake-model",
			env: []string{"COPILOT_PROVIDER_BASE_URL={URL}/v1", "COPILOT_PROVIDER_API_KEY=sk-of-no-account", "COPILOT_CACHE_HOME=" + copilotCache()},
		},
		{
			name: agent.KindBuiltin, model: "anthropic/fake-model", required: true,
			env: []string{"ANTHROPIC_BASE_URL={URL}", "ANTHROPIC_API_KEY=fake"},
		},
	}
}

// copilotCache is where copilot unpacks 235 MB of its program. Without it each
// test would unpack them into its own HOME.
func copilotCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "copilot")
}

// realVariable says that agent CLIs are installed, which takes minutes.
const realVariable = "SWARM_REAL"

// onKinds runs a test with every agent CLI that is here.
func onKinds(t *testing.T, test func(*testing.T, realKind), only ...string) {
	t.Helper()
	for _, k := range realKinds() {
		if len(only) > 0 && !slices.Contains(only, k.name) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv(realVariable) == "" && k.name != agent.KindBuiltin {
				t.Skipf("%s is not set: agent CLIs are not expected here", realVariable)
			}
			if _, err := exec.LookPath(k.name); err != nil && k.name != agent.KindBuiltin {
				if k.required {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			test(t, k)
		})
	}
}

// real is a fixture with an agent CLI and its model.
type real struct {
	*fixture
	kind   realKind
	server *modeltest.Server
}

// newReal makes a fixture in which agents of a kind talk to a model that follows
// a script, in a sandbox.
func newReal(t *testing.T, k realKind, rules ...modeltest.Rule) *real {
	t.Helper()
	return newRealOn(t, k, worktree.Overlay, rules...)
}

// newRealOn is newReal on a backend: linked worktrees have no sandbox.
func newRealOn(t *testing.T, k realKind, backend worktree.Backend, rules ...modeltest.Rule) *real {
	t.Helper()
	return newRealWith(t, k, backend, modeltest.Script{Rules: rules, Models: []string{"fake-model", "gemini-2.5-pro"}})
}

// newRealWith is newRealOn with all that a server can be told.
func newRealWith(t *testing.T, k realKind, backend worktree.Backend, script modeltest.Script) *real {
	t.Helper()
	server := modeltest.Start(t, script)
	r := newRealAt(t, k, server.URL())
	r.server = server
	r.on(backend)
	return r
}

// newRealAt is a fixture whose agents look for their model at a URL.
func newRealAt(t *testing.T, k realKind, url string) *real {
	t.Helper()
	y := newFixture(t)
	r := &real{fixture: y, kind: k}
	here := strings.NewReplacer("{URL}", url)
	for name, text := range k.home {
		y.write("home/"+name, here.Replace(text))
	}
	for _, kv := range k.env {
		y.env = append(y.env, here.Replace(kv))
	}
	y.write("repo/hello.txt", "hello world\n")
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "hello")
	return r
}

// result is an agent in the output of run --json.
type result struct {
	Status string
	Model  string
	Output string
	Error  struct{ Kind, Message string }
	Patch  *struct{ Added, Deleted, Files int }
	Usage  struct {
		Input, Output int
		CacheRead     int     `json:"cache_read"`
		CostUSD       float64 `json:"cost_usd"`
	}
	Structured json.RawMessage
	Attempt    int
}

// run runs an agent, or the agents of the words in more, and returns the result
// of the last.
func (r *real) run(code int, more ...string) result {
	r.t.Helper()
	args := append([]string{"run", "--json", "--agent", r.kind.name, "--model", r.kind.model}, more...)
	s := r.ends(code, args...)
	var run struct{ Agents []result }
	r.must(json.Unmarshal([]byte(s.stdout), &run))
	if len(run.Agents) == 0 {
		r.t.Fatalf("no agent ran: %s%s", s.stdout, s.stderr)
	}
	return run.Agents[len(run.Agents)-1]
}

func at(n int) *int { return &n }

// editing are the turns of a model that changes hello.txt.
func editing() []modeltest.Rule {
	usage := func(in, out, cached int) *modeltest.Usage {
		return &modeltest.Usage{Input: in, Output: out, CacheRead: cached}
	}
	return []modeltest.Rule{
		{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
			Calls: []modeltest.Call{{Name: "{read}", Args: map[string]any{"path": "hello.txt"}}}, Usage: usage(1000, 20, 0),
		}},
		{When: modeltest.When{Since: at(1)}, Turn: modeltest.Turn{
			Calls: []modeltest.Call{{Name: "{edit}", Args: map[string]any{
				"path": "hello.txt", "old": "hello world", "new": "hello swarm",
			}}}, Usage: usage(100, 30, 1000),
		}},
		{Turn: modeltest.Turn{Text: modeltest.Pieces{"I changed ", "hello.txt."}, Usage: usage(50, 10, 1100)}},
	}
}

// contractWords are some of those that every agent is told first.
const contractWords = "Judge each action in silence before you take it."

// TestRealEdit checks that an agent's changes by its tools become a patch, and
// that its answer, model and usage are known.
func TestRealEdit(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k, editing()...)
		got := r.run(0, "Change hello.txt")
		is := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		is("status", got.Status, "completed")
		if got.Patch == nil || got.Patch.Added != 1 || got.Patch.Deleted != 1 {
			t.Errorf("patch is %+v", got.Patch)
		}
		is("output", strings.TrimSpace(got.Output), "I changed hello.txt.")
		is("input", got.Usage.Input, 1150)
		is("output tokens", got.Usage.Output, 60)
		is("from the cache", got.Usage.CacheRead, 2100)
		if !strings.Contains(k.model, got.Model) || got.Model == "" {
			t.Errorf("model is %q, want %q", got.Model, k.model)
		}
		for _, request := range r.server.Requests() {
			if !strings.Contains(string(request.Body), contractWords) {
				t.Error("the model is not told how its actions are judged")
				break
			}
			// Text that differs from agent to agent keeps a provider from
			// sharing its cache.
			if at := strings.Index(string(request.Body), r.state); at >= 0 {
				t.Errorf("the model is told where the agent's state is: %s", request.Body[max(0, at-200):at+200])
				break
			}
		}
		r.ends(0, "merge")
		is("hello.txt", r.git("show", "HEAD:hello.txt"), "hello swarm")
	})
}
