package script

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
)

var recordLanguage = flag.Bool("record-language", false, "write the values that node gives into testdata/language")

// showValue writes a value as text, in the same way in every engine.
const showValue = `const show = (v, seen = []) => {
	if (typeof v === 'string') return JSON.stringify(v);
	if (typeof v === 'bigint') return v + 'n';
	if (typeof v === 'symbol') return String(v);
	if (typeof v === 'function') return 'function ' + v.name;
	if (typeof v !== 'object' || v === null) return Object.is(v, -0) ? '-0' : String(v);
	if (seen.includes(v)) return '(again)';
	const inside = [...seen, v];
	const each = (list) => [...list].map((x) => show(x, inside)).join(', ');
	if (v instanceof Error) return v.name;
	if (v instanceof Date) return 'Date ' + (isNaN(v) ? 'invalid' : v.toISOString());
	if (v instanceof RegExp) return 'RegExp ' + v.source + ' ' + v.flags;
	if (v instanceof Map) return 'Map {' + [...v].map(([k, x]) => show(k, inside) + ' => ' + show(x, inside)).join(', ') + '}';
	if (v instanceof Set) return 'Set {' + each(v) + '}';
	if (ArrayBuffer.isView(v)) return v.constructor.name + ' [' + each(v) + ']';
	if (Array.isArray(v)) {
		const more = Object.keys(v).filter((k) => !/^\d+$/.test(k)).map((k) => ', ' + k + ': ' + show(v[k], inside));
		return '[' + Array.from(v, (x, i) => i in v ? show(x, inside) : 'hole').join(', ') + more.join('') + ']';
	}
	return '{' + Object.keys(v).map((k) => k + ': ' + show(v[k], inside)).join(', ') + '}';
};
`

// nodeProgram evaluates a list of bodies from standard input.
const nodeProgram = showValue + `
const AsyncFunction = (async () => {}).constructor;
let text = '';
process.stdin.on('data', (part) => { text += part; });
process.stdin.on('end', async () => {
	const out = [];
	for (const body of JSON.parse(text)) {
		try {
			out.push(show(await new AsyncFunction("'use strict';" + body)()));
		} catch (e) {
			out.push('throws ' + (e && e.name));
		}
	}
	process.stdout.write(JSON.stringify(out));
});
`

// languageCase is an expression, or the body of a function, with its value.
type languageCase struct{ give, want string }

var statements = regexp.MustCompile(`(?:^|[;}] *|\{ )return\b|^(?:for|try|switch)\b`)

// body is the case as the body of an async function.
func (c languageCase) body() string {
	if statements.MatchString(c.give) && !strings.HasPrefix(c.give, "(") && !strings.HasPrefix(c.give, "await (") && !strings.HasPrefix(c.give, "[") && !strings.HasPrefix(c.give, "{") {
		return c.give
	}
	return "return (" + c.give + "\n)"
}

// languageCases reads the cases of a file: a line each, and below it the value
// behind a tab.
func languageCases(t *testing.T, file string) []languageCase {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []languageCase
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		switch value, ok := strings.CutPrefix(line, "\t"); {
		case ok:
			all[len(all)-1].want = value
		case line != "" && !strings.HasPrefix(line, "# "):
			all = append(all, languageCase{give: line})
		}
	}
	return all
}

// node is the path of a node of a major version that the cases need, or empty.
var node = sync.OnceValue(func() string {
	const needed = 24
	path, err := exec.LookPath("node")
	if err != nil {
		return ""
	}
	text, err := exec.Command(path, "--version").Output()
	var major int
	if _, scanned := fmt.Sscanf(string(text), "v%d.", &major); err != nil || scanned != nil || major < needed {
		return ""
	}
	return path
})

// byNode are the values that node gives for bodies of async functions.
func byNode(ctx context.Context, bodies []string) ([]string, error) {
	in, err := json.Marshal(bodies)
	if err != nil {
		return nil, err
	}
	run := exec.CommandContext(ctx, node(), "-e", nodeProgram)
	run.Env = append(os.Environ(), "TZ=UTC", "LANG=en_US.UTF-8", "LC_ALL=en_US.UTF-8", "NODE_OPTIONS=")
	run.Stdin = bytes.NewReader(in)
	run.Stderr = os.Stderr
	text, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("run node: %w", err)
	}
	var values []string
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("read the values of node: %w", err)
	}
	if len(values) != len(bodies) {
		return nil, fmt.Errorf("node gave %d values for %d bodies", len(values), len(bodies))
	}
	return values, nil
}

// byScript is the value that a workflow script gives for a body.
func byScript(body string) string {
	const begin, end = "return show(await (async () => {", "\n})())"
	p, err := Load(Source{Name: "a.js", Text: showValue + begin + body + end})
	if err != nil {
		return "refused: " + err.Error()
	}
	rt := newRuntime()
	f, err := rt.RunProgram(p.Code)
	if err != nil {
		return "broken: " + err.Error()
	}
	run, _ := goja.AssertFunction(f)
	v, err := run(goja.Undefined())
	if err != nil {
		return "broken: " + err.Error()
	}
	switch promise := v.Export().(*goja.Promise); promise.State() {
	case goja.PromiseStateFulfilled:
		return promise.Result().String()
	case goja.PromiseStateRejected:
		if o, ok := promise.Result().(*goja.Object); ok {
			return "throws " + o.Get("name").String() + " (" + o.String() + ")"
		}
		return "throws undefined"
	default:
		return "never settles"
	}
}

// TestLanguage holds the language of scripts against values that node gave.
func TestLanguage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/language/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			cases := languageCases(t, file)
			if *recordLanguage {
				record(t, file, cases)
			}
			for _, c := range cases {
				got := byScript(c.body())
				if strings.HasPrefix(c.want, "throws ") {
					got, _, _ = strings.Cut(got, " (")
				}
				if got != c.want {
					t.Errorf("%s\n\tgives %s\n\twant  %s", c.give, got, c.want)
				}
			}
		})
	}
}

// record writes the results of node for the cases.
func record(t *testing.T, file string, cases []languageCase) {
	t.Helper()
	if node() == "" {
		t.Fatal("there is no node that is new enough")
	}
	bodies := make([]string, 0, len(cases))
	for _, c := range cases {
		bodies = append(bodies, c.body())
	}
	values, err := byNode(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var b strings.Builder
	b.WriteString(first + "\n")
	for i := range cases {
		cases[i].want = values[i]
		fmt.Fprintf(&b, "%s\n\t%s\n", cases[i].give, values[i])
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
