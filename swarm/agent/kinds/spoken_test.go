package kinds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// secret is a thought, as it comes in pieces.
func secret() []string { return []string{"PLUGH", "XYZZY", "FROTZ"} }

// deltas are the patterns by which the kinds print pieces of their model's
// text.
func deltas() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		agent.KindClaude:  regexp.MustCompile(`("delta":\{"text":)("(?:[^"\\]|\\.)*")`),
		agent.KindPi:      regexp.MustCompile(`("type":"text_delta","contentIndex":[0-9]+,"delta":)("(?:[^"\\]|\\.)*")`),
		agent.KindGemini:  regexp.MustCompile(`("role":"assistant","content":)("(?:[^"\\]|\\.)*")`),
		agent.KindCopilot: regexp.MustCompile(`("deltaContent":)("(?:[^"\\]|\\.)*")`),
		agent.KindCodex:   regexp.MustCompile(`("method":"item/agentMessage/delta","params":\{"threadId":"t","turnId":"u","itemId":"m","delta":)("(?:[^"\\]|\\.)*")`),
	}
}

// recorded are the streams of a kind that its CLI wrote.
func recorded(t *testing.T, kind string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.jsonl", "*/in.jsonl"} {
		names, err := filepath.Glob(filepath.Join("..", kind, "testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
	}
	return all
}

// saying is a stream in which the model says something before all that it says,
// in pieces where it comes in pieces.
func saying(t *testing.T, kind agent.Kind, stream string, before ...string) string {
	t.Helper()
	var whole []string // the spoken text, and the expected text
	for _, text := range texts(t, kind, stream) {
		whole = append(whole, quoted(t, text), quoted(t, strings.Join(before, "")+text))
	}
	replacer, delta := strings.NewReplacer(whole...), deltas()[kind.Name]
	if kind.Name == agent.KindCodex { // it is asked for none of these
		completed := regexp.MustCompile(`(?m)^\{"method":"item/completed","params":\{"item":\{"type":"agentMessage"`)
		stream = completed.ReplaceAllString(stream, `{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"m","delta":"said"}}`+"\n$0")
	}
	changed, within := "", false
	for line := range strings.Lines(stream) {
		is := delta != nil && delta.MatchString(line)
		if is && !within {
			for _, piece := range before {
				changed += delta.ReplaceAllStringFunc(line, func(found string) string {
					return delta.FindStringSubmatch(found)[1] + quoted(t, piece)
				})
			}
		}
		if within = is; !is {
			line = replacer.Replace(line)
		}
		changed += line
	}
	return changed
}

// texts returns the texts of a stream.
func texts(t *testing.T, kind agent.Kind, stream string) (all []string) {
	t.Helper()
	spec := kind.Spec
	p := kind.Adapter.Parser(&spec)
	for _, e := range append(p.Feed([]byte(stream)), p.End()...) {
		text := ""
		switch e := e.(type) {
		case *event.Text:
			text = e.Text
		case *event.Answered:
			text = e.Text
		}
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestThoughtsInText checks all recorded outputs of the CLIs. A thought that
// its server left in the text is in no event and in no kept output. The kept
// output yields the same events when it is read again.
func TestThoughtsInText(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"between marks":  {"\n<th", "ink>\n" + secret()[0], secret()[1], secret()[2] + "\n</th", "ink>\n", "\n"},
		"before the end": {secret()[0], "\n" + secret()[1], secret()[2] + "\n</think", ">\n\n"},
		"twice":          {"<think>" + secret()[0] + "</think><think>", secret()[1] + "</think>[THINK]" + secret()[2], "[/THINK]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, kind agent.Kind, stream string) {
				want := eventsOf(t, kind, stream)
				thinks := saying(t, kind, stream, before...)
				if !strings.Contains(thinks, secret()[0]) {
					t.Fatal("it thinks nothing")
				}
				if shown := eventsOf(t, kind, thinks); shown != want {
					t.Errorf("with a thought it says\n%s\nwithout\n%s", shown, want)
				}
				kept := withoutThoughts(t, thinks)
				if again := eventsOf(t, kind, kept); again != want {
					t.Errorf("what is kept says\n%s\nthe output said\n%s", again, want)
				}
				for _, word := range secret() {
					if at := strings.Index(kept, word); at >= 0 {
						t.Errorf("what is kept holds what was thought: …%.260s", kept[max(0, at-200):])
					}
				}
			})
		})
	}
}

