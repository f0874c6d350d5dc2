package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/swarm/ask"
)

// bareGround is one in no repository.
func bareGround(t testing.TB) *riskGround {
	t.Helper()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Getenv: func(string) string { return "" }}
	return &riskGround{rules: rules, authority: &risk.Authority{}, place: barePlace(env, riskPlaceRequest{}), dir: t.TempDir()}
}

// TestCheckAnswersAsItGoes: who writes a line and waits gets its answer before
// there is another.
func TestCheckAnswersAsItGoes(t *testing.T) {
	t.Parallel()
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	g := bareGround(t)
	ended := make(chan error, 1)
	go func() {
		w := bufio.NewWriterSize(out, 64<<10)
		err := g.check(in, w)
		ended <- errors.Join(err, w.Flush(), out.Close())
	}()
	lines := bufio.NewScanner(answers)
	for _, tt := range []struct{ give, want string }{
		{`{"command":"ls"}` + "\n", `{"tier":"SAFE","verdict":"proceed","blocked":false,"opaque":false,"rules":[]}`},
		{`{"command":"$X"}` + "\n" + `{"com`, `{"tier":"DESTRUCTIVE","verdict":"ask","blocked":false,"opaque":true,"rules":["opaque"]}`},
		{`mand":"rm -rf src"}` + "\n", ""},
	} {
		if _, err := io.WriteString(questions, tt.give); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || tt.want != "" && lines.Text() != tt.want {
			t.Errorf("%q is answered %q, want %q", tt.give, lines.Text(), tt.want)
		}
	}
	if _, err := io.WriteString(questions, `{"command":"ls"}`); err != nil { // a last line without its end
		t.Fatal(err)
	}
	if err := questions.Close(); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), `"SAFE"`) || lines.Scan() {
		t.Errorf("the last line is answered %q", lines.Text())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCheckStops: where nobody reads the answers no more is read.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	answers, out := io.Pipe()
	gone := errors.New("gone")
	if err := answers.CloseWithError(gone); err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("{\"command\":\"ls\"}\n", 10_000)
	in := strings.NewReader(lines)
	if err := bareGround(t).check(in, bufio.NewWriter(out)); !errors.Is(err, gone) || in.Len() == 0 {
		t.Errorf("check ended with %v, %d bytes unread", err, in.Len())
	}
}

func TestBoundedLine(t *testing.T) {
	t.Parallel()
	const most = 100
	long := strings.Repeat("x", most)
	text := "a\n\n" + long + "\n" + long + "y\n" + long + long + long + "\nb\r\n" + long + "z"
	r := bufio.NewReaderSize(strings.NewReader(text), 16)
	var got []string
	for {
		line, err := boundedLine(r, most)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line = []byte(err.Error())
		}
		got = append(got, string(line))
	}
	tooLong := "the line is longer than 100 bytes"
	if want := []string{"a", "", long, tooLong, tooLong, "b\r", tooLong}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("boundedLine = %q, want %q", got, want)
	}
	broken := errors.New("broken")
	r = bufio.NewReader(io.MultiReader(strings.NewReader("half"), &failing{broken}))
	if _, err := boundedLine(r, most); !errors.Is(err, broken) {
		t.Errorf("a line that breaks off: %v", err)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadAction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want string }{
		{`{"command":"ls","cwd":"x"}`, `{"command":"ls","cwd":"x"}`},
		{`{"command":""}`, `{"command":" "}`},
		{"\t{\"write\":\"a\"}\r", `{"write":"a"}`},
		{`{"write":"a","removes":true}`, `{"write":"a","removes":true}`},
		{`{"git":["push"]}`, `{"git":["push"]}`},
		{`{"tool":"web_fetch","target":"https://example.com"}`, `{"tool":"web_fetch","target":"https://example.com"}`},
		{``, "the line is empty"},
		{`  `, "the line is empty"},
		{`{}`, "names not one action"},
		{`{"cwd":"x"}`, "names not one action"},
		{`{"command":null}`, "names not one action"},
		{`{"write":""}`, "names not one action"},
		{`{"command":"ls","write":"x"}`, "names not one action"},
		{`{"command":"","write":"x"}`, "names not one action"},
		{`{"command":"ls","removes":true}`, "names not one action"},
		{`{"command":"rm -rf x","command":"ls"}`, "is there twice"},
		{`{"command":"rm -rf x","Command":""}`, "is there twice"},
		{`{"command":"ls"} {}`, "something follows"},
		{`{"command":["ls"]}`, "cannot unmarshal"},
		{`{"cmd":"ls"}`, "unknown field"},
		{`[]`, "no JSON object"},
		{`null`, "no JSON object"},
		{`ls`, "invalid"},
		{`{"command":"ls`, "EOF"},
		{"{\"command\":\"\xff\"}", "not UTF-8"},
	} {
		a, err := readAction([]byte(tt.give))
		if err != nil {
			if strings.HasPrefix(tt.want, "{") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("readAction(%q): %v, want %s", tt.give, err, tt.want)
			}
			continue
		}
		if got, _ := json.Marshal(a); string(got) != tt.want {
			t.Errorf("readAction(%q) = %s, want %s", tt.give, got, tt.want)
		}
	}
}

