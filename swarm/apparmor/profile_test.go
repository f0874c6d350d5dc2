package apparmor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	p, err := New("/usr/local/bin/swarm", `/home/o"neil, jr/.local/state/swarm`)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Written by `swarm setup apparmor`; removed by: swarm setup apparmor --remove" + `
# It restricts nothing. It allows swarm to create user namespaces where
# kernel.apparmor_restrict_unprivileged_userns is 1.
abi <abi/4.0>,

profile swarm-c1451de7f864 "/{usr/local/bin/swarm,home/o\"neil\, jr/.local/state/swarm/*/bin/*/swarm}" flags=(unconfined) {
  userns,
}
`
	if p.Text != want || p.Name != "swarm-c1451de7f864" {
		t.Errorf("New = %s\n%s, want\n%s", p.Name, p.Text, want)
	}
	other, err := New("/usr/local.bin/swarm", "/state")
	if err != nil || other.Name == p.Name {
		t.Errorf("New of another program = %v, %v, want another name", other, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0123456789abcdef", 4)
	for _, tt := range []struct{ name, program, state, want string }{
		{"newline", "/a\n}", "/s", "cannot be printed"},
		{"newline in the state", "/a", "/s\nprofile x /** {}", "cannot be printed"},
		{"escape", "/a\x1b[2J", "/s", "cannot be printed"},
		{"delete", "/a\x7f", "/s", "cannot be printed"},
		{"direction", "/a\u202eb", "/s", "cannot be printed"},
		{"no-break space", "/a\u00a0b", "/s", "cannot be printed"},
		{"not UTF-8", "/a\xff", "/s", "not valid UTF-8"},
		{"relative", "a/b", "/s", "absolute"},
		{"empty", "", "/s", "absolute"},
		{"root", "/a", "/", "absolute"},
		{"not clean", "/a/../b", "/s", "absolute"},
		{"go run", "/tmp/go-build214959430/b001/exe/swarm", "/s", "go run"},
		{"go run from the cache", "/home/u/.cache/go-build/59/" + digest + "-d/swarm", "/s", "go run"},
		{"go run from another cache", "/cache/59/" + digest + "-d/swarm", "/s", "go run"},
	} {
		p, err := New(tt.program, tt.state)
		var refused *PathError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || refused.Hint() == "" {
			t.Errorf("%s: New = %v, %v, want one line with %q and a hint", tt.name, p, err, tt.want)
		}
	}
	for _, program := range []string{"/home/u/go-builds/swarm", "/home/u/my-go-build/swarm", "/home/u/go-build"} {
		if _, err := New(program, "/s"); err != nil {
			t.Errorf("New(%s) = %v, want a profile", program, err)
		}
	}
}

// unescape is the inverse of escape.
func unescape(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// FuzzNew: no path gets out of its place between quotes, braces and commas.
func FuzzNew(f *testing.F) {
	for _, path := range oddPaths() {
		f.Add(path, "/state")
		f.Add("/swarm", path)
	}
	place := regexp.MustCompile(`^profile swarm-[0-9a-f]{12} "/\{((?:[^"{},*\\]|\\.)*),((?:[^"{},*\\]|\\.)*)/\*/bin/\*/swarm\}" flags=\(unconfined\) \{$`)
	f.Fuzz(func(t *testing.T, program, state string) {
		p, err := New(program, state)
		if err != nil {
			return
		}
		lines := strings.Split(p.Text, "\n")
		if len(lines) != 9 {
			t.Fatalf("New(%q, %q) has %d lines:\n%s", program, state, len(lines), p.Text)
		}
		m := place.FindStringSubmatch(lines[5])
		if m == nil {
			t.Fatalf("New(%q, %q): %s", program, state, lines[5])
		}
		for i, path := range []string{program, state} {
			if got := "/" + unescape(m[i+1]); got != path {
				t.Errorf("unescape(%s) = %q, want %q", m[i+1], got, path)
			}
			if !balanced(m[i+1]) {
				t.Errorf("%s has a special character without a backslash", m[i+1])
			}
		}
	})
}

// balanced reports whether every special character has a backslash before it.
func balanced(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' {
			i++
		} else if strings.IndexByte(special, pattern[i]) >= 0 {
			return false
		}
	}
	return true
}

// oddPaths are paths with a meaning for AppArmor, and all of printable ASCII.
func oddPaths() []string {
	paths := []string{
		"/usr/local/bin/swarm", "/home/a b/swarm", `/home/o"neil/swarm`, `/home/"/swarm`, `/home/\/swarm`, `/home/\\"/swarm`,
		"/home/*/swarm", "/home/**/swarm", "/home/?/swarm", "/home/[a-z]/swarm", "/home/[^a]/swarm", "/home/{a,b}/swarm", "/home/}/swarm",
		"/home/@{HOME}/swarm", "/home/@{", "/@{HOME}/swarm", `/home/\@{HOME}/swarm`, "/home/a,b/swarm", "/home/a^b$/swarm", "/home/a,/swarm",
		`/home/\n/swarm`, `/home/\x41\101\d65/swarm`, `/home/\*/swarm`, "/home/#include <x>/swarm", "/home/#", "/home/x} { capability,/swarm",
		`/home/a" { capability, } profile b "/b`, "/home/ü/日本語/😀/swarm", "/home/(a|b)+.c/swarm", "/home/ /swarm", "/home/swarm ",
		"/home/=/swarm", "/home/!/swarm", "/home/'/swarm", "/home/a\\", "/home/$USER/swarm", "/home/" + strings.Repeat("x", 250) + "/swarm",
	}
	for c := byte(' '); c < 0x7f; c++ {
		if c != '/' {
			paths = append(paths, "/d/a"+string(c)+"b/s", "/d/x"+string(c), "/d/"+string(c)+"x", `/d/\`+string(c))
		}
	}
	return paths
}

// TestParser: apparmor_parser attaches the profile to the program and its
// copies and to no other path.
func TestParser(t *testing.T) {
	t.Parallel()
	tool := findParser(t)
	for _, path := range oddPaths() {
		t.Run(strconv.Quote(path), func(t *testing.T) {
			t.Parallel()
			for _, r := range []struct{ program, state string }{{path, "/s"}, {"/p", path}} {
				p, err := New(r.program, r.state)
				if err != nil {
					t.Fatal(err)
				}
				d := tool.compile(t, p)
				copied := r.state + "/repo-0123456789ab/bin/fedcba9876543210/swarm"
				for _, good := range []string{r.program, copied} {
					if !d.matches(good) {
						t.Errorf("%q is not attached by\n%s", good, p.Text)
					}
				}
				for _, bad := range others(r.program, copied) {
					if bad != r.program && d.matches(bad) {
						t.Errorf("%q is attached by\n%s", bad, p.Text)
					}
				}
			}
		})
	}
}

// others are paths that are nearly the program or a copy of it.
func others(program, copied string) []string {
	all := []string{
		"", "/", program + "x", program + "/", program[:len(program)-1], copied + "x", copied[:len(copied)-1], copied + "/swarm",
		strings.Replace(copied, "/bin/", "/bin/x/", 1), strings.Replace(copied, "/bin/", "/trees/", 1), "/x" + program, "/x" + copied,
		strings.Replace(copied, "/bin/", "/x/bin/", 1),
	}
	for i := 1; i < len(program); i++ {
		// A pattern would match another character in its place, or none.
		all = append(all, program[:i]+"\x01"+program[i+1:], program[:i]+program[i+1:], program[:i]+"/"+program[i:])
	}
	return all
}

// parser is an installed apparmor_parser. Versions before 4.0 do not know the
// rule userns; they parse the rest.
type parser struct {
	path string
	old  bool
}

func findParser(t *testing.T) *parser {
	t.Helper()
	path, err := exec.LookPath(parserName)
	if err != nil {
		t.Skip(err)
	}
	p, err := New("/usr/bin/swarm", "/state")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []*parser{{path: path}, {path: path, old: true}} {
		if _, err = tool.dump(t, p); err == nil {
			t.Logf("%s; without userns: %v", path, tool.old)
			return tool
		}
	}
	t.Skip(err)
	return nil
}

// dump compiles a profile without loading it, and returns the states of its
// automata.
func (tool *parser) dump(t *testing.T, p *Profile) (string, error) {
	t.Helper()
	text := p.Text
	if tool.old {
		text = strings.NewReplacer("abi <abi/4.0>,\n", "", "  userns,\n", "").Replace(text)
	}
	file := filepath.Join(t.TempDir(), p.Name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool.path, "-Q", "-K", "-D", "dfa-states", file).CombinedOutput()
	if err != nil {
		return "", errors.New(err.Error() + ": " + string(out))
	}
	if strings.Contains(string(out), "unnecessarily") || strings.Contains(string(out), "Warning") {
		t.Errorf("the parser warns of\n%s\n%s", text, out)
	}
	return string(out), nil
}

// dfa is the automaton that decides to which paths a profile is attached.
type dfa struct {
	accepts map[int]bool
	next    map[int]map[byte]int
	rest    map[int]rest // by any other byte
}

type rest struct {
	to    int
	slash bool // a slash is such a byte
}

func (tool *parser) compile(t *testing.T, p *Profile) *dfa {
	t.Helper()
	text, err := tool.dump(t, p)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Text)
	}
	// The first automaton is that of the attachment. Its first line is the
	// start, which is the state 1; the states that accept follow.
	_, text, _ = strings.Cut(text, "{1} <==")
	text, _, _ = strings.Cut(text, "{1} <==")
	d := &dfa{accepts: map[int]bool{}, next: map[int]map[byte]int{}, rest: map[int]rest{}}
	at := 0
	for line := range strings.Lines(text) {
		if m := regexp.MustCompile(`^\{(\d+)\} ?\(0x`).FindStringSubmatch(line); m != nil {
			d.accepts[number(m[1])] = true
		} else if m := regexp.MustCompile(`^\{(\d+)\} perms:`).FindStringSubmatch(line); m != nil {
			at = number(m[1])
			d.next[at] = map[byte]int{}
		} else if m := regexp.MustCompile(`^    \[\^(.*)\] -> \{(\d+)\}`).FindStringSubmatch(line); m != nil {
			d.rest[at] = rest{to: number(m[2]), slash: !strings.Contains(m[1], "/")}
		} else if m := regexp.MustCompile(`^    .*0x([0-9a-f]+) -> \{(\d+)\}`).FindStringSubmatch(line); m != nil {
			c, _ := strconv.ParseUint(m[1], 16, 8)
			d.next[at][byte(c)] = number(m[2])
		}
	}
	if len(d.accepts) == 0 || len(d.next) == 0 {
		t.Skipf("the parser prints automata in another way:\n%s", text)
	}
	return d
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func (d *dfa) matches(path string) bool {
	at := 1
	for i := range len(path) {
		to, ok := d.next[at][path[i]]
		if other, any := d.rest[at]; !ok && any && (path[i] != '/' || other.slash) {
			to, ok = other.to, true
		}
		if !ok {
			return false
		}
		at = to
	}
	return d.accepts[at]
}
