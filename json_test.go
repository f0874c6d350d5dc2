package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentswarm/swarm/cli"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/task"
)

const jsonPage = "docs/json.md"

// jsonBlocks are the schemas of the page, by their id.
func jsonBlocks(page []byte) (map[string]map[string]any, error) {
	blocks := map[string]map[string]any{}
	for _, m := range regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(page, -1) {
		var s map[string]any
		if err := json.Unmarshal(m[1], &s); err != nil {
			return nil, err
		}
		blocks[s["$id"].(string)] = s
	}
	return blocks, nil
}

// closed makes a schema refuse unnamed properties. A reader has to expect more,
// but swarm's output must be on the page. value is false for parts of a schema
// that other schemas extend.
func closed(schema any, value bool) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if value {
		s["unevaluatedProperties"] = false
	}
	for _, key := range []string{"properties", "$defs"} {
		parts, _ := s[key].(map[string]any)
		for _, part := range parts {
			closed(part, key == "properties")
		}
	}
	closed(s["items"], true)
}

// schemas is the compiled page: swarm.run/1 is the schema of that object.
var schemas = sync.OnceValues(compilePage)

func compilePage() (map[string]*jsonschema.Schema, error) {
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		return nil, err
	}
	blocks, err := jsonBlocks(page)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for id, block := range blocks {
		closed(block, id != "urn:swarm:parts:1")
		if err := c.AddResource(id, block); err != nil {
			return nil, err
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for id := range blocks {
		s, err := c.Compile(id)
		if err != nil {
			return nil, err
		}
		name, version, _ := strings.Cut(strings.TrimPrefix(id, "urn:swarm:"), ":")
		compiled["swarm."+name+"/"+version] = s
	}
	return compiled, nil
}

// validCommand is `valid SCHEMA`: the last command printed objects, each on its
// line, and each matches docs/json.md. All but events print a single object.
func validCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: valid SCHEMA")
	}
	all, err := schemas()
	ts.Check(err)
	schema := all[args[0]]
	if schema == nil {
		ts.Fatalf("%s has no %s", jsonPage, args[0])
	}
	text := ts.ReadFile("stdout")
	lines := slices.Collect(strings.Lines(text))
	if len(lines) == 0 || len(lines) > 1 && args[0] != "swarm.event/1" {
		ts.Fatalf("stdout is not one object in a line: %q", text)
	}
	for _, line := range lines {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		ts.Check(err)
		if err := schema.Validate(v); (err == nil) == neg {
			ts.Fatalf("%v\nin %s", err, line)
		}
	}
}

// TestJSONPage checks the page itself. It also checks the script that validates
// the commands' output: each object and each command of the page is in it.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/json_objects.txtar")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if name == "swarm.parts/1" {
			continue
		}
		if !bytes.Contains(script, []byte("\nvalid "+name+"\n")) {
			t.Errorf("no script validates %s", name)
		}
		if !bytes.Contains(page, []byte("\n## "+name+"\n")) {
			t.Errorf("%s has no section for %s", jsonPage, name)
		}
	}
	for _, command := range commandsWithJSON(t) {
		typed := regexp.MustCompile(`(?m)^(exec|exits \d+) swarm ` + command + ` .*--json`)
		if !typed.Match(script) {
			t.Errorf("no script validates what `swarm %s --json` prints", command)
		}
		if !regexp.MustCompile("(?m)^\\| .*`" + command + "`.* \\|").Match(page) {
			t.Errorf("%s does not say what `swarm %s --json` prints", jsonPage, command)
		}
	}
	var words []string
	for _, k := range task.Kinds() {
		words = append(words, string(k))
	}
	for _, word := range words {
		if !bytes.Contains(page, []byte(`"`+word+`"`)) {
			t.Errorf("%s does not know the error kind %s", jsonPage, word)
		}
	}
}

// TestClosed shows that a field which is not on the page is found.
func TestClosed(t *testing.T) {
	t.Parallel()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{"schema":"swarm.rm/1","removed":[]}`:                                       true,
		`{"schema":"swarm.rm/1","removed":[{"run":"abc123","trash":"/x"}]}`:          true,
		`{"schema":"swarm.rm/1","removed":[{"run":"abc123","trash":"/x","more":1}]}`: false,
		`{"schema":"swarm.rm/1","removed":[],"more":1}`:                              false,
		`{"schema":"swarm.rm/2","removed":[]}`:                                       false,
		`{"schema":"swarm.rm/1","removed":[{"run":"nope","trash":"/x"}]}`:            false,
		`{"schema":"swarm.rm/1"}`:                                                    false,
		`{"schema":"swarm.rm/1","removed":null}`:                                     false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := all["swarm.rm/1"].Validate(v); (err == nil) != want {
			t.Errorf("%s: %v, want valid: %v", text, err, want)
		}
	}
}

// commandsWithJSON asks the help which commands there are.
func commandsWithJSON(t *testing.T) []string {
	t.Helper()
	help := func(words ...string) string {
		var out bytes.Buffer
		code := cli.Main(t.Context(), cmdline.Env{
			Args: append([]string{"help"}, words...), Dir: t.TempDir(), Stdin: strings.NewReader(""),
			Stdout: &out, Stderr: &out,
		})
		if code != 0 {
			t.Fatalf("help %v ended with %d: %s", words, code, &out)
		}
		return out.String()
	}
	_, list, _ := strings.Cut(help(), "\nStart:\n")
	list, _, _ = strings.Cut(list, "\nFlags of every command:\n")
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)`).FindAllStringSubmatch(list, -1) {
		if strings.Contains(help(m[1]), "\n  --json ") {
			all = append(all, m[1])
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %v have --json; is the help read rightly?", all)
	}
	return all
}