// FuzzReadAction: a line is one action or an error, whatever it holds, and
// what an action is said to be is what another reader finds in it.
func FuzzReadAction(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls","cwd":"/"}`, `{"write":"x"}`, `{"command":""}`, `{"COMMAND":"x"}`, `{"command":"a","command":"b"}`, "{", "null", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := readAction(line)
		if err != nil {
			return
		}
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("readAction took what is no object: %v", err)
		}
		command := ""
		for name, value := range fields {
			if strings.EqualFold(name, "command") {
				command, _ = value.(string)
			}
		}
		if !a.Whole() || strings.TrimSpace(a.Command) != strings.TrimSpace(command) {
			t.Errorf("readAction(%q) = %+v", line, a)
		}
	})
}

func TestRiskFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(os.MkdirAll(at("a/b"), 0o700), os.Mkdir(at("c"), 0o700),
		os.Symlink(at("c"), at("a/link")), os.Symlink("loop", at("loop")))
	if err != nil {
		t.Fatal(err)
	}
	g := &riskGround{dir: at("a")}
	for give, want := range map[string]string{
		"": at("a"), ".": at("a"), "b": at("a/b"), "..": dir, "../c": at("c"), at("c"): at("c"), "/": "/",
		"link": at("c"), "link/..": dir, "link/new/deep": at("c/new/deep"), "new": at("a/new"), "new/../b": at("a/b"),
		at("loop") + "/x": at("loop/x"), "nul\x00": at("a/nul\x00"),
	} {
		if got := g.folder(give); got != want {
			t.Errorf("folder(%q) = %q, want %q", give, got, want)
		}
	}
}

// TestRulingBecomes: a part of a command shows what becomes of it.
func TestRulingBecomes(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	g.place.Root, g.place.Shared = g.dir, true
	g.place.Remotes = []risk.Remote{{Name: "origin", Plain: true}}
	grant, err := risk.ParseGrant("Push to feature/* branches")
	if err != nil {
		t.Fatal(err)
	}
	grant.Where = "here"
	g.authority.Allowed = []risk.Grant{grant}
	for _, tt := range []struct{ give, want string }{
		{"git push origin feature/x", "granted by here: Push to feature/* branches"},
		{"git push origin feature/x; git push origin main", "granted by here: Push to feature/* branches|asks"},
		{"git push origin feature/x; rm -rf src", "asks|asks"},
		{"git push origin feature/x; git stash", "not looked at|denied"},
		{"ls", ""},
	} {
		r := g.judge(&ask.Action{Command: tt.give})
		var got []string
		for i := range r.Parts {
			got = append(got, r.becomes(i))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s becomes %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestJudgedText(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{"command":"ls\n\u202e-l"}`:                          `ls\n\u202e-l`,
		`{"write":"a b","cwd":"x"}`:                           "write a b",
		`{"write":"a","removes":true}`:                        "remove a",
		`{"git":["push","-f"]}`:                               "git push -f",
		`{"tool":"web_fetch","target":"https://example.com"}`: "web_fetch https://example.com",
		`{"tool":"rm","path":"x"}`:                            "rm",
		`{"other":1}`:                                         `{"other":1}`,
		`"words"`:                                             "words",
		``:                                                    "something it does not name",
		`{"command":"` + strings.Repeat("é", 4000) + `"}`: strings.Repeat("é", wantsWidth-1) + "…",
	} {
		if got := judgedText(json.RawMessage(give)); got != want {
			t.Errorf("judgedText(%s) = %q, want %q", give, got, want)
		}
	}
}

func BenchmarkRiskCheck(b *testing.B) {
	g := bareGround(b)
	line := []byte(`{"command":"go test ./... && git status --short","cwd":"src"}`)
	for b.Loop() {
		if _, err := g.answer(line); err != nil {
			b.Fatal(err)
		}
	}
}
