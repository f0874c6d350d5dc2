package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/swarm/script"
	"agentswarm/worktree/git"
)

// stage is a repository with a reader of a base.
type stage struct {
	*testing.T
	home, root string
	base       git.Hash
	reader     *Reader
}

// newStage makes a repository whose base holds the files: name, content, name, content.
func newStage(t *testing.T, files ...string) *stage {
	t.Helper()
	s := newGroundStage(t)
	s.write(files...)
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "first")
	s.open(s.git("rev-parse", "HEAD"))
	return s
}

// newGroundStage makes a repository without a commit.
func newGroundStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "repo")}
	s.ok(os.MkdirAll(s.home, 0o700), os.MkdirAll(s.root, 0o700))
	s.git("init", "-q", "-b", "main", "--template=")
	s.git("config", "user.name", "Ada")
	s.git("config", "user.email", "ada@example.com")
	s.git("config", "maintenance.auto", "false")
	return s
}

func (s *stage) environ() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
}

func (s *stage) ok(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// feed runs git with a text to read, and more of an environment.
func (s *stage) feed(text string, args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = s.root, strings.NewReader(text)
	cmd.Env = append(s.environ(), "GIT_INDEX_FILE="+filepath.Join(s.root, ".git", "index"))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s: %v: %s", strings.Join(args, " "), err, said.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (s *stage) git(args ...string) string { s.Helper(); return s.feed("", args...) }

// write writes files of the checkout: name, content, name, content.
func (s *stage) write(files ...string) {
	s.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(s.root, files[i])
		s.ok(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
}

// open reads a base.
func (s *stage) open(base string) {
	s.Helper()
	repo, err := git.New(s.environ()).Discover(s.Context(), s.root)
	s.ok(err)
	dir := s.TempDir()
	frozen, err := repo.Freeze(s.Context(), filepath.Join(dir, "frozen"))
	s.ok(err)
	q, err := frozen.Quarantine(filepath.Join(dir, "objects"))
	s.ok(err)
	s.base, s.reader = git.Hash(base), New(repo, q, git.Hash(base))
	reader := s.reader
	s.Cleanup(func() {
		if err := reader.Close(); err != nil {
			s.Error(err)
		}
	})
}

// refusedWith checks that an error is an answer to the script.
func refusedWith(t *testing.T, err error, code script.Code, message string) {
	t.Helper()
	var e *script.Error
	if !errors.As(err, &e) || e.Code != code || e.Name != "Error" || e.Message != message {
		t.Errorf("error = %v\nwant a script's: %s: %s", err, code, message)
	}
}

func TestFiles(t *testing.T) {
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
		got, err := s.reader.Files(t.Context(), tt.give)
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
		_, err := s.reader.Files(t.Context(), give)
		refusedWith(t, err, script.CodeOption, want)
	}
}

// TestFilesMany refuses more paths than a script could hold.
func TestFilesMany(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for i := range maxFiles + 1 {
		s.reader.files = append(s.reader.files, git.Entry{Path: fmt.Sprintf("d/%07d", i), Mode: "100644"})
	}
	_, err := s.reader.Files(t.Context(), "d/*")
	refusedWith(t, err, script.CodeLimit, `repo.files: "d/*" matches 100001 files, more than the 100000 that are told at once`)
	s.reader.files = s.reader.files[1:]
	if got, err := s.reader.Files(t.Context(), "d/*"); err != nil || len(got) != maxFiles {
		t.Errorf("Files = %d paths, %v, want %d", len(got), err, maxFiles)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t)
	s.write("a/b.txt", "one\r\ntwo ä\n", "empty", "", "bin", "x\x00y", "latin", "caf\xe9\n", "src/config.go", "",
		"large", strings.Repeat("x", maxText+1), "whole", strings.Repeat("x", maxText))
	s.git("add", "-A")
	s.git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,mod")
	s.ok(os.Symlink("a/b.txt", s.root+"/link"))
	s.git("add", "link")
	s.git("commit", "-q", "-m", "first")
	s.open(s.git("rev-parse", "HEAD"))
	for give, want := range map[string]string{
		"a/b.txt": "one\r\ntwo ä\n", "./a//b.txt": "one\r\ntwo ä\n", "empty": "", "whole": strings.Repeat("x", maxText),
	} {
		if got, err := s.reader.Read(t.Context(), give); got != want || err != nil {
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
		_, err := s.reader.Read(t.Context(), tt.give)
		refusedWith(t, err, tt.code, tt.want)
	}
}

// TestReadsTheBase: neither the checkout nor a branch has a part in an
// answer, and a base that is on no branch is read as any other.
func TestReadsTheBase(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t)
	s.write("a", "first\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	s.write("a", "base\n", "new", "base\n")
	s.git("add", "-A")
	base := s.git("commit-tree", "-p", "HEAD", "-m", "made", s.git("write-tree"))
	s.git("update-ref", "refs/kept", base)
	s.open(base)
	ask := func() string {
		files, err1 := s.reader.Files(t.Context(), "")
		text, err2 := s.reader.Read(t.Context(), "a")
		lines, err3 := s.reader.Grep(t.Context(), &script.Repo{Pattern: "."})
		log, err4 := s.reader.Log(t.Context(), &script.Repo{})
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
	s.open(base)
	if after := ask(); after != before {
		t.Errorf("the base is %s\nand was %s", after, before)
	}
}

func TestGrep(t *testing.T) {
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
		found, err := s.reader.Grep(t.Context(), &tt.give)
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
		_, err := s.reader.Grep(t.Context(), &tt.give)
		refusedWith(t, err, tt.code, tt.want)
	}
}

// TestGrepMany: too many lines are refused, unless the script said how
// many are enough.
func TestGrepMany(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", strings.Repeat("x\n", maxMatches), "b", "x\n")
	_, err := s.reader.Grep(t.Context(), &script.Repo{Pattern: "x"})
	refusedWith(t, err, script.CodeLimit, "repo.grep: more than 10000 lines match; narrow the pattern or the glob, or give max")
	for give, glob := range map[int]string{0: "a", maxMatches: ""} {
		if got, err := s.reader.Grep(t.Context(), &script.Repo{Pattern: "x", Glob: glob, Max: give}); err != nil || len(got) != maxMatches {
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

func TestLog(t *testing.T) {
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
	s.open(s.git("rev-parse", "HEAD"))
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
		got, err := s.reader.Log(t.Context(), &tt.give)
		if err != nil || len(got) != tt.n || got[0].Subject != tt.first || got[tt.n-1].Subject != tt.last {
			t.Errorf("Log(%+v) = %+v, %v, want %d from %q to %q", tt.give, got, err, tt.n, tt.first, tt.last)
		}
	}
	got, err := s.reader.Log(t.Context(), &script.Repo{Max: 1})
	s.ok(err)
	if c := got[0]; c.Commit != string(s.base) || c.Author != "Ada" || c.Date != "2024-01-02T03:04:05Z" || !reflect.DeepEqual(c.Files, []string{"d/1", "n"}) {
		t.Errorf("Log = %+v", c)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.reader.Log(ended, &script.Repo{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Log after the end = %v", err)
	}
	if _, err := s.reader.Grep(ended, &script.Repo{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Grep after the end = %v", err)
	}
	if got, err := s.reader.Log(t.Context(), &script.Repo{Path: "none"}); err != nil || len(got) != 0 {
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
		_, err := s.reader.Log(t.Context(), &tt.give)
		refusedWith(t, err, script.CodeOption, tt.want)
	}
}
