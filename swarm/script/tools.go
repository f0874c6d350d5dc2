package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// answered posts a request whose answer settles d.
func (m *machine) answered(r Request, d deferred) {
	at := m.here()
	m.send(r, func(answer Delivery) {
		m.settleWith(d, func() goja.Value {
			if answer.Error != nil {
				panic(m.hostFault(answer.Error, at))
			}
			return m.value(answer.Value)
		})
	})
}

// answeredNow sends a request that the host answers at once, and settles d with
// the answer.
func (m *machine) answeredNow(r Request, d deferred) {
	m.settleWith(d, func() goja.Value { return m.value(m.do(r)) })
}

// check is check(argv or name, {on, timeout}).
func (m *machine) check(call goja.FunctionCall, d deferred) {
	m.refuseLosers("a check")
	r := &Check{}
	var err error
	switch v := call.Argument(0); {
	case goja.IsString(v) && v.String() != "":
		r.Name = v.String()
	default:
		if r.Argv, err = m.texts("check: the command", v); err != nil {
			m.throw(err)
		}
	}
	o, err := m.options("check", call.Argument(1), "on", "timeout")
	if err != nil {
		m.throw(err)
	}
	if r.On, err = o.tree("on"); err != nil {
		m.throw(err)
	}
	if r.On == "base" {
		r.On = ""
	}
	if r.MS, err = o.duration("timeout"); err != nil {
		m.throw(err)
	}
	m.answered(r, d)
}

// merge is merge(patches, {onto}).
func (m *machine) merge(call goja.FunctionCall, d deferred) {
	r := &Merge{Patches: m.patchIDs("merge", call.Argument(0))}
	o, err := m.options("merge", call.Argument(1), "onto")
	if err != nil {
		m.throw(err)
	}
	if r.Onto, err = o.tree("onto"); err != nil {
		m.throw(err)
	}
	m.answeredNow(r, d)
}

// land is land(patches, {into, verify}).
func (m *machine) land(call goja.FunctionCall, d deferred) {
	m.refuseLosers("a landing")
	r := &Land{Patches: m.patchIDs("land", call.Argument(0))}
	o, err := m.options("land", call.Argument(1), "into", "verify")
	if err != nil {
		m.throw(err)
	}
	if r.Into, err = o.text("into"); err != nil {
		m.throw(err)
	}
	if r.Verify, err = o.text("verify"); err != nil {
		m.throw(err)
	}
	m.answered(r, d)
}

// question is ask(question, {choices, default, timeout}).
func (m *machine) question(call goja.FunctionCall, d deferred) {
	m.refuseLosers("a question")
	text := call.Argument(0)
	if !goja.IsString(text) || text.String() == "" {
		m.throw(invalid("ask: the question must be a string that is not empty, not %s", kindOf(text)))
	}
	r := &Question{Text: text.String()}
	o, err := m.options("ask", call.Argument(1), "choices", "default", "timeout")
	if err != nil {
		m.throw(err)
	}
	if r.Choices, err = o.texts("choices"); err != nil {
		m.throw(err)
	}
	if v := o.get("default"); v != nil {
		if !goja.IsString(v) {
			m.throw(o.refuse("default", v, "a string"))
		}
		word := v.String()
		if len(r.Choices) > 0 && !slices.Contains(r.Choices, word) {
			m.throw(invalid("ask: default %q is none of the choices", word))
		}
		r.Default = &word
	}
	if r.MS, err = o.duration("timeout"); err != nil {
		m.throw(err)
	}
	m.answered(r, d)
}

// word is an argument that is a string with something in it.
func (m *machine) word(what string, v goja.Value) string {
	if !goja.IsString(v) || v.String() == "" {
		m.throw(invalid("%s must be a string that is not empty, not %s", what, kindOf(v)))
	}
	return v.String()
}

