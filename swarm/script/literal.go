package script

import "github.com/dop251/goja/ast"

// maxLiterals bounds how many items of a script are told before it runs. The
// rest is looked at when a call is made.
const maxLiterals = 100

// Literal is an item of the allow of an agent that stands in the text of a
// script as it is, so that it can be looked at before anything runs.
type Literal struct {
	Text  string `json:"text"`
	Where string `json:"where"` // file, line and column
	Line  string `json:"line"`  // the text of the line
}

// Wrong is the error of an item that is none.
func (l Literal) Wrong(why error) *Error {
	return &Error{Name: "TypeError", Code: CodeOption, Message: why.Error(), Where: l.Where, Line: l.Line}
}

// Use is the part about tools in the options of an agent, as far as it is
// literal.
type Use struct {
	Agent     string   `json:"agent,omitempty"`
	AgentType string   `json:"agentType,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	Without   []string `json:"disallowedTools,omitempty"`
	Where     string   `json:"where"` // file, line and column
}

// literals returns the items of allow, and the uses of tools, in the arguments
// of agent and run.
func (src Source) literals(body ast.Node) (allow []Literal, uses []Use) {
	seen, todo := make(map[ast.Node]bool), []ast.Node{body}
	for len(todo) > 0 && len(allow)+len(uses) < maxLiterals {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if o := optionsOf(n); o != nil {
			list, _ := option(o, "allow").(*ast.ArrayLiteral)
			for _, text := range textsOf(list) {
				at := src.fault(CodeOption, offsetOf(text.Idx), "")
				allow = append(allow, Literal{Text: string(text.Value), Where: at.Where, Line: at.Line})
			}
			if u := src.useOf(o); u != nil {
				uses = append(uses, *u)
			}
		}
		todo = append(todo, children(n)...)
	}
	return allow[:min(len(allow), maxLiterals)], uses
}

// optionsOf is the object with options in a call of an agent; nil for any other
// node.
func optionsOf(n ast.Node) *ast.ObjectLiteral {
	call, ok := n.(*ast.CallExpression)
	if !ok {
		return nil
	}
	switch f := call.Callee.(type) {
	case *ast.Identifier:
		if f.Name != "agent" && f.Name != "run" {
			return nil
		}
	case *ast.DotExpression:
		if of, ok := f.Left.(*ast.Identifier); !ok || of.Name != "sa" || f.Identifier.Name != "run" {
			return nil
		}
	default:
		return nil
	}
	for _, a := range call.ArgumentList {
		if o, ok := a.(*ast.ObjectLiteral); ok {
			return o
		}
	}
	return nil
}

// useOf returns the part about tools in options; nil if none of it is literal.
func (src Source) useOf(o *ast.ObjectLiteral) *Use {
	u := Use{Where: src.fault(CodeOption, offsetOf(o.LeftBrace), "").Where}
	for _, word := range []struct {
		key string
		to  *string
	}{{"agent", &u.Agent}, {"agentType", &u.AgentType}} {
		if texts := textsIn(option(o, word.key)); len(texts) == 1 {
			*word.to = string(texts[0].Value)
		}
	}
	for _, list := range []struct {
		key string
		to  *[]string
	}{{"tools", &u.Tools}, {"disallowedTools", &u.Without}} {
		for _, text := range textsIn(option(o, list.key)) {
			*list.to = append(*list.to, string(text.Value))
		}
	}
	if u.AgentType == "" && len(u.Tools) == 0 && len(u.Without) == 0 {
		return nil
	}
	return &u
}

// option is the value of a key that is written out; nil where there is none.
func option(o *ast.ObjectLiteral, name string) ast.Expression {
	for _, property := range o.Value {
		p, ok := property.(*ast.PropertyKeyed)
		if !ok || p.Computed || p.Kind != ast.PropertyKindValue {
			continue
		}
		if key, ok := p.Key.(*ast.StringLiteral); ok && string(key.Value) == name {
			return p.Value
		}
	}
	return nil
}

// textsIn are the texts of a list, or the text that an expression is.
func textsIn(e ast.Expression) []*ast.StringLiteral {
	if text, ok := e.(*ast.StringLiteral); ok {
		return []*ast.StringLiteral{text}
	}
	list, _ := e.(*ast.ArrayLiteral)
	return textsOf(list)
}

// textsOf are the texts of a list, which may be nil.
func textsOf(list *ast.ArrayLiteral) []*ast.StringLiteral {
	if list == nil {
		return nil
	}
	var all []*ast.StringLiteral
	for _, item := range list.Value {
		if text, ok := item.(*ast.StringLiteral); ok {
			all = append(all, text)
		}
	}
	return all
}
