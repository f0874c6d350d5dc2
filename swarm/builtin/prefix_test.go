package builtin

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/builtin/tool"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/task"
	"agentswarm/variants"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// prefix is the part of a request that comes before the role, as its provider
// reads it: the tools, and the system prompt up to there.
func prefix(t *testing.T, api model.API, body, role string) string {
	t.Helper()
	var w struct {
		Tools        json.RawMessage `json:"tools"`
		Instructions string          `json:"instructions"`
		System       []struct {
			Text  string          `json:"text"`
			Cache json.RawMessage `json:"cache_control"`
		} `json:"system"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		CacheKey string `json:"prompt_cache_key"`
	}
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		t.Fatal(err)
	}
	system := w.Instructions
	switch api {
	case model.Chat:
		if err := json.Unmarshal(w.Messages[0].Content, &system); err != nil {
			t.Fatal(err)
		}
	case model.Anthropic:
		if len(w.System) != 2 || len(w.System[0].Cache) == 0 || len(w.System[1].Cache) != 0 {
			t.Fatalf("system = %+v: want a mark on the first of two", w.System)
		}
		if last := w.Messages[len(w.Messages)-1]; !strings.Contains(string(last.Content), `"cache_control"`) {
			t.Errorf("the last message has no mark: %s", last.Content)
		}
		system = w.System[0].Text + "\n\n" + w.System[1].Text
	case model.Responses:
		if w.CacheKey == "" {
			t.Error("there is no cache key")
		}
	}
	shared, _, ok := strings.Cut(system, role)
	if !ok {
		t.Fatalf("the role is not in %s", system)
	}
	return string(w.Tools) + "\n" + shared + w.CacheKey + "\n"
}

// TestPrefix holds that agents with different roles, tasks, folders and
// sessions have all in common that comes before the role.
func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			var all []string
			for _, role := range []string{"You are the first.", "You are somebody else, with more to say."} {
				f := newFake(t, turn{text: "done"})
				o := options(t, f.endpoint(api))
				o.Role, o.Contract = role, "The contract."
				put(t, o.Root, "AGENTS.md", "Use tabs.\n", "b/c", "", ".gitignore", "junk\n", "junk/"+role[8:11], "", "sub/x", "")
				o.Dir = filepath.Join(o.Root, "b")
				if len(all) > 0 {
					o.Dir = filepath.Join(o.Root, "sub")
				}
				k := start(t, t.Context(), o)
				k.prompt("task of " + role)
				k.until("result")
				k.finish()
				body := f.bodies()[0]
				p := prefix(t, api, body, role)
				if strings.Contains(p, o.Root) {
					t.Errorf("a path is in %s", p)
				}
				has(t, "the prefix", p, "Use tabs.", "The contract.")
				// The long list of the workspace comes with the task.
				const top = `.gitignore\nAGENTS.md\nb/\nsub/`
				if i := strings.Index(body, top); i < 0 || strings.Contains(p, "sub/") || i > strings.Index(body, "task of "+role) {
					t.Errorf("the top of the repository is at %d of %s", i, body)
				}
				all = append(all, p)
			}
			if all[0] != all[1] {
				t.Errorf("the prefixes differ:\n%s\n%s", all[0], all[1])
			}
			golden := filepath.Join("testdata", "prefix_"+string(api)+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(all[0]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, ".", golden); want != all[0] {
				t.Errorf("the prefix is\n%s\nwant\n%s", all[0], want)
			}
		})
	}
}

// TestFork checks that a fork sends its parent's requests again, byte for byte.
func TestFork(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, turn{text: "I look", calls: []fakeCall{{"ls", `{ "path" : "." }`}}}, turn{text: "parent's answer"})
			o := options(t, f.endpoint(api))
			o.Role = "role"
			k := start(t, t.Context(), o)
			k.prompt("first task <&>")
			k.until("result")
			k.finish()
			if info, err := os.Stat(filepath.Join(o.Session, "session.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the session is %v, %v", info, err)
			}

			child := newFake(t, turn{text: "child's answer"})
			p := options(t, child.endpoint(api))
			p.Fork = o.Session
			k = start(t, t.Context(), p)
			k.prompt("second task")
			k.until("result")
			k.finish()
			was, is := conversation(t, api, f.bodies()[1]), conversation(t, api, child.bodies()[0])
			if !strings.HasPrefix(is, was) {
				t.Errorf("the fork sends\n%s\nwhere its parent sent\n%s", is, was)
			}
			has(t, "the fork", is, "parent's answer", "second task")

			// And a fork of it.
			grandchild := newFake(t, turn{text: "done"})
			q := options(t, grandchild.endpoint(api))
			q.Fork = p.Session
			k = start(t, t.Context(), q)
			k.prompt("third task")
			k.until("result")
			k.finish()
			if got := conversation(t, api, grandchild.bodies()[0]); !strings.HasPrefix(got, is) {
				t.Errorf("the fork's fork sends\n%s\nwhere its parent sent\n%s", got, is)
			}
		})
	}
}

// conversation is the text of a request in the order in which it is read. It
// leaves out the marks of cached parts, which do not belong to it.
func conversation(t *testing.T, api model.API, body string) string {
	t.Helper()
	body = strings.ReplaceAll(body, `"cache_control":{"type":"ephemeral"},`, "")
	var w map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		t.Fatal(err)
	}
	messages := "messages"
	if api == model.Responses {
		messages = "input"
	}
	return string(w["tools"]) + string(w["instructions"]) + string(w["system"]) + strings.TrimSuffix(string(w[messages]), "]")
}

// TestColdFork checks that a fork that would not be cached is refused, or said
// to be cold.
func TestColdFork(t *testing.T) {
	t.Parallel()
	parent := newFake(t, turn{text: "parent's answer", calls: []fakeCall{{"ls", `{}`}}}, turn{text: "done"})
	o := options(t, parent.endpoint(model.Responses))
	k := start(t, t.Context(), o)
	k.prompt("first")
	k.until("result")
	k.finish()
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"model", func(p *Options) { p.Endpoint.Spec.Model = "other" }, "it is one of fake/m (responses), and this is fake/other (responses)"},
		{"API", func(p *Options) {
			p.Endpoint.API, p.Endpoint.URL = model.Anthropic, strings.TrimSuffix(p.Endpoint.URL, "/v1")
		}, "(anthropic)"},
		{"tools", func(p *Options) { p.ReadOnly = true }, "and this has read grep find ls"},
	} {
		f := newFake(t, turn{text: "child's answer"})
		p := options(t, f.endpoint(model.Responses))
		p.Fork = o.Session
		test.change(&p)
		k := start(t, t.Context(), p)
		if err := k.end(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Run = %v, want %s", test.name, err, test.want)
		}
		p.Cold, p.Session = true, filepath.Join(t.TempDir(), "s")
		k = start(t, t.Context(), p)
		k.prompt("second")
		if l := k.until("text"); !strings.Contains(l.Text, "continues without the cache: ") {
			t.Errorf("%s: text = %+v", test.name, l)
		}
		k.until("result")
		k.finish()
		has(t, test.name, f.bodies()[0], "parent's answer", "second")
	}
	p := options(t, parent.endpoint(model.Responses))
	p.Fork, p.Role = o.Session, "role"
	if err := start(t, t.Context(), p).end(); err == nil || !strings.Contains(err.Error(), "a fork keeps what its parent was told") {
		t.Errorf("with a role: %v", err)
	}
	p.Fork = t.TempDir()
	if err := start(t, t.Context(), p).end(); err == nil || !strings.Contains(err.Error(), "holds no conversation") {
		t.Errorf("of nothing: %v", err)
	}
}

// TestVariantPrefix checks that texts against failure modes, the stage and the
// role come after all parts that agents share. The cache key follows them.
func TestVariantPrefix(t *testing.T) {
	t.Parallel()
	roster := []string{"planner", "reviewer"}
	header := func(change func(*Options, *prompt.Parts)) header {
		o := options(t, &model.Endpoint{Spec: roles.Spec{Provider: "anthropic", Model: "claude-opus"}, API: model.Anthropic})
		o.Contract = "The contract."
		o.Opening = &prompt.Parts{
			Memory:   []prompt.File{{Name: "AGENTS.md", Text: "Use tabs."}},
			Stage:    &task.Stage{Name: "reviewer", Roster: roster, Words: "Review."},
			Variants: []variants.Variant{{Family: variants.Claude, Text: "Quote."}, {Family: variants.GPT, Text: "Act."}},
		}
		change(&o, o.Opening)
		tools, err := tool.Pick(o.Tools, o.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		return newHeader(o, tools)
	}
	plain := header(func(*Options, *prompt.Parts) {})
	if !strings.HasSuffix(plain.Own, "\n\nQuote.") || strings.Contains(plain.Own, "Act.") {
		t.Errorf("the prompt ends with %s: want what is for the family of its model", plain.Own)
	}
	for _, test := range []struct {
		name   string
		same   string // how far the rest of the prompt is the same
		key    bool   // the key is the same
		change func(*Options, *prompt.Parts)
	}{
		{"another variant", "Review.", true, func(_ *Options, p *prompt.Parts) { p.Variants[0].Text = "Other." }},
		{"no variant", "Review.", true, func(_ *Options, p *prompt.Parts) { p.Variants = nil }},
		{"another role", "do not invent", true, func(_ *Options, p *prompt.Parts) { p.Stage.Words = "Other." }},
		{"another stage", "The contract.", true, func(_ *Options, p *prompt.Parts) { p.Stage.Name = "planner" }},
		{"no stage", "The contract.", true, func(_ *Options, p *prompt.Parts) { p.Stage = nil }},
		{"another contract", "", true, func(o *Options, _ *prompt.Parts) { o.Contract = "Other." }},
		{"another folder and session", "Quote.", true, func(o *Options, _ *prompt.Parts) { o.Root, o.Session = t.TempDir(), t.TempDir() }},
		{"other tools", "", false, func(o *Options, _ *prompt.Parts) { o.ReadOnly = true }},
		{"another model", "do not invent", false, func(o *Options, _ *prompt.Parts) { o.Endpoint.Spec.Model = "gpt-5" }},
		{"another memory", "", false, func(_ *Options, p *prompt.Parts) { p.Memory[0].Text = "Other." }},
	} {
		h := header(test.change)
		if i := strings.Index(plain.Own, test.same); i < 0 || !strings.HasPrefix(h.Own, plain.Own[:i]) {
			t.Errorf("%s: the prompt goes on with\n%s\nwant the same up to %q of\n%s", test.name, h.Own, test.same, plain.Own)
		}
		if test.key && h.Shared != plain.Shared {
			t.Errorf("%s: it begins with\n%s\nwant\n%s", test.name, h.Shared, plain.Shared)
		}
		if got := h.cacheKey() == plain.cacheKey(); got != test.key {
			t.Errorf("%s: the same key: %t", test.name, got)
		}
	}
}

// TestForkPart checks that a fork keeps its parent's instructions, and gets a
// part that differs.
func TestForkPart(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{text: "parent's answer"})
	o := options(t, f.endpoint(model.Responses))
	o.Opening = &prompt.Parts{Stage: &task.Stage{Name: "planner", Words: "Plan it."}}
	k := start(t, t.Context(), o)
	k.prompt("first")
	k.until("result")
	k.finish()
	for words, told := range map[string]bool{"Plan it.": false, "Check it.": true} {
		child := newFake(t, turn{text: "child's answer"})
		p := options(t, child.endpoint(model.Responses))
		p.Fork = o.Session
		p.Opening = &prompt.Parts{Stage: &task.Stage{Name: "planner", Words: words}}
		k = start(t, t.Context(), p)
		k.prompt("second")
		k.until("result")
		k.finish()
		body := child.bodies()[0]
		if got := strings.Count(body, "Your part: planner"); got != map[bool]int{false: 1, true: 2}[told] {
			t.Errorf("%s: the fork is told %d times of its part: %s", words, got, body)
		}
	}
}
