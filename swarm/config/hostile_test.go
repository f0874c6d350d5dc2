package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// hostileValues are values that hardly any key takes.
func hostileValues() []string {
	long := strings.Repeat("x", 5_000)
	return []string{
		"nan", "+nan", "inf", "-inf", "-1", "-0", "-0.0", "0", "1e400", "1e308", "5e-324", "0x7fffffffffffffff", "0b101",
		"9223372036854775807", "9223372036854775808", "99999999999999999999999999", "-9223372036854775808",
		`""`, `" "`, `"\u0000"`, `"\u001b[2J"`, `"\u202e"`, `"\n"`, `"` + long + `"`, "'''\n" + long + "'''",
		`"-1s"`, `"9999999h"`, `"2562047h"`, `"9999999999999999999h"`, `"1e3s"`, `"٣s"`, `"99999d"`, `"-1d"`, `"1.5d"`, `"0d"`,
		`"-5MB"`, `"1e9GB"`, `"9999999999999999999TB"`, `"5"`, `"5mb"`, `"0x5MB"`, `"0B"`, `"NaNGB"`,
		"[]", "[[]]", `["", ""]`, `["\u0000"]`, "[1, 'a']", `["/"]`, `["~"]`, `["a"]`, "{}", "{ a = 1 }", "[{ a = [] }]",
		"true", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z",
	}
}

// hostileFiles are files with such a value of each key there is.
func hostileFiles(value string) map[string]string {
	files := map[string]string{}
	for _, t := range tables() {
		for _, k := range t.keys {
			files[t.name+"."+k.name] = "[" + t.name + "]\n"
		}
	}
	for _, k := range agentKeys() {
		files["agents.a."+k.name] = "[agents.a]\n"
	}
	for _, k := range roleKeys() {
		files["roles.a."+k.name] = "[roles.a]\n"
	}
	for _, k := range limitKeys() {
		files["roles.a.limits."+k.name] = "[roles.a.limits]\n"
	}
	for _, k := range priceKeys() {
		files["prices.a."+k.name] = "[prices.a]\n"
	}
	for _, k := range providerKeys() {
		files["providers.a."+k.name] = "[providers.a]\n"
	}
	for _, k := range modelKeys() {
		files["providers.openai.models.a."+k.name] = "[providers.openai.models.a]\n"
	}
	files["checks.a"], files["agents.a.env.A"] = "[checks]\n", "[agents.a]\ncommand = ['x']\n[agents.a.env]\n"
	for name := range files {
		files[name] += name[strings.LastIndex(name, ".")+1:] + " = " + value + "\n"
	}
	return files
}

// TestEveryKeyHostile gives each key values that hardly any key takes. Either
// the value is read, and can be written and read again unchanged. Or a short
// printable line names the file, a line of it and the table of the key.
func TestEveryKeyHostile(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, value := range hostileValues() {
		for name, text := range hostileFiles(value) {
			c, err := Load(user(text))
			if err == nil {
				again, err := Load(user(written(t, c, true)))
				if err != nil {
					t.Errorf("what %s = %.60s is written as is no configuration: %v", name, value, err)
				} else if got, want := written(t, again, false), written(t, c, false); got != want {
					t.Errorf("%s = %.60s reads back as\n%.500s, want\n%.500s", name, value, got, want)
				}
				if err := fits(s, text); err != nil {
					t.Errorf("the schema refuses %s = %.60s, which holds: %.300v", name, value, err)
				}
				continue
			}
			_, ok := errors.AsType[*Error](err)
			table := strings.TrimSuffix(name[:strings.LastIndex(name, ".")], ".limits")
			inText := toml.Unmarshal([]byte(text), &map[string]any{}) != nil // which knows no keys
			if line := err.Error(); !ok || len(line) > 450 || !prints(line) || !strings.HasPrefix(line, "user.toml:") ||
				!inText && !strings.Contains(line, ": "+table) {
				t.Errorf("Load of %s = %.60s: %T %.500s, want one short line of that table", name, value, err, line)
			}
		}
	}
}

