package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	// Its supervisors are this test binary.
	_ "agentswarm/swarm/early"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/box"
)

// anyone lets everything pass.
type anyone struct{}

func (anyone) Pass(context.Context, ask.Action) error { return nil }

func newBench(t *testing.T) *Bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	walls, err := json.Marshal(box.Sandbox{Level: box.None})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Bench{
		Root: root, Dir: root, Keep: filepath.Join(t.TempDir(), "keep"), Gate: anyone{},
		Env: os.Environ(), Binary: self, Args: []string{"__supervise"}, Sandbox: walls,
	}
}

func fill(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		file := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// try uses a tool by its name.
func (b *Bench) try(t *testing.T, name, input string) Outcome {
	t.Helper()
	tools, err := Pick([]string{name}, false)
	if err != nil {
		t.Fatal(err)
	}
	return tools[0].Use(t.Context(), b, json.RawMessage(input))
}

func TestReads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outside := t.TempDir()
	fill(t, outside, "x", "out\n")
	fill(t, b.Root, "a.go", "package a\n\nfunc A() {}\n", "d/b.go", "package d // A\n", "d/e/c.txt", "one\r\ntwo A\r\nthree\r\n",
		"bin", "\x00\x01", "empty", "", "end", "no line end", ".gitignore", "*.log\n/out/\n!keep.log\n", "x.log", "A", "keep.log", "A",
		"out/y", "A", "d/out/y", "A", "d/.gitignore", "secret\n", "d/secret", "A", "d/e/secret", "A", ".git/config", "A")
	if err := os.Symlink("a.go", filepath.Join(b.Root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.Root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		tool, input, want string
		bad               bool
	}{
		{"read", `{"path":"a.go"}`, "package a\n\nfunc A() {}\n", false},
		{"read", `{"path":"a.go","offset":2,"limit":1}`, "\n[lines 2 to 2 of 3; go on with offset 3]", false},
		{"read", `{"path":"a.go","offset":3}`, "func A() {}\n[lines 3 to 3 of 3]", false},
		{"read", `{"path":"a.go","offset":9}`, "a.go: has only 3 lines", true},
		{"read", `{"path":"end"}`, "no line end", false},
		{"read", `{"path":"empty"}`, "[the file is empty]", false},
		{"read", `{"path":"bin"}`, "bin: is not text; it has 2 bytes", true},
		{"read", `{"path":"d"}`, "d: is a folder; use ls or find", true},
		{"read", `{"path":"fifo"}`, "fifo: is not a regular file", true},
		{"read", `{"path":"none"}`, "none: there is no such file", true},
		{"read", `{}`, "path: is missing", true},
		{"read", `{"path":1}`, "path: want string, but got a number", true},
		{"read", `{"path":"` + outside + `/x"}`, "out\n", false},
		{"ls", `{}`, ".git/\n.gitignore\na.go\nbin\nd/\nempty\nend\nfifo\nkeep.log\nlink -> a.go\nout/\nx.log\n", false},
		{"ls", `{"path":"a.go"}`, "a.go: not a directory", true},
		{"ls", `{"path":"none"}`, "none: there is no such file", true},
		{"find", `{"pattern":"*.go"}`, "a.go\nd/b.go\n", false},
		{"find", `{"pattern":"d/**/y"}`, "d/out/y\n", false},
		{"find", `{"path":"d"}`, "d/.gitignore\nd/b.go\nd/e/\nd/e/c.txt\nd/out/\nd/out/y\n", false},
		{"find", `{"path":"d/e"}`, "d/e/c.txt\n", false},
		{"find", `{"pattern":"zzz"}`, "nothing was found\n", false},
		{"find", `{"pattern":"[a"}`, `pattern: "[a" is not a glob`, true},
		{"find", `{"limit":2}`, ".gitignore\na.go\n[there are more than 2]\n", false},
		{"grep", `{"pattern":"\\bA\\b"}`, "a.go:3: func A() {}\nd/b.go:1: package d // A\nd/e/c.txt:2: two A\nd/out/y:1: A\nkeep.log:1: A\n", false},
		{"grep", `{"pattern":"a()","literal":true,"ignore_case":true,"glob":"*.go"}`, "a.go:3: func A() {}\n", false},
		{"grep", `{"pattern":"three$","path":"d/e/c.txt"}`, "d/e/c.txt:3: three\n", false},
		{"grep", `{"pattern":"A","path":"a.go","context":1}`, "a.go-2- \na.go:3: func A() {}\n", false},
		{"grep", `{"pattern":"A","limit":1}`, "a.go:3: func A() {}\n[there are more than 1 matches]\n", false},
		{"grep", `{"pattern":"nowhere"}`, "no match\n", false},
		{"grep", `{"pattern":"("}`, "pattern: error parsing regexp: missing closing ): `(`", true},
	}
	for _, test := range tests {
		if got := b.try(t, test.tool, test.input); got.Text != test.want || got.Bad != test.bad {
			t.Errorf("%s %s = %q, %v, want %q", test.tool, test.input, got.Text, got.Bad, test.want)
		}
	}
	if got := strings.Join(Top(b.Root), " "); got != ".gitignore a.go bin d/ empty end fifo keep.log link" {
		t.Errorf("Top = %s", got)
	}
}

// TestLong checks that a long text is shown in part, with the place of the
// rest.
func TestLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	fill(t, b.Root, "many", text.String(), "wide", strings.Repeat("é", 3000)+"\nnext\n", "big", strings.Repeat(strings.Repeat("x", 99)+"\n", 1000))
	got := b.try(t, "read", `{"path":"many"}`)
	if !strings.HasSuffix(got.Text, "line 2000\n[lines 1 to 2000 of 5000; go on with offset 2001]") {
		t.Errorf("read = …%q", got.Text[len(got.Text)-100:])
	}
	if got := b.try(t, "read", `{"path":"wide"}`); !strings.Contains(got.Text, "… [the rest of this line is left out]\nnext\n") {
		t.Errorf("read = %q", got.Text)
	}
	if got := b.try(t, "read", `{"path":"big"}`); len(got.Text) > maxBytes+200 || !strings.Contains(got.Text, "go on with offset 301]") {
		t.Errorf("read = %d bytes, …%q", len(got.Text), got.Text[len(got.Text)-100:])
	}
	got = b.try(t, "bash", `{"command":"cat many many"}`)
	if !strings.HasPrefix(got.Text, "line 1\n") || !strings.HasSuffix(got.Text, "line 5000") || len(got.Text) > maxBytes+300 {
		t.Errorf("bash = %d bytes: %q", len(got.Text), got.Text)
	}
	files, err := filepath.Glob(filepath.Join(b.Keep, "*"))
	if err != nil || len(files) != 1 || !strings.Contains(got.Text, files[0]) {
		t.Fatalf("kept %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil || string(whole) != text.String()+text.String() {
		t.Errorf("kept %d bytes, %v", len(whole), err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outside := t.TempDir()
	fill(t, outside, "x", "out")
	fill(t, b.Root, "d/a", "a", "run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(b.Root, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"away": outside, "file": filepath.Join(outside, "x"), "in": "d", "up": "../.."} {
		if err := os.Symlink(to, filepath.Join(b.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		tool, input, want string
		bad               bool
	}{
		{"write", `{"path":"new/deep/f","content":"x"}`, "wrote new/deep/f: 1 bytes", false},
		{"write", `{"path":"` + b.Root + `/abs","content":""}`, "wrote " + b.Root + "/abs: 0 bytes", false},
		{"write", `{"path":"in/b","content":"b"}`, "wrote in/b: 1 bytes", false},
		{"write", `{"path":"run.sh","content":"#!/bin/bash\n"}`, "wrote run.sh: 12 bytes", false},
		{"write", `{"path":"x"}`, "content: is missing", true},
		{"write", `{"path":"away/x","content":"no"}`, "escapes", true},
		{"write", `{"path":"file","content":"no"}`, "escapes", true},
		{"write", `{"path":"up/x","content":"no"}`, "escapes", true},
		{"write", `{"path":"../x","content":"no"}`, "is not in the workspace", true},
		{"write", `{"path":"` + outside + `/x","content":"no"}`, "is not in the workspace", true},
		{"write", `{"path":".","content":"no"}`, "is not in the workspace", true},
		{"write", `{"path":"d","content":"no"}`, "d: is a folder", true},
		{"write", `{"path":"d/a/b","content":"no"}`, "d/a/b: a part of the path is a file", true},
		{"edit", `{"path":"file","old_text":"out","new_text":"no"}`, "escapes", true},
		{"edit", `{"path":"none","old_text":"out","new_text":"no"}`, "none: there is no such file", true},
		{"edit", `{"path":"d/a","old_text":"a","new_text":"b"}`, "edited d/a at line 1", false},
		{"edit", `{"path":"d/a","old_text":"b"}`, "new_text: is missing", true},
	}
	for _, test := range tests {
		got := b.try(t, test.tool, test.input)
		if got.Bad != test.bad || !strings.Contains(got.Text, test.want) {
			t.Errorf("%s %s = %q, %v, want %q", test.tool, test.input, got.Text, got.Bad, test.want)
		}
	}
	for file, want := range map[string]string{
		b.Root + "/new/deep/f": "x", b.Root + "/d/b": "b", b.Root + "/d/a": "b", outside + "/x": "out", b.Root + "/run.sh": "#!/bin/bash\n",
	} {
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s = %q, %v, want %q", file, text, err, want)
		}
	}
	if info, err := os.Stat(b.Root + "/run.sh"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode of run.sh is %v, %v", info.Mode(), err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	const text = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	tests := []struct {
		name, text string
		give       replacement
		want, err  string
	}{
		{"once", text, replacement{old: "func a()", new: "func c()"}, strings.Replace(text, "func a()", "func c()", 1), ""},
		{"all", text, replacement{old: "return 1", new: "return 2", all: true}, strings.ReplaceAll(text, "return 1", "return 2"), ""},
		{"several", text, replacement{old: "\treturn 1\n", new: ""}, "", "old_text is there 2 times, at lines 2, 6; add lines around it to name one, or set replace_all"},
		{"nothing", text, replacement{old: "zzzzzzzzzzzz", new: "x"}, "", "old_text is not in the file. Nothing in it is like it; read the file again."},
		{"blanks", text, replacement{old: "func b() {\n    return 1\n}", new: "x"}, "", "Only its white space differs from what stands at lines 5 to 7:\n5: func b() {\n6: \treturn 1\n7: }"},
		{"near", text, replacement{old: "func b() {\n\treturn 2\n", new: "x"}, "", "The nearest is what stands at lines 5 to 6:\n5: func b() {\n6: \treturn 1"},
		{"empty", text, replacement{new: "x"}, "", "old_text is empty; to make a file, use write"},
		{"the same", text, replacement{old: "a", new: "a"}, "", "old_text and new_text are the same"},
		{"line ends", "a\r\nb\r\nc\r\n", replacement{old: "a\nb\n", new: "x\ny\n"}, "x\r\ny\r\nc\r\n", ""},
		{"new lines", "a\r\nb\r\n", replacement{old: "b", new: "x\ny"}, "a\r\nx\r\ny\r\n", ""},
		{"an end of a line of theirs", "a\r\nb\r\n", replacement{old: "a\r\n", new: "x\ny\r\n"}, "x\r\ny\r\nb\r\n", ""},
		{"no end of the last line", "a\nb", replacement{old: "b", new: "c"}, "a\nc", ""},
		{"a mark at the begin", "\uFEFFa\nb\n", replacement{old: "a\nb", new: "c"}, "\uFEFFc\n", ""},
		{"mixed line ends", "a\r\nb\nc\n", replacement{old: "b\nc", new: "x\ny"}, "a\r\nx\ny\n", ""},
		{"to nothing", "abc", replacement{old: "abc", new: ""}, "", ""},
	}
	for _, test := range tests {
		got, _, err := replace(test.text, test.give)
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: %v, want %s", test.name, err, test.err)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("a\nb\na\n", "a", "c", true)
	f.Add("a\r\nb\r\n", "a\nb", "c\nd", false)
	f.Add("  x = 1\n", "x = 2", "x = 3", false)
	f.Add("", "\n", "", false)
	f.Fuzz(func(t *testing.T, text, old, with string, all bool) {
		got, lines, err := replace(text, replacement{old: old, new: with, all: all})
		if err != nil {
			if got != "" || lines != nil {
				t.Fatalf("an error, and %q", got)
			}
			if strings.Count(text, old) == 1 && old != "" && old != with {
				t.Fatalf("%q is there once in %q: %v", old, text, err)
			}
			return
		}
		if n := strings.Count(text, "\r\n"); n > 0 && (n == strings.Count(text, "\n") || !strings.Contains(text, old)) {
			old, with = crlf(old), crlf(with)
		}
		n := strings.Count(text, old)
		if n == 0 || n > 1 && !all || len(lines) != n || got != strings.ReplaceAll(text, old, with) {
			t.Fatalf("replace(%q, %q, %q, %v) = %q, %v", text, old, with, all, got, lines)
		}
		for _, line := range lines {
			if line < 1 || line > strings.Count(text, "\n")+1 {
				t.Fatalf("line %d of %q", line, text)
			}
		}
	})
}

func TestBash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, test := range []struct {
		input, want string
		bad         bool
	}{
		{`{"command":"echo a; echo b >&2; echo c"}`, "a\nb\nc", false},
		{`{"command":"true"}`, "[no output]", false},
		{`{"command":"echo no; exit 3"}`, "no\n[exit code 3]", true},
		{`{"command":"kill -9 $$"}`, "\n[exit code 137]", true},
		{`{"command":"read x; echo \"<$x>\""}`, "<>", false},
		{`{"command":"echo '$HOME' \"$(pwd)\""}`, "$HOME " + b.Root, false},
		{`{"command":"printf '\\377x'"}`, "\uFFFDx", false},
		{`{"command":" "}`, "command: is missing", true},
		{`{"command":"a\u0000b"}`, "command: holds a zero byte", true},
		{`{"command":"sleep 301 & setsid sleep 302 & echo started"}`, "started\n[2 processes that it left running were ended]", false},
	} {
		if got := b.try(t, "bash", test.input); got.Text != strings.TrimPrefix(test.want, "\n") && got.Text != test.want || got.Bad != test.bad {
			t.Errorf("bash %s = %q, %v, want %q", test.input, got.Text, got.Bad, test.want)
		}
	}
	if left, err := os.ReadDir(b.Keep); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestBashTime checks that a command that ignores TERM is ended when its time
// is up, and that its output is shown. A busy machine may not let it print
// within a second: then it gets more seconds.
func TestBashTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for seconds := 1; ; seconds *= 2 {
		got := b.try(t, "bash", fmt.Sprintf(`{"command":"trap '' TERM; echo begun; sleep 303; sleep 303","timeout":%d}`, seconds))
		ended := fmt.Sprintf("[it was ended after %v]", time.Duration(seconds)*time.Second)
		if got.Bad && got.Text == ended && seconds < 60 {
			continue
		}
		if want := "begun\n" + ended; got.Text != want || !got.Bad {
			t.Errorf("bash = %q, %v, want %q", got.Text, got.Bad, want)
		}
		break
	}
	if left, err := os.ReadDir(b.Keep); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestBashEnds checks that the end of the context ends all processes, in
// whatever session they are.
func TestBashEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := bash(ctx, b, json.RawMessage(`{"command":"setsid sleep 304 & echo $! > pid; mkfifo p; read x < p"}`))
		done <- err
	}()
	pid := 0
	for deadline := time.Now().Add(10 * time.Minute); pid == 0; time.Sleep(5 * time.Millisecond) { // a poll: bash tells nobody
		text, _ := os.ReadFile(filepath.Join(b.Root, "pid"))
		if _, err := fmt.Sscanln(string(text), &pid); err != nil && time.Now().After(deadline) {
			t.Fatal("it did not begin")
		}
	}
	cancel(stopped)
	if err := <-done; !errors.Is(err, stopped) {
		t.Errorf("bash = %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("%d is still there: %v", pid, err)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	names := func(all []*Tool) string {
		var s []string
		for _, x := range all {
			if !json.Valid(x.Schema) {
				t.Errorf("the schema of %s is not JSON", x.Name)
			}
			s = append(s, x.Name)
		}
		return strings.Join(s, " ")
	}
	for _, test := range []struct {
		names    []string
		readOnly bool
		want     string
		err      string
	}{
		{nil, false, "read grep find ls edit write bash", ""},
		{nil, true, "read grep find ls", ""},
		{[]string{"bash", "read"}, false, "read bash", ""},
		{[]string{"edit"}, true, "", "the tool edit changes things, which a read-only agent does not"},
		{[]string{"fly"}, false, "", `unknown tool "fly": want some of read, grep, find, ls, edit, write, bash`},
	} {
		got, err := Pick(test.names, test.readOnly)
		if test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("Pick(%q) = %v, want %s", test.names, err, test.err)
			}
			continue
		}
		if err != nil || names(got) != test.want {
			t.Errorf("Pick(%q) = %s, %v, want %s", test.names, names(got), err, test.want)
		}
	}
}
