package script

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// shift moves every position in a tree back by some bytes: those of the text
// that was put in front of a script. Positions in that text become the first.
func shift(tree *ast.Program, by int) {
	seen := make(map[any]bool) // declarations stand in more than one list
	todo := []reflect.Value{reflect.ValueOf(tree.Body), reflect.ValueOf(tree.DeclarationList)}
	// No recursion: trees nest as deeply as the text of a script does.
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && v.CanInterface() && !seen[v.Interface()] {
				seen[v.Interface()] = true
				todo = append(todo, v.Elem())
			}
		case reflect.Interface:
			if !v.IsNil() {
				todo = append(todo, v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				todo = append(todo, v.Index(i))
			}
		case reflect.Struct:
			for _, f := range v.Fields() {
				if f.Type() == reflect.TypeFor[file.Idx]() && f.CanSet() && f.Int() > 0 {
					f.SetInt(max(1, f.Int()-int64(by)))
					continue
				}
				todo = append(todo, f)
			}
		default: // texts, numbers and flags
		}
	}
}

// children are the nodes that are directly inside another.
func children(n ast.Node) []ast.Node {
	v := reflect.ValueOf(n)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	var found []ast.Node
	var look func(reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		case reflect.Struct: // one that stands inside another as it is
			if v.CanAddr() {
				look(v.Addr())
			}
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() {
				return
			}
			if node, ok := v.Interface().(ast.Node); ok {
				found = append(found, node)
			}
		default:
		}
	}
	if v.Kind() == reflect.Struct {
		for _, f := range v.Fields() {
			look(f)
		}
	}
	return slices.Clip(found)
}
