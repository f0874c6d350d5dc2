package workflow

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/event"
)

// Type is a named prompt that calls may begin with.
type Type struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Prompt      string `json:"prompt"`
	// Model, Effort and Tools are the settings of the type's agents; if empty,
	// the agents decide. Without are the tools that they do not have. Both
	// lists hold entries of package toolset.
	Model   string   `json:"model,omitempty"`
	Effort  string   `json:"effort,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Without []string `json:"without,omitempty"`
	// Unknown are entries of its lists that name no tool. Only a file of another
	// tool has them.
	Unknown []string `json:"unknown,omitempty"`
	// Role is that of calls which name none; empty leaves it to the run.
	Role string `json:"role,omitempty"`
	// File is where it was read from; empty for those that are built in.
	File string `json:"file,omitempty"`
	// Refused says why no call may use it; empty: it may be used.
	Refused string `json:"refused,omitempty"`
}

// The folders of a checkout that types lie in: our own first, then that of
// another tool, whose files are read with patience.
const (
	TypesFolder  = ".swarm/agents"
	ClaudeFolder = ".claude/agents"
)

// MaxTypeText is how long the file of a type may be, in bytes.
const MaxTypeText = 256 << 10

// TypeError is a fault in the file of a type, with its place.
type TypeError struct {
	File   string
	Line   int // from 1; 0 where it is the file as a whole
	Reason string
}

func (e *TypeError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
	}
	return e.File + ": " + e.Reason
}

//go:embed builtin_types/*.md
var builtinTypes embed.FS

// Types are the types that calls may name: those of the files, of which the
// first of a name counts, and those that are built in. A file of another tool
// that cannot be read makes a type that is refused when it is used, for that
// tool may well read it.
func Types(files []event.ScriptFile) (map[string]Type, error) {
	all := map[string]Type{}
	for _, f := range files {
		t, err := ParseType(f.Name, f.Text)
		switch {
		case err != nil && !lenient(f.Name):
			return nil, err
		case err != nil:
			t = Type{Name: fileName(f.Name), File: f.Name, Refused: err.Error()}
		}
		earlier, twice := all[t.Name]
		if twice && !lenient(f.Name) {
			return nil, &TypeError{File: f.Name, Reason: fmt.Sprintf("type %q is in %s already", t.Name, earlier.File)}
		}
		if !twice {
			all[t.Name] = t
		}
	}
	return all, addBuiltin(all)
}

func addBuiltin(all map[string]Type) error {
	entries, err := builtinTypes.ReadDir("builtin_types")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := builtinTypes.ReadFile("builtin_types/" + e.Name())
		if err != nil {
			return err
		}
		t, err := ParseType(e.Name(), string(text))
		if err != nil {
			return err
		}
		t.File = ""
		if _, own := all[t.Name]; !own {
			all[t.Name] = t
		}
	}
	return nil
}

// lenient reports whether a file was written for another tool.
func lenient(file string) bool { return strings.HasPrefix(file, ClaudeFolder+"/") }

func fileName(file string) string { return strings.TrimSuffix(path.Base(file), ".md") }

// ParseType reads the file of a type: Markdown, which is its prompt, below
// front matter in YAML. Without a name there it has that of its file. Its
// error is a [*TypeError].
func ParseType(file, text string) (Type, error) {
	switch {
	case len(text) > MaxTypeText:
		return Type{}, &TypeError{File: file, Reason: fmt.Sprintf("is longer than %d KiB", MaxTypeText>>10)}
	case !utf8.ValidString(text):
		return Type{}, &TypeError{File: file, Reason: "is not UTF-8"}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	head, body, err := cutFrontMatter(text)
	if err != "" {
		return Type{}, &TypeError{File: file, Line: 1, Reason: err}
	}
	fields, bad := readFields(head, lenient(file))
	if bad != nil {
		bad.File = file
		return Type{}, bad
	}
	t := Type{
		Name: fields["name"].text, Description: fields["description"].text,
		Prompt: strings.TrimSpace(body), File: file,
	}
	if bad := t.options(file, fields); bad != nil {
		bad.File = file
		return Type{}, bad
	}
	if t.Name == "" {
		t.Name = fileName(file)
	}
	switch {
	case !isTypeName(t.Name):
		return Type{}, &TypeError{File: file, Line: fields["name"].line, Reason: fmt.Sprintf(
			"%q is not the name of a type: want letters, digits, and . _ : - between them, at most %d", t.Name, maxTypeName)}
	case t.Prompt == "":
		return Type{}, &TypeError{File: file, Reason: "has no prompt: nothing stands below the front matter"}
	}
	return t, nil
}

// cutFrontMatter parts a text at the line that ends its front matter. why is
// set where that line is missing.
func cutFrontMatter(text string) (head, body, why string) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", text, ""
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:at], rest[at+len(line):], ""
		}
		at += len(line)
	}
	return "", "", "the front matter that begins here has no end: a line of --- is missing"
}

const maxTypeName = 64

func isTypeName(name string) bool {
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case i > 0 && strings.ContainsRune("._:-", r):
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxTypeName
}
