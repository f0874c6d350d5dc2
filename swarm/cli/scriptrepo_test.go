package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/script"
	"agentswarm/worktree/git"
)

func TestScriptFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, "b.go", "", "a/x.go", "", "a/.hidden/y.go", "", "a/z.txt", "", "ä b", "", "a-b", "")
	for _, tt := range []struct{ give, want string }{
		{"", "a-b a/.hidden/y.go a/x.go a/z.txt b.go ä b"},
		{"**", "a-b a/.hidden/y.go a/x.go a/z.txt b.go ä b"},
		{"*", "a-b b.go ä b"},
		{"**/*.go", "a/.hidden/y.go a/x.go b.go"},
		{"a", "a/.hidden/y.go a/x.go a/z.txt"},
		{"{b.go,a/*.txt}", "a/z.txt b.go"},
		{"none/**", ""},
	} {
		got, err := s.tools.Files(t.Context(), tt.give)
		if err != nil || strings.Join(got, " ") != tt.want || got == nil {
			t.Errorf("Files(%q) = %q, %v, want %q", tt.give, got, err, tt.want)
		}
	}
	for give, want := range map[string]string{
		"a[":     `repo.files: the glob "a[" is not a pattern: a bracket, a brace or a backslash is left open`,
		"../x":   `repo.files: the glob "../x" leaves the repository`,
		"/etc/*": `repo.files: the glob "/etc/*" is absolute: patterns are read from the top of the repository`,
		".":      `repo.files: the glob "." names the top of the repository itself; ** matches every path`,
	} {
		_, err := s.tools.Files(t.Context(), give)
		scriptRefusal(t, err, script.CodeOption, want)
	}
}

// TestScriptFilesMany refuses more paths than a script could hold.
func TestScriptFilesMany(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for i := range maxFiles + 1 {
		s.tools.files = append(s.tools.files, git.Entry{Path: fmt.Sprintf("d/%07d", i), Mode: "100644"})
	}
	_, err := s.tools.Files(t.Context(), "d/*")
	scriptRefusal(t, err, script.CodeLimit, `repo.files: "d/*" matches 100001 files, more than the 100000 that are told at once`)
	s.tools.files = s.tools.files[1:]
	if got, err := s.tools.Files(t.Context(), "d/*"); err != nil || len(got) != maxFiles {
		t.Errorf("Files = %d paths, %v, want %d", len(got), err, maxFiles)
	}
}

func TestScriptRead(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t)
	s.write("a/b.txt", "one\r\ntwo ä\n", "empty", "", "bin", "x\x00y", "latin", "caf\xe9\n", "src/config.go", "",
		"large", strings.Repeat("x", maxText+1), "whole", strings.Repeat("x", maxText))
	s.git("add", "-A")
	s.git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,mod")
	s.ok(os.Symlink("a/b.txt", s.root+"/link"))
	s.git("add", "link")
	s.git("commit", "-q", "-m", "first")
	s.open(s.git("rev-parse", "HEAD"), engine.Config{})
	for give, want := range map[string]string{
		"a/b.txt": "one\r\ntwo ä\n", "./a//b.txt": "one\r\ntwo ä\n", "empty": "", "whole": strings.Repeat("x", maxText),
	} {
		if got, err := s.tools.Read(t.Context(), give); got != want || err != nil {
			t.Errorf("Read(%q) = %.20q, %v, want %.20q", give, got, err, want)
		}
	}
	for _, tt := range []struct {
		give string
		code script.Code
		want string
	}{
		{"", script.CodeOption, "repo.read: needs a path, from the top of the repository"},
		{"/etc/passwd", script.CodeOption, `repo.read: the path "/etc/passwd" is absolute: paths are read from the top of the repository`},
		{"a/../../x", script.CodeOption, `repo.read: the path "a/../../x" has a .. in it: paths are read from the top of the repository`},
		{"a/..", script.CodeOption, `repo.read: the path "a/.." has a .. in it: paths are read from the top of the repository`},
		{"a\x00", script.CodeOption, `repo.read: the path "a\x00" holds a NUL byte`},
		{"a", script.CodeOption, `repo.read: "a" is a folder; repo.files lists what is in one`},
		{".", script.CodeOption, `repo.read: "." is a folder; repo.files lists what is in one`},
		{"bin", script.CodeOption, `repo.read: "bin" is binary`},
		{"latin", script.CodeOption, `repo.read: "latin" is not UTF-8 text`},
		{"link", script.CodeOption, `repo.read: "link" is a symbolic link; read what it leads to`},
		{"mod", script.CodeOption, `repo.read: "mod" is a submodule, which is empty in every workspace`},
		{"large", script.CodeLimit, `repo.read: "large" has 1048577 bytes, more than the 1048576 that are read`},
		{"a/c.txt", script.CodeUnknown, `repo.read: there is no file "a/c.txt" in the base; did you mean "a/b.txt"?`},
		{"config.go", script.CodeUnknown, `repo.read: there is no file "config.go" in the base; did you mean "src/config.go"?`},
		{"a:b", script.CodeUnknown, `repo.read: there is no file "a:b" in the base`},
		{"zzzzzzzz", script.CodeUnknown, `repo.read: there is no file "zzzzzzzz" in the base`},
	} {
		_, err := s.tools.Read(t.Context(), tt.give)
		scriptRefusal(t, err, tt.code, tt.want)
	}
}