// TestTagsInText checks that answers in tags that were asked for, and texts
// that speak of those of thoughts, stay whole, also when they are read again.
func TestTagsInText(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"reasoning":    {"<reason", "ing>why</reasoning>", "<answer>x</answer>"},
		"never closed": {"<thinking>", "why "},
		"a review":     {"<review>\n", "<reasoning>ok\n</reas", "oning>\n</review>\n"},
		"of a mark":    {"Begin by ", "<think>, and end by ", "</think>: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, kind agent.Kind, stream string) {
				stream = withoutThoughts(t, stream) // as some were recorded
				said := texts(t, kind, stream)
				for i := range said {
					said[i] = strings.Join(before, "") + said[i]
				}
				tagged := saying(t, kind, stream, before...)
				if got := texts(t, kind, tagged); !slices.Equal(got, said) {
					t.Errorf("it says %q, want %q", got, said)
				}
				kept := strings.Split(withoutThoughts(t, tagged), "\n")
				for i, line := range strings.Split(tagged, "\n") {
					if kept[i] != line {
						t.Errorf("of %s\nis kept %s", line, kept[i])
					}
				}
			})
		})
	}
}

// each runs a test for each stream that says something.
func each(t *testing.T, test func(*testing.T, agent.Kind, string)) {
	for _, kind := range All() {
		for name, stream := range recorded(t, kind.Name) {
			if len(texts(t, kind, stream)) > 0 {
				t.Run(name, func(t *testing.T) { test(t, kind, stream) })
			}
		}
	}
}

// TestStructuredStays checks that an answer by a schema stays whole, whatever
// its members are called.
func TestStructuredStays(t *testing.T) {
	t.Parallel()
	const answer = `{"type":"reasoning error","thought":true,"fix":"<think>add a check"}`
	for kind, stream := range map[string]string{
		agent.KindClaude:  strings.ReplaceAll(recorded(t, agent.KindClaude)["../claude/testdata/schema.jsonl"], `{"files":3}`, answer),
		agent.KindQwen:    strings.ReplaceAll(recorded(t, agent.KindQwen)["../qwen/testdata/schema.jsonl"], `{"files":3}`, answer),
		agent.KindBuiltin: `{"type":"result","text":"","structured":` + answer + "}\n",
	} {
		k, _ := All().Find(kind)
		shown := eventsOf(t, k, stream)
		if !strings.Contains(shown, "reasoning error") || !strings.Contains(shown, "add a check") {
			t.Errorf("%s says %s", kind, shown)
		}
		if again := eventsOf(t, k, withoutThoughts(t, stream)); again != shown {
			t.Errorf("%s: what is kept says\n%s\nthe output said\n%s", kind, again, shown)
		}
	}
}

// TestThoughtOfALaterPart checks that each part of a text may begin with a
// thought, also where all parts are a single answer.
func TestThoughtOfALaterPart(t *testing.T) {
	t.Parallel()
	for kind, stream := range map[string]string{
		agent.KindOpencode: `{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}
{"type":"text","sessionID":"s","part":{"type":"text","text":"One."}}
{"type":"text","sessionID":"s","part":{"type":"text","text":"<think>PLUGH</think>Two."}}
{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"stop","tokens":{}}}
`,
		agent.KindPi: `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"One."},{"type":"text","text":"PLUGH\n</think>\nTwo."}],"stopReason":"stop"}}
{"type":"agent_settled"}
`,
	} {
		k, _ := All().Find(kind)
		shown := eventsOf(t, k, stream)
		if answer := shown[strings.LastIndex(shown, "{"):]; strings.Contains(shown, "PLUGH") || !strings.Contains(answer, "One.") || !strings.Contains(answer, "Two.") {
			t.Errorf("%s says %s", kind, shown)
		}
		kept := withoutThoughts(t, stream)
		if again := eventsOf(t, k, kept); again != shown || strings.Contains(kept, "PLUGH") {
			t.Errorf("%s: what is kept is\n%s\nand says\n%s\nthe output said\n%s", kind, kept, again, shown)
		}
	}
}
