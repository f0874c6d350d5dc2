package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
			name: agent.KindBuiltin, model: "anthropic/fake-model", required: true,
			env: []string{"ANTHROPIC_BASE_URL={URL}", "ANTHROPIC_API_KEY=fake"},
		},
	}
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

// real is a yard with an agent CLI and its model.
type real struct {
	*yard
	kind   realKind
	server *modeltest.Server
}

// newReal makes a yard in which agents of a kind talk to a model that follows
// a script, behind walls.
func newReal(t *testing.T, k realKind, rules ...modeltest.Rule) *real {
	t.Helper()
	return newRealOn(t, k, worktree.Overlay, rules...)
}

// newRealOn is newReal on a backend: linked worktrees have no walls.
func newRealOn(t *testing.T, k realKind, backend worktree.Backend, rules ...modeltest.Rule) *real {
	t.Helper()
	return newRealWith(t, k, backend, modeltest.Script{Rules: rules, Models: []string{"fake-model", "gemini-2.5-pro"}})
}

// newRealWith is newRealOn with all that a server can be told.
func newRealWith(t *testing.T, k realKind, backend worktree.Backend, script modeltest.Script) *real {
	t.Helper()
	y := newYard(t)
	y.on(backend)
	r := &real{yard: y, kind: k, server: modeltest.Start(t, script)}
	here := strings.NewReplacer("{URL}", r.server.URL())
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

// result is what run --json says of one agent.
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

// run runs one agent, or what more says, and returns what became of the last.
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

// TestRealEdit holds that what an agent changes by its tools is a patch, and
// that its words, its model and what it used are known.
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
			// What differs from agent to agent no provider caches for all.
			if at := strings.Index(string(request.Body), r.state); at >= 0 {
				t.Errorf("the model is told where the agent's state is: %s", request.Body[max(0, at-200):at+200])
				break
			}
		}
		r.ends(0, "merge")
		is("hello.txt", r.git("show", "HEAD:hello.txt"), "hello swarm")
	})
}

// TestRealRefused holds that the hook of an agent keeps it from what nobody
// allowed, and tells its model why.
func TestRealRefused(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "rm -rf pkg"}}},
			}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"I could not."}}},
		)
		got := r.run(0, "--questions", "deny", "Remove pkg")
		if got.Patch != nil {
			t.Errorf("it changed something: %+v", got.Patch)
		}
		log := r.ends(0, "risk", "log")
		if !strings.Contains(log.stdout, "rm -rf pkg") || !strings.Contains(log.stdout, "DESTRUCTIVE") {
			t.Errorf("the record does not tell: %s", log.stdout)
		}
		requests := r.server.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(last.Result, "DESTRUCTIVE") && !strings.Contains(last.Result, "denied") {
			t.Errorf("the model was told %q", last.Result)
		}
	})
}

// TestRealOpen holds that agents work, and are asked about, without walls too.
func TestRealOpen(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newRealOn(t, k, worktree.Linked,
			modeltest.Rule{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "rm -r -f pkg"}}},
			}},
			modeltest.Rule{When: modeltest.When{Since: at(1)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{write}", Args: map[string]any{"path": "new.txt", "text": "new\n"}}},
			}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"new.txt is there."}}},
		)
		got := r.run(0, "--questions", "deny", "Write new.txt")
		if got.Patch == nil || got.Patch.Files != 1 || got.Patch.Added != 1 {
			t.Errorf("its patch is %+v", got.Patch)
		}
		if log := r.ends(0, "risk", "log"); !strings.Contains(log.stdout, "DESTRUCTIVE") {
			t.Errorf("the record does not tell: %s", log.stdout)
		}
	}, agent.KindPi, agent.KindClaude, agent.KindGemini, agent.KindQwen, agent.KindOpencode, agent.KindBuiltin)
}

