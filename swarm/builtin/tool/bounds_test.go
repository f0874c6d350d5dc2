package tool

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSearchEnds holds that a search has an end, whatever there is, and says
// that it did not look at everything.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 30 {
		fill(t, b.Root, fmt.Sprintf("d%02d/f", i), "needle\n")
	}
	for _, test := range []struct {
		name   string
		bounds bounds
		tool   string
		input  string
		want   string
		has    int // lines that are found
	}{
		{"entries", bounds{time.Hour, 40, 1 << 30}, "find", `{"pattern":"f"}`, "[the search was ended after 40 files and folders, at d1", 10},
		{"entries", bounds{time.Hour, 40, 1 << 30}, "grep", `{"pattern":"needle"}`, "[the search was ended after 40 files and folders, at d1", 10},
		{"bytes", bounds{time.Hour, 1000, 7 * 5}, "grep", `{"pattern":"needle"}`, "[the search was ended after 35 bytes, at d", 6},
		{"time", bounds{1, 1000, 1 << 30}, "grep", `{"pattern":"needle"}`, "no match\n[the search was ended after 1ns, at .:", 0},
		{"time", bounds{1, 1000, 1 << 30}, "find", `{}`, "nothing was found\n[the search was ended after 1ns, at .:", 0},
		{"one folder of many", bounds{time.Hour, 10, 1 << 30}, "find", `{}`, "nothing was found\n[the search was ended after 10 files and folders, at .:", 0},
		{"time in one file", bounds{1, 1000, 1 << 30}, "grep", `{"pattern":"needle","path":"d07/f"}`, "no match\n[the search was ended after 1ns, at d07/f:", 1},
		{"none", bounds{}, "grep", `{"pattern":"needle"}`, "d29/f:1: needle\n", 30},
	} {
		b.bounds = test.bounds
		got := b.try(t, test.tool, test.input)
		if n := strings.Count(got.Text, "/f"); got.Bad || !strings.Contains(got.Text, test.want) || n != test.has {
			t.Errorf("%s, %s: %q, want %d and %q", test.tool, test.name, got.Text, test.has, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := find(ctx, b, []byte(`{}`)); err == nil {
		t.Error("it goes on after its end")
	}
	if got, err := grep(ctx, b, []byte(`{"pattern":"needle","path":"d07/f"}`)); err == nil {
		t.Errorf("in one file it goes on after its end: %q", got)
	}
}

// TestPatternEnds checks that no pattern takes long with a line, and that a
// search reports how much of a line it read.
func TestPatternEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	fill(t, b.Root, "min.js", "short needle\n"+strings.Repeat("x", maxWork/3000)+"needle\n")
	large := strings.Repeat("a{1000}", 3) + "|needle$"
	size, err := programSize(large)
	if err != nil || size < 3000 {
		t.Fatalf("programSize = %d, %v", size, err)
	}
	for _, test := range []struct{ pattern, want string }{
		{"needle$", "min.js:1: short needle\nmin.js:2: " + strings.Repeat("x", 500) + "…\n"},
		// The line is too long for that many steps at each byte of it.
		{large, fmt.Sprintf("min.js:1: short needle\n[1 lines were looked at only up to byte %d: they are too long for this pattern]\n", maxWork/size)},
		{strings.Repeat("a{1000}", 30), "pattern: it comes to 30002 steps, and may to 20000: repeat less of it"},
		{strings.Repeat("a", 30_000), "pattern: it comes to 30002 steps, and may to 20000: repeat less of it"},
		{"a{1001}", "pattern: error parsing regexp: invalid repeat count: `{1001}`"},
	} {
		if got := b.try(t, "grep", fmt.Sprintf(`{"pattern":%q,"path":"min.js"}`, test.pattern)); got.Text != test.want {
			t.Errorf("grep %s = %q, want %q", clip(test.pattern, 30), got.Text, test.want)
		}
	}
	// A line around a match may match, too.
	fill(t, b.Root, "f", "a\nN\nb\nN\nc\nd\ne\nN")
	if got, want := b.try(t, "grep", `{"pattern":"N","path":"f","context":1}`).Text, "f-1- a\nf:2: N\nf-3- b\nf:4: N\nf-5- c\n--\nf-7- e\nf:8: N\n"; got != want {
		t.Errorf("grep = %q, want %q", got, want)
	}
	if got, want := b.try(t, "grep", `{"pattern":"N","path":"f","context":2,"limit":1}`).Text, "f-1- a\nf:2: N\nf-3- b\nf:4: N\n[there are more than 1 matches]\n"; got != want {
		t.Errorf("grep = %q, want %q", got, want)
	}
}

// TestSystem checks that a search of everything passes over the system's
// virtual files, and that a search there comes to an end.
func TestSystem(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("there is no /proc")
	}
	b := newBench(t)
	b.bounds = bounds{time.Hour, 3000, 1 << 20}
	if got := b.try(t, "find", `{"path":"/proc","pattern":"cmdline"}`); got.Bad || !strings.Contains(got.Text, "/proc/1/cmdline\n") {
		t.Errorf("find = %q", got.Text)
	}
	if got := b.try(t, "find", `{"path":"/","pattern":"{proc,sys,dev}"}`); strings.Contains("\n"+got.Text, "\n/proc/\n") || strings.Contains(got.Text, "\n/dev/\n") {
		t.Errorf("find = %q", got.Text)
	}
	if got := b.try(t, "grep", `{"path":"/proc/self/status","pattern":"Name:"}`); !strings.Contains(got.Text, "/proc/self/status:1: Name:") {
		t.Errorf("grep = %q", got.Text)
	}
}

