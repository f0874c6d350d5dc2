package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentswarm/internal/patchpath"
	"agentswarm/risk/argv"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/strict"
)

// MaxInput bounds the input of a hook, in bytes.
const MaxInput = 8 << 20

// copilotInput is the input of Copilot CLI. Its hook has no name of an event, and
// older versions give the arguments of a tool as a text.
type copilotInput struct {
	Tool string          `json:"toolName"`
	Args json.RawMessage `json:"toolArgs"`
	Cwd  string          `json:"cwd"`
}

// input has the fields of the agents' input that swarm reads.
type input struct {
	Event string                     `json:"hook_event_name"`
	Tool  string                     `json:"tool_name"`
	Input map[string]json.RawMessage `json:"tool_input"`
	Cwd   string                     `json:"cwd"`
}

// Read reads an agent's message to its hook before it uses a tool. It returns
// the actions of the tool, and none if the tool changes nothing. It returns an
// error for a message that it cannot read exactly.
func (d Dialect) Read(text []byte) ([]ask.Action, error) {
	if err := Strict(text); err != nil {
		return nil, err
	}
	if d == Plain {
		return readPlain(text)
	}
	if d == Copilot {
		return readCopilot(text)
	}
	var in input
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	// An unknown event is refused: it may be a new name for the event before a
	// tool.
	switch event, known := d.event(in.Event); {
	case known && event == BeforeTool:
	case known:
		return nil, nil
	default:
		return nil, fmt.Errorf("its event is %q, and %s is what was expected", in.Event, d.before())
	}
	if in.Tool == "" {
		return nil, errors.New("it names no tool")
	}
	return d.actions(&in)
}

// readCopilot reads the input of Copilot CLI.
func readCopilot(text []byte) ([]ask.Action, error) {
	var said copilotInput
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, err
	}
	if said.Tool == "" {
		return nil, errors.New("it names no tool")
	}
	in := input{Tool: said.Tool, Cwd: said.Cwd}
	args := said.Args
	var inner string
	_ = json.Unmarshal(args, &inner) // it stays empty where the arguments are no text
	switch {
	case strings.HasPrefix(strings.TrimSpace(inner), "{"):
		if err := Strict([]byte(inner)); err != nil {
			return nil, err
		}
		args = json.RawMessage(inner)
	case inner != "": // a tool that takes text, such as apply_patch
		in.Input = map[string]json.RawMessage{"input": args}
		return Copilot.actions(&in)
	}
	if err := json.Unmarshal(args, &in.Input); err != nil && len(args) > 0 {
		return nil, fmt.Errorf("the arguments of %s: %w", said.Tool, err)
	}
	return Copilot.actions(&in)
}

// actions returns the actions of a tool with these inputs.
func (d Dialect) actions(in *input) ([]ask.Action, error) {
	what, names := d.tool(in.Tool)
	switch what {
	case nothing:
		return nil, nil
	case shell:
		return in.commands(names)
	case types:
		if in.typed(names) == "" {
			return nil, nil // it only looks, or ends a process that it looks at
		}
		return []ask.Action{{Command: in.typed(names), Cwd: in.Cwd}}, nil
	case writes:
		paths, err := in.texts(names)
		if err != nil {
			return nil, err
		}
		return each(paths, func(path string) ask.Action { return ask.Action{Write: path, Cwd: in.Cwd} }), nil
	case patches:
		texts, err := in.texts(names)
		if err != nil {
			return nil, err
		}
		return patched(strings.Join(texts, "\n"), in.Cwd)
	case fetches:
		a := ask.Action{Tool: in.Tool, Cwd: in.Cwd}
		for _, name := range names {
			if a.Target == "" {
				a.Target = in.string(name)
			}
		}
		if strings.EqualFold(in.Tool, "WebFetch") || in.Tool == "web_fetch" {
			a.Method = "GET"
		}
		return []ask.Action{a}, nil
	}
	panic(fmt.Sprintf("unhandled %d", what))
}

// from is a folder named from another.
func from(cwd, moved string) string {
	if strings.HasPrefix(moved, "/") || cwd == "" {
		return moved
	}
	return strings.TrimRight(cwd, "/") + "/" + moved
}

