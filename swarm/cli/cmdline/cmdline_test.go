package cmdline

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/exit"
	"agentswarm/worktree/git/checkout"
)

func TestAsTyped(t *testing.T) {
	t.Parallel()
	for want, give := range map[string]ask.Action{
		"rm -rf x":            {Command: "rm -rf x"},
		"git push -f":         {Git: []string{"push", "-f"}},
		"write /a b":          {Write: "/a b"},
		"remove /a":           {Write: "/a", Removes: true},
		"fetch GET http://x/": {Tool: "fetch", Method: "GET", Target: "http://x/"},
		"search":              {Tool: "search"},
	} {
		if got := AsTyped(&give); got != want {
			t.Errorf("AsTyped(%+v) = %q, want %q", give, got, want)
		}
	}
}

// TestCalledIn holds that a command line for a folder can be pasted into a shell.
func TestCalledIn(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/src/a-b_c.d": "swarm -C /src/a-b_c.d",
		"":             "swarm -C ''",
		"my dir":       "swarm -C 'my dir'",
		"it's":         `swarm -C 'it'\''s'`,
		"$HOME":        "swarm -C '$HOME'",
		"~/x":          "swarm -C '~/x'",
	} {
		if got := CalledIn("swarm", dir); got != want {
			t.Errorf("CalledIn(%q) = %s, want %s", dir, got, want)
		}
	}
}

// TestRecoveredText holds that the text names the side on which a change ended.
func TestRecoveredText(t *testing.T) {
	t.Parallel()
	for want, give := range map[string]checkout.Outcome{
		"merge of run r1 was cut off before it changed anything": {Verb: "merge", ID: "r1.2"},
		"undo of run r1 was cut off; it is completed: main and the files of /w have all of it": {
			Verb: "undo", ID: "r1", Ref: "refs/heads/main", Dirs: []string{"/w"}, Begun: true, Happened: true,
		},
		"apply of run r1 was cut off; it is rolled back: the files of /w have nothing of it": {
			Verb: "apply", ID: "r1.2", Dirs: []string{"/w"}, Begun: true,
		},
	} {
		if got := recoveredText(&give); got != want {
			t.Errorf("recoveredText = %q, want %q", got, want)
		}
	}
}

func TestNoneEmpty(t *testing.T) {
	t.Parallel()
	if err := NoneEmpty([]string{"a1", ""}); exit.CodeOf(err) != exit.Usage {
		t.Errorf("NoneEmpty of an empty address = %v, want an error of usage", err)
	}
	if err := NoneEmpty([]string{"a1"}); err != nil {
		t.Errorf("NoneEmpty = %v", err)
	}
}

func TestYesNo(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	if got := []string{YesNo(&yes), YesNo(&no), YesNo(nil)}; !slices.Equal(got, []string{"yes", "no", ""}) {
		t.Errorf("YesNo = %q", got)
	}
}

func TestVisibleNames(t *testing.T) {
	t.Parallel()
	got := VisibleNames([]*cli.Command{{Name: "run", Aliases: []string{"r"}}, {Name: "mcp", Hidden: true}})
	if !slices.Equal(got, []string{"run", "r"}) {
		t.Errorf("VisibleNames = %q, want run and its alias", got)
	}
}

// TestPersonal holds that an agent is refused, with the exit code of an approval.
func TestPersonal(t *testing.T) {
	t.Parallel()
	env := Env{Getenv: func(string) string { return "" }}
	if err := Personal(env, "--allow"); err != nil {
		t.Errorf("Personal of a person = %v", err)
	}
	env.Getenv = func(string) string { return "a1" }
	if err := Personal(env, "--allow"); exit.CodeOf(err) != exit.Approval {
		t.Errorf("Personal of an agent = %v, want the code of an approval", err)
	}
}

// TestInputEnds holds that a read of standard input ends with the command, and
// that bytes which are there are read before that.
func TestInputEnds(t *testing.T) {
	t.Parallel()
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typed.Close()
	over := make(chan struct{})
	input := Input(Env{Stdin: in, Over: over})
	if _, err := typed.WriteString("yes"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 8)
	if n, err := input.Read(p); string(p[:n]) != "yes" || err != nil {
		t.Errorf("Read = %q, %v, want yes", p[:n], err)
	}
	close(over)
	if _, err := input.Read(p); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after the end of the command = %v, want %v", err, context.Canceled)
	}
	if got := Input(Env{Stdin: in}); got != io.Reader(in) {
		t.Errorf("Input of a command without an end = %T, want the file", got)
	}
}
