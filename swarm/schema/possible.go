package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// kinds is a set of the kinds of JSON values.
type kinds uint8

const (
	nulls kinds = 1 << iota
	booleans
	numbers
	strs
	arrays
	objects
	anything = nulls | booleans | numbers | strs | arrays | objects
)

// onlyObjects returns an error for a schema that plainly no value can match,
// and for a schema that other values than objects can match too.
func onlyObjects(s *jsonschema.Schema) error {
	l := look{known: map[*jsonschema.Schema]verdict{}}
	switch v := l.at(s); {
	case v.can == 0:
		return fmt.Errorf("no answer can match the schema: %s", v.why)
	case v.can != objects:
		return errors.New(`the schema must ask for an object: give it "type": "object"`)
	}
	return nil
}

// verdict holds the kinds of values that may match a schema at most. If there
// are none, why is the reason.
type verdict struct {
	can kinds
	why string
}

// only leaves the kinds that may match another schema too.
func (v *verdict) only(k kinds, why string) {
	if v.can != 0 && v.can&k == 0 {
		v.why = why
	}
	v.can &= k
}

// look finds the kinds of values that may match schemas. The kinds that it
// rules out are certain. The others may be impossible all the same.
type look struct {
	known map[*jsonschema.Schema]verdict
}

func (l *look) at(s *jsonschema.Schema) verdict {
	if v, ok := l.known[s]; ok {
		return v
	}
	// A schema that refers back to itself rules nothing out by that.
	l.known[s] = verdict{can: anything}
	v := l.judge(s)
	l.known[s] = v
	return v
}

func (l *look) judge(s *jsonschema.Schema) verdict {
	v := verdict{can: anything}
	at := where(s)
	if s.Bool != nil {
		if !*s.Bool {
			v.only(0, at+" is false")
		}
		return v
	}
	if s.Types != nil {
		v.only(named(s.Types.ToStrings()), at+" allows no type")
	}
	if s.Ref != nil {
		of := l.at(s.Ref)
		v.only(of.can, because(of, at+" and the schema that it refers to have different types"))
	}
	for _, part := range s.AllOf {
		of := l.at(part)
		v.only(of.can, because(of, at+": the parts of its allOf have no type in common"))
	}
	l.some(&v, s.AnyOf, at+": anyOf")
	l.some(&v, s.OneOf, at+": oneOf")
	if s.Not != nil && s.Not.Bool != nil && *s.Not.Bool {
		v.only(0, at+" must not match a schema that everything matches")
	}
	if why := l.noObject(s); why != "" {
		v.only(anything&^objects, at+why)
	}
	if why := l.noArray(s); why != "" {
		v.only(anything&^arrays, at+why)
	}
	if s.MinLength != nil && s.MaxLength != nil && *s.MinLength > *s.MaxLength {
		v.only(anything&^strs, at+": minLength is above maxLength")
	}
	if noNumber(s) {
		v.only(anything&^numbers, at+": its least number is above its greatest")
	}
	values(&v, s, at)
	return v
}

// because returns the reason that a part matches nothing, or else the given
// text.
func because(part verdict, otherwise string) string {
	if part.can == 0 {
		return part.why
	}
	return otherwise
}

// some leaves the kinds that may match any of several schemas.
func (l *look) some(v *verdict, parts []*jsonschema.Schema, what string) {
	if len(parts) == 0 {
		return
	}
	var can kinds
	for _, part := range parts {
		can |= l.at(part).can
	}
	v.only(can, what+" has no part that can match")
}

// values leaves the kinds of the values that a schema lists and that match the
// rest of it.
func values(v *verdict, s *jsonschema.Schema, at string) {
	var listed []any
	switch {
	case s.Const != nil:
		listed = []any{*s.Const}
	case s.Enum != nil:
		listed = s.Enum.Values
	default:
		return
	}
	var can kinds
	for _, value := range listed {
		// A value that costs too much to check may match.
		if err := Check(s, value); err == nil || errors.Is(err, errCostly) {
			can |= kindOf(value)
		}
	}
	why := ": no listed value matches the rest of the schema"
	if len(listed) == 0 {
		why = ": its enum is empty"
	}
	v.only(can, at+why)
}