// string is an input that is a text; empty where it is none.
func (in *input) string(name string) string {
	var text string
	if json.Unmarshal(in.Input[name], &text) != nil {
		return ""
	}
	return text
}

// texts returns all of these inputs that exist, each a text or the words of a
// command. Only the tool knows which of several it uses, and its model may have
// given it an unknown input.
func (in *input) texts(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		raw, ok := in.Input[name]
		if !ok {
			continue
		}
		var text string
		var words []string
		switch {
		case json.Unmarshal(raw, &text) == nil && text != "":
			all = append(all, text)
		case json.Unmarshal(raw, &words) == nil && len(words) > 0:
			all = append(all, argv.Quoted(words))
		default:
			return nil, fmt.Errorf("%s of %s is neither a text nor a list of words", name, in.Tool)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s says nothing of what it would do: it has none of %s", in.Tool, strings.Join(names, ", "))
	}
	return all, nil
}

// commands are the texts for a shell, where they would run.
func (in *input) commands(names []string) ([]ask.Action, error) {
	texts, err := in.texts(names)
	if err != nil {
		return nil, err
	}
	cwd, given := in.Cwd, ""
	for _, name := range []string{"workdir", "directory", "dir_path", "cwd"} {
		moved := in.string(name)
		switch {
		case moved == "":
			continue
		case given != "" && given != moved:
			return nil, fmt.Errorf("%s names more than one folder", in.Tool)
		}
		cwd, given = from(in.Cwd, moved), moved
	}
	return each(texts, func(text string) ask.Action { return ask.Action{Command: text, Cwd: cwd} }), nil
}

// typed returns the text that is typed into a running program, less the keys
// that end or stop it. A shell may read it.
func (in *input) typed(names []string) string {
	var all []string
	for _, name := range names {
		text := strings.Map(func(r rune) rune {
			if r == '\x03' || r == '\x04' || r == '\x1a' || r == '\x1b' {
				return -1
			}
			return r
		}, strings.ReplaceAll(in.string(name), "\r", "\n"))
		if strings.TrimSpace(text) != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// each makes an action of each of some texts.
func each(texts []string, action func(string) ask.Action) []ask.Action {
	all := make([]ask.Action, len(texts))
	for i, text := range texts {
		all[i] = action(text)
	}
	return all
}

// patched are the files that a patch names. Those who read patches take marks
// with blanks before them, too.
func patched(text, cwd string) ([]ask.Action, error) {
	var all []ask.Action
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		for _, mark := range []string{
			"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "*** Rename to: ",
			"+++ ", "--- ", "rename to ", "rename from ", "copy to ",
		} {
			path, ok := strings.CutPrefix(line, mark)
			if path = strings.TrimSpace(path); !ok || path == "" || path == "/dev/null" {
				continue
			}
			switch {
			case strings.HasPrefix(mark, "+++"), strings.HasPrefix(mark, "---"):
				path = strings.TrimPrefix(strings.TrimPrefix(patchpath.Side(path), "a/"), "b/")
			case !strings.HasPrefix(mark, "***"): // a header of git
				path = patchpath.Unquote(path)
			}
			all = append(all, ask.Action{Write: path, Cwd: cwd, Removes: strings.HasPrefix(mark, "*** Delete")})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("its patch names no file")
	}
	return all, nil
}

// readPlain reads an action as swarm risk check takes it.
func readPlain(text []byte) ([]ask.Action, error) {
	var a ask.Action
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return nil, err
	}
	if !a.Whole() {
		return nil, errors.New("it names not one action: want one of command, write, git and tool")
	}
	return []ask.Action{a}, nil
}

// Strict returns an error for a text that two readers could read differently,
// as [strict.Object] does, and for a text that is too long.
func Strict(text []byte) error {
	if len(text) > MaxInput {
		return fmt.Errorf("it is longer than %d bytes", MaxInput)
	}
	return strict.Object(text)
}

// quote is a text as JSON.
func quote(text string) string {
	b, _ := json.Marshal(text) // a text always can be
	return string(b)
}
