package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
)

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
		requests := r.server.Requests()
		if len(requests) != 1 || !strings.Contains(string(requests[0].Body), "additionalProperties") {
			t.Errorf("the model was not told the schema, in the first of %d requests", len(requests))
		}
		// These programs have an option for it, which binds the answer; others say
		// it in words.
		if slices.Contains([]string{agent.KindCodex, agent.KindClaude, agent.KindQwen, agent.KindBuiltin}, k.name) && !binds(t, requests[0]) {
			t.Errorf("the schema is only said in words: %s", requests[0].Body)
		}
	})
}

// binds reports whether a request binds the answer to the schema of TestRealSchema:
// as the form of texts, or as the parameters of a tool.
func binds(t *testing.T, request modeltest.Request) bool {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(request.Body, &body); err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`"properties":\{"files":\{"type":"integer"\}\}`)
	for name, part := range body {
		var compact bytes.Buffer
		if err := json.Compact(&compact, part); err != nil {
			t.Fatal(err)
		}
		if name != "messages" && name != "input" && name != "system" && name != "instructions" && files.Match(compact.Bytes()) {
			return true
		}
	}
	return false
}

// TestRealFork checks that a fork knows the conversation of its parent.
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
		s := r.ends(0, "run", "--json", "--agent", k.name, "--model", k.model, filepath.Join(r.dir, "fork.js"))
		var run struct{ Result string }
		r.must(json.Unmarshal([]byte(s.stdout), &run))
		if strings.TrimSpace(run.Result) != "It was zebra." {
			t.Errorf("the fork says %q", run.Result)
		}
		requests := r.server.Requests()
		if len(requests) != 2 {
			t.Fatalf("%d requests, want one of the parent and one of the fork", len(requests))
		}
		for _, words := range []string{"Remember the word zebra", "I keep it: zebra.", "Which word?"} {
			if n := strings.Count(string(requests[1].Body), words); n != 1 {
				t.Errorf("the fork is told %d times %q: %s", n, words, requests[1].Body)
			}
		}
	})
}

// TestRealKey checks that the built-in agent's commands do not find its key in
// the environments that /proc shows.
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

// TestRealPrefix checks that the requests of a run's agents begin alike, so
// that their provider reads the begin once.
func TestRealPrefix(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		// No program tells its model where its state is: a command looks.
		r := newReal(t, k,
			modeltest.Rule{When: modeltest.When{Results: at(0)}, Turn: modeltest.Turn{Calls: []modeltest.Call{{Name: "{shell}", Args: map[string]any{
				"command": `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -E '^(CODEX_HOME|CLAUDE_CONFIG_DIR|PI_CODING_AGENT_DIR|XDG_STATE_HOME|GEMINI_CLI_HOME|QWEN_HOME|COPILOT_HOME)=/' | sort -u | tr '\n' ';'`,
			}}}}},
			modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}},
		)
		r.run(0, "-j", "1", "--count", "2", "Look around")
		requests := r.server.Requests()
		if len(requests) != 4 {
			t.Fatalf("%d requests, want two of each agent", len(requests))
		}
		state := regexp.MustCompile(`[A-Z_]+(HOME|DIR)=/[^;"\\]+;`)
		a, b := state.FindAllString(string(requests[1].Body), -1), state.FindAllString(string(requests[3].Body), -1)
		if len(a) == 0 && k.name != agent.KindBuiltin || !slices.Equal(a, b) {
			t.Errorf("the state of the first is at %q, of the second at %q", a, b)
		}
		first, second := r.partsOf(requests[0]), r.partsOf(requests[2])
		for _, part := range []string{"system", "tools", "said"} {
			a, b := sessionless(k, first[part]), sessionless(k, second[part])
			if len(a) < 10 {
				t.Errorf("%s of the first is %q", part, a)
			}
			if a != b {
				at := 0
				for at < min(len(a), len(b)) && a[at] == b[at] {
					at++
				}
				t.Errorf("%s differ after %d of %d bytes: %s, %s", part, at, len(a),
					a[max(0, at-80):min(len(a), at+80)], b[max(0, at-80):min(len(b), at+80)])
			}
		}
		if !strings.Contains(first["said"], "Look around") {
			t.Errorf("the task is not among what is said: %s", first["said"])
		}
	})
}

// sessionless is a part of a request without the id of the conversation and the
// time, which copilot alone tells its model.
func sessionless(k realKind, part string) string {
	if k.name != agent.KindCopilot {
		return part
	}
	return regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)`).ReplaceAllString(part, "MASKED")
}

// partsOf are the parts of a request by which providers know it again.
func (r *real) partsOf(request modeltest.Request) map[string]string {
	r.t.Helper()
	ids := regexp.MustCompile(`"id":"msg_[-0-9a-f]+",`) // of Codex; no model reads them
	var body map[string]json.RawMessage
	r.must(json.Unmarshal(ids.ReplaceAll(request.Body, nil), &body))
	one := func(names ...string) string {
		for _, name := range names {
			if len(body[name]) > 0 {
				return string(body[name])
			}
		}
		return ""
	}
	said := one("messages", "input", "contents")
	system := one("system", "instructions", "systemInstruction")
	if system == "" {
		system = said // it is the first message
	}
	return map[string]string{"system": system, "tools": one("tools"), "said": said}
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
