package riskcmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/policy"
)

// bareSurroundings is a ground outside of all repositories.
func bareSurroundings(t testing.TB) *Surroundings {
	t.Helper()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	place, err := repository.Place(t.Context(), repository.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return &Surroundings{Law: &policy.Law{Rules: rules, Authority: &risk.Authority{}, Place: place}, dir: t.TempDir()}
}

// TestCheckAnswersAsItGoes: who writes a line and waits gets its answer before
// there is another.
func TestCheckAnswersAsItGoes(t *testing.T) {
	t.Parallel()
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	g := bareSurroundings(t)
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

// TestCheckStops checks that the command reads no more input once the reader of
// its answers is gone.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	answers, out := io.Pipe()
	gone := errors.New("gone")
	if err := answers.CloseWithError(gone); err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("{\"command\":\"ls\"}\n", 10_000)
	in := strings.NewReader(lines)
	if err := bareSurroundings(t).check(in, bufio.NewWriter(out)); !errors.Is(err, gone) || in.Len() == 0 {
		t.Errorf("check ended with %v, %d bytes unread", err, in.Len())
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
		`{"command":"` + strings.Repeat("é", 4000) + `"}`: strings.Repeat("é", cmdline.WantsWidth-1) + "…",
	} {
		if got := judgedText(json.RawMessage(give)); got != want {
			t.Errorf("judgedText(%s) = %q, want %q", give, got, want)
		}
	}
}

func BenchmarkRiskCheck(b *testing.B) {
	g := bareSurroundings(b)
	line := []byte(`{"command":"go test ./... && git status --short","cwd":"src"}`)
	for b.Loop() {
		if _, err := g.answer(line); err != nil {
			b.Fatal(err)
		}
	}
}