// TestRealReads holds that an agent that only reads has nothing to write with.
func TestRealReads(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{write}", Args: map[string]any{"path": "new.txt", "text": "new\n"}}},
			}},
			modeltest.Rule{When: modeltest.When{Since: at(1)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "echo new > new.txt"}}},
			}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"I may only read."}}},
		)
		got := r.run(0, "--read-only", "--questions", "deny", "Write new.txt")
		if got.Patch != nil || got.Status != "completed" {
			t.Errorf("it is %s and has the patch %+v", got.Status, got.Patch)
		}
	})
}

// TestRealErrors holds what becomes of refusals: some pass, some do not.
func TestRealErrors(t *testing.T) {
	t.Parallel()
	done := modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}}
	first := func(turn modeltest.Turn) modeltest.Rule {
		return modeltest.Rule{When: modeltest.When{Tries: at(0)}, Turn: turn}
	}
	failing := func(status int) modeltest.Turn { return modeltest.Turn{Error: &modeltest.Error{Status: status}} }
	for _, test := range []struct {
		name  string
		rules []modeltest.Rule
		kind  string // empty: it completes
	}{
		{"401", []modeltest.Rule{{Turn: failing(401)}}, "auth"},
		{"429", []modeltest.Rule{first(modeltest.Turn{Error: &modeltest.Error{Status: 429, RetryAfter: modeltest.Duration(1e9)}}), done}, ""},
		{"500", []modeltest.Rule{first(failing(500)), done}, ""},
		{"dropped", []modeltest.Rule{first(modeltest.Turn{Drop: modeltest.DropStart}), done}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var only []string
			if test.kind == "" {
				// The others ask again by themselves, for minutes and never with the
				// same words, so that the server cannot tell it from a first try.
				only = []string{agent.KindPi, agent.KindCodex, agent.KindClaude, agent.KindBuiltin}
			}
			onKinds(t, func(t *testing.T, k realKind) {
				r := newReal(t, k, test.rules...)
				if test.kind == "" {
					if got := r.run(0, "--retries", "2", "Say done"); got.Status != "completed" || strings.TrimSpace(got.Output) != "Done." {
						t.Errorf("it is %+v", got)
					}
					return
				}
				if got := r.run(3, "Say done"); got.Error.Kind != test.kind {
					t.Errorf("it is %+v, want the error %s", got, test.kind)
				}
			}, only...)
		})
	}
}

// asleep are the turns of a model that has its agent wait for a process in a
// session of its own, after it left a file.
func asleep(mark string) []modeltest.Rule {
	return []modeltest.Rule{
		{When: modeltest.When{Since: at(0)}, Turn: modeltest.Turn{
			Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{
				"command": "echo up > up.txt; setsid --wait tail -s " + mark + " -f /dev/null",
			}}},
		}},
		{Turn: modeltest.Turn{Text: modeltest.Pieces{"I slept."}}},
	}
}

// sleeper is the word by which such a process is known. It is no sleep: some
// agents refuse to run that.
func sleeper(t *testing.T) string {
	sum := fnv.New32()
	sum.Write([]byte(t.Name()))
	return fmt.Sprintf("300.%d%d", os.Getpid(), sum.Sum32())
}

// TestRealCancel holds that nothing of a cancelled agent is left, but its work.
func TestRealCancel(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		mark := sleeper(t)
		r := newReal(t, k, asleep(mark)...)
		cmd := r.command(nil, "run", "--agent", k.name, "--model", k.model, "Sleep")
		r.must(cmd.Start())
		r.awaitProcess("-s\x00" + mark) // itself, and no shell that will start it
		r.ends(0, "cancel", "a1")
		_ = cmd.Wait()
		if left := processesWith(mark); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if diff := r.ends(0, "diff", "a1"); !strings.Contains(diff.stdout, "up.txt") {
			t.Errorf("its work is not there: %s", diff.stdout)
		}
	})
}