// repo returns the object with the facts of the base.
func (m *machine) repo() *goja.Object {
	o := m.rt.NewObject()
	m.member(o, "files", m.promising(func(call goja.FunctionCall, d deferred) {
		glob := "**"
		if v := call.Argument(0); !absent(v) {
			glob = m.word("repo.files: the glob", v)
		}
		m.answeredNow(&Repo{Verb: "files", Glob: glob}, d)
	}))
	m.member(o, "read", m.promising(func(call goja.FunctionCall, d deferred) {
		m.answeredNow(&Repo{Verb: "read", Path: m.word("repo.read: the path", call.Argument(0))}, d)
	}))
	m.member(o, "grep", m.promising(func(call goja.FunctionCall, d deferred) {
		r := &Repo{Verb: "grep", Pattern: m.word("repo.grep: the pattern", call.Argument(0))}
		if v := call.Argument(1); !absent(v) {
			r.Glob = m.word("repo.grep: the glob", v)
		}
		m.answeredNow(r, d)
	}))
	m.member(o, "log", m.promising(func(call goja.FunctionCall, d deferred) {
		given, err := m.options("repo.log", call.Argument(0), "path", "max")
		if err != nil {
			m.throw(err)
		}
		r := &Repo{Verb: "log"}
		if r.Path, err = given.text("path"); err != nil {
			m.throw(err)
		}
		most, _, err := given.number("max", 1, 1000)
		if err != nil {
			m.throw(err)
		}
		r.Max = int(most)
		m.answeredNow(r, d)
	}))
	return o
}

// budget returns the object with the budget of the run and the amount spent.
func (m *machine) budget() *goja.Object {
	o := m.rt.NewObject()
	total := m.begin.BudgetTokens
	if total > 0 {
		m.constant(o, "total", m.rt.ToValue(total))
	} else {
		m.constant(o, "total", goja.Null())
	}
	m.member(o, "spent", func(goja.FunctionCall) goja.Value { return m.rt.ToValue(m.spent) })
	m.member(o, "remaining", func(goja.FunctionCall) goja.Value {
		if total == 0 {
			return goja.PositiveInf()
		}
		return m.rt.ToValue(max(0, total-m.spent))
	})
	return o
}

// longestLine is how many bytes of a line are kept.
const longestLine = 8 << 10

// clip keeps the beginning of a text that is too long and counts the rest.
func clip(text string) string {
	if len(text) <= longestLine {
		return text
	}
	const room = 40 // for the text about the rest
	cut := longestLine - room
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not inside a character
		cut--
	}
	return fmt.Sprintf("%s… (%d more bytes)", text[:cut], len(text)-cut)
}

// log is log(…): it writes its arguments as a line for people.
func (m *machine) log(call goja.FunctionCall) goja.Value {
	var text []byte
	for i, v := range call.Arguments {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, m.show(v)...)
	}
	m.print(string(text))
	return goja.Undefined()
}

// print writes a line for people.
func (m *machine) print(text string) {
	m.send(&Log{Text: clip(text), Phase: m.phase}, nil)
}

// warn writes a warning, once in a run, because a loop repeats its mistake at
// every turn.
func (m *machine) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !m.warned[text] {
		m.warned[text] = true
		m.print("warning: " + text)
	}
}

// warnHere is warn about the code that runs now.
func (m *machine) warnHere(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if at := m.here(); at.file != "" {
		src := m.sources[at.file]
		text = src.fault("", offset(src, at), "").Where + ": " + text
	}
	m.warn("%s", text)
}

// setPhase is phase(title). A title is for people: any value names a phase that
// is not an object, and in the form of Claude Code those do too.
func (m *machine) setPhase(call goja.FunctionCall) goja.Value {
	title := call.Argument(0)
	_, isObject := title.(*goja.Object)
	text := ""
	if !absent(title) && (!isObject || m.form() == FormClaude) {
		text = m.show(title)
	}
	switch {
	case strings.TrimSpace(text) != "":
	case m.form() == FormClaude:
		m.warnHere("phase: the title is %s; it is passed over", kindOf(title))
		return goja.Undefined()
	default:
		m.throw(invalid("phase: the title must be a string that is not empty, not %s", kindOf(title)))
	}
	m.phase = clip(text)
	m.send(&Phase{Title: m.phase}, nil)
	return goja.Undefined()
}
