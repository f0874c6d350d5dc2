package schema

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// mostSteps bounds the work of a value: how often a part of the schema is
	// compared with a part of the value. Parts that refer to one another double
	// that with each level, and the library walks all of them.
	mostSteps = 1e6
	// mostPatterns bounds the regular expressions of a schema together, in
	// instructions of their programs, of some 50 bytes each.
	mostPatterns = 200_000
)

var errCostly = fmt.Errorf("is too much to check: its parts would be looked at more than %d times", int(mostSteps))

// cost counts the steps of a check without making them. Each part of the schema
// is counted once for each part of the value, so that counting is cheap where
// checking is not.
type cost struct {
	known map[pair]float64
	work  int // of the counting itself
}

// mostWork bounds that.
const mostWork = 50e6

type pair struct {
	schema *jsonschema.Schema
	at     *node
}

// node is a part of a value.
type node struct {
	members map[string]*node
	items   []*node
}

func nodes(v any) *node {
	n := &node{}
	switch v := v.(type) {
	case map[string]any:
		n.members = make(map[string]*node, len(v))
		for name, inside := range v {
			n.members[name] = nodes(inside)
		}
	case []any:
		for _, inside := range v {
			n.items = append(n.items, nodes(inside))
		}
	}
	return n
}

// Check holds a value against a schema of the library, unless that would take
// too long: nothing else bounds the time and the memory of it.
func Check(s *jsonschema.Schema, v any) error {
	c := &cost{known: map[pair]float64{}}
	if c.of(s, nodes(v)) > mostSteps {
		return errCostly
	}
	return s.Validate(v)
}

func (c *cost) of(s *jsonschema.Schema, at *node) float64 {
	if s == nil {
		return 0
	}
	key := pair{s, at}
	if n, ok := c.known[key]; ok {
		return n
	}
	c.known[key] = 0 // the library finds a schema that refers back to itself
	c.work += 1 + len(at.items) + len(at.members)*(1+len(s.PatternProperties))
	if c.work > mostWork {
		return math.MaxFloat64
	}
	n := 1 + c.sameValue(s, at)
	for name, inside := range at.members {
		n += c.member(s, name, inside)
	}
	for i, inside := range at.items {
		n += c.item(s, i, inside)
	}
	c.known[key] = min(n, math.MaxFloat64)
	return c.known[key]
}

// sameValue is the cost of the parts that look at the value itself.
func (c *cost) sameValue(s *jsonschema.Schema, at *node) float64 {
	n := float64(0)
	parts := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		parts = append(parts, s.DynamicRef.Ref)
	}
	for _, more := range [][]*jsonschema.Schema{parts, s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range more {
			n += c.of(part, at)
		}
	}
	for _, part := range s.DependentSchemas {
		n += c.of(part, at)
	}
	for _, part := range s.Dependencies {
		n += c.any(part, at)
	}
	if s.Enum != nil {
		n += float64(len(s.Enum.Values)) / 100 // compared, not walked
	}
	return n
}

// any returns the cost of a part that the library stores as a schema or as
// something else.
func (c *cost) any(part any, at *node) float64 {
	s, _ := part.(*jsonschema.Schema)
	return c.of(s, at)
}

func (c *cost) member(s *jsonschema.Schema, name string, at *node) float64 {
	n := c.of(s.Properties[name], at) + c.any(s.AdditionalProperties, at) + c.of(s.UnevaluatedProperties, at)
	n += float64(len(s.PatternProperties))
	for pattern, part := range s.PatternProperties {
		if pattern.MatchString(name) {
			n += c.of(part, at)
		}
	}
	return n
}

func (c *cost) item(s *jsonschema.Schema, i int, at *node) float64 {
	n := c.of(s.Items2020, at) + c.of(s.Contains, at) + c.of(s.UnevaluatedItems, at) +
		c.any(s.Items, at) + c.any(s.AdditionalItems, at)
	if i < len(s.PrefixItems) {
		n += c.of(s.PrefixItems[i], at)
	}
	if list, ok := s.Items.([]*jsonschema.Schema); ok && i < len(list) {
		n += c.of(list[i], at)
	}
	return n
}

// patterns compiles the regular expressions of a schema.
type patterns struct {
	known map[string]*regexp.Regexp
	size  int
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if re, ok := p.known[text]; ok {
		return re, nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if p.size += len(program.Inst); p.size > mostPatterns {
		return nil, errors.New("the patterns of the schema are too long, written out")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p.known[text] = re
	return re, nil
}