// TestRealKill holds that nothing outlives a swarm that is killed, and that the
// work is captured afterwards.
func TestRealKill(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		mark := sleeper(t)
		r := newReal(t, k, asleep(mark)...)
		cmd := r.command(nil, "run", "--agent", k.name, "--model", k.model, "Sleep")
		r.must(cmd.Start())
		r.awaitProcess("-s\x00" + mark) // itself, and no shell that will start it
		r.must(cmd.Process.Kill())
		_ = cmd.Wait()
		r.awaitNone(mark)
		r.swarm(nil, "status")
		if diff := r.ends(0, "diff", "a1"); !strings.Contains(diff.stdout, "up.txt") {
			t.Errorf("its work is not there: %s", diff.stdout)
		}
		if left, _ := filepath.Glob(filepath.Join(r.state, "*/runs/*/a/*/*/box")); len(left) > 0 {
			t.Errorf("what it kept for itself is still there: %v", left)
		}
	})
}

// TestRealSchema holds that an answer by a schema comes back as a value.
func TestRealSchema(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k, modeltest.Rule{Turn: modeltest.Turn{Answer: json.RawMessage(`{"files":3}`)}})
		r.write("ask.js", `return await agent("How many files?", {schema: {
			type: "object", properties: {files: {type: "integer"}}, required: ["files"], additionalProperties: false}})`)
		s := r.ends(0, "run", "--json", "--agent", k.name, "--model", k.model, filepath.Join(r.dir, "ask.js"))
		var run struct{ Result struct{ Files int } }
		r.must(json.Unmarshal([]byte(s.stdout), &run))
		if run.Result.Files != 3 {
			t.Errorf("it returned %s", s.stdout)
		}
	})
}

// TestRealFork holds that a fork goes on with what its parent knows.
func TestRealFork(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{User: "Remember"}, Turn: modeltest.Turn{Text: modeltest.Pieces{"I keep it: zebra."}}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"It was zebra."}}},
		)
		r.write("fork.js", `
			const parent = run("Remember the word zebra");
			await join(parent);
			return await agent("Which word?", {fork: parent});`)
		r.ends(0, "run", "--agent", k.name, "--model", k.model, filepath.Join(r.dir, "fork.js"))
		requests := r.server.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(string(last.Body), "I keep it: zebra.") {
			t.Errorf("the fork does not know what its parent said: %s", last.Body)
		}
	}, agent.KindPi, agent.KindCodex, agent.KindClaude, agent.KindBuiltin)
}

// TestRealKey holds that commands of the built-in agent do not find its key where
// processes show what they were started with.
func TestRealKey(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Results: at(0)}, Turn: modeltest.Turn{Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{
				"command": `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -e ^PATH= -e ^ANTHROPIC_API_KEY= | cut -d= -f1 | sort -u | paste -sd ,`,
			}}}}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}},
		)
		r.run(0, "Look for keys")
		requests := r.server.Requests()
		if len(requests) < 2 || !strings.Contains(string(requests[1].Body), `"text":"PATH"`) {
			t.Errorf("it saw %s", requests[len(requests)-1].Body)
		}
	}, agent.KindBuiltin)
}

// TestRealSteer holds that a word reaches the model before its next turn.
func TestRealSteer(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		pipe := "/tmp/" + sleeper(t)
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Results: at(0)}, Turn: modeltest.Turn{
				Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{"command": "mkfifo " + pipe + " && cat " + pipe}}},
			}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}},
		)
		cmd := r.command(nil, "run", "--agent", k.name, "--model", k.model, "Listen")
		r.must(cmd.Start())
		r.awaitProcess("cat\x00" + pipe)
		r.ends(0, "send", "a1", "Say marmalade")
		r.ends(0, "exec", "a1", "--", "sh", "-c", "echo > "+pipe)
		r.must(cmd.Wait())
		requests := r.server.Requests()
		if len(requests) < 2 || !strings.Contains(string(requests[1].Body), "Say marmalade") {
			t.Errorf("the model was not told in its second turn of %d", len(requests))
		}
	}, agent.KindPi, agent.KindCodex, agent.KindClaude, agent.KindBuiltin)
}

