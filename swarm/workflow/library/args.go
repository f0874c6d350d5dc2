package library

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/refusal"
	bounded "agentswarm/swarm/schema"
	"agentswarm/swarm/script"
)

// argsSchema is the schema of the args of a script; nil: it has none.
func argsSchema(meta *script.Meta) (*jsonschema.Schema, error) {
	if meta == nil || len(meta.Args) == 0 {
		return nil, nil // no schema is no error
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	// A script may come from anywhere: its schema must not make
	// swarm read a file or ask a server.
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const folder = "mem:///"
	const here = folder + "meta.args"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(meta.Args))
	if err == nil {
		err = c.AddResource(here, doc)
	}
	var schema *jsonschema.Schema
	if err == nil {
		schema, err = c.Compile(here)
	}
	if outside, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return nil, refusal.New("meta.args refers to %s, and nothing outside of the script is read; put it under $defs", termtext.Line(strings.TrimPrefix(outside.URL, folder)))
	}
	if wrong, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if why, ok := errors.AsType[*jsonschema.ValidationError](wrong.Err); ok {
			return nil, refusal.New("meta.args is not a JSON Schema: %s", termtext.Line(describe(why)))
		}
	}
	if err != nil {
		return nil, refusal.New("meta.args is not a JSON Schema: %s", termtext.Line(strings.ReplaceAll(err.Error(), here, "")))
	}
	endless := func(e *jsonschema.ValidationError) bool { _, is := e.ErrorKind.(*kind.RefCycle); return is }
	if e, ok := errors.AsType[*jsonschema.ValidationError](bounded.Check(schema, map[string]any{})); ok && slices.ContainsFunc(leaves(e), endless) {
		return nil, refusal.New("meta.args is not a JSON Schema: it refers to itself without an end")
	}
	return schema, nil
}

// CheckArgs compares the args of a script with the schema in its meta. verb is for messages.
func CheckArgs(verb string, meta *script.Meta, args json.RawMessage) error {
	schema, err := argsSchema(meta)
	if err != nil {
		return refusal.New("%s: %v", verb, err)
	}
	if schema == nil {
		return nil
	}
	given := ""
	if args == nil {
		args, given = json.RawMessage("{}"), " (none are given, which is {})"
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err == nil {
		err = bounded.Check(schema, value)
	}
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return refusal.New("%s: --args: %s%s", verb, termtext.Line(describe(wrong)), given)
	}
	return err
}

// describe is the first few things that are wrong with a value, and where.
func describe(e *jsonschema.ValidationError) string {
	var all []string
	for _, leaf := range leaves(e) {
		text := strings.TrimSpace(strings.ReplaceAll(leaf.Error(), "\n", " "))
		if at := strings.LastIndex(text, "- at "); at >= 0 {
			text = text[at+2:]
		}
		all = append(all, strings.TrimPrefix(text, "at '': "))
	}
	// The library walks maps, whose order changes from time to time.
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), 3)], "; ")
}

// leaves are the problems that have no cause below them.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}
