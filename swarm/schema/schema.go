package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"agentswarm/swarm/strict"
)

// MaxBytes is how long a schema may be.
const MaxBytes = 1 << 20

// maxDepth is how deep a schema may nest: a property takes two or three
// levels, so that this is some forty properties in each other.
const maxDepth = 128

// address is the name of a schema for the library.
const address = folder + "root"

// folder is the base of relative references in the library.
const folder = "schema:///"

// Schema is a JSON Schema (2020-12, unless its $schema names another draft)
// that only objects match.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads a schema. It returns an error for an invalid schema, for
// references to anything outside itself, for a schema that no value can match,
// and for a schema that other values than objects can match. The type of the
// root must be object, by its own "type", by a reference, or by the parts of
// its allOf, anyOf or oneOf.
//
// "format" describes the meaning of a value and is not checked, as the standard
// has it.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("the schema is %d bytes long; at most %d are taken", len(raw), MaxBytes)
	}
	if err := tame(raw, maxDepth); err != nil {
		return nil, fmt.Errorf("the schema %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine((&patterns{known: map[string]*regexp.Regexp{}}).compile)
	if err := c.AddResource(address, doc); err != nil {
		return nil, errorText(err)
	}
	compiled, err := c.Compile(address)
	if err != nil {
		return nil, errorText(err)
	}
	if err := onlyObjects(compiled); err != nil {
		return nil, err
	}
	err = Check(compiled, map[string]any{})
	if errors.Is(err, errCostly) {
		return nil, fmt.Errorf("the schema %w", err)
	}
	if cycle := new(jsonschema.ValidationError); errors.As(err, &cycle) && endless(cycle) {
		return nil, errors.New("no answer can match the schema: it refers to itself without an end")
	}
	return &Schema{compiled}, nil
}

// maxValueDepth is how deep an answer may nest.
const maxValueDepth = 1000

// tame refuses a text that nests too deep, and numbers that would take
// longer to work out than to write.
func tame(raw []byte, deepest int) error {
	tokens := json.NewDecoder(bytes.NewReader(raw))
	tokens.UseNumber()
	for depth := 0; ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("is not JSON: %s", cut(err.Error(), maxMessage))
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '}' || token == ']' {
				depth--
			} else if depth++; depth > deepest {
				return fmt.Errorf("nests deeper than %d levels", deepest)
			}
		case json.Number:
			if !small(token.String()) {
				return fmt.Errorf("holds the number %s, which is out of range", cut(token.String(), 40))
			}
		}
	}
}

// small reports whether a number fits in a float, and has a reasonable number
// of digits.
func small(number string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	e, err := strconv.Atoi(cmp.Or(exponent, "0"))
	return err == nil && e >= -400 && e <= 400 && len(number) <= 1000
}

// nowhere loads nothing.
type nowhere struct{}

var errOutside = errors.New("nothing outside the schema is loaded")

func (nowhere) Load(string) (any, error) { return nil, errOutside }

// errorText is an error of the library in our words, without our name for the
// schema.
func errorText(err error) error {
	if outside, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("the schema refers to %q: %w; put it under $defs", strings.TrimPrefix(outside.URL, folder), errOutside)
	}
	if wrong, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if why, ok := errors.AsType[*jsonschema.ValidationError](wrong.Err); ok {
			return fmt.Errorf("the schema is invalid: %s", problems(why))
		}
	}
	text := strings.NewReplacer(address+"#", "#", address, "#", "jsonschema: ", "").Replace(err.Error())
	return fmt.Errorf("the schema is invalid: %s", cut(text, maxMessage))
}

// Validate returns an error with the JSON pointers of the parts that do not
// match, and the right form of each. The message is short for any value. A
// value with a duplicate name matches nothing, because its readers may take
// either.
func (s *Schema) Validate(value json.RawMessage) error {
	if err := tame(value, maxValueDepth); err != nil {
		return fmt.Errorf("it %w", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("it is not JSON: %s", cut(err.Error(), maxMessage))
	}
	if err := strict.Once(value, maxValueDepth); err != nil {
		return fmt.Errorf("in it %s", cut(err.Error(), maxMessage))
	}
	err = Check(s.compiled, v)
	if err == nil {
		return nil
	}
	if errors.Is(err, errCostly) {
		return fmt.Errorf("it %w", err)
	}
	if why, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(problems(why))
	}
	return errors.New(cut(err.Error(), maxMessage))
}

// endless reports whether a schema was found to refer to itself for the same
// value.
func endless(e *jsonschema.ValidationError) bool {
	found := false
	leaves(e, func(leaf *jsonschema.ValidationError) {
		_, cycle := leaf.ErrorKind.(*kind.RefCycle)
		found = found || cycle
	})
	return found
}
