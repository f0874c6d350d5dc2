package workflow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"agentswarm/swarm/nearest"
)

// field is the value of a key of front matter: a text, or a list.
type field struct {
	text string
	list []string
	line int // in the file
}

// typeKeys are the keys that the front matter of a type of ours may have.
func typeKeys() []string {
	return []string{"name", "description", "tools", "disallowedTools", "model", "effort", "role"}
}

// readFields reads front matter, whose first line is the second of its file. A
// key without a value counts as missing. lenient accepts keys of other tools,
// and text that only such a tool reads as YAML.
func readFields(head string, lenient bool) (map[string]field, *TypeError) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		if lenient {
			return readLines(head), nil
		}
		return nil, yamlError(err)
	}
	fields := map[string]field{}
	if len(doc.Content) == 0 {
		return fields, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		if lenient {
			return readLines(head), nil
		}
		return nil, &TypeError{Line: top.Line + 1, Reason: "the front matter is no list of keys and values"}
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if bad := addField(fields, key, value); bad != nil && !lenient {
			return nil, bad
		}
	}
	return fields, nil
}

// addField takes a key of front matter. A key with an error is left out.
func addField(fields map[string]field, key, value *yaml.Node) *TypeError {
	name, line := key.Value, key.Line+1
	if key.Kind != yaml.ScalarNode || !slices.Contains(typeKeys(), name) {
		return unknownKey(name, line)
	}
	if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		return nil
	}
	if _, twice := fields[name]; twice {
		return &TypeError{Line: line, Reason: name + " is given twice"}
	}
	f := field{line: line}
	switch {
	case value.Kind == yaml.ScalarNode:
		f.text = strings.TrimSpace(value.Value)
	case name == "name", name == "description", name == "model", name == "effort":
		return &TypeError{Line: line, Reason: name + " must be a text"}
	case value.Kind == yaml.SequenceNode:
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode {
				return &TypeError{Line: line, Reason: name + " must be a list of words"}
			}
			f.list = append(f.list, item.Value)
		}
	default:
		return &TypeError{Line: line, Reason: name + " must be a list of words"}
	}
	fields[name] = f
	return nil
}

func unknownKey(name string, line int) *TypeError {
	if name == "allow" {
		return &TypeError{Line: line, Reason: "allow is not for a type, which grants nothing; give it to the call that needs it"}
	}
	reason := fmt.Sprintf("unknown key %q; the keys are %s", name, strings.Join(typeKeys(), ", "))
	if near := nearest.Word(name, typeKeys()); near != "" {
		reason = fmt.Sprintf("unknown key %q; did you mean %q?", name, near)
	}
	return &TypeError{Line: line, Reason: reason}
}

// yamlPlace finds the line in a message of the YAML package, which has no
// other way to tell it.
var yamlPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?(?:line ([0-9]+): )?`) })

func yamlError(err error) *TypeError {
	text := err.Error()
	m := yamlPlace().FindStringSubmatch(text)
	e := &TypeError{Line: 1, Reason: "the front matter is not YAML: " + text[len(m[0]):]}
	if n, err := strconv.Atoi(m[1]); err == nil {
		e.Line = n + 1
	}
	return e
}

// lineField matches a key at the beginning of a line.
var lineField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z_-]*):[ \t]*(.*)$`) })

// readLines reads front matter that is no YAML line by line: descriptions with
// colons are common in files for tools that read it so.
func readLines(head string) map[string]field {
	fields := map[string]field{}
	n, last := 1, ""
	for line := range strings.SplitSeq(head, "\n") {
		n++
		m := lineField().FindStringSubmatch(line)
		if m == nil {
			if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && last != "" && fields[last].text == "" {
				f := fields[last]
				f.list = append(f.list, item)
				fields[last] = f
			}
			continue
		}
		last = m[1]
		fields[last] = field{text: strings.Trim(strings.TrimSpace(m[2]), `"'`), line: n}
	}
	return fields
}
