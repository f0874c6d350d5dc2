package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite the schema and the tables of the documentation")

const (
	schemaFile = "../../docs/config.schema.json"
	pageFile   = "../../docs/configuration.md"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits returns the complaint of an editor that knows the schema about a file.
func fits(s *jsonschema.Schema, text string) error {
	v := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// TestSchemaFile: the published schema is the schema that the program prints.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	same(t, schemaFile, want)
}

func same(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the program says; rewrite it with -update", file)
	}
}

// TestSchemaAccepts takes every file that Load accepts.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	files := []string{"", everyKey, repository, "[agents]\n"}
	for _, tt := range keyTests() {
		files = append(files, tt.give)
	}
	for _, tt := range agentTests() {
		files = append(files, "[agents.a_1-B]\n"+tt.give)
	}
	for _, command := range []string{`['x', '{prompt}']`, `['x', 'a={prompt_file}']`} {
		files = append(files, "[agents.a]\ncommand = "+command+"\ninput = 'arg'", "[agents.a]\ncommand = "+command+"\npty = true")
	}
	for _, d := range []string{"0", "0s", "1.5h", ".5m", "1h2m3s4ms5us6ns", "+3s", "7µs"} {
		files = append(files, "limits.timeout = '"+d+"'")
	}
	for _, d := range []string{"1s", "0h1m", "1.5h", "0.05m", ".5m", "10m0s", "+3s"} {
		files = append(files, "risk.question_timeout = '"+d+"'")
	}
	files = append(files,
		"[prices]", "[prices.'a/b:c']\ninput = 1\noutput = 2.5\ncache_read = 0\ncache_write = 1e-2", "prices.m = { input = 0, output = 0 }",
		someRoles, "[roles]", "roles.x = 'm:70b'", "roles.x.model = 'a/b/c'", "roles.x.limits.usd = 1",
	)
	for _, tt := range sandboxTests() {
		files = append(files, tt.give)
	}
	files = append(files,
		"[providers]", "[providers.openai]", "[providers.mine]\nbase_url = 'http://127.0.0.1:8080/v1'",
		"[providers.mine]\nbase_url = 'https://h'\napi = 'anthropic'\nkey_env = 'K'\n[providers.mine.models.'a/b:c']\ncontext_window = 1\nmax_output = 2",
		"[providers.ollama.models.m]\ninput = 1\noutput = 2\ncache_read = 0", "providers.openai-chat.models.m = {}",
	)
	for _, text := range files {
		if _, err := Load(user(text)); err != nil {
			t.Errorf("Load(%q) = %v, want it accepted", text, err)
		}
		if err := fits(s, text); err != nil {
			t.Errorf("the schema refuses %q: %v", text, err)
		}
	}
}

// TestSchemaRefuses takes every mistake that Load finds.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	// Rules that a schema cannot express.
	beyond := []string{"jobs float", "prompt in a script", "budget_usd next to nothing", "role limit next to nothing"}
	for _, tt := range slices.Concat(wrongTests(), wrongPathTests()) {
		err := fits(s, tt.give)
		if want := !slices.Contains(beyond, tt.name); (err != nil) != want {
			t.Errorf("%s: the schema says %v of %q, want a refusal: %t", tt.name, err, tt.give, want)
		}
	}
}

// TestSchemaHasEveryKey: the schema describes every key that is read, and no
// other.
func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	top := s.Properties
	agent := top["agents"].AdditionalProperties.(*jsonschema.Schema).Ref.Properties
	type test struct {
		where   string
		readers map[string]reader
		schema  map[string]*jsonschema.Schema
	}
	tests := []test{
		{"the top", (&Config{}).readers(), top},
		{"an agent", (&definition{}).readers(), agent},
		{"a price", priceReaders(), top["prices"].AdditionalProperties.(*jsonschema.Schema).Properties},
		{"a provider", providerReaders(), top["providers"].AdditionalProperties.(*jsonschema.Schema).Properties},
		{"a model", modelReaders(), top["providers"].AdditionalProperties.(*jsonschema.Schema).Properties["models"].AdditionalProperties.(*jsonschema.Schema).Properties},
	}
	for _, table := range tables() {
		tests = append(tests, test{table.name, (&Config{}).tableReaders(table), top[table.name].Properties})
	}
	for _, tt := range tests {
		for name := range tt.readers {
			if p := tt.schema[name]; p == nil || len(p.Description) < 10 {
				t.Errorf("the key %s of %s has no description in the schema", name, tt.where)
			}
		}
		if len(tt.schema) != len(tt.readers) {
			t.Errorf("the schema has %d keys for %s, want %d", len(tt.schema), tt.where, len(tt.readers))
		}
	}
}

func providerReaders() map[string]reader {
	keys := map[string]reader{"models": nil}
	for _, k := range providerKeys() {
		keys[k.name] = nil
	}
	return keys
}

func modelReaders() map[string]reader {
	keys := map[string]reader{}
	for _, k := range modelKeys() {
		keys[k.name] = nil
	}
	return keys
}

func priceReaders() map[string]reader {
	keys := map[string]reader{}
	for _, k := range priceKeys() {
		keys[k.name] = nil
	}
	return keys
}

// TestPage holds the tables of the documentation to the keys, and its
// examples to the parser.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	marks := map[string]string{
		"agent": rows(agentKeys()), "price": rows(priceKeys()),
		"provider": rows(providerKeys()), "model": rows(modelKeys()),
		"role": rows(roleKeys()),
	}
	for _, table := range tables() {
		marks[table.name] = rows(table.keys)
	}
	for mark, rows := range marks {
		begin, end := "<!-- keys: "+mark+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no %q with an %q", pageFile, begin, end)
		}
		text = before + begin + rows + end + after
	}
	same(t, pageFile, []byte(text))
	for _, m := range regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if found := Check(user(m[1])); len(found) > 0 {
			t.Errorf("%s: an example is wrong: %v", pageFile, found[0])
		}
	}
}

func rows[T any](keys []key[T]) string {
	var b strings.Builder
	b.WriteString("| key | values | default | meaning |\n|---|---|---|---|\n")
	for _, k := range keys {
		standard := k.otherwise
		if standard == "" && k.initial != nil {
			standard = "`" + tomlValue(k.initial) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, k.takes.words, standard, k.meaning)
	}
	return b.String()
}