// TestIgnored holds which files .gitignore leaves out, as git reads it.
func TestIgnored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rules, files, want string }{
		{"*.o", "a.o d/b.o c.c", "c.c"},
		{"/a", "a d/a", "d/a"},
		{"d/", "d/x e/d/y f/dd", "f/dd"},
		{"d/x", "d/x e/d/x", "e/d/x"},
		{"**/x", "x a/x a/b/x y", "y"},
		{"a/**", "a/x a/b/y c", "c"},
		{"a/**\n!a/keep", "a/x a/keep c", "a/keep c"},
		{"a/**/z", "a/z a/b/z a/b/c/z z", "z"},
		{"*.log\n!keep.log", "x.log keep.log", "keep.log"},
		{"# no\n\n\\#x\n\\!y", "#x !y z", "z"},
		{"x  \ny\\ ", "x y", "y"},
		{"x\r\ny\r\n", "x y z", "z"},
		{"[ab].txt\n[!c].go", "a.txt c.txt a.go c.go", "c.go c.txt"},
		{"{a,b}", "a b", "a b"},
		{"node_modules", "node_modules/p/i.js src/node_modules/q.js src/a.js", "src/a.js"},
	} {
		b := newBench(t)
		fill(t, b.Root, ".gitignore", test.rules)
		for _, f := range strings.Fields(test.files) {
			fill(t, b.Root, f, "x")
		}
		var got []string
		for _, line := range strings.Fields(b.try(t, "grep", `{"pattern":"^x$"}`).Text) {
			if name, _, ok := strings.Cut(line, ":1:"); ok && name != ".gitignore" {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q leaves %q of %s, want %s", test.rules, got, test.files, test.want)
		}
	}
	b := newBench(t)
	fill(t, b.Root, ".git/info/exclude", "mine", "mine", "x", "ours/mine", "x", "ours/yours", "x")
	for at, want := range map[string]string{`{}`: "ours/\nours/yours\n", `{"path":"ours"}`: "ours/yours\n"} {
		if got := b.try(t, "find", at); got.Text != want {
			t.Errorf("find %s = %q, want %q", at, got.Text, want)
		}
	}
	// A search of an ignored folder by its path is meant so.
	fill(t, b.Root, ".gitignore", "node_modules\ndist/\n", "node_modules/p/i.js", "x", "dist/a", "x")
	for at, want := range map[string]string{`{"path":"node_modules"}`: "node_modules/p/\nnode_modules/p/i.js\n", `{"path":"dist"}`: "dist/a\n"} {
		if got := b.try(t, "find", at); got.Text != want {
			t.Errorf("find %s = %q, want %q", at, got.Text, want)
		}
	}
	if got := strings.Join(Top(b.Root), " "); got != ".gitignore ours/" {
		t.Errorf("Top = %s", got)
	}
}

