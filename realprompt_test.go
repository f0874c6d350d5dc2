package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
	"agentswarm/worktree"
)

// ownModel is a model of a known family, for kinds that take any name.
func ownModel(k realKind) (model, family string) {
	switch k.name {
	case agent.KindClaude:
		return "claude-fake", "claude"
	case agent.KindCodex:
		return "gpt-fake", "gpt"
	case agent.KindQwen:
		return "qwen-fake", "qwen"
	case agent.KindGemini:
		return k.model, "gemini"
	case agent.KindBuiltin:
		return "anthropic/claude-fake", "claude"
	default:
		return k.model, "" // its set-up names it
	}
}

// TestRealPrompt checks that a model's request opens with all parts, in order
// and each of them once. The request names the tools that are really offered.
// Agents with other tasks get the same opening.
func TestRealPrompt(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		var family string
		k.model, family = ownModel(k)
		r := newReal(t, k, modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}})
		r.write("repo/AGENTS.md", "Indent with tabs for ever.\n")
		if family != "" {
			r.write("repo/.swarm/variants/"+family+"/mine.md", "---\nfailure: f\n---\nHum while you work.\n")
		}
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "words")
		for _, how := range [][]string{nil, {"--read-only"}} {
			if k.name == agent.KindCodex && how != nil {
				continue // it has the same tools, in a sandbox
			}
			var all []string
			for _, task := range []string{"The first thing to do.", "Something else entirely."} {
				before := len(r.server.Requests())
				r.run(0, append(slices.Clone(how), task)...)
				q := opening(t, r.server.Requests()[before:])
				all = append(all, inOrder(t, q, family))
				offered(t, q)
			}
			if all[0] != all[1] {
				t.Errorf("two agents are told\n%s\nand\n%s", all[0], all[1])
			}
		}
	})
}

// TestRealMemory checks that agents get a repository's instructions once, with
// a sandbox and without, from each file that may hold them.
func TestRealMemory(t *testing.T) {
	t.Parallel()
	own := map[string]string{agent.KindClaude: "CLAUDE.md", agent.KindGemini: "GEMINI.md", agent.KindQwen: "QWEN.md",
		agent.KindCopilot: ".github/copilot-instructions.md"}
	onKinds(t, func(t *testing.T, k realKind) {
		for _, backend := range []worktree.Backend{worktree.Overlay, worktree.Linked} {
			for _, files := range []map[string]string{
				{"AGENTS.md": "Indent with tabs for ever."},
				{"AGENTS.md": "Indent with tabs for ever.", own[k.name]: "Hum while you work."},
				{own[k.name]: "Hum while you work."},
				{"AGENTS.md": "Indent with tabs for ever.", ".claude/CLAUDE.md": "Whistle."},
			} {
				delete(files, "") // it has no file of its own
				r := newRealOn(t, k, backend, modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}})
				for name, text := range files {
					r.write("repo/"+name, text+"\n")
				}
				r.git("add", "-A")
				r.git("commit", "-q", "--allow-empty", "-m", "words")
				r.run(0, "A task.")
				body := string(opening(t, r.server.Requests()).Body)
				for name, text := range files {
					if n := strings.Count(body, text); n != 1 && (k.name == agent.KindClaude || !strings.Contains(name, "/")) {
						t.Errorf("%s, with %v: %s is sent %d times", backend, files, name, n)
					}
				}
			}
		}
	})
}

// TestMemoryLink checks that a link between two such files is followed within
// the commit, and that uncommitted changes do not count.
func TestMemoryLink(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		r := newReal(t, k, modeltest.Rule{Turn: modeltest.Turn{Text: modeltest.Pieces{"Done."}}})
		r.write("repo/CLAUDE.md", "Indent with tabs for ever.\n")
		r.must(os.Symlink("CLAUDE.md", filepath.Join(r.dir, "repo", "AGENTS.md")))
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "words")
		r.write("repo/CLAUDE.md", "Hum while you work.\n")
		r.run(0, "A task.")
		body := string(opening(t, r.server.Requests()).Body)
		if strings.Count(body, "Indent with tabs for ever.") != 1 || strings.Contains(body, "Hum while") {
			t.Errorf("want what is committed, once, in %s", body)
		}
	}, agent.KindBuiltin)
}

// opening is the first request with the instructions of agents.
func opening(t *testing.T, all []modeltest.Request) modeltest.Request {
	t.Helper()
	for _, q := range all {
		if strings.Contains(string(q.Body), "# What is data") {
			return q
		}
	}
	t.Fatalf("none of %d requests says what is data", len(all))
	return modeltest.Request{}
}

// inOrder checks that a request has swarm's parts in order, each once. It returns
// the text from their begin to the last.
func inOrder(t *testing.T, q modeltest.Request, family string) string {
	t.Helper()
	body := string(q.Body)
	begin := strings.Index(body, "You are one of several agents that swarm runs")
	if begin < 0 {
		begin = strings.Index(body, "You are a coding agent. You work alone")
	}
	marks := []string{"Nobody watches", "# What is data", contractWords, "# Available tools"}
	if family != "" {
		marks = append(marks, "Hum while you work.")
	}
	at := begin
	for _, mark := range marks {
		i := strings.Index(body, mark)
		if i < at || at < 0 || strings.Count(body, mark) != 1 {
			t.Fatalf("%q is there %d times, at %d, after %d, in %s", mark, strings.Count(body, mark), i, at, body)
		}
		at = i
	}
	if n := strings.Count(body, "Indent with tabs for ever."); n != 1 {
		t.Errorf("AGENTS.md is sent %d times: %s", n, body)
	}
	return body[begin:at]
}

// offered holds that the tools that are named are those that are offered.
func offered(t *testing.T, q modeltest.Request) {
	t.Helper()
	body := string(q.Body)
	_, after, _ := strings.Cut(body, "# Available tools")
	m := regexp.MustCompile(`^\\n\\n(Your tools are exactly these: |Among the tools that you are offered are )([^.]*)\.`).FindStringSubmatch(after)
	if m == nil {
		return // nobody can tell beforehand
	}
	named := strings.Split(m[2], ", ")
	for _, name := range named {
		if !slices.Contains(q.Tools, name) {
			t.Errorf("the tool %s is named and not offered; there are %q", name, q.Tools)
		}
	}
	others := slices.DeleteFunc(slices.Clone(q.Tools), func(name string) bool {
		return slices.Contains(named, name) || name == "DeferredToolPlaceholder" // it says that it cannot be called
	})
	if strings.HasPrefix(m[1], "Your") && len(others) > 0 {
		t.Errorf("the tools are said to be exactly %q; there are also %q", named, others)
	}
}
