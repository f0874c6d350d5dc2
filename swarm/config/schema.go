package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"

	"agentswarm/swarm/provider"
)

// object is a JSON Schema or a part of it.
type object = map[string]any

// shape describes the values of a key.
type shape struct {
	words  string // for the documentation
	schema object
}

// textPattern is any string that a process can be given.
const textPattern = `^[^\x00]*$`

func text() object { return object{"type": "string", "pattern": textPattern} }

func scriptShape() shape { return shape{"script", text()} }

func boolShape() shape {
	return shape{"`true` `false`", object{"type": "boolean"}}
}

func nameShape() shape { return shape{"name of an agent", agentNameSchema()} }

func laneShape() shape {
	return shape{"name", object{"type": "string", "pattern": laneName().String()}}
}

func agentNameSchema() object {
	return object{"type": "string", "pattern": agentName().String(), "not": object{"const": KindCommand.String()}}
}

func wholeShape(low, high int) shape {
	s := shape{
		fmt.Sprintf("integer from %d", low), object{"type": "integer", "minimum": low},
	}
	if high != math.MaxInt {
		s.words += fmt.Sprintf(" to %d", high)
		s.schema["maximum"] = high
	}
	return s
}

func amountShape() shape {
	return shape{"number from 0", object{"type": "number", "minimum": 0}}
}

func variableShape() shape {
	return shape{"name of a variable", object{
		"type": "string", "pattern": variableName().String(), "not": object{"pattern": "^(GIT_|SWARM_)"},
	}}
}

func urlShape() shape {
	return shape{"http or https URL", object{"type": "string", "pattern": `^https?://[^/@\x00-\x20]+(/[^\x00-\x20]*)?$`}}
}

func durationShape() shape {
	return shape{"duration", object{
		"type":    "string",
		"pattern": `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
	}}
}

// patienceShape matches durations above zero: at least one of their numbers is
// not 0.
func patienceShape() shape {
	const unit, number, some = `(ns|us|µs|μs|ms|s|m|h)`, `([0-9]+(\.[0-9]*)?|\.[0-9]+)`, `([0-9]*[1-9][0-9]*(\.[0-9]*)?|[0-9]*\.[0-9]*[1-9][0-9]*)`
	return shape{"duration above zero", object{
		"type":    "string",
		"pattern": `^\+?(` + number + unit + `)*` + some + unit + `(` + number + unit + `)*$`,
	}}
}

func wordShape(words ...fmt.Stringer) shape {
	var all, quoted []string
	for _, w := range words {
		all = append(all, w.String())
		quoted = append(quoted, "`\""+w.String()+"\"`")
	}
	return shape{strings.Join(quoted, " "), object{"enum": all}}
}

func argvShape() shape {
	program := text()
	program["allOf"] = []object{
		{"pattern": `[^\s]`}, {"not": object{"pattern": `\{prompt(_file)?\}`}},
	}
	return shape{"list of words", object{
		"type": "array", "minItems": 1, "prefixItems": []object{program}, "items": text(),
	}}
}

// pathsShape is a list of files and folders.
func pathsShape() shape { return pathList("list of paths", wholeRoot()) }

// foldersShape is a list of folders that agents may write to.
func foldersShape() shape { return pathList("list of folders", wholeRoot(), wholeHome()) }

func pathList(words string, never ...*regexp.Regexp) shape {
	path := text()
	rules := []object{{"pattern": wholePath().String()}}
	for _, r := range never {
		rules = append(rules, object{"not": object{"pattern": r.String()}})
	}
	path["allOf"] = rules
	return shape{words, object{"type": "array", "items": path}}
}

// patternsShape is a list of variables, with * for any characters.
func patternsShape() shape {
	pattern := text()
	pattern["pattern"] = "^[A-Za-z_*][A-Za-z0-9_*]*$"
	pattern["not"] = object{"pattern": "^SWARM_"}
	return shape{"list of patterns", object{"type": "array", "items": pattern}}
}

func envShape() shape {
	return shape{"table of strings", object{
		"type": "object",
		"propertyNames": object{
			"pattern": variableName().String(), "not": object{"pattern": "^SWARM_"},
		},
		"additionalProperties": text(),
	}}
}

// SchemaID names the JSON Schema of the configuration file.
const SchemaID = "urn:swarm:config-file:1"

