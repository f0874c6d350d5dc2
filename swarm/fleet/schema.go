package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	bounded "agentswarm/swarm/schema"
)

// schema is a JSON Schema that values are checked by.
type schema struct{ compiled *jsonschema.Schema }

// compile reads a schema of 2020-12; nil where there is none.
func compile(what string, text json.RawMessage) (*schema, error) {
	if len(text) == 0 {
		return nil, nil // no schema is no error
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", what, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	// No other schema is fetched: a schema must stand alone.
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const here = "mem:///schema.json"
	if err := c.AddResource(here, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, fmt.Errorf("%s is not a JSON Schema: %s", what, message(err))
	}
	return &schema{compiled: compiled}, nil
}

// check says where a value does not fit.
func (s *schema) check(value json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	if err := bounded.Check(s.compiled, doc); err != nil {
		return errors.New(message(err))
	}
	return nil
}

// message formats an error of the validator in a single line, without the schema's
// internal name.
func message(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > 1 {
		lines = lines[1:]
	}
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "- ")
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), "mem:///schema.json", "")
}
