package script

import (
	"fmt"

	"github.com/dop251/goja"
)

// intrinsics are the parts of the language that the API is built on, as they
// were before a script could change them.
type intrinsics struct {
	parse     goja.Callable // JSON.parse
	stringify goja.Callable
	text      goja.Callable // Function.prototype.toString
	freeze    goja.Callable
	classes   map[string]*goja.Object // by name
}

// captureIntrinsics is called before any text of a script runs.
func captureIntrinsics(rt *goja.Runtime) (intrinsics, error) {
	in := intrinsics{classes: make(map[string]*goja.Object)}
	for path, to := range map[string]*goja.Callable{
		"JSON.parse":                  &in.parse,
		"JSON.stringify":              &in.stringify,
		"Object.freeze":               &in.freeze,
		"Function.prototype.toString": &in.text,
	} {
		v, err := rt.RunString(path)
		if err != nil {
			return in, fmt.Errorf("look up %s: %w", path, err)
		}
		f, ok := goja.AssertFunction(v)
		if !ok {
			return in, fmt.Errorf("%s is not a function", path)
		}
		*to = f
	}
	for _, name := range []string{
		"Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError", "URIError",
		"Map", "Set", "WeakMap", "WeakSet",
	} {
		class, ok := rt.Get(name).(*goja.Object)
		if !ok {
			return in, fmt.Errorf("there is no %s", name)
		}
		in.classes[name] = class
	}
	return in, nil
}
