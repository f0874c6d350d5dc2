package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// journalsOf is the path of the run's single journal.
func journalsOf(ts *testscript.TestScript, run string) string {
	found, err := filepath.Glob(filepath.Join(ts.Getenv("SWARM_STATE_DIR"), "*", "runs", run, "journal.jsonl"))
	if err != nil || len(found) != 1 {
		ts.Fatalf("journals of %s: %v (%v)", run, found, err)
	}
	return found[0]
}

// askedCommand is `asked RUN N`: waits until agents of the run have asked N
// questions, and fails as await does.
func askedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: asked RUN N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	journal := journalsOf(ts, args[0])
	for deadline := time.Now().Add(never); ; {
		text, err := os.ReadFile(journal)
		ts.Check(err)
		if bytes.Count(text, []byte(`"type":"questioned"`)) >= want {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%d questions did not come:\n%s", want, text)
		}
		time.Sleep(10 * time.Millisecond) // a poll, as await has it
	}
}

// typesCommand is `types FILE [WAIT TYPE]… -- COMMAND…`: runs a command on a
// terminal as `terminal` does; each time it has shown WAIT since the last line
// was typed, somebody types TYPE and Enter, or presses ^C. A WAIT that begins with + must
// have been drawn again and again, for longer than a question must be in sight
// to be answered.
func typesCommand(ts *testscript.TestScript, neg bool, args []string) {
	at := 1
	var moves []move
	for ; at+1 < len(args) && args[at] != "--"; at += 2 {
		wait, drawn := strings.CutPrefix(args[at], "+")
		m := move{wait: wait, types: args[at+1] + "\n", times: 1}
		if args[at+1] == "^C" {
			m.types = "\x03"
		}
		if drawn {
			// Ten frames a second at most. The reader of the keyboard begins to
			// count up to a tenth of a second later, on an idle machine, and
			// takes no earlier input.
			m.times = 25
		}
		moves = append(moves, m)
	}
	if neg || at+1 >= len(args) || args[at] != "--" {
		ts.Fatalf("usage: types FILE [WAIT TYPE]… -- COMMAND…")
	}
	env := []string{"TERM=xterm"}
	for _, name := range []string{
		"HOME", "PATH", "WORK", "SIGNALS", "SWARM_STATE_DIR", "SWARM_SANDBOX", "SWARM_BACKEND", "SWARM_PASS_ENV", "GIT_CONFIG_NOSYSTEM", "TESTSCRIPT_COMMAND",
		kindsVar, "PI_API_KEY",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	shown, err := typeOnTerminal(ts.MkAbs("."), env, args[at+1:], moves)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), shown, 0o600))
	ts.Check(err)
}

// move is a text that a person types after a text has been shown some number of
// times.
type move struct {
	wait, types string
	times       int
}
