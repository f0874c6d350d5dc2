package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 60)
	for _, test := range []struct {
		name, give string
		want       string // a part of the error; empty: it is taken
	}{
		{"object", `{"type":"object"}`, ""},
		{"list of one", `{"type":["object"]}`, ""},
		{"by reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, ""},
		{"by two references", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"object"}}}`, ""},
		{"by an anchor", `{"$ref":"#a","$defs":{"a":{"$anchor":"a","type":"object"}}}`, ""},
		{"by its own id", `{"$id":"https://example.org/s","$ref":"s#/$defs/a","$defs":{"a":{"type":"object"}}}`, ""},
		{"by allOf", `{"allOf":[{"type":["object","null"]},{"type":["object","array"]}]}`, ""},
		{"by anyOf", `{"anyOf":[{"type":"object"},{"const":{"a":1}}]}`, ""},
		{"by oneOf", `{"oneOf":[{"type":"object"},false]}`, ""},
		{"by const", `{"const":{"a":[1.5]}}`, ""},
		{"by enum", `{"enum":[{"a":1},{"a":2}]}`, ""},
		{"enum less its others", `{"type":"object","enum":[1,{"a":1}]}`, ""},
		{"a tree", `{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#"}}}}`, ""},
		{"an optional impossible property", `{"type":"object","properties":{"a":false}}`, ""},
		{"an empty list of impossible items", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":false}}}`, ""},
		{"another draft", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{}}`, ""},
		{"bounds that touch", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1,"maximum":1}},"minProperties":1,"maxProperties":1}`, ""},

		{"not JSON", `{"type":`, "not JSON"},
		{"two values", `{"type":"object"} {}`, "not JSON"},
		{"nothing", ``, "not JSON"},
		{"a list", `[]`, "the schema is invalid"},
		{"no such type", `{"type":"objekt"}`, "/type"},
		{"a type of no type", `{"type":[]}`, "/type"},
		{"a pattern that is none", `{"type":"object","properties":{"a":{"pattern":"("}}}`, "regex"},
		{"a place that is not there", `{"$ref":"#/$defs/a"}`, "#/$defs/a"},
		{"true", `true`, `"type": "object"`},
		{"everything", `{}`, `"type": "object"`},
		{"properties alone", `{"properties":{"a":{"type":"string"}}}`, `"type": "object"`},
		{"a string", `{"type":"string"}`, `"type": "object"`},
		{"object or null", `{"type":["object","null"]}`, `"type": "object"`},
		{"anyOf with a list", `{"anyOf":[{"type":"object"},{"type":"array"}]}`, `"type": "object"`},
		{"enum with a number", `{"enum":[{"a":1},2]}`, `"type": "object"`},
		{"refers to itself", `{"$ref":"#"}`, `"type": "object"`},
		{"refers to itself as an object", `{"type":"object","$ref":"#"}`, "refers to itself"},

		{"false", `false`, "no answer can match the schema: its root is false"},
		{"empty enum", `{"enum":[]}`, "its enum is empty"},
		{"enum against type", `{"type":"object","enum":[1,"a"]}`, "no listed value matches"},
		{"const against required", `{"const":{},"required":["a"]}`, "no listed value matches"},
		{"disjoint allOf", `{"allOf":[{"type":"object"},{"type":"array"}]}`, "no type in common"},
		{"type against reference", `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, "have different types"},
		{"anyOf without a way", `{"type":"object","anyOf":[{"type":"string"},false]}`, "anyOf"},
		{"oneOf without a way", `{"type":"object","oneOf":[false]}`, "oneOf"},
		{"not true", `{"type":"object","not":true}`, "must not match"},
		{"min above max", `{"type":"object","minProperties":3,"maxProperties":2}`, "maxProperties"},
		{"required above max", `{"type":"object","required":["a","b"],"maxProperties":1}`, "maxProperties"},
		{"required and false", `{"type":"object","required":["a"],"properties":{"a":false}}`, `it requires "a", and /properties/a is false`},
		{"required by a pattern", `{"type":"object","required":["ab"],"patternProperties":{"^a":false}}`, `it requires "ab"`},
		{"required and not allowed", `{"type":"object","required":["a"],"additionalProperties":false}`, "additionalProperties is false"},
		{"required and no more than false", `{"type":"object","required":["a"],"additionalProperties":{"enum":[]}}`, "enum is empty"},
		{"required within required", `{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"enum":[]}}}}}`, `it requires "b", and /properties/a/properties/b: its enum is empty`},
		{"required string", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":2,"maxLength":1}}}`, "minLength"},
		{"required number", `{"type":"object","required":["a"],"properties":{"a":{"type":"number","minimum":2,"maximum":1}}}`, "least number"},
		{"required open interval", `{"type":"object","required":["a"],"properties":{"a":{"type":"number","exclusiveMinimum":1,"maximum":1}}}`, "least number"},
		{"required half-open interval", `{"type":"object","required":["a"],"properties":{"a":{"type":"number","minimum":1,"exclusiveMaximum":1}}}`, "least number"},
		{"required array", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":2,"maxItems":1}}}`, "maxItems"},
		{"required items", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":1,"items":false}}}`, "items can never match"},
		{"required item", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":1,"prefixItems":[false]}}}`, "item 0"},
		{"required contains", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","contains":false}}}`, "contains"},
		{"contains too few", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","contains":true,"minContains":2,"maxContains":1}}}`, "maxContains"},
		{"names that are none", `{"type":"object","required":["a"],"propertyNames":{"type":"number"}}`, "no name"},

		{"the network", `{"type":"object","$ref":"https://example.org/s.json"}`, `refers to "https://example.org/s.json": nothing outside`},
		{"a file", `{"type":"object","$ref":"file:///etc/hostname"}`, "nothing outside"},
		{"a neighbour", `{"type":"object","properties":{"a":{"$ref":"other.json"}}}`, "other.json"},
		{"a strange draft", `{"$schema":"https://example.org/draft","type":"object"}`, "nothing outside"},
		{"too long", `{"type":"object","title":"` + strings.Repeat("x", MaxBytes) + `"}`, "at most 1048576"},
		{"a bound without an end", `{"type":"object","minProperties":1e1000000}`, "out of range"},
		{"too deep", deep + `{"type":"array","items":` + strings.Repeat(`{"not":`, 20) + `{}` + strings.Repeat(`}`, 21) + strings.Repeat(`}}`, 60), "nests deeper than 128"},
		{"deep", deep + `{}` + strings.Repeat(`}}`, 60), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(json.RawMessage(test.give))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("Compile = %v, want it taken", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("Compile = %v, want %q in it", err, test.want)
			case err != nil && (strings.Contains(err.Error(), folder) || len(err.Error()) > 2000):
				t.Errorf("Compile = %v", err)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	s, err := Compile(json.RawMessage(`{
		"type": "object", "required": ["title", "findings"], "additionalProperties": false,
		"properties": {
			"title": {"type": "string", "maxLength": 5},
			"level": {"enum": ["low", "high"]},
			"a/b": {"type": "boolean"},
			"never": false,
			"shape": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]},
			"findings": {"type": "array", "maxItems": 50, "items": {
				"type": "object", "required": ["line"], "properties": {"line": {"type": "integer", "minimum": 1}}
			}}
		}}`))
	if err != nil {
		t.Fatal(err)
	}
	wrong := make([]string, 30)
	for i := range wrong {
		wrong[i] = `{"line":"x"}`
	}
	for _, test := range []struct {
		name, give string
		want       string
	}{
		{"right", `{"title":"a","findings":[{"line":3}]}`, ""},
		{"a whole number written as a float", `{"title":"a","findings":[{"line":3.0}]}`, ""},
		{"a number beyond a float", `{"title":"a","findings":[{"line":123456789012345678901234567890}]}`, ""},
		{"missing", `{"title":"a"}`, "/findings: is missing"},
		{"both missing", `{}`, "/findings: is missing; /title: is missing"},
		{"type", `{"title":1,"findings":[]}`, "/title: got number, want string"},
		{"within a list", `{"title":"a","findings":[{"line":1},{"line":"2"}]}`, "/findings/1/line: got string, want integer"},
		{"missing within a list", `{"title":"a","findings":[{}]}`, "/findings/0/line: is missing"},
		{"enum", `{"title":"a","findings":[],"level":"mid"}`, "/level: value must be one of 'low', 'high'"},
		{"too much", `{"title":"a","findings":[],"x":1}`, "/x: is not allowed here"},
		{"never", `{"title":"a","findings":[],"never":1}`, "/never: is not allowed here"},
		{"escaped", `{"title":"a","findings":[],"a/b":1}`, "/a~1b: got number, want boolean"},
		{"no alternative", `{"title":"a","findings":[],"shape":"s"}`, "/shape: got string, want boolean; /shape: got string, want integer"},
		{"a list", `[]`, "the answer: got array, want object"},
		{"not JSON", `{`, "it is not JSON"},
		{"a number without an end", `{"title":1e1000000}`, "it holds the number 1e1000000, which is out of range"},
		{"a number near nothing", `{"title":1e-1000000}`, "it holds the number 1e-1000000, which is out of range"},
		{"too deep", strings.Repeat("[", 1001), "it nests deeper than 1000 levels"},
		{"two", `{} {}`, "it is not JSON"},
		{"a name twice", `{"title":"a","findings":[],"title":"b"}`, `in it "title" appears twice`},
		{"a name twice, escaped", `{"title":"a","findings":[],"t\u0069tle":"b"}`, `in it "title" appears twice`},
		{"a name twice in a list", `{"title":"a","findings":[{"line":1,"line":2}]}`, `in it "line" appears twice`},
		{"a name in two cases", `{"title":"a","findings":[{"line":1,"x":2,"X":3}]}`, ""},
		{
			"many", `{"title":"a","findings":[` + strings.Join(wrong, ",") + `]}`,
			"/findings/12/line: got string, want integer; and 25 more",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := s.Validate(json.RawMessage(test.give))
			if test.want == "" {
				if err != nil {
					t.Errorf("Validate = %v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("Validate = %v, want %q", err, test.want)
			}
		})
	}
}

// doubled returns a schema whose parts refer to the next part twice, by a
// keyword.
func doubled(keyword string, levels int) string {
	var defs strings.Builder
	for i := range levels {
		fmt.Fprintf(&defs, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{%s"d%d":{"type":"integer"}}}`,
		defs.String(), levels)
}

// The library would walk two to the power of forty parts, and keep an error of each.
func TestCheckingIsBounded(t *testing.T) {
	t.Parallel()
	tree := `{"type":"object","allOf":[{"properties":{"c":{"$ref":"#"}}},{"properties":{"c":{"$ref":"#"}}}]}`
	for _, test := range []struct{ name, schema, value string }{
		{"allOf", doubled("allOf", 40), `{"a":"x"}`},
		{"anyOf", doubled("anyOf", 40), `{"a":"x"}`},
		{"oneOf", doubled("oneOf", 2000), `{"a":"x"}`},
		{"levels of the value", tree, strings.Repeat(`{"c":`, 40) + "1" + strings.Repeat("}", 40)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile(json.RawMessage(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(json.RawMessage(test.value)); err == nil || !strings.Contains(err.Error(), "too much to check") {
				t.Errorf("Validate = %.200v, want it to be too much", err)
			}
			if err := s.Validate(json.RawMessage(`{}`)); err != nil {
				t.Errorf("Validate of {} = %v", err)
			}
		})
	}
	root := strings.Replace(doubled("allOf", 40), `"properties":{"a":`, `"allOf":[`, 1)
	root = strings.Replace(root, `},"$defs"`, `],"$defs"`, 1)
	root = strings.Replace(root, "integer", "object", 1)
	if _, err := Compile(json.RawMessage(root)); err == nil || !strings.Contains(err.Error(), "too much to check") {
		t.Errorf("Compile of a doubled root = %v, want it to be too much", err)
	}
	const many = 500_000
	s, err := Compile(json.RawMessage(`{"type":"object","properties":{"a":{"items":{"type":"integer"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(json.RawMessage(`{"a":[1` + strings.Repeat(",1", many) + `]}`)); err != nil {
		t.Errorf("Validate of %d items = %v", many, err)
	}
}

func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 250 {
		all = append(all, fmt.Sprintf(`"p%d":{"pattern":"(?:x%d){900}"}`, i, i%10))
	}
	few := `{"type":"object","properties":{` + strings.Join(all, ",") + `}}`
	if _, err := Compile(json.RawMessage(few)); err != nil {
		t.Errorf("Compile of ten patterns, often = %v", err)
	}
	many := strings.ReplaceAll(few, "x", "xabcdefghijklmnopqrstuvwxyz")
	if _, err := Compile(json.RawMessage(many)); err == nil || !strings.Contains(err.Error(), "too long, written out") {
		t.Errorf("Compile of long patterns = %v, want them to be too long", err)
	}
}

func TestValidateIsBrief(t *testing.T) {
	t.Parallel()
	s, err := Compile(json.RawMessage(`{"type":"object","additionalProperties":{"const":"` + strings.Repeat("é", 5000) + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var value strings.Builder
	for i := range 100 {
		fmt.Fprintf(&value, `,"%d%s":1`, i, strings.Repeat("ü", 5000))
	}
	err = s.Validate(json.RawMessage("{" + value.String()[1:] + "}"))
	if err == nil || len(err.Error()) > maxProblems*2*(maxMessage+20) || !json.Valid([]byte(fmt.Sprintf("%q", err.Error()))) {
		t.Errorf("Validate tells %d bytes", len(err.Error()))
	}
}

// TestValidateTwice holds that the same answer is told the same.
func TestValidateTwice(t *testing.T) {
	t.Parallel()
	s, err := Compile(json.RawMessage(`{"type":"object","required":["a","b","c","d","e","f","g"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := s.Validate(json.RawMessage(`{}`)).Error()
	for range 20 {
		if got := s.Validate(json.RawMessage(`{}`)).Error(); got != want {
			t.Fatalf("Validate = %q, then %q", want, got)
		}
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, give, want string }{
		{"whole", `{"a":1}`, `{"a":1}`},
		{"with blanks", "\n {\"a\": 1}\n\n", `{"a": 1}`},
		{"with a mark of its order", "\uFEFF{\"a\":1}", `{"a":1}`},
		{"fence", "Here:\n```json\n{\"a\":1}\n```\nDone {x}.", `{"a":1}`},
		{"the last fence", "```json\n{\"a\":1}\n```\nno:\n```json\n{\"a\":2}\n```\n", `{"a":2}`},
		{"a fence in a fence", "```json\n{\"a\":\"```json\\n{}\\n```\"}\n```", "{\"a\":\"```json\\n{}\\n```\"}"},
		{"a fence without an end", "so\n```json\n{\"a\":1}", `{"a":1}`},
		{"a fence with a list", "```json\n[1]\n```\n", ""},
		{"braces", "The answer is {\"a\":{\"b\":1}}, I think.", `{"a":{"b":1}}`},
		{"nothing", "no idea", ""},
		{"a list", `[{"a":1}, {"a":2}]`, ""},
		{"half", `{"a":1`, ""},
		{"a part of a broken one", `{"a": {"b":1}, oops`, ""},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Extract(test.give)
			if string(got) != test.want || (err == nil) != (test.want != "") {
				t.Errorf("Extract(%q) = %s, %v, want %s", test.give, got, err, test.want)
			}
		})
	}
}

// FuzzExtract reads texts of models. The result is an object that stands in the
// text.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{"", "{}", "x {\"a\":1} y", "```json\n{}\n```", "```json ```json\n{\"a\":\"```\"}", "{\"a\":{}", "\xff{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Extract(text)
		if (err == nil) != (got != nil) {
			t.Fatalf("Extract(%q) = %q, %v", text, got, err)
		}
		if err != nil {
			return
		}
		var object map[string]any
		if json.Unmarshal(got, &object) != nil || !strings.Contains(text, string(got)) {
			t.Errorf("Extract(%q) = %q", text, got)
		}
	})
}

// FuzzCompile reads schemas and answers of people and models. Only objects
// match an accepted schema, and messages are short.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","required":["b"]}}}`,
		`{"allOf":[{"type":"object"},{"not":{"required":["a"]}}],"patternProperties":{"^a":{"enum":[1,null]}}}`,
		`{"enum":[{}]}`, `{"type":"object","properties":{"a":{"type":"array","contains":{"const":1}}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","items":[{}],"dependencies":{"a":["b"]}}`,
		`{"type":"object","$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"type":"object","$ref":"x"}`,
	} {
		f.Add(seed, `{"a":1,"b":[null,"x",{}]}`)
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := Compile(json.RawMessage(raw))
		if err != nil {
			if len(err.Error()) > 4096 {
				t.Errorf("Compile tells %d bytes", len(err.Error()))
			}
			return
		}
		if err := s.Validate(json.RawMessage(value)); err != nil && len(err.Error()) > 8192 {
			t.Errorf("Validate tells %d bytes", len(err.Error()))
		}
		for _, other := range []string{`null`, `true`, `1`, `1.5`, `"s"`, `[]`, `[{}]`} {
			if s.Validate(json.RawMessage(other)) == nil {
				t.Errorf("%s is matched by %s", raw, other)
			}
		}
	})
}