// TestRealPrefix holds that what agents of a run begin with is the same for all,
// so that their provider reads it once.
func TestRealPrefix(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k, modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}})
		r.run(0, "-j", "1", "--count", "2", "Look")
		parts := []string{"system", "instructions", "systemInstruction", "tools", "messages", "input", "contents"}
		ids := regexp.MustCompile(`"id":"msg_[-0-9a-f]+",`) // of Codex; no model reads them
		var first map[string]json.RawMessage
		for i, request := range r.server.Requests() {
			var body map[string]json.RawMessage
			r.must(json.Unmarshal(ids.ReplaceAll(request.Body, nil), &body))
			if i == 0 {
				first = body
				continue
			}
			for _, part := range parts {
				if a, b := string(first[part]), string(body[part]); a != b {
					at := 0
					for at < min(len(a), len(b)) && a[at] == b[at] {
						at++
					}
					t.Errorf("%s differ after %d of %d bytes: %s, %s", part, at, len(a),
						a[max(0, at-80):min(len(a), at+80)], b[max(0, at-80):min(len(b), at+80)])
				}
			}
		}
	})
}

// awaitProcess waits until a command line with this in it is there.
func (r *real) awaitProcess(mark string) {
	r.t.Helper()
	r.until(mark+" does not begin", func() bool { return len(processesWith(mark)) > 0 })
}

// awaitNone waits until none is there any more.
func (r *real) awaitNone(mark string) {
	r.t.Helper()
	r.until(mark+" does not end", func() bool { return len(processesWith(mark)) == 0 })
}

// until polls for what another process does.
func (r *real) until(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatal(what)
		}
	}
}

// TestRealGate holds that a hundred agents finish whose provider answers eight
// requests at a time, and that it seldom has to refuse one.
func TestRealGate(t *testing.T) {
	t.Parallel()
	const agents = 100
	onKinds(t, func(t *testing.T, k realKind) {
		rules := editing()
		for i := range rules {
			rules[i].Delay = modeltest.Duration(500 * time.Millisecond)
		}
		r := newRealWith(t, k, worktree.Overlay, modeltest.Script{
			Rules: rules, Limit: 8, RetryAfter: modeltest.Duration(time.Second), Forget: true,
		})
		s := r.ends(0, "run", "--json", "--agent", k.name, "--model", k.model,
			"--count", strconv.Itoa(agents), "-j", strconv.Itoa(agents), "--yes", "Change hello.txt")
		if n := strings.Count(s.stdout, `"status":"completed","changed":true`); n != agents {
			t.Errorf("%d of %d agents are right", n, agents)
		}
		if stats := r.server.Stats(); stats.Refused*20 >= stats.Requests {
			t.Errorf("of %d requests %d were refused", stats.Requests, stats.Refused)
		} else {
			t.Logf("of %d requests %d were refused, %d were at work at once", stats.Requests, stats.Refused, stats.Highest)
		}
	}, agent.KindBuiltin)
}

// TestRealModels: those that can list their models do, and leave nothing in the
// user's HOME.
func TestRealModels(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k)
		home := filepath.Join(r.dir, "home")
		before := below(t, home)
		s := r.ends(0, "models", "--json", "--provider", k.name)
		var o struct {
			Providers []struct {
				Failed string
				Models []struct{ Model string }
			}
		}
		r.must(json.Unmarshal([]byte(s.stdout), &o))
		has := slices.ContainsFunc(o.Providers[0].Models, func(m struct{ Model string }) bool { return m.Model == k.model })
		if o.Providers[0].Failed != "" || !has {
			t.Errorf("%s is not listed: %s", k.model, s.stdout)
		}
		if after := below(t, home); !slices.Equal(after, before) {
			t.Errorf("in HOME there were %q and are %q", before, after)
		}
	}, agent.KindPi, agent.KindOpencode)
}

// below are the files below a folder.
func below(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
