package config

import (
	"fmt"

	"agentswarm/swarm/agent"
)

// optionShape is a word that an agent's program is given.
func optionShape() shape {
	return shape{"word", object{"type": "string", "pattern": agent.OptionPattern, "maxLength": agent.MaxOption}}
}

// toolsShape is a list of tools.
func toolsShape() shape {
	words := "list of"
	for _, name := range agent.AllTools() {
		words += " `\"" + name + "\"`"
	}
	return shape{words, object{
		"type": "array", "minItems": 1, "uniqueItems": true, "items": object{"enum": agent.AllTools()},
	}}
}

// anyOf returns values as Stringers.
func anyOf[T fmt.Stringer](values []T) []fmt.Stringer {
	all := make([]fmt.Stringer, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// kindTables are the tables whose names are those of kinds.
func kindTables() object {
	tables := object{}
	for _, name := range agent.KindNames() {
		table := object{
			"$ref": "#/$defs/kind", "properties": object{"kind": object{"const": name}},
		}
		if name == agent.KindBuiltin {
			table["not"] = object{"required": []string{"command"}}
		}
		tables[name] = table
	}
	return tables
}

// kindRules are those between the keys of an agent that is no command.
func kindRules() object {
	word := object{"not": object{"pattern": `\{prompt(_file)?\}`}}
	return object{"allOf": []object{
		without(driven()...),
		{"properties": object{"command": object{"items": word}}},
		{
			"if":   object{"properties": object{"kind": object{"const": agent.KindBuiltin}}, "required": []string{"kind"}},
			"then": without("command"),
		},
		{
			"if":   object{"properties": object{"read_only": object{"const": true}}, "required": []string{"read_only"}},
			"then": object{"properties": object{"tools": object{"items": object{"enum": agent.ReadOnlyTools()}}}},
		},
	}}
}

// without is a table that has none of the keys.
func without(keys ...string) object {
	var any []object
	for _, key := range keys {
		any = append(any, object{"required": []string{key}})
	}
	return object{"not": object{"anyOf": any}}
}
