package modeltest

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// toolNames are the names that clients give a tool, by its role in a script;
// of those a request offers the first is called.
func toolNames(role string) []string {
	switch role {
	case "shell":
		return []string{"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"}
	case "read":
		return []string{"Read", "read", "read_file", "view"}
	case "write":
		return []string{"Write", "write", "write_file", "create"}
	case "edit":
		return []string{"Edit", "edit", "replace"}
	case "grep":
		return []string{"Grep", "grep", "grep_search", "search_file_content"}
	case "find":
		return []string{"Glob", "glob", "find"}
	case "ls":
		return []string{"LS", "ls", "list_directory"}
	default:
		return nil
	}
}

// argumentNames are the names that clients give an argument, by its name in a
// script.
func argumentNames(argument string) []string {
	switch argument {
	case "command":
		return []string{"command", "cmd"}
	case "path":
		return []string{"file_path", "filePath", "absolute_path", "dir_path", "path"}
	case "text":
		return []string{"content", "text", "file_text"}
	case "old":
		return []string{"old_string", "oldString", "oldText", "old_text", "old_str"}
	case "new":
		return []string{"new_string", "newString", "newText", "new_text", "new_str"}
	default:
		return []string{argument}
	}
}

// answerTools are those by which a client has a model give its answer in the
// form it wants.
func answerTools() []string {
	return []string{"StructuredOutput", "structured_output", "answer"}
}

// call is a call as a client is to get it.
type call struct {
	name  string
	space string
	// args is a JSON object, or the text of a tool that takes a text.
	args string
	free bool
}

// resolve finds the tool for a call. The shell carries out a role that the
// client does not offer, as codex does it. Without a shell the call has the
// name in the script, and the client reports that it has no such tool.
func resolve(c *conversation, to Call) call {
	is := pick(c, to)
	if o := c.offered(is.name); o != nil {
		is.space = o.space
	}
	return is
}

func pick(c *conversation, to Call) call {
	role, ok := to.role()
	if !ok {
		o := c.offered(to.Name)
		if text, is := to.Args["input"].(string); is && o != nil && o.free {
			return call{name: to.Name, args: text, free: true}
		}
		return call{name: to.Name, args: object(to.Args)}
	}
	for _, name := range toolNames(role) {
		if o := c.offered(name); o != nil && !o.free {
			return call{name: name, args: object(o.schema.fill(to.Args, c.folder()))}
		}
	}
	if is, ok := resolveFree(c, role, to.Args); ok {
		return is
	}
	if command := asCommand(role, to.Args); command != "" && role != "shell" {
		for _, name := range toolNames("shell") {
			if o := c.offered(name); o != nil && !o.free {
				return call{name: name, args: object(o.schema.fill(map[string]any{"command": command}, ""))}
			}
		}
	}
	return call{name: role, args: object(to.Args)}
}

func object(args map[string]any) string {
	if args == nil {
		return "{}"
	}
	text, err := json.Marshal(args)
	if err != nil {
		return "{}" // values from JSON fit into JSON
	}
	return string(text)
}

// shape is as much of a JSON schema as filling it in needs.
type shape struct {
	Type       any              `json:"type"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	Enum       []any            `json:"enum"`
}

// UnmarshalJSON ignores parts of another form: a schema may be true, or a list.
// It returns no error.
func (s *shape) UnmarshalJSON(data []byte) error {
	type plain shape
	_ = json.Unmarshal(data, (*plain)(s))
	return nil
}

// fill makes the arguments of a tool. Our arguments get its names, and its
// other required arguments get a placeholder.
func (s *shape) fill(args map[string]any, folder string) map[string]any {
	filled := map[string]any{}
	for _, argument := range slices.Sorted(maps.Keys(args)) { // two may have the same name
		for _, name := range argumentNames(argument) {
			if property, ok := s.Properties[name]; ok {
				filled[name] = property.hold(place(name, args[argument], folder))
				break
			}
		}
	}
	for name, property := range s.Properties {
		// A list of edits that holds our edit.
		if _, has := filled[name]; has || !property.is("array") || property.Items == nil {
			continue
		}
		if inner := property.Items.fill(args, folder); len(inner) > 0 && property.Items.is("object") {
			filled[name] = []any{inner}
		}
	}
	for _, name := range s.Required {
		if _, has := filled[name]; has {
			continue
		}
		property := s.Properties[name]
		filled[name] = property.anything()
	}
	return filled
}

// place makes a path absolute where a client wants it so: most do, under names
// that are longer than "path", and those that do not take it too.
func place(name string, value any, folder string) any {
	text, ok := value.(string)
	if !ok || folder == "" || path.IsAbs(text) {
		return value
	}
	switch name {
	case "file_path", "filePath", "absolute_path", "dir_path":
		return path.Join(folder, text)
	default:
		return value
	}
}

// hold puts a command into a list of words if the tool wants a list.
func (s *shape) hold(value any) any {
	if text, ok := value.(string); ok && s.is("array") {
		return []any{"bash", "-lc", text}
	}
	return value
}

func (s *shape) is(kind string) bool {
	switch t := s.Type.(type) {
	case string:
		return strings.EqualFold(t, kind) // Gemini writes ARRAY
	case []any:
		for _, one := range t {
			if text, ok := one.(string); ok && strings.EqualFold(text, kind) {
				return true
			}
		}
	}
	return false
}

func (s *shape) anything() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.is("boolean"):
		return false
	case s.is("integer"), s.is("number"):
		return 0
	case s.is("array"):
		return []any{}
	case s.is("object"):
		return s.fill(nil, "")
	default:
		return "scripted"
	}
}
