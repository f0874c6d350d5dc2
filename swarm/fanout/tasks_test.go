package fanout

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

func TestReadTasksJSONL(t *testing.T) {
	t.Parallel()
	got, err := ReadTasks(TasksRequest{Source: "tasks.jsonl", Format: FormatJSONL, Text: []byte("\ufeff" +
		`{"id": "parsers", "prompt": "mend {item}", "agent": "mine", "paths": ["services/a", "docs/*.md"], "timeout": "1h30m", "variant": "off"}` + "\r\n" +
		"\n  \t\n" +
		`  {"command": ["go", "vet", "./…", ""]}  ` + "\n" +
		`{"id": "Parsers/é-1_2.x", "prompt": "p\n\"q\"", "depends_on": ["parsers"]}`)})
	want := []Task{
		{Line: 1, ID: "parsers", Prompt: "mend {item}", Agent: "mine", Paths: []string{"services/a", "docs/*.md"}, Timeout: 90 * time.Minute, Options: task.Options{Variant: task.VariantOff}},
		{Line: 4, Command: []string{"go", "vet", "./…", ""}},
		{Line: 5, ID: "Parsers/é-1_2.x", Prompt: "p\n\"q\"", DependsOn: []string{"parsers"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadTasks = %+v, %v, want %+v", got, err, want)
	}
}

func TestReadTasksTOML(t *testing.T) {
	t.Parallel()
	got, err := ReadTasks(TasksRequest{Source: "tasks.toml", Format: FormatTOML, Text: []byte("\ufeff" + `# what to do
[[tasks]]
id = "parsers"
prompt = """
mend
{item}"""
agent = 'mine'
paths = [
  "services/a", # and below
  'docs/*.md',
]
timeout = "30m"
allow = [
  "push to feature/*", # and no further
  'Run npm run build without asking',
]

[[tasks]]   # no id
command = ["go", "vet"]
[["tasks"]]
"id" = "c"
prompt = "p"
depends_on = ["parsers"]`)})
	want := []Task{
		{Line: 2, ID: "parsers", Prompt: "mend\n{item}", Agent: "mine", Paths: []string{"services/a", "docs/*.md"}, Timeout: 30 * time.Minute,
			Allow: []string{"push to feature/*", "Run npm run build without asking"}},
		{Line: 18, Command: []string{"go", "vet"}},
		{Line: 20, ID: "c", Prompt: "p", DependsOn: []string{"parsers"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadTasks = %+v, %v, want %+v", got, err, want)
	}
}

func TestReadTasksPlain(t *testing.T) {
	t.Parallel()
	text := "\ufeffmend {items}\r\n\n \t\r\n  see {item} \n{\"not\": \"json\"\n"
	got, err := ReadTasks(TasksRequest{Source: "standard input", Format: FormatPlain, Text: []byte(text)})
	want := []Task{
		{Line: 1, Prompt: "mend {items}", Plain: true},
		{Line: 4, Prompt: "  see {item} ", Plain: true},
		{Line: 5, Prompt: `{"not": "json"`, Plain: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadTasks = %+v, %v, want %+v", got, err, want)
	}
	items, err := ReadTasks(TasksRequest{Source: "standard input", Format: FormatPlain, Items: true, Text: []byte("a7\n\nodd \xff name\r\n")})
	want = []Task{{Line: 1, ID: "a7"}, {Line: 3, ID: "odd \xff name"}}
	if err != nil || !reflect.DeepEqual(items, want) {
		t.Errorf("ReadTasks of items = %+v, %v, want %+v", items, err, want)
	}
}

func TestReadTasksOfItems(t *testing.T) {
	t.Parallel()
	got, err := ReadTasks(TasksRequest{Source: "s", Format: FormatJSONL, Items: true, Text: []byte(
		`{"id": "odd name/$x", "paths": ["odd name"], "timeout": "1s", "allow": ["push to x"]}` + "\n" + `{"id": "a7", "depends_on": ["odd name/$x"]}`)})
	want := []Task{
		{Line: 1, ID: "odd name/$x", Paths: []string{"odd name"}, Timeout: time.Second, Allow: []string{"push to x"}},
		{Line: 2, ID: "a7", DependsOn: []string{"odd name/$x"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadTasks = %+v, %v, want %+v", got, err, want)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]TaskFormat{
		"tasks.jsonl": FormatJSONL, "x/y.toml": FormatTOML, "tasks.json": FormatUnset, "x.js": FormatUnset, "tasks": FormatUnset,
	} {
		if got := FileFormat(name); got != want {
			t.Errorf("FileFormat(%q) = %s, want %s", name, got, want)
		}
	}
	for text, want := range map[string]TaskFormat{
		"": FormatPlain, "do it\n{": FormatPlain, "\ufeff\n\r\n \t{}": FormatJSONL, "[1]": FormatPlain,
	} {
		if got := InputFormat([]byte(text)); got != want {
			t.Errorf("InputFormat(%q) = %s, want %s", text, got, want)
		}
	}
}

// refused is the text of the error for a list, and its hint.
func refused(t *testing.T, r TasksRequest) (text, hint string) {
	t.Helper()
	tasks, err := ReadTasks(r)
	var bad *TaskError
	if !errors.As(err, &bad) {
		t.Errorf("ReadTasks(%.200q) = %+v, %v, want a TaskError", r.Text, tasks, err)
		return "", ""
	}
	return err.Error(), bad.Hint()
}

func TestReadTasksRefusesRecords(t *testing.T) {
	t.Parallel()
	const grants = `an item is written as in AGENTS.md, such as ["push to feature/* branches"]`
	for _, tc := range []struct{ give, want, hint string }{
		{`{"promt": "x"}`, `promt: unknown field; did you mean "prompt"?`, ""},
		{`{"Prompt": "x"}`, `Prompt: unknown field; did you mean "prompt"?`, ""},
		{`{"a b\u001b": 1}`, `"a b\x1b": unknown field`, ""},
		{`{"prompt": "x", "prompt": "y"}`, `prompt: appears twice`, ""},
		{`{"prompt": 5}`, `prompt: expected a string, got the number 5`, ""},
		{`{"prompt": "p", "allow": "push to x"}`, `allow: expected a list of items, such as ["push to feature/* branches"], got "push to x"`, ""},
		{`{"prompt": "p", "allow": []}`, `allow: is an empty list`, ""},
		{`{"prompt": "p", "allow": ["push to x", 7]}`, `allow: expected a list of items, such as ["push to feature/* branches"], got the number 7 at place 2`, ""},
		{`{"prompt": "p", "allow": ["push to x", "do as you like"]}`, `allow: "do as you like": it begins with none of push, force push, run, modify, amend, downgrade, create, open, close, reopen, edit, merge, comment, never and do not`,
			grants},
		{`{"prompt": "p", "allow": [""]}`, `allow: "": it begins with none of push, force push, run, modify, amend, downgrade, create, open, close, reopen, edit, merge, comment, never and do not`, grants},
		{`{"prompt": "p", "allow": ["push to *"]}`, `allow: "push to *": "*" begins with a star; name at least the beginning, as in feature/*`, grants},
		{`{"command": ["x"], "allow": ["push to x \u001b[2J"]}`, `allow: "push to x \x1b[2J": it holds a character that is not plain ASCII`, grants},
		{`{"prompt": "p", "model": 5}`, `model: expected a string, got the number 5`, ""},
		{`{"prompt": "p", "model": "-x"}`, `model: "-x" is not a word without spaces that does not begin with -`, ""},
		{`{"prompt": "p", "effort": ""}`, `effort: is empty`, ""},
		{`{"prompt": "p", "effort": "very high"}`, `effort: "very high" is not a word without spaces that does not begin with -`, ""},
		{`{"prompt": "p", "tools": "read"}`, `tools: expected a list of tools, such as ["read", "grep"], got "read"`, ""},
		{`{"prompt": "p", "tools": ["read", "fnd"]}`, `tools: there is no tool "fnd"; did you mean "find"?`, ""},
		{`{"prompt": "p", "read_only": "yes"}`, `read_only: expected true or false, got "yes"`, ""},
		{`{"prompt": "p", "variant": "on"}`, `variant: "on" is not "off", which leaves them out`, ""},
		{`{"prompt": "p", "variant": true}`, `variant: expected a string, got true`, ""},
		{`{"command": ["x"], "variant": "off"}`, `variant: does not go with a command; it is for a prompt`, ""},
		{`{"command": ["x"], "model": "m"}`, `model: does not go with a command; it is for a prompt`, ""},
		{`{"command": ["x"], "read_only": false}`, `read_only: does not go with a command; it is for a prompt`, ""},
		{`{"prompt": null}`, `prompt: expected a string, got null`, ""},
		{`{"prompt": " \n"}`, `prompt: is empty`, ""},
		{`{"prompt": "a\u0000"}`, `prompt: holds a NUL character`, ""},
		{`{"id": "x"}`, `prompt: is missing; a task has a prompt or a command`, ""},
		{`{"prompt": "x", "command": ["y"]}`, `command: and a prompt are both set; a task has a single one of them`, ""},
		{`{"command": "go test"}`, `command: expected a list of words, such as ["go", "test"], got "go test"`, "a command goes through no shell, so its words stand apart"},
		{`{"command": []}`, `command: is an empty list`, ""},
		{`{"command": ["", "x"]}`, `command: begins with an empty word: the first is a program`, ""},
		{`{"command": ["x", true]}`, `command: expected a list of words, such as ["go", "test"], got true at place 2`, ""},
		{`{"command": ["x", "\u0000"]}`, `command: holds a NUL character at place 2`, ""},
		{`{"command": {"x": 1}}`, `command: expected a list of words, such as ["go", "test"], got an object`, ""},
		{`{"command": ["x"], "agent": "mine"}`, `agent: does not go with a command; it is for a prompt`, ""},
		{`{"prompt": "x", "agent": ""}`, `agent: is empty`, ""},
		{`{"prompt": "x", "paths": "a"}`, `paths: expected a list of globs, such as ["services/a"], got "a"`, "without paths a task may change everything"},
		{`{"prompt": "x", "paths": []}`, `paths: is an empty list`, "without paths a task may change everything"},
		{`{"prompt": "x", "paths": ["a", "../b"]}`, `paths: "../b" leaves the repository`, ""},
		{`{"prompt": "x", "paths": ["./"]}`, `paths: "./" names the top of the repository itself`, "** matches every path"},
		{`{"prompt": "x", "depends_on": "a"}`, `depends_on: expected a list of ids, such as ["a", "b"], got "a"`, ""},
		{`{"prompt": "x", "depends_on": [["a"]]}`, `depends_on: expected a list of ids, such as ["a", "b"], got a list at place 1`, ""},
		{`{"prompt": "x", "depends_on": ["a"]}`, `depends_on: no task "a"`, ""},
		{`{"prompt": "x", "depends_on": [""]}`, `depends_on: no task ""`, ""},
		{`{"id": "a", "prompt": "x", "depends_on": ["a"]}`, `depends_on: "a" is the task itself`, ""},
		{`{"prompt": "x", "timeout": 30}`, `timeout: expected a duration such as "30m", got the number 30`, ""},
		{`{"prompt": "x", "timeout": "half"}`, `timeout: expected a duration such as "30m", got "half"`, ""},
		{`{"prompt": "x", "timeout": "0s"}`, `timeout: expected a duration of more than nothing, got "0s"`, ""},
		{`{"prompt": "x", "timeout": "-1m"}`, `timeout: expected a duration of more than nothing, got "-1m"`, ""},
		{`{"id": "", "prompt": "x"}`, `id: is empty`, ""},
		{`{"id": "a b", "prompt": "x"}`, `id: "a b" holds ' '; an id is of letters, digits and - _ . /`, ""},
		{`{"id": "-a", "prompt": "x"}`, `id: "-a" begins with -, as a flag does`, ""},
		{`{"id": "a//b", "prompt": "x"}`, `id: "a//b" has between its slashes a part that is empty or only dots`, ""},
		{`{"id": "a/", "prompt": "x"}`, `id: "a/" has between its slashes a part that is empty or only dots`, ""},
		{`{"id": "../a", "prompt": "x"}`, `id: "../a" has between its slashes a part that is empty or only dots`, ""},
		{`{"id": "a7", "prompt": "x"}`, `id: "a7" is how swarm itself calls an agent`, ""},
		{`{"id": "` + strings.Repeat("x", 201) + `", "prompt": "x"}`, `id: is longer than 200 bytes`, ""},
		{`{"id": "a", "prompt": "see {itme}"}`, `prompt: {itme} in the prompt is not a placeholder; did you mean {item}?`, ""},
		{`{"prompt": "see {name}"}`, `prompt: {name} is the id, and the task has no id`, "give the task an id; {index} and {count} need none"},
		{`{"command": ["x", "a{item}"]}`, `command: {item} is the id, and the task has no id`, "give the task an id; {index} and {count} need none"},
		{`{"id": "a", "command": ["sh", "-c", "x {item}"]}`, `command: {item} inside the script of a shell would be run as code; write "$SWARM_ITEM" there`, ""},
	} {
		text, hint := refused(t, TasksRequest{Source: "tasks.jsonl", Format: FormatJSONL, Text: []byte("\n" + tc.give + "\n")})
		if text != "tasks.jsonl:2: "+tc.want || hint != tc.hint {
			t.Errorf("%s is refused with\n%s (%s), want\n%s (%s)", tc.give, text, hint, tc.want, tc.hint)
		}
	}
}

func TestReadTasksRefusesBesideACommand(t *testing.T) {
	t.Parallel()
	tip := "a record then has an id, which is the item, and maybe paths, depends_on, timeout and allow"
	for _, tc := range []struct{ give, want, hint string }{
		{`{"id": "x", "prompt": "y"}`, `prompt: does not go with a command after --, which all tasks run`, tip},
		{`{"id": "x", "command": ["y"]}`, `command: does not go with a command after --, which all tasks run`, tip},
		{`{"id": "x", "agent": "y"}`, `agent: does not go with a command after --, which all tasks run`, tip},
		{`{"paths": ["y"]}`, `id: is missing: it is the item for the command after --`, ""},
		{`{"id": "` + strings.Repeat("x", 65537) + `"}`, `id: is longer than the 64 KiB of an item`, ""},
	} {
		text, hint := refused(t, TasksRequest{Source: "-", Format: FormatJSONL, Items: true, Text: []byte(tc.give)})
		if text != "-:1: "+tc.want || hint != tc.hint {
			t.Errorf("%.80s is refused with\n%s (%s), want\n%s (%s)", tc.give, text, hint, tc.want, tc.hint)
		}
	}
}

func TestReadTasksRefusesLists(t *testing.T) {
	t.Parallel()
	example := `each line is an object, such as {"id": "a", "prompt": "do this"}`
	long := strings.Repeat("x", MaxTaskText+1)
	for _, tc := range []struct {
		format           TaskFormat
		give, want, hint string
	}{
		{FormatUnset, "x", `s: is not a list of tasks`, "a list is called NAME.jsonl or NAME.toml, or comes on standard input"},
		{FormatJSONL, "", `s:1: holds no task`, ""},
		{FormatTOML, "# nothing\n", `s:1: holds no task`, ""},
		{FormatPlain, "\n \n", `s:1: holds no task`, ""},
		{FormatPlain, "a\nb\x00\n", `s:2: holds a NUL byte`, ""},
		{FormatPlain, "a\n\xff\n", `s:2: is not valid UTF-8`, ""},
		{FormatJSONL, "\n{\"\xff\": 1}\n", `s:2: is not valid UTF-8`, ""},
		{FormatPlain, "a\n" + long, `s:2: is longer than 1 MiB`, ""},
		{FormatTOML, "[[tasks]]\nprompt = \"p\"\n[[tasks]]\nprompt = \"" + long + "\"", `s:3: is longer than 1 MiB`, ""},
		{FormatPlain, strings.Repeat("x\n", MaxTasks+1), `s:100001: is one task more than the 100000 of a list`, ""},
		{FormatPlain, strings.Repeat("x", MaxTasksText+1), `s: is longer than 64 MiB`, ""},
		{FormatJSONL, "{\"prompt\": \"x\"}\n[]", `s:2: is not a JSON object`, example},
		{FormatJSONL, `{"prompt": "x"} {}`, `s:1: has text after the object: write one object a line`, example},
		{FormatJSONL, `{"prompt": "x"}, `, `s:1: has text after the object: write one object a line`, example},
		{FormatJSONL, `{"prompt":`, `s:1: is not valid JSON: the line ends within the object`, example},
		{FormatJSONL, `{"prompt": "x"`, `s:1: is not valid JSON: the line ends within the object`, example},
		{FormatJSONL, `{"prompt": 'x'}`, `s:1: is not valid JSON: invalid character '\'' looking for beginning of value`, example},
		{FormatJSONL, `{prompt: 1}`, `s:1: is not valid JSON: invalid character 'p'`, example},
		{FormatJSONL, `{"id": "a", "prompt": "x"}` + "\n\n" + `{"id": "a", "prompt": "y"}`, `s:3: id: "a" appears twice; line 1 has it first`, ""},
		{FormatJSONL, `{"id": "parsers", "prompt": "x"}` + "\n" + `{"prompt": "y", "depends_on": ["parser"]}`, `s:2: depends_on: no task "parser"; did you mean "parsers"?`, ""},
		{FormatJSONL, `{"id": "b", "prompt": "x"}` + "\n" + `{"prompt": "y", "depends_on": ["b", "b"]}`, `s:2: depends_on: "b" appears twice`, ""},
		{FormatTOML, "prompt = \"x\"", `s:1: prompt: is outside of a task; [[tasks]] begins a task`, ""},
		{FormatTOML, "\n[tasks]\nprompt = \"x\"", `s:2: tasks: each task is a table of its own, [[tasks]]`, ""},
		{FormatTOML, "tasks = [{prompt = \"x\"}]", `s:1: tasks: each task is a table of its own, [[tasks]]`, ""},
		{FormatTOML, "[[task]]\n", `s:1: task: unknown table or field; did you mean "tasks"?`, ""},
		{FormatTOML, "[[tasks]]\nprompt = \"x\"\n[tasks.y]\n", `s:3: tasks.y: unknown table or field`, ""},
		{FormatTOML, "[[tasks]]\nprompt.x = \"x\"\n", `s:2: prompt.x: unknown field; did you mean "prompt"?`, ""},
		{FormatTOML, "[[tasks]]\nid = \"a\"\nprompt = \"x\"\nprompt = \"y\"", `s:4: prompt: appears twice`, ""},
		{FormatTOML, "[[tasks]]\nprompt = \"x\"\ntimeout = 07:32:00", `s:3: timeout: expected a duration such as "30m", got a date or time`, ""},
		{FormatTOML, "[[tasks]]\nprompt = \"x\"\npaths = { a = 1 }", `s:3: paths: expected a list of globs, such as ["services/a"], got a table`, "without paths a task may change everything"},
		{FormatTOML, "[[tasks]]\nprompt = \"x\"\n\npaths = [\n\"a\",\n\"/b\"]", `s:4: paths: "/b" is absolute: patterns are read from the top of the repository`, ""},
		{FormatTOML, "[[tasks]]\nid = \"a\"\n\n[[tasks]]\nprompt = \"x\"\n", `s:1: prompt: is missing; a task has a prompt or a command`, ""},
		{FormatTOML, "[[tasks]]\nid = \"a\"\nprompt = \"x\"\n[[tasks]]\nprompt = \"x\"\nid = \"a\"\n", `s:6: id: "a" appears twice; line 1 has it first`, ""},
		{FormatTOML, "[[tasks]]\nid = \"a\"\nprompt = \"x\"\ndepends_on = [\"b\"]\n", `s:4: depends_on: no task "b"`, ""},
		{FormatTOML, "[[tasks]]\nid = \"a\"\nprompt = \"see {item\n", `s:3: is not valid TOML: basic strings cannot have new lines`, ""},
		{FormatTOML, "[[tasks]]\nid = \n", `s:2: is not valid TOML: unexpected character U+000A at start of value`, ""},
	} {
		text, hint := refused(t, TasksRequest{Source: "s", Format: tc.format, Text: []byte(tc.give)})
		if text != tc.want || hint != tc.hint {
			t.Errorf("%.80q is refused with\n%s (%s), want\n%s (%s)", tc.give, text, hint, tc.want, tc.hint)
		}
	}
	items := TasksRequest{Source: "s", Format: FormatPlain, Items: true, Text: []byte("b\na\n\nb\n")}
	if text, _ := refused(t, items); text != `s:4: "b" appears twice; line 1 has it first` {
		t.Errorf("an item that appears twice is refused with %s", text)
	}
	items.Text = []byte("b\n" + strings.Repeat("x", MaxItem+1))
	if text, _ := refused(t, items); text != `s:2: is longer than the 64 KiB of an item` {
		t.Errorf("a long item is refused with %s", text)
	}
}
