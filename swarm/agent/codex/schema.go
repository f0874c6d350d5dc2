package codex

import (
	"encoding/json"
	"slices"
)

// strict reports whether a schema can be given to the model itself: what takes
// it refuses those that leave anything open. Others are asked for in the
// prompt alone.
func strict(schema json.RawMessage) bool {
	var root table
	if len(schema) == 0 || json.Unmarshal(schema, &root) != nil {
		return false
	}
	return root["type"] == "object" && strictly(root)
}

// strictly reports it of a schema within a schema.
func strictly(s table) bool {
	for key, value := range s {
		switch key {
		case "type", "required", "additionalProperties", "enum", "const", "description", "title", "$ref", "$schema", "$id",
			"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
		case "properties", "$defs", "definitions":
			inner, ok := value.(table)
			if !ok || !all(inner) {
				return false
			}
		case "items":
			inner, ok := value.(table)
			if !ok || !strictly(inner) {
				return false
			}
		case "anyOf":
			choices, ok := value.([]any)
			if !ok || slices.ContainsFunc(choices, func(c any) bool { inner, ok := c.(table); return !ok || !strictly(inner) }) {
				return false
			}
		default:
			return false
		}
	}
	properties, _ := s["properties"].(table)
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

func all(schemas table) bool {
	for _, value := range schemas {
		if inner, ok := value.(table); !ok || !strictly(inner) {
			return false
		}
	}
	return true
}
