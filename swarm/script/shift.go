package script

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// shift moves every position in a tree: to returns the new place of a position.
// Positions in the text that was put in front of a script become the first.
func shift(tree *ast.Program, to func(at int) int) {
	structs(tree, func(v reflect.Value) {
		for _, f := range v.Fields() {
			if f.Type() == reflect.TypeFor[file.Idx]() && f.CanSet() && f.Int() > 0 {
				f.SetInt(int64(1 + to(int(f.Int())-1)))
			}
		}
	})
}

// structs calls f with every struct of a tree.
func structs(tree *ast.Program, f func(reflect.Value)) {
	seen := make(map[any]bool) // a declaration can be in more than one list
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
			f(v)
			for _, inside := range v.Fields() {
				todo = append(todo, inside)
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
		case reflect.Struct: // a struct that another holds by value
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