// TestScriptReadsTheBase: neither the checkout nor a branch has a part in an
// answer, and a base that is on no branch is read as any other.
func TestScriptReadsTheBase(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t)
	s.write("a", "first\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	base := s.commitOn("HEAD", "a", "base\n", "new", "base\n")
	s.open(base, engine.Config{})
	ask := func() string {
		files, err1 := s.tools.Files(t.Context(), "")
		text, err2 := s.tools.Read(t.Context(), "a")
		lines, err3 := s.tools.Grep(t.Context(), &script.Repo{Pattern: "."})
		log, err4 := s.tools.Log(t.Context(), &script.Repo{})
		s.ok(err1, err2, err3, err4)
		return fmt.Sprintf("%q %q %+v %+v", files, text, lines, log)
	}
	before := ask()
	if !strings.HasPrefix(before, `["a" "new"] "base\n" [{Path:a Line:1 Text:base} {Path:new Line:1 Text:base}] [{Commit:`+base) {
		t.Errorf("the base is %s", before)
	}
	s.write("a", "changed\n", "other", "x\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "more")
	s.write("a", "dirty\n")
	s.git("replace", base, "HEAD")
	s.git("gc", "-q", "--prune=now")
	s.again()
	if after := ask(); after != before {
		t.Errorf("the base is %s\nand was %s", after, before)
	}
}

func TestScriptGrep(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine-1) + "äy"
	s := newStage(t, "b.go", "// TODO one\r\nx\n\ttodo two", "a/c.go", "TODO\n", "a/bin", "TODO\x00\n", "late", strings.Repeat("z\n", 5000)+"\x00\n",
		"large", "TODO\n"+strings.Repeat("x", maxText), "latin", "caf\xe9 bar\n", "long", long)
	type hits []string
	for _, tt := range []struct {
		name string
		give script.Repo
		want hits
	}{
		{"plain", script.Repo{Pattern: "TODO"}, hits{"a/c.go:1:TODO", "b.go:1:// TODO one"}},
		{"expression", script.Repo{Pattern: `(?i)^\s*todo\b`}, hits{"a/c.go:1:TODO", "b.go:3:\ttodo two"}},
		{"line end", script.Repo{Pattern: `one$`}, hits{"b.go:1:// TODO one"}},
		{"a line at a time", script.Repo{Pattern: `(?s)one.*x`}, nil},
		{"glob", script.Repo{Pattern: "TODO", Glob: "a/**"}, hits{"a/c.go:1:TODO"}},
		{"glob without files", script.Repo{Pattern: "TODO", Glob: "none"}, nil},
		{"max", script.Repo{Pattern: "TODO", Max: 1}, hits{"a/c.go:1:TODO"}},
		{"text of another encoding", script.Repo{Pattern: "bar"}, hits{"latin:1:caf\uFFFD bar"}},
		{"a long line", script.Repo{Pattern: "y$", Glob: "long"}, hits{"long:1:" + strings.Repeat("x", maxLine-1)}},
	} {
		found, err := s.tools.Grep(t.Context(), &tt.give)
		var got hits
		for _, m := range found {
			got = append(got, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Grep = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		give script.Repo
		code script.Code
		want string
	}{
		{script.Repo{}, script.CodeOption, "repo.grep: the pattern is empty"},
		{script.Repo{Pattern: "x", Max: -1}, script.CodeOption, "repo.grep: max is -1; want 1 to 10000"},
		{script.Repo{Pattern: "x", Max: 10001}, script.CodeOption, "repo.grep: max is 10001; want 1 to 10000"},
		{script.Repo{Pattern: strings.Repeat("x", maxPattern+1)}, script.CodeOption, "repo.grep: the pattern is longer than 10000 bytes"},
		{
			script.Repo{Pattern: `(a)\1`}, script.CodeOption,
			"repo.grep: error parsing regexp: invalid escape sequence: `\\1` (patterns are RE2, as in Go: without backreferences and lookaround)",
		},
		{script.Repo{Pattern: "x", Glob: "["}, script.CodeOption, `repo.grep: the glob "[" is not a pattern: a bracket, a brace or a backslash is left open`},
	} {
		_, err := s.tools.Grep(t.Context(), &tt.give)
		scriptRefusal(t, err, tt.code, tt.want)
	}
}

// TestScriptGrepMany: too many lines are refused, unless the script said how
// many are enough.
func TestScriptGrepMany(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", strings.Repeat("x\n", maxMatches), "b", "x\n")
	_, err := s.tools.Grep(t.Context(), &script.Repo{Pattern: "x"})
	scriptRefusal(t, err, script.CodeLimit, "repo.grep: more than 10000 lines match; narrow the pattern or the glob, or give max")
	for give, glob := range map[int]string{0: "a", maxMatches: ""} {
		if got, err := s.tools.Grep(t.Context(), &script.Repo{Pattern: "x", Glob: glob, Max: give}); err != nil || len(got) != maxMatches {
			t.Errorf("Grep with max %d = %d lines, %v, want %d", give, len(got), err, maxMatches)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"abä", 3, "ab"}, {"a€", 3, "a"}, {"a😀b", 4, "a"}, {"a😀b", 5, "a😀"},
		{"\xff\xfe", 5, "\uFFFD"}, {"", 3, ""},
	} {
		if got := firstBytes([]byte(tt.give), tt.limit); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("firstBytes(%q, %d) = %q, want %q", tt.give, tt.limit, got, tt.want)
		}
	}
}

func TestScriptLog(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t)
	var commits strings.Builder
	for i := range 60 {
		message, text := fmt.Sprintf("change %d\n\nbody", i), fmt.Sprint(i)
		fmt.Fprintf(&commits, "commit refs/heads/main\ncommitter Ada <a@example.com> 1704164645 +0200\ndata %d\n%s\n", len(message), message)
		for _, name := range []string{"n", fmt.Sprintf("d/%d", i%2)} {
			fmt.Fprintf(&commits, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
		}
	}
	s.feed(commits.String(), "fast-import", "--quiet")
	s.open(s.git("rev-parse", "HEAD"), engine.Config{})
	for _, tt := range []struct {
		give        script.Repo
		n           int
		first, last string
	}{
		{script.Repo{}, 50, "change 59", "change 10"},
		{script.Repo{Max: 2}, 2, "change 59", "change 58"},
		{script.Repo{Max: 1000}, 60, "change 59", "change 0"},
		{script.Repo{Path: "d/0"}, 30, "change 58", "change 0"},
		{script.Repo{Path: "./d/", Max: 3}, 3, "change 59", "change 57"},
		{script.Repo{Path: ".", Max: 3}, 3, "change 59", "change 57"},
	} {
		got, err := s.tools.Log(t.Context(), &tt.give)
		if err != nil || len(got) != tt.n || got[0].Subject != tt.first || got[tt.n-1].Subject != tt.last {
			t.Errorf("Log(%+v) = %+v, %v, want %d from %q to %q", tt.give, got, err, tt.n, tt.first, tt.last)
		}
	}
	got, err := s.tools.Log(t.Context(), &script.Repo{Max: 1})
	s.ok(err)
	if c := got[0]; c.Commit != string(s.base) || c.Author != "Ada" || c.Date != "2024-01-02T03:04:05Z" || !reflect.DeepEqual(c.Files, []string{"d/1", "n"}) {
		t.Errorf("Log = %+v", c)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.tools.Log(ended, &script.Repo{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Log after the end = %v", err)
	}
	if _, err := s.tools.Grep(ended, &script.Repo{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Grep after the end = %v", err)
	}
	if got, err := s.tools.Log(t.Context(), &script.Repo{Path: "none"}); err != nil || len(got) != 0 {
		t.Errorf("Log of no file = %v, %v, want none", got, err)
	}
	for _, tt := range []struct {
		give script.Repo
		want string
	}{
		{script.Repo{Max: -1}, "repo.log: max is -1; want 1 to 1000"},
		{script.Repo{Max: 1001}, "repo.log: max is 1001; want 1 to 1000"},
		{script.Repo{Path: "../x"}, `repo.log: the path "../x" has a .. in it: paths are read from the top of the repository`},
		{script.Repo{Path: "/x"}, `repo.log: the path "/x" is absolute: paths are read from the top of the repository`},
	} {
		_, err := s.tools.Log(t.Context(), &tt.give)
		scriptRefusal(t, err, script.CodeOption, tt.want)
	}
}