// Schema returns the JSON Schema (draft 2020-12) of the configuration file,
// with a line for each key. It knows every rule but three, which no schema can
// express: that a prompt is no part of a shell script, that 7.0 is not 7, and
// whose file it is. Schema returns an error if the schema cannot be encoded.
func Schema() ([]byte, error) {
	command := object{"required": []string{"command"}, "allOf": append(agentRules(), without(chosen()...))}
	defined := properties(agentKeys())
	defined["if"] = object{"properties": object{"kind": object{"const": KindCommand.String()}}}
	defined["then"], defined["else"] = command, kindRules()
	kind := properties(agentKeys())
	kind["allOf"] = []object{kindRules()}
	root := object{"type": "object", "properties": tablesSchema(), "additionalProperties": false}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = SchemaID
	root["title"] = "Configuration of swarm"
	root["properties"].(object)["agents"] = object{
		"type":                 "object",
		"properties":           kindTables(),
		"description":          "The agents, by name.",
		"propertyNames":        agentNameSchema(),
		"additionalProperties": object{"$ref": "#/$defs/agent"},
	}
	root["properties"].(object)["checks"] = object{
		"type": "object",
		"description": "The checks that workflow scripts may ask for, by name: each is run by sh -c " +
			"in a workspace of its own.",
		"propertyNames":        object{"pattern": checkName().String()},
		"additionalProperties": text(),
	}
	price := properties(priceKeys())
	price["required"] = []string{"input", "output"}
	root["properties"].(object)["prices"] = object{
		"type": "object",
		"description": "What models cost, by the names that agents report them by, where swarm does not know it or one " +
			"pays something else.",
		"additionalProperties": price,
	}
	root["properties"].(object)["providers"] = providersSchema()
	root["properties"].(object)["roles"] = rolesSchema()
	root["$defs"] = object{"agent": defined, "kind": kind}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return b.Bytes(), nil
}

// tablesSchema are the tables whose names and keys are swarm's own.
func tablesSchema() object {
	all := object{}
	for _, t := range tables() {
		one := properties(t.keys)
		one["description"] = t.meaning
		all[t.name] = one
	}
	return all
}

// providersSchema is that of the tables [providers.NAME].
func providersSchema() object {
	model := properties(modelKeys())
	priced := []object{}
	for _, k := range priceKeys() {
		priced = append(priced, object{"required": []string{k.name}})
	}
	model["if"], model["then"] = object{"anyOf": priced}, object{"required": []string{"input", "output"}}
	one := properties(providerKeys())
	one["properties"].(object)["models"] = object{
		"type": "object", "description": "Facts about its models, by the provider's names.", "additionalProperties": model,
	}
	other := maps.Clone(one)
	other["required"] = []string{"base_url"}
	known := object{}
	for _, name := range provider.Names() {
		known[name] = one
	}
	return object{
		"type": "object",
		"description": "Where models are asked beside the providers that swarm knows, for the built-in agent and for swarm models. " +
			"For the user's own file.",
		"properties": known, "propertyNames": object{"pattern": providerName().String()}, "additionalProperties": other,
	}
}

// properties is a table that holds these keys and no other.
func properties[T any](keys []key[T]) object {
	all := object{}
	for _, k := range keys {
		s := maps.Clone(k.takes.schema)
		s["description"] = k.describe()
		if k.initial != nil {
			s["default"] = k.initial
		}
		all[k.name] = s
	}
	return object{"type": "object", "properties": all, "additionalProperties": false}
}

// describe is the meaning and the default as sentences in plain text.
func (k key[T]) describe() string {
	text := strings.ToUpper(k.meaning[:1]) + k.meaning[1:] + "."
	if k.otherwise != "" {
		text += " Default: " + k.otherwise + "."
	}
	return strings.ReplaceAll(text, "`", "")
}

// agentRules are those between the keys of an agent.
func agentRules() []object {
	has := func(key string, value any) object {
		return object{"properties": object{key: value}, "required": []string{key}}
	}
	one := func(word string) object { return object{"const": word} }
	placed := func(pattern string) object {
		return object{"contains": object{"type": "string", "pattern": pattern}}
	}
	prompt := placed(`\{prompt(_file)?\}`)
	pty := has("pty", object{"const": true})
	return []object{
		{"if": has("input", one("arg")), "then": object{"properties": object{"command": prompt}}},
		{
			"if": has("command", prompt),
			"then": object{"anyOf": []object{
				has("input", one("arg")),
				{"allOf": []object{pty, {"not": object{"required": []string{"input"}}}}},
			}},
		},
		{"if": has("input", one("jsonl")), "then": has("format", one("jsonl"))},
		{"if": pty, "then": object{"properties": object{
			"input":   object{"enum": []string{"arg", "none"}},
			"format":  one("text"),
			"success": one("exit"),
		}}},
	}
}
