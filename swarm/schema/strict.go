package schema

import (
	"encoding/json"
	"slices"
)

// members are those of an object of JSON.
type members = map[string]any

// Strict reports whether OpenAI's API takes a schema for the answer: it refuses
// those that leave anything open.
func Strict(schema json.RawMessage) bool {
	var root members
	if len(schema) == 0 || json.Unmarshal(schema, &root) != nil {
		return false
	}
	return root["type"] == "object" && strictly(root)
}

// strictly reports it of a schema within a schema.
func strictly(s members) bool {
	for key, value := range s {
		switch key {
		case "type", "required", "additionalProperties", "enum", "const", "description", "title", "$ref", "$schema", "$id",
			"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
		case "properties", "$defs", "definitions":
			inner, ok := value.(members)
			if !ok || !allStrict(inner) {
				return false
			}
		case "items":
			inner, ok := value.(members)
			if !ok || !strictly(inner) {
				return false
			}
		case "anyOf":
			choices, ok := value.([]any)
			if !ok || slices.ContainsFunc(choices, func(c any) bool { inner, ok := c.(members); return !ok || !strictly(inner) }) {
				return false
			}
		default:
			return false
		}
	}
	properties, _ := s["properties"].(members)
	if s["type"] != "object" && len(properties) == 0 {
		return true
	}
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return s["additionalProperties"] == false
}

func allStrict(schemas members) bool {
	for _, value := range schemas {
		if inner, ok := value.(members); !ok || !strictly(inner) {
			return false
		}
	}
	return true
}
