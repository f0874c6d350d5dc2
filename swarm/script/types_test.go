package script

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// mute is a host that answers nothing.
type mute struct{}

func (mute) Do(context.Context, Request) (json.RawMessage, error) { return nil, errors.New("mute") }
func (mute) Post(int, Request) error                              { return errors.New("mute") }
func (mute) Next(context.Context) (Delivery, error)               { return Delivery{}, errors.New("mute") }

// offered are the globals of a script that the language does not have, with
// their members.
func offered(t *testing.T) map[string][]string {
	t.Helper()
	m := newMachine(t.Context(), Start{}, mute{})
	m.context.root.program = &running{args: goja.Undefined()}
	if err := m.prepare(); err != nil {
		t.Fatal(err)
	}
	plain := goja.New().GlobalObject().GetOwnPropertyNames()
	found := map[string][]string{}
	global := m.rt.GlobalObject()
	for _, name := range global.GetOwnPropertyNames() {
		// The language has those of newer editions, and helpers that no script
		// can spell.
		newer := name == "Intl" || name == "Iterator" || strings.HasPrefix(name, "%")
		if newer || name == explainAbsent || slices.Contains(plain, name) {
			continue
		}
		found[name] = nil
		if o, ok := global.Get(name).(*goja.Object); ok && !isFunction(o) {
			found[name] = o.Keys()
		}
	}
	return found
}

// declaredTypes are the names that the types declare for scripts.
var declaredTypes = regexp.MustCompile(`(?m)^declare (?:function|const|var|class) (\w+)`)

// TestTypesHaveEveryGlobal: the types declare every name that a script sees,
// with its members, and no other.
func TestTypesHaveEveryGlobal(t *testing.T) {
	t.Parallel()
	globals := offered(t)
	if len(globals) < 20 || len(globals["sa"]) != 8 || len(globals["std"]) != 7 {
		t.Fatalf("the globals are %v", globals)
	}
	var declared []string
	for _, m := range declaredTypes.FindAllStringSubmatch(Types(), -1) {
		declared = append(declared, m[1])
	}
	for name, members := range globals {
		if !slices.Contains(declared, name) {
			t.Errorf("the types do not declare %s", name)
		}
		block := blockOf(t, "declare const "+name, len(members) > 0)
		for _, member := range members {
			if !regexp.MustCompile(`\b` + member + `\b`).MatchString(block) {
				t.Errorf("the types do not declare %s.%s", name, member)
			}
		}
	}
	for _, name := range declared {
		if _, ok := globals[name]; !ok {
			t.Errorf("the types declare %s, which a script does not see", name)
		}
	}
}

// blockOf is the part of the types that begins with some words, up to the next
// line that is not further in.
func blockOf(t *testing.T, begin string, needed bool) string {
	t.Helper()
	at := strings.Index(Types(), "\n"+begin)
	if at < 0 {
		if needed {
			t.Errorf("the types have no %q", begin)
		}
		return ""
	}
	block := Types()[at+1:]
	first, rest, _ := strings.Cut(block, "\n")
	if end := regexp.MustCompile(`(?m)^\S`).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return first + "\n" + rest
}

// optionKeys are the options of everything that has some, by where the types
// and the documentation have them.
func optionKeys(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{
		"interface AgentOptions":    specKeys(),
		"declare function parallel": {"concurrency"},
		"declare function race":     {"accept", "n"},
		"declare function check":    {"on", "timeout"},
		"declare function merge":    {"onto"},
		"declare function land":     {"into", "verify"},
		"declare function ask":      {"choices", "default", "timeout"},
		"declare const sa":          {"timeout", "since", "problems", "by"},
		"declare const repo":        {"path", "max"},
	}
	for name, begin := range map[string]string{
		"verify": "interface VerifyOptions", "judge": "interface JudgeOptions",
		"untilDry": "interface UntilDryOptions", "critic": "interface CriticOptions", "stages": "interface StagesOptions",
		"sweep.worst": "declare const std", "retry.worst": "declare const std",
	} {
		// A strategy lists its options for a key that is near to none.
		said := onStage(t, "const odd = { qqqqqqqqqqqq: 1 }; try { await std."+name+
			"("+map[bool]string{true: "odd", false: "'x', odd"}[strings.HasSuffix(name, "worst")]+") } catch (e) { return e.message }")
		_, list, ok := strings.Cut(strings.Trim(said, `"`), "there are ")
		if !ok {
			t.Fatalf("std.%s said %s", name, said)
		}
		list, _, _ = strings.Cut(list, ", label") // the options that go on to agents
		all[begin] = append(all[begin], strings.Split(list, ", ")...)
	}
	return all
}

func TestTypesHaveEveryOption(t *testing.T) {
	t.Parallel()
	for begin, keys := range optionKeys(t) {
		block := ""
		for at := range strings.SplitSeq(Types(), "\n") {
			if strings.HasPrefix(at, begin) {
				block += at + "\n"
			}
		}
		block += blockOf(t, begin, true)
		for _, key := range keys {
			if !regexp.MustCompile(`\b` + key + `\?:`).MatchString(block) {
				t.Errorf("%s: the types have no option %s", begin, key)
			}
		}
	}
}

// TestDocumentation: docs/workflows.md has every global and every option.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for name, members := range offered(t) {
		if !regexp.MustCompile("`" + name + `\b`).MatchString(doc) {
			t.Errorf("the documentation has no %s", name)
		}
		for _, member := range members {
			if name != "console" && !regexp.MustCompile("`"+name+`\.`+member+`\b`).MatchString(doc) {
				t.Errorf("the documentation has no %s.%s", name, member)
			}
		}
	}
	for begin, keys := range optionKeys(t) {
		for _, key := range keys {
			if !regexp.MustCompile("[`{ ]" + key + `\b`).MatchString(doc) {
				t.Errorf("%s: the documentation has no option %s", begin, key)
			}
		}
	}
}
