package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// keepCommand is `keep NAME`: the last line the last command printed is $NAME
// from here on.
func keepCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	if lines[len(lines)-1] == "" {
		ts.Fatalf("the last command printed nothing")
	}
	ts.Setenv(args[0], lines[len(lines)-1])
}

// terminalCommand is `terminal FILE COMMAND…`: runs a command whose standard
// streams are a single terminal of 100 columns, and writes its output to FILE.
func terminalCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: terminal FILE COMMAND [ARGUMENT…]")
	}
	env := []string{"TERM=xterm"}
	for _, name := range []string{
		"HOME", "PATH", "SIGNALS", "SWARM_STATE_DIR", "SWARM_SANDBOX", "SWARM_BACKEND", "SWARM_PASS_ENV",
		"GIT_CONFIG_NOSYSTEM", "TESTSCRIPT_COMMAND", "NO_COLOR", kindsVar, "PI_API_KEY", "GIT_PAGER", "PAGER",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if ts.Getenv("GIT_PAGER") == "" && ts.Getenv("PAGER") == "" {
		env = append(env, "GIT_PAGER=cat") // less would wait for somebody
	}
	shown, err := onTerminal(ts.MkAbs("."), env, args[1:])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), shown, 0o600))
}

// safeCommand is `safe FILE`: no byte of it could drive a terminal, but for
// line ends, tabs, and the sequences swarm itself draws with. It is UTF-8.
func safeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: safe FILE")
	}
	bad := unsafePart(ts.ReadFile(args[0]))
	if (bad == "") == neg {
		ts.Fatalf("%s holds %q:\n%q", args[0], bad, ts.ReadFile(args[0]))
	}
}

// unsafePart is the first part of a text that could drive a terminal.
func unsafePart(text string) string {
	// Colours, the sequences that clear a drawn frame and keep it apart from
	// typed text, and notifications of printable text.
	text = regexp.MustCompile("\x1b\\[([01]|1;31|31|32|33|36|2)m|\x1b\\[[0-9]+A|\x1b\\[[KJ]|\x1b[78]|\x1b\\]9;swarm: [\\pL\\pN\\pP $+<=>^|~]*\x07\x07?").ReplaceAllString(text, "")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\r' || r == '\t':
		case !unicode.IsPrint(r), r == utf8.RuneError && size == 1:
			return text[i:min(len(text), i+8)]
		}
		i += size
	}
	return ""
}

// TestUnsafePart holds the judge of the scripts to its word.
func TestUnsafePart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain ✓\r\n":              "",
		"\x1b[32mgood\x1b[0m":      "",
		"a\x1b]0;title\x07":        "\x1b]0;titl",
		"a\x1b]9;swarm: b\x07\x07": "",
		"a\x1b]9;swarm: \x9d\x07":  "\x1b]9;swar",
		"a\xff":                    "\xff",
		"gpj.\u202eexe":            "\u202eexe",
		"\x1b[2Jcleared screen":    "\x1b[2Jclea",
		"\x1b[3A\x1b[Kframe\x1b[J": "",
		"pkg/b\ufffdd":             "",
	} {
		if got := unsafePart(text); got != want {
			t.Errorf("unsafePart(%q) = %q, want %q", text, got, want)
		}
	}
}

// orphanCommand is `orphan RUN`: kills the supervisors of the agents of
// a live run with -9. There is at least 1.
func orphanCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: orphan RUN")
	}
	killed, err := killChildren(ownerOf(ts, args[0]), "__supervise")
	ts.Check(err)
	if killed == 0 {
		ts.Fatalf("run %s has no supervisor", args[0])
	}
}

// crashCommand is `crash RUN`: kills the process that owns the run with -9, and
// waits until the run has no owner. A process that is killed goes in its own
// time, and until then the run is live. Its agents may be there still.
func crashCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crash RUN")
	}
	lock, err := os.Open(filepath.Join(filepath.Dir(journalsOf(ts, args[0])), "lock"))
	ts.Check(err)
	defer lock.Close()
	pid := ownerOf(ts, args[0])
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	for deadline := time.Now().Add(never); ; {
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
			ts.Check(syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("process %d was killed, and run %s has an owner still", pid, args[0])
		}
		time.Sleep(5 * time.Millisecond) // a poll, as await has it
	}
}

// ownerOf is the process that opened a run last.
func ownerOf(ts *testscript.TestScript, run string) int {
	owner := ""
	for line := range strings.Lines(ts.ReadFile(journalsOf(ts, run))) {
		if _, rest, ok := strings.Cut(line, `"type":"opened","body":{"pid":`); ok {
			owner, _, _ = strings.Cut(rest, ",")
		}
	}
	pid, err := strconv.Atoi(owner)
	ts.Check(err)
	return pid
}

// leftCommand is `left RUN`: waits until the process that opened the run last
// has ended, and fails as await does. Who waits for a run does
// so until that is given up, after which its owner tells people how it went.
func leftCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: left RUN")
	}
	owner := filepath.Join("/proc", strconv.Itoa(ownerOf(ts, args[0])), "cwd")
	for deadline := time.Now().Add(never); ; {
		// The number may be another process's by now.
		cwd, err := os.Readlink(owner)
		if err != nil || !strings.HasPrefix(cwd+"/", ts.Getenv("WORK")+"/") {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("process %s goes on", ts.Getenv("OWNER"))
		}
		time.Sleep(10 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

// TestEveryCommandHasAScript holds the help to its word: a command that it
// lists is run by a script of its name.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	for _, command := range commandsWithJSON(t) {
		scripts, err := filepath.Glob(filepath.Join("testdata", "script", command+"_*.txtar"))
		if err != nil || len(scripts) == 0 {
			t.Errorf("no testdata/script/%s_*.txtar (%v)", command, err)
		}
	}
}
