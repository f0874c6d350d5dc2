package shell

import (
	"os"
	"strings"
	"testing"
)

// TestRead reads the texts of testdata/read.txt, each after a "$", and compares
// the result with the line after "=".
func TestRead(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("testdata/read.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := reader(t)
	n := 0
	for _, block := range strings.Split(string(cases), "\n\n") {
		give, ok := strings.CutPrefix(strings.TrimSpace(block), "$ ")
		if !ok {
			continue
		}
		give, want, ok := strings.Cut(give, "\n=")
		if !ok {
			t.Fatalf("no answer to %q", give)
		}
		give = strings.ReplaceAll(give, "\n> ", "\n")
		if got := spell(r.Read(give, here())); got != strings.TrimSpace(want) {
			t.Errorf("Read(%q) = %s\nwant %s", give, got, strings.TrimSpace(want))
		}
		n++
	}
	if n < 300 {
		t.Errorf("%d cases; want 300", n)
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for _, c := range []struct{ give, want string }{
		{"at", "/tree"},
		{"cd /tmp && at", "/tmp moved"},
		{"cd sub; at", "/tree/sub moved"},
		{"cd sub; cd -; at", "/tree moved"},
		{"cd; at", "/home/u moved"},
		{"(cd /tmp); at", "/tree"},
		{"cd $UNKNOWN; at", "? moved"},
		{"cd /a || exit 1; at", "/a moved"},
		{"cd /a || cd /b; at", "? moved"},
		{"x && cd b; at", "? moved"},
		{"mkdir -p b && cd b && at", "/tree/b moved"},
		{"if a; then cd b; fi; at", "? moved"},
		{"while a; do cd ..; at; done", "/ moved"},
		{"pushd /a; popd; at", "/tree moved"},
		{"pushd /a; pushd; at", "? moved"},
		{"pushd /a; pushd +1; at", "? moved"},
		{"env -C /a at", "/a moved"},
		{"sudo -D /a at", "/a moved"},
		{"bash -c 'cd /a'; at", "/tree"},
		{"f() { cd /a; }; f; at", "/a moved"},
		{"cd ./.././tree; at", "/tree"},
		{"ssh h at", "? moved"},
		{"CDPATH=/x; cd y; at", "? moved"},
		{"cd ~/y; at", "/home/u/y moved"},
	} {
		got := ""
		for _, v := range r.Read(c.give, here()).Invocations {
			if v.Program == "at" && got == "" {
				if got = v.Cwd.Path; !v.Cwd.Known {
					got = "?"
				}
				if v.Cwd.Moved {
					got += " moved"
				}
			}
		}
		if got != c.want {
			t.Errorf("%q: at runs in %q, want %q", c.give, got, c.want)
		}
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for _, c := range []struct {
		give string
		kind StdinKind
		text string
	}{
		{"psql", StdinInherited, ""},
		{"psql < f", StdinUnknown, ""},
		{"make | psql", StdinUnknown, ""},
		{"echo 'drop table x' | psql", StdinText, "drop table x\n"},
		{"psql <<< 'drop table x'", StdinText, "drop table x\n"},
		{"psql <<EOF\ndrop table $USER;\nEOF", StdinText, "drop table u;\n"},
		{"psql <<'EOF'\n$x\nEOF", StdinText, "$x\n"},
		{"psql <<-EOF\n\tx\nEOF", StdinText, "x\n"},
		{"psql <<EOF\n$x\nEOF", StdinUnknown, ""},
		{"cat <<EOF | tr a-z A-Z | psql\nx\nEOF", StdinText, "X\n"},
		{"{ echo a; echo b; } | psql", StdinText, "a\nb\n"},
		{"psql < /dev/null", StdinText, ""},
		{"echo x | sudo psql", StdinText, "x\n"},
		{"psql 3<<< x", StdinInherited, ""},
		{"echo x > f; psql < f", StdinText, "x\n"},
		{"echo x > f; sed -i s/x/y/ f; psql < f", StdinUnknown, ""},
		{"{ read a; psql; } <<< $'x\\ny'", StdinUnknown, ""},
		{"{ echo a; psql; } <<< x", StdinText, "x\n"},
		{"{ make; psql; } <<< x", StdinUnknown, ""},
		{"{ (read a); psql; } <<< x", StdinUnknown, ""},
	} {
		all := r.Read(c.give, here()).Invocations
		got := all[len(all)-1]
		if got.Program != "psql" || got.Stdin.Kind != c.kind || got.Stdin.Text != c.text {
			t.Errorf("%q: %s reads %+v, want %v %q", c.give, got.Program, got.Stdin, c.kind, c.text)
		}
	}
}

func TestRepository(t *testing.T) {
	t.Parallel()
	r := reader(t)
	at := here()
	at.Top, at.Branch = "/tree", "feature/x"
	at.GitDir, at.CommonDir = "/main/.git/worktrees/wt", "/main/.git"
	for give, want := range map[string]string{
		`at $(git branch --show-current)`:                               "feature/x",
		`b=$(git rev-parse --abbrev-ref HEAD) && at "$b"`:               "feature/x",
		`git add . && git status; at "$(git branch --show-current)"`:    "feature/x",
		`git switch main; at "$(git branch --show-current)"`:            "?",
		`./x; at "$(git branch --show-current)"`:                        "?",
		`git branch -m y; at "$(git branch --show-current)"`:            "?",
		`cd /other && at "$(git branch --show-current)"`:                "?",
		`cd sub && at "$(git branch --show-current)"`:                   "?",
		`GIT_DIR=/x; at "$(git branch --show-current)"`:                 "?",
		`ssh h 'at "$(git branch --show-current)"'`:                     "?",
		`git() { echo main; }; at "$(git branch --show-current)"`:       "main",
		`at "$(git rev-parse --show-toplevel)"`:                         "/tree",
		`cd "$(git rev-parse --show-toplevel)" && at "$(pwd)"`:          "/tree",
		`at "$(git rev-parse --git-dir)/x"`:                             "/main/.git/worktrees/wt/x",
		`at "$(git rev-parse --git-common-dir)/x"`:                      "/main/.git/x",
		`cd /other; at "$(git rev-parse --git-common-dir)/x"`:           "?",
		`at "$(git -C /other branch --show-current)"`:                   "?",
		`(git switch main); at "$(git branch --show-current)"`:          "?",
		`at "$(git switch -q main; git branch --show-current)"`:         "?",
		`x=$(git checkout main); at "$(git symbolic-ref --short HEAD)"`: "?",
	} {
		got := "none"
		for _, v := range r.Read(give, at).Invocations {
			if v.Program == "at" {
				got = word(v.Args[0])
			}
		}
		if got != want {
			t.Errorf("%q: at has %q, want %q", give, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for text, want := range map[string]bool{
		"npm run deploy:staging": true, "npm 'run' \"x\"": true, "  npm run x  # note": true,
		"npm run x; ls": false, "A=1 npm run x": false, "npm run x > f": false, "npm run $X": false, "npm run x*": false,
		"sudo npm run x": false, "npm run ~": false, "npm run {a,b}": false, "npm run x &": false, "! npm run x": false,
		"npm run $'x'": false, "(npm run x)": false, "cd . && npm run x": false, "npm run \"$(x)\"": false, "npm run r\\m": false,
	} {
		c := r.Read(text, here())
		if got := len(c.Invocations) > 0 && c.Invocations[0].Plain; got != want {
			t.Errorf("%q: Plain = %v, want %v", text, got, want)
		}
	}
}

func TestAssigns(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for give, want := range map[string]string{
		"A=1 at":                       "A=1",
		"A=1; at":                      "",
		"export A=1; at":               "A=1",
		"export A=1; B=$A at":          "A=1 B=1",
		"A=1; export A; at":            "A=1",
		"declare -x A=1; at":           "A=1",
		"A=1 env B=2 at":               "A=1 B=2",
		"sudo GIT_DIR=/x at":           "GIT_DIR=/x",
		"GIT_DIR=$UNKNOWN at":          "GIT_DIR=?",
		"A=1 true; at":                 "",
		"(export A=1); at":             "",
		"\\export A=1; at":             "A=1",
		"export A=1; bash -c 'at'":     "A=1",
		"f() { at; }; A=1 f":           "A=1",
		"export A=1; unset A; at":      "",
		"if x; then export A=1;fi; at": "A=?",
	} {
		var got []string
		for _, v := range r.Read(give, here()).Invocations {
			if v.Program == "at" {
				for _, a := range v.Assigns {
					got = append(got, a.Name+"="+word(a.Value))
				}
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: at has %q, want %q", give, text, want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	r := reader(t)
	deep := strings.Repeat
	for name, text := range map[string]string{
		"invalid": "ls \xff", "NUL": "l\x00s", "CR": "ls\r\nrm x", "escape": "ls \x1b[2J", "direction": "ls \u202e x", "zero width": "l\u200bs",
		"mark": "\ufeffls", "long": "ls " + deep("x", MaxText), "brackets": deep("(", MaxNesting+1) + "ls" + deep(")", MaxNesting+1),
		"keywords": deep("if ", maxKeywords+1), "lines": deep("if\n", maxKeywords+1), "substitutions": deep("$(", 30000), "braces": deep("${x:-", 10000),
		"in text": "bash -c $'ls \\x01'",
	} {
		c := r.Read(text, here())
		if len(c.Opaque) != 1 {
			t.Errorf("%s: Opaque = %v, want one", name, c.Opaque)
		}
	}
	for name, text := range map[string]string{
		"nested": deep("(", 20) + "ls" + deep(")", 20), "prose": "cat <<'E'\n" + deep("if (a) in it:\n", maxKeywords-1) + "E", "JSON": "echo '" + deep(`{"a":[1]},`, 2000) + "'",
		"many": deep("if a; then b; fi\n", 1000),
	} {
		if c := r.Read(text, here()); len(c.Opaque) != 0 {
			t.Errorf("%s: Opaque = %v, want none", name, c.Opaque)
		}
	}
}

// TestBounded reads texts that are made to be work, or to grow.
func TestBounded(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for name, text := range map[string]string{
		"doubling":  "x=aaaaaaaa" + strings.Repeat("; x=$x$x", 60) + "; echo $x",
		"braces":    "echo " + strings.Repeat("{a,b}", 40),
		"loops":     strings.Repeat("for i in a b c d e f g h; do ", 12) + "ls" + strings.Repeat("; done", 12),
		"whiles":    strings.Repeat("while x=$x$y; do ", 40) + "ls" + strings.Repeat("; done", 40),
		"recursion": "f(){ g $1a; g b; }; g(){ f $1b; f c; }; f x",
		"bomb":      ":(){ :|:& };:",
		"functions": strings.Repeat("f(){ f; f; f; }; f; ", 50),
		"aliases":   "alias a='a a'; a; alias b='b;b'; b",
		"evals":     strings.Repeat("eval ", 3000) + "ls",
		"printf":    "printf '" + strings.Repeat("%s", 3000) + "' " + strings.Repeat("aaaa ", 3000),
		"prefix":    "x=" + strings.Repeat("a", 20000) + "; echo ${x##" + strings.Repeat("*a", 9000) + "b}",
		"documents": strings.Repeat("cat <<E", 200) + "\n" + strings.Repeat("E\n", 200),
	} {
		c := r.Read(text, here())
		if c.Steps > MaxSteps {
			t.Errorf("%s: %d steps", name, c.Steps)
		}
		if n := len(c.Invocations); n > MaxSteps {
			t.Errorf("%s: %d invocations", name, n)
		}
	}
}

// TestShared uses a single reader from many goroutines.
func TestShared(t *testing.T) {
	t.Parallel()
	r := reader(t)
	text := "sudo env A=1 bash -c 'rm -rf x' && python3 -c 'os.system(\"rm y\")'"
	want := spell(r.Read(text, here()))
	got := make(chan string)
	for range 8 {
		go func() { got <- spell(r.Read(text, here())) }()
	}
	for range 8 {
		if one := <-got; one != want {
			t.Errorf("Read = %s, want %s", one, want)
		}
	}
}
