package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// mostClosed is the largest source of a closed function, in bytes.
const mostClosed = 65_536

// CheckClosed returns an error for the source of a function that could not run
// outside its script. A closed function uses its parameters, its own
// declarations and the language.
func CheckClosed(source string) error {
	_, err := compileClosed(source)
	return err
}

func notClosed(format string, args ...any) error {
	return &Error{Name: "TypeError", Code: CodeOption, Message: fmt.Sprintf(format, args...)}
}

// compileClosed makes a program of the source of a closed function. It gives
// that function.
func compileClosed(source string) (*goja.Program, error) {
	src := Source{Name: "(function)", Text: "(" + source + "\n)"}
	if len(source) > mostClosed {
		return nil, notClosed("the function has %d bytes; at most %d are read", len(source), mostClosed)
	}
	if err := src.check(); err != nil {
		return nil, err
	}
	if _, err := scan(src); err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(nil, src.Name, src.Text, 0, parser.WithDisableSourceMaps)
	if err != nil || len(tree.Body) != 1 {
		return nil, notClosed("it is not an arrow function, nor a function expression")
	}
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, notClosed("it is not an arrow function, nor a function expression")
	}
	if err := isClosed(statement.Expression); err != nil {
		return nil, err
	}
	return src.compile(tree, nil)
}

func isClosed(e ast.Expression) error {
	var async, generator bool
	switch f := e.(type) {
	case *ast.ArrowFunctionLiteral:
		async = f.Async
	case *ast.FunctionLiteral:
		async, generator = f.Async, f.Generator
	default:
		return notClosed("it is not an arrow function, nor a function expression")
	}
	switch {
	case async:
		return notClosed("it is async: its answer is needed at once")
	case generator:
		return notClosed("it is a generator: its answer is needed at once")
	}
	var n freeNames
	n.find(e)
	if n.free != "" {
		return notClosed("it uses %s: it is run far from the script, and may use only its parameters, what it declares itself, and the language", n.free)
	}
	return nil
}

// Hooks decides by closed functions. Each call has a world of its own, so that
// no state lasts from call to call.
type Hooks struct {
	mu       sync.Mutex               // guards compiled
	compiled map[string]*goja.Program // by source
}

// Decide returns the answer of a closed function to an input. The function sees
// the input frozen. Decide ends a function that takes more of the processor
// than the limit, unless it is inside a single built-in function of the
// language. It returns an error if the source is not closed, or if the function
// throws or is ended.
func (h *Hooks) Decide(source string, input json.RawMessage, limit time.Duration) (json.RawMessage, error) {
	code, err := h.program(source)
	if err != nil {
		return nil, err
	}
	rt := newRuntime()
	stop := afterUsing(limit, processCPU, func() { rt.Interrupt("late") })
	defer stop()
	v, err := answer(rt, code, input)
	if err == nil {
		return v, nil
	}
	if e := (*goja.InterruptedError)(nil); errors.As(err, &e) {
		return nil, &Error{Name: "Error", Code: CodeTimeout, Message: fmt.Sprintf("the function took longer than %v", limit)}
	}
	if e := (*goja.StackOverflowError)(nil); errors.As(err, &e) {
		return nil, &Error{Name: "RangeError", Message: "the function calls itself too deeply"}
	}
	if e := (*goja.Exception)(nil); errors.As(err, &e) {
		text, _, _ := strings.Cut(e.Value().String(), "\n")
		return nil, &Error{Name: "Error", Message: "the function threw: " + text}
	}
	return nil, err
}

// afterUsing calls late, unless it is stopped, when used reports more processor
// time than the limit. On a busy machine the time of other processes does not
// count. If used knows no processor time, elapsed time counts instead.
func afterUsing(limit time.Duration, used func() time.Duration, late func()) (stop func()) {
	var mu sync.Mutex // guards timer and stopped
	var timer *time.Timer
	stopped, began := false, used()
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(limit, func() {
		mu.Lock()
		defer mu.Unlock()
		left := limit - (used() - began)
		switch {
		case stopped:
		case began > 0 && left > 0:
			timer.Reset(max(left, time.Millisecond))
		default:
			late()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// program compiles a source once.
func (h *Hooks) program(source string) (*goja.Program, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if code, ok := h.compiled[source]; ok {
		return code, nil
	}
	code, err := compileClosed(source)
	if err != nil {
		return nil, err
	}
	if h.compiled == nil {
		h.compiled = make(map[string]*goja.Program)
	}
	h.compiled[source] = code
	return code, nil
}

// frozenCall calls a function with JSON and gives JSON back.
const frozenCall = `(f, text) => {
	const { parse, stringify } = JSON;
	const { freeze, values } = Object;
	const frozen = (v) => {
		if (v !== null && typeof v === 'object') {
			for (const inside of values(v)) frozen(inside);
			freeze(v);
		}
		return v;
	};
	const v = f(frozen(parse(text)));
	if (v instanceof Promise) throw new TypeError('it gave a promise: its answer is needed at once');
	return v === undefined ? 'null' : stringify(v);
}`

// answer calls a function in a runtime of its own.
func answer(rt *goja.Runtime, code *goja.Program, input json.RawMessage) (json.RawMessage, error) {
	with, err := rt.RunString(frozenCall)
	if err != nil {
		return nil, err
	}
	call, ok := goja.AssertFunction(with)
	if !ok {
		return nil, errors.New("the call of a function is not one")
	}
	f, err := rt.RunProgram(code)
	if err != nil {
		return nil, err
	}
	v, err := call(goja.Undefined(), f, rt.ToValue(string(input)))
	if err != nil {
		return nil, err
	}
	if !goja.IsString(v) {
		return nil, &Error{Name: "TypeError", Message: "the function gave what is not JSON"}
	}
	return json.RawMessage(v.String()), nil
}