// noObject returns the reason that no object matches; empty if an object may.
func (l *look) noObject(s *jsonschema.Schema) string {
	least := len(unique(s.Required))
	if s.MinProperties != nil {
		least = max(least, *s.MinProperties)
	}
	if s.MaxProperties != nil && least > *s.MaxProperties {
		return ": it asks for more properties than maxProperties"
	}
	if s.PropertyNames != nil && least > 0 && l.at(s.PropertyNames).can&strs == 0 {
		return ": it asks for properties, and no name of one is allowed"
	}
	for _, name := range s.Required {
		if why := l.noProperty(s, name); why != "" {
			return fmt.Sprintf(": it requires %q, and %s", name, why)
		}
	}
	return ""
}

// noProperty returns the reason that a property can have no value; empty if it
// may have a value.
func (l *look) noProperty(s *jsonschema.Schema, name string) string {
	v := verdict{can: anything}
	listed := false
	meet := func(part *jsonschema.Schema) {
		of := l.at(part)
		v.only(of.can, because(of, "its schemas have no type in common"))
		listed = true
	}
	if part := s.Properties[name]; part != nil {
		meet(part)
	}
	for pattern, part := range s.PatternProperties {
		if pattern.MatchString(name) {
			meet(part)
		}
	}
	if !listed {
		switch rest := s.AdditionalProperties.(type) {
		case bool:
			if !rest {
				v.only(0, "additionalProperties is false")
			}
		case *jsonschema.Schema:
			meet(rest)
		}
	}
	return v.why
}

// noArray returns the reason that no array matches; empty if an array may.
func (l *look) noArray(s *jsonschema.Schema) string {
	least := 0
	if s.MinItems != nil {
		least = *s.MinItems
	}
	if s.Contains != nil {
		wanted := 1
		if s.MinContains != nil {
			wanted = *s.MinContains
		}
		if wanted > 0 && l.at(s.Contains).can == 0 {
			return ": contains can never match"
		}
		if s.MaxContains != nil && wanted > *s.MaxContains {
			return ": minContains is above maxContains"
		}
		least = max(least, wanted)
	}
	if s.MaxItems != nil && least > *s.MaxItems {
		return ": it asks for more items than maxItems"
	}
	for i, item := range s.PrefixItems {
		if i < least && l.at(item).can == 0 {
			return fmt.Sprintf(": it asks for %d items, and item %d can never match", least, i)
		}
	}
	if s.Items2020 != nil && least > len(s.PrefixItems) && l.at(s.Items2020).can == 0 {
		return fmt.Sprintf(": it asks for %d items, and items can never match", least)
	}
	return ""
}

// noNumber reports whether the bounds of numbers leave none.
func noNumber(s *jsonschema.Schema) bool {
	if s.Minimum != nil && s.Maximum != nil && s.Minimum.Cmp(s.Maximum) > 0 {
		return true
	}
	if low := s.ExclusiveMinimum; low != nil {
		if s.Maximum != nil && low.Cmp(s.Maximum) >= 0 || s.ExclusiveMaximum != nil && low.Cmp(s.ExclusiveMaximum) >= 0 {
			return true
		}
	}
	return s.ExclusiveMaximum != nil && s.Minimum != nil && s.Minimum.Cmp(s.ExclusiveMaximum) >= 0
}

// where is a place in a schema, as a person finds it.
func where(s *jsonschema.Schema) string {
	_, fragment, _ := strings.Cut(s.Location, "#")
	if fragment == "" {
		return "its root"
	}
	return fragment
}

func named(types []string) kinds {
	var all kinds
	for _, name := range types {
		switch name {
		case "null":
			all |= nulls
		case "boolean":
			all |= booleans
		case "number", "integer":
			all |= numbers
		case "string":
			all |= strs
		case "array":
			all |= arrays
		case "object":
			all |= objects
		}
	}
	return all
}

func kindOf(value any) kinds {
	switch value.(type) {
	case nil:
		return nulls
	case bool:
		return booleans
	case json.Number, float64:
		return numbers
	case string:
		return strs
	case []any:
		return arrays
	case map[string]any:
		return objects
	default:
		return anything
	}
}

func unique(names []string) []string {
	sorted := slices.Sorted(slices.Values(names))
	return slices.Compact(sorted)
}
