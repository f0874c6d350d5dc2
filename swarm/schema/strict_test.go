package schema

import (
	"encoding/json"
	"testing"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		schema string
		want   bool
	}{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, true},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`, false},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,2]}}},"required":["a"],"additionalProperties":false}`, true},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b"}]}},"required":["a"],"additionalProperties":false,"$defs":{"b":{"type":"integer"}}}`, true},
		{`{"type":"object","properties":{"a":{"anyOf":[{"patternProperties":{}}]}},"required":["a"],"additionalProperties":false}`, false},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}},"required":["a"],"additionalProperties":false}`, false},
		{`{"type":"array","items":{"type":"string"}}`, false},
		{`{}`, false},
		{`true`, false},
		{`{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}`, false},
		{`{`, false},
		{``, false},
	} {
		if got := Strict(json.RawMessage(test.schema)); got != test.want {
			t.Errorf("Strict(%s) = %t", test.schema, got)
		}
	}
}