// TestOddFiles checks reads of files that are not plain text.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	fill(t, b.Root, "bom", "\uFEFFa\nb\n", "latin", "caf\xe9\nb\n", "long", strings.Repeat("x", maxLine-1)+"é\nb\n",
		"late", strings.Repeat("x\n", 5000)+"\x00\n", "png", "\x89PNG\r\n\x1a\n\x00\x00", "none", "a\nb")
	for _, test := range []struct{ input, want string }{
		{`{"path":"bom"}`, "a\nb\n"},
		{`{"path":"bom","offset":1,"limit":1}`, "a\n[lines 1 to 1 of 2; go on with offset 2]"},
		{`{"path":"latin"}`, "caf\uFFFD\nb\n[this is not all UTF-8: bytes that are none are shown as \uFFFD, which edit will not find]"},
		{`{"path":"latin","offset":2}`, "b\n[lines 2 to 2 of 2]"},
		{`{"path":"long"}`, strings.Repeat("x", maxLine-1) + "\uFFFD… [the rest of this line is left out]\nb\n"},
		{`{"path":"late","offset":5001}`, "\uFFFD\n[lines 5001 to 5001 of 5001]"},
		{`{"path":"png"}`, "png: is not text; it has 10 bytes"},
		{`{"path":"none","offset":2}`, "b\n[lines 2 to 2 of 2]"},
	} {
		if got := b.try(t, "read", test.input); got.Text != test.want {
			t.Errorf("read %s = %q, want %q", test.input, got.Text, test.want)
		}
	}
	// A file with too many lines to count.
	for from, want := range map[int]string{1: "a\n[lines 1 to 1 of 3 or more; go on with offset 2]", 9: "x: the first 1073741824 bytes have only 3 lines, and what follows is not looked at; use bash"} {
		p := page{from: from, most: 1, left: 5}
		if err := p.read(t.Context(), bufio.NewReader(strings.NewReader("a\nb\nc\nd\n"))); err != nil {
			t.Fatal(err)
		}
		got, err := p.text("x")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("from %d: %q, want %q", from, got, want)
		}
	}
	// A file too large to be read to its end.
	huge := filepath.Join(b.Root, "huge")
	fill(t, b.Root, "huge", "a\nb\n")
	if err := os.Truncate(huge, 8<<40); err != nil {
		t.Skipf("no large file can be had: %v", err)
	}
	if got := b.try(t, "grep", `{"pattern":"a","path":"huge"}`); got.Text != "no match\n[1 files over 8388608 bytes were not looked at]\n" {
		t.Errorf("grep = %q", got.Text)
	}
	// A path that is no file is neither edited nor waited for.
	if err := syscall.Mkfifo(filepath.Join(b.Root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"edit", "write"} {
		if got := b.try(t, tool, `{"path":"fifo","old_text":"a","new_text":"b","content":"x"}`); got.Text != "fifo: is not a regular file" || !got.Bad {
			t.Errorf("%s = %q", tool, got.Text)
		}
	}
}

// TestFlood checks that a command that never stops printing is ended, and that
// its output is shown in part.
func TestFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.try(t, "bash", `{"command":"yes 'more of it'"}`)
	if !got.Bad || !strings.Contains(got.Text, "[it was ended: ") || len(got.Text) > 2*maxBytes || !strings.Contains(got.Text, "the whole output is in "+b.Keep) {
		t.Errorf("bash = %d bytes, …%q", len(got.Text), got.Text[max(0, len(got.Text)-300):])
	}
}
