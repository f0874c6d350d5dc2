package script

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// frame is a line of the stack that an error carries: where, without the name
// of the function and with the runtime's own address at its end.
var frame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\tat (?:.* \()?(.+):(\d+):(\d+)\(\d+\)\)?$`) })

// place is a position in a script, as the runtime counts.
type place struct {
	file         string
	line, column int
}

// here is the innermost position in a script of the code that runs now.
func (m *machine) here() place {
	for _, f := range m.rt.CaptureCallStack(0, nil) {
		if _, ok := m.sources[f.SrcName()]; ok {
			p := f.Position()
			return place{p.Filename, p.Line, p.Column}
		}
	}
	return place{}
}

// offset returns the offset of a place in its source, in bytes. For a call it
// is the beginning of the name; the runtime reports the parenthesis.
func offset(src Source, p place) int {
	at := src.offset(p.line, p.column)
	if !strings.HasPrefix(src.Text[at:], "(") {
		return at
	}
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(src.Text[:at])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		at -= size
	}
	return at
}

// invalid returns the error for an invalid argument or option.
func invalid(format string, args ...any) error {
	return &Error{Name: "TypeError", Code: CodeOption, Message: fmt.Sprintf(format, args...)}
}

// fault makes an error for the script.
func (m *machine) fault(e *Error) *goja.Object {
	class, ok := m.classes[e.Name]
	if !ok {
		class = m.classes["Error"]
	}
	o, err := m.rt.New(class, m.rt.ToValue(e.Message))
	if err != nil {
		m.throw(err)
	}
	if !ok && e.Name != "" {
		m.define(o, "name", m.rt.ToValue(e.Name))
	}
	if e.Code != "" {
		m.define(o, "code", m.rt.ToValue(string(e.Code)))
	}
	m.faults[o] = e.Code
	if e.Code == CodeBudget || e.Code == CodeLimit {
		m.refused[o] = true
	}
	return o
}

// hostFault makes a script error of a host's error about a request at a place.
// If the host refuses a request, every other item would be refused too.
func (m *machine) hostFault(e *Error, at place) *goja.Object {
	o := m.faultAt(e, at)
	if e.Code == CodeOption || e.Code == CodePolicy {
		m.refused[o] = true
	}
	return o
}

// faultAt makes an error of something that was asked for at a place.
func (m *machine) faultAt(e *Error, at place) *goja.Object {
	o := m.fault(e)
	if at.file != "" {
		name := e.Name
		if name == "" {
			name = "Error"
		}
		stack := fmt.Sprintf("%s: %s\n\tat %s:%d:%d(0)\n", name, e.Message, at.file, at.line, at.column)
		m.define(o, "stack", m.rt.ToValue(stack))
	}
	return o
}

// define gives an object a property that enumerations pass over.
func (m *machine) define(o *goja.Object, name string, v goja.Value) {
	if err := o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		m.throw(err)
	}
}

// throw raises an error in the calling script. It passes on the errors of the
// runtime. Any other error that is not meant for scripts ends the script.
func (m *machine) throw(err error) {
	if e := (*goja.Exception)(nil); errors.As(err, &e) {
		panic(e)
	}
	if e := (*goja.InterruptedError)(nil); errors.As(err, &e) {
		panic(e)
	}
	if e := (*goja.StackOverflowError)(nil); errors.As(err, &e) {
		panic(e)
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		panic(m.fault(e))
	}
	m.fail(err)
	panic(m.fault(plain(err)))
}

// fail ends the script: its host could not do its part.
func (m *machine) fail(err error) {
	m.broken = err
	m.rt.Interrupt(err)
}

// describeError describes the error that ended a script.
func (m *machine) describeError(err error) *Error {
	if e := (*goja.StackOverflowError)(nil); errors.As(err, &e) {
		return &Error{Name: "RangeError", Message: "too many functions call one another: the stack is full"}
	}
	if e := (*goja.Exception)(nil); errors.As(err, &e) {
		return m.describe(e.Value())
	}
	return plain(err)
}

// describe describes a thrown value, which may be of any length, in a few
// words.
func (m *machine) describe(v goja.Value) *Error {
	e := m.thrown(v)
	e.Name, e.Message, e.Code = clip(e.Name), clip(e.Message), Code(clip(string(e.Code)))
	return e
}

func (m *machine) thrown(v goja.Value) *Error {
	o, ok := v.(*goja.Object)
	if !ok {
		return &Error{Name: "Error", Message: m.show(v)}
	}
	e := &Error{Name: m.property(o, "name"), Message: m.property(o, "message")}
	if e.Name == "" {
		e.Name = "Error"
	}
	if e.Message == "" && o.ClassName() != "Error" {
		e.Message = m.show(v)
	}
	e.Code = Code(m.property(o, "code"))
	if e.Code == CodeBudget && m.faults[o] != CodeBudget {
		e.Code = "" // it would pause the run, which only a budget does
	}
	// It begins with the message, which may look like a stack itself.
	stack := m.property(o, "stack")
	if _, behind, ok := strings.Cut(stack, e.Message); ok {
		stack = behind
	}
	if at, ok := m.innermost(stack); ok {
		src := m.sources[at.file]
		found := src.fault("", offset(src, at), "")
		e.Where, e.Line = found.Where, found.Line
	}
	if e.Name == "ReferenceError" {
		e.Message = explainMessage(e.Message)
	}
	return e
}

// property returns a property that is a string. Properties of errors may throw
// in turn, because scripts can define them.
func (m *machine) property(o *goja.Object, name string) string {
	var s string
	m.rt.Try(func() {
		if v := o.Get(name); v != nil && goja.IsString(v) {
			s = v.String()
		}
	})
	return s
}

// innermost is the first place in a script that a stack names.
func (m *machine) innermost(stack string) (place, bool) {
	for line := range strings.SplitSeq(stack, "\n") {
		match := frame().FindStringSubmatch(line)
		if match == nil {
			continue
		}
		if _, ok := m.sources[match[1]]; !ok {
			continue
		}
		n, _ := strconv.Atoi(match[2])
		column, _ := strconv.Atoi(match[3])
		return place{match[1], n, column}, true
	}
	return place{}, false
}

// stuck returns the error for a script that waits for an event that never
// comes.
func (m *machine) stuck() *Error {
	what := "it started no agent"
	switch n := len(m.agents); {
	case n == 1:
		what = "the agent it started has ended"
	case n > 1:
		what = fmt.Sprintf("all %d agents it started have ended", n)
	}
	return &Error{
		Name: "Error", Code: CodeStuck,
		Message: "the script waits for a promise that nothing will settle: " + what +
			", and no timer, check, landing or question is open",
	}
}