// TestLoadForms: the same settings make the same configuration, however an
// editor wrote them. A text that TOML forbids is an error on a single line with
// its place.
func TestLoadForms(t *testing.T) {
	t.Parallel()
	const bom = "\ufeff"
	for _, text := range []string{
		"[limits]\njobs = 3\n[workspace]\nsetup = 'x'\n", "[limits]\r\njobs = 3\r\n[workspace]\r\nsetup = 'x'\r\n",
		bom + "[limits]\r\njobs = 3\n\n\n[workspace]\nsetup = 'x'", "[workspace]\nsetup = 'x'\n[limits]\njobs = 3",
		"limits.jobs = 3\nworkspace = { setup = 'x' }", "limits . 'jobs' = 0b11\n\"workspace\".setup = \"\\u0078\"",
		"\t[ limits ]\t# a\n\tjobs\t=\t+3\n[workspace]\nsetup = \"\"\"\\\n   x\"\"\"",
	} {
		if c, err := Load(project(text)); err != nil || c.Jobs != 3 || c.Setup != "x" {
			t.Errorf("Load(%q) = %+v, %v, want 3 jobs and x as the setup", text, c, err)
		}
	}
	for _, tt := range []struct{ name, give, want string }{
		{"a mark of order inside", "[limits]\n" + bom + "jobs = 3", ":2: "},
		{"two of them", bom + bom + "[limits]", ":1: "},
		{"UTF-16", "\xff\xfe[\x00l\x00", ":1: is not valid UTF-8"},
		{"lines that end as of old", "[limits]\rjobs = 3\r", ":1: "},
		{"a key twice", "[limits]\r\njobs = 3\r\njobs = 3\r\n", ":3: key jobs is already defined"},
		{"a key twice, dotted", "limits.jobs = 3\nlimits.jobs = 4", ":2: key jobs is already defined"},
		{"a key twice, quoted", "[limits]\njobs = 3\n'jobs' = 4", ":3: key jobs is already defined"},
		{"a table twice", "[limits]\njobs = 3\n[run]\n[limits]\nretries = 4", ":4: table limits already exists"},
		{"a table dotted and headed", "limits.jobs = 3\n[limits]\nretries = 4", ":2: "},
		{"an inline table that goes on", "limits = { jobs = 3 }\n[limits]\nretries = 4", ":2: "},
		{"a table below another", "[sandbox]\nlimits.jobs = 3", ":2: sandbox.limits: unknown key here; write it at the top level of the file, as a table [limits]"},
		{"a header below another", "[sandbox.limits]\njobs = 3", ":1: sandbox.limits: unknown key here; write it at the top level of the file, as a table [limits]"},
		{"a long key twice", strings.Repeat("k", 60_000) + ".a = 1\n" + strings.Repeat("k", 60_000) + ".a = 1", ":2: key a is already defined"},
		{"a long key as two things", strings.Repeat("k", 60_000) + " = 1\n" + strings.Repeat("k", 60_000) + " = 1", ":2: key kkk"},
		{"a long word", "[limits]\njobs = " + strings.Repeat("v", 60_000), ":2: "},
		{"nothing near", "[limits]\nzzz = 3", ":2: limits.zzz: unknown key"},
		{"capital letters", "[Limits]\njobs = 3", `:1: Limits: unknown key; did you mean "limits"?`},
		{"long ago", "limits.timeout = '876001h'", `:1: limits.timeout: expected a duration of at most 876000h, which are a hundred years, got "876001h"`},
	} {
		_, err := Load(project(tt.give))
		if err == nil || !strings.HasPrefix(err.Error(), ".swarm/config.toml"+tt.want) || !prints(err.Error()) || len(err.Error()) > 450 {
			t.Errorf("%s: Load(%.100q) = %v, want …%s", tt.name, tt.give, err, tt.want)
		}
	}
}

// TestManyMistakes: a file full of them costs no more than a few do.
func TestManyMistakes(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"", "[limits]\n", "[agents]\n", "[agents.a]\n", "[hooks]\n", "[checks]\n", "[roles]\n", "[prices]\n", "[providers]\n"} {
		var b strings.Builder
		b.WriteString(head)
		for i := range 1000 {
			fmt.Fprintf(&b, "-%d = 1\n", i)
		}
		found := Check(project(b.String()))
		if len(found) != maxWrong+1 || found[maxWrong].Line != maxWrong+1+strings.Count(head, "\n") || !strings.Contains(found[maxWrong].Reason, "there may be more") {
			t.Errorf("%sCheck found %d mistakes, the last of them %v, want %d", head, len(found), found[len(found)-1], maxWrong+1)
		}
	}
}

// TestReadFileLinks: a link counts as its target, and a dangling link is not a
// missing file.
func TestReadFileLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("there"), []byte("limits.jobs = 3"), 0o600), os.WriteFile(at("closed"), nil, 0),
		os.Symlink("there", at("link")), os.Symlink("link", at("again")), os.Symlink("gone", at("nowhere")),
		os.Symlink("round", at("round")), os.Symlink("/dev/zero", at("zero")), os.Symlink(".", at("folder")),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "again"} {
		if s, err := ReadFile(User, at(name)); err != nil || string(s.Text) != "limits.jobs = 3" || s.Name != at(name) {
			t.Errorf("ReadFile(%s) = %+v, %v, want what it leads to", name, s, err)
		}
	}
	for name, want := range map[string]string{
		"nowhere": at("nowhere") + ": is a link that leads nowhere", "round": "too many levels",
		"zero": at("zero") + ": is not a regular file", "folder": at("folder") + ": is not a regular file",
	} {
		if _, err := ReadFile(User, at(name)); err == nil || !strings.Contains(err.Error(), want) || !prints(err.Error()) {
			t.Errorf("ReadFile(%s) = %v, want %s", name, err, want)
		}
	}
	if s, err := ReadFile(User, at("none")); err != nil || s.Text != nil {
		t.Errorf("ReadFile(none) = %+v, %v, want a source without text", s, err)
	}
	if _, err := ReadFile(User, at("closed")); err == nil && os.Getuid() != 0 {
		t.Error("ReadFile(closed) = nil, want an error")
	}
}
