package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// project is a source as a repository would bring it.
func project(text string) Source {
	return Source{Layer: Project, Name: ".swarm/config.toml", Text: []byte(text)}
}

func user(text string) Source {
	return Source{Layer: User, Name: "user.toml", Text: []byte(text)}
}

func local(text string) Source {
	return Source{Layer: Local, Name: ".swarm/config.local.toml", Text: []byte(text)}
}

func mustLoad(t *testing.T, sources ...Source) *Config {
	t.Helper()
	c, err := Load(sources...)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// keyTest is a key of the top level and its effect.
type keyTest struct {
	give string
	key  string
	get  func(*Config) any
	want any
}

func keyTests() []keyTest {
	return []keyTest{
		{`run.default_agent = "fast-1"`, "run.default_agent", func(c *Config) any { return c.DefaultAgent }, "fast-1"},
		{`workspace.setup = "npm ci"`, "workspace.setup", func(c *Config) any { return c.Setup }, "npm ci"},
		{"workspace.verify = '''\nmake\ntest\n'''", "workspace.verify", func(c *Config) any { return c.Verify }, "make\ntest\n"},
		{`limits.jobs = 1`, "limits.jobs", func(c *Config) any { return c.Jobs }, 1},
		{`limits.jobs = 0x64`, "limits.jobs", func(c *Config) any { return c.Jobs }, 100},
		{`limits.max_agents = 2_000`, "limits.max_agents", func(c *Config) any { return c.MaxAgents }, 2000},
		{`limits.timeout = "1h30m"`, "limits.timeout", func(c *Config) any { return c.Timeout }, 90 * time.Minute},
		{`limits.timeout = "0s"`, "limits.timeout", func(c *Config) any { return c.Timeout }, time.Duration(0)},
		{`limits.idle_timeout = "90s"`, "limits.idle_timeout", func(c *Config) any { return c.IdleTimeout }, 90 * time.Second},
		{`limits.run_timeout = "2h"`, "limits.run_timeout", func(c *Config) any { return c.RunTimeout }, 2 * time.Hour},
		{`limits.budget_tokens = 2_000`, "limits.budget_tokens", func(c *Config) any { return c.BudgetTokens }, 2000},
		{`limits.budget_usd = 2`, "limits.budget_usd", func(c *Config) any { return c.BudgetUSD }, 2.0},
		{`limits.budget_usd = 1_000.25`, "limits.budget_usd", func(c *Config) any { return c.BudgetUSD }, 1000.25},
		{`limits.budget_usd = 0.00e9`, "limits.budget_usd", func(c *Config) any { return c.BudgetUSD }, 0.0},
		{`limits.budget_usd = 5e-324`, "limits.budget_usd", func(c *Config) any { return c.BudgetUSD }, 5e-324},
		{`limits.budget_time = "2h"`, "limits.budget_time", func(c *Config) any { return c.BudgetTime }, 2 * time.Hour},
		{`run.notify = "beep"`, "run.notify", func(c *Config) any { return c.Notify }, "beep"},
		{`limits.retries = 0`, "limits.retries", func(c *Config) any { return c.Retries }, 0},
		{`limits.retries = 100`, "limits.retries", func(c *Config) any { return c.Retries }, 100},
		{`run.questions = "wait"`, "run.questions", func(c *Config) any { return c.Questions }, QuestionsWait},
		{`run.questions = "deny"`, "run.questions", func(c *Config) any { return c.Questions }, QuestionsDeny},
		{`run.overlap = "warn"`, "run.overlap", func(c *Config) any { return c.Overlap }, OverlapWarn},
		{`run.overlap = "serialize"`, "run.overlap", func(c *Config) any { return c.Overlap }, OverlapSerialize},
		{`run.overlap = "refuse"`, "run.overlap", func(c *Config) any { return c.Overlap }, OverlapRefuse},
		{`run.mention_changes = false`, "run.mention_changes", func(c *Config) any { return c.HideChanges }, true},
		{`run.mention_changes = true`, "run.mention_changes", func(c *Config) any { return c.HideChanges }, false},
	}
}

// TestLoadKeys reads every key of the top level.
func TestLoadKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range keyTests() {
		t.Run(tt.give, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, project("# a comment\n\n"+tt.give))
			if got := tt.get(c); got != tt.want {
				t.Errorf("Load(%s) = %v, want %v", tt.give, got, tt.want)
			}
			want := Origin{Layer: Project, File: ".swarm/config.toml", Line: 3}
			if got, ok := c.Origin(tt.key); !ok || got != want {
				t.Errorf("Origin(%s) = %v, %t, want %v", tt.key, got, ok, want)
			}
		})
	}
}

func TestLoadNothing(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, project(""), user("\ufeff# only a comment\r\n"), local("[agents]\n"))
	if len(c.AgentNames()) != 0 || c.Setup != "" || c.Jobs != 0 {
		t.Errorf("Load of empty sources = %+v, want nothing set", c)
	}
	if o, ok := c.Origin("workspace.setup"); ok {
		t.Errorf("Origin(setup) = %v, want none", o)
	}
}

// TestLoadHostile proves that no text of a file reaches a terminal raw, and
// that size and depth end in a message.
func TestLoadHostile(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, give, want string }{
		{"huge", strings.Repeat("#", MaxSize+1), ": is longer than 131072 bytes"},
		{"arrays", "a = " + strings.Repeat("[", 20) + strings.Repeat("]", 20), ":1: nests more than 8 levels"},
		{"tables", "a = " + strings.Repeat("{a=", 20) + "1" + strings.Repeat("}", 20), ":1: nests more than 8 levels"},
		{"unclosed", "a = " + strings.Repeat("[", 100_000), ":1: arrays and inline tables are nested more than"},
		{"dots", strings.Repeat("a.", 60_000) + "a = 1", ":1: nests more than 8 levels"},
		{"header", "\n[" + strings.Repeat("a.", 60_000) + "a]", ":2: nests more than 8 levels"},
		{"raw NUL", "workspace.setup = 'a\x00b'", ":1: literal strings cannot have control characters"},
		{"not UTF-8", "limits.jobs = 1\n# \xff", ":2: is not valid UTF-8"},
		{"escape in a comment", "# \x1b[31m", ":1: control characters are not allowed in comments"},
		{"escape in a key", `"\u001b[31m" = 1`, `:1: "\x1b[31m": unknown key`},
		{"escape in a key twice", `"\u001b" = 1` + "\n" + `"\u001b" = 1`, `:2: key \x1b is already defined`},
		{"line end in a key", `"a\nb" = 1`, `:1: "a\nb": unknown key`},
		{"bidi in a value", `limits.jobs = "` + "\u202e" + `"`, `got "\u202e"`},
		{"long key", strings.Repeat("k", 100_000) + " = 1", ":1: " + strings.Repeat("k", 60) + "…: unknown key"},
		{"long value", "limits.jobs = '" + strings.Repeat("v", 100_000) + "'", "v…\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(project(tt.give))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Load = %v, want %s", err, tt.want)
			}
			if text := err.Error(); len(text) > 300 || !prints(text) {
				t.Errorf("Load = %q, want one short line that prints", text)
			}
		})
	}
	s := project("limits.jobs = 0")
	s.Name = "a\x1b[31m\n\xff�"
	if _, err := Load(s); err == nil || !strings.HasPrefix(err.Error(), `a\x1b[31m\n\xff�:1: `) {
		t.Errorf("Load with a hostile name = %v, want it escaped", err)
	}
}

func prints(s string) bool {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

func TestLoadPrecedence(t *testing.T) {
	t.Parallel()
	const agent = "[agents.a]\ncommand = ['%']\n[agents.a.env]\n%_KEY = 'x'\n"
	layer := func(s func(string) Source, who, n string) Source {
		return s(strings.ReplaceAll("workspace.setup = '%'\nlimits.jobs = "+n+"\nlimits.timeout = '"+n+"s'\n"+agent, "%", who))
	}
	u, p, l := layer(user, "u", "1"), layer(project, "p", "2"), layer(local, "l", "3")
	tests := []struct {
		name  string
		give  []Source
		want  string
		jobs  int
		layer Layer
	}{
		{"user", []Source{u}, "u", 1, User},
		{"project over user", []Source{p, u}, "p", 2, Project},
		{"local over project", []Source{p, l}, "l", 3, Local},
		{"local over all", []Source{u, l, p}, "l", 3, Local},
		{"local over user", []Source{l, u}, "l", 3, Local},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, tt.give...)
			if c.Setup != tt.want || c.Jobs != tt.jobs || c.Timeout != time.Duration(tt.jobs)*time.Second {
				t.Errorf("Load = setup %q, jobs %d, timeout %v, want those of %s", c.Setup, c.Jobs, c.Timeout, tt.want)
			}
			a, err := c.Agent("a")
			if err != nil {
				t.Fatal(err)
			}
			// The whole table is replaced: no variable of a lower table is
			// left.
			if want := map[string]string{tt.want + "_KEY": "x"}; !reflect.DeepEqual(a.Env, want) || a.Command[0] != tt.want {
				t.Errorf("Agent(a) = %q with %v, want %q with %v", a.Command, a.Env, tt.want, want)
			}
			for _, key := range []string{"workspace.setup", "limits.jobs", "agents.a"} {
				if o, _ := c.Origin(key); o.Layer != tt.layer {
					t.Errorf("Origin(%s) = %v, want %v", key, o.Layer, tt.layer)
				}
			}
		})
	}
}

// TestLoadPrecedenceByKey proves that a source replaces only the keys that it
// sets.
func TestLoadPrecedenceByKey(t *testing.T) {
	t.Parallel()
	c := mustLoad(t,
		local("workspace.setup = ''"),
		project("workspace.setup = 'p'\nworkspace.verify = 'p'\n[agents.p]\ncommand = ['p']"),
		user("workspace.verify = 'u'\nlimits.jobs = 7\n[agents.u]\ncommand = ['u']"))
	if c.Setup != "" || c.Verify != "p" || c.Jobs != 7 {
		t.Errorf("Load = %q, %q, %d, want an empty setup, verify p, 7 jobs", c.Setup, c.Verify, c.Jobs)
	}
	if got := c.AgentNames(); !reflect.DeepEqual(got, []string{"p", "u"}) {
		t.Errorf("AgentNames() = %q, want p and u", got)
	}
	if o, _ := c.Origin("workspace.setup"); o.Layer != Local {
		t.Errorf("Origin(setup) = %v, want local", o)
	}
}

func TestLoadRefusesSources(t *testing.T) {
	t.Parallel()
	if _, err := Load(Source{Name: "x"}); err == nil {
		t.Error("Load of a source without a layer = nil, want an error")
	}
	if _, err := Load(user(""), user("")); err == nil {
		t.Error("Load of two user sources = nil, want an error")
	}
	// A mistake is told even where a higher source hides it.
	if _, err := Load(user("limits.jobs = 0"), local("limits.jobs = 1")); err == nil {
		t.Error("Load of a hidden mistake = nil, want an error")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	testWords(t, new(Kind), kinds()...)
	testWords(t, new(Input), InputStdin, InputArg, InputNone, InputJSONL)
	testWords(t, new(Format), FormatText, FormatJSONL)
	testWords(t, new(Success), SuccessExit, SuccessAnswer)
	testWords(t, new(Questions), QuestionsWait, QuestionsDeny)
	testWords(t, new(Overlap), OverlapWarn, OverlapSerialize, OverlapRefuse)
	testWords(t, new(Layer), User, Project, Local)
}

// testWords proves that every value is read back from its text. No other text,
// least of all "unset", can be read.
func testWords[T interface {
	comparable
	fmt.Stringer
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, to P, all ...T) {
	t.Helper()
	for _, want := range all {
		if err := to.UnmarshalText([]byte(want.String())); err != nil || *to != want {
			t.Errorf("UnmarshalText(%v) = %v, %v, want it back", want, *to, err)
		}
		for _, bad := range []string{"", "unset", strings.ToUpper(want.String())} {
			if err := to.UnmarshalText([]byte(bad)); err == nil || (*to).String() != "unset" {
				t.Errorf("UnmarshalText(%q) = %v, %v, want unset and an error", bad, *to, err)
			}
		}
	}
}

// FuzzLoad: any text ends in an error or in a valid configuration. An error
// fits on a single line and names the file.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "limits.jobs = 3\nworkspace.setup = 'x'\nworkspace.verify = '''\na\n'''",
		"[agents.a]\ncommand = ['x', '{prompt}']\ninput = 'arg'\nenv = { A = '$A' }",
		"[agents]\na.command = [\"\\u001b\"]\na.env.B = \"\\u202e\"\ntimeout = '3s'",
		"[agents.a]\npty = true\ncommand = ['x', '{prompt}']\n[[agents]]", "limits.retries = 3\nrun.notify = 'x'\nrun.questions = 'wait'\nrun.overlap = 'refuse'",
		"[checks]\na = 'x'\nb = ''\nc = \"\\u001b\"", "[checks]\njobs = 3\n[[checks]]", "[gc]\nrun_age = '30d'\ntrash_size = '1.5GiB'\nbase_size = '5 MB'", "jobs = 3\n[setup]", "[[agents]]\n[agents.b]", "limits.jobs = 1\n[jobs.x]", "\"\\u0000\" = [[[{a=1}]]]", "\xef\xbb\xbf\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Load(project(string(text)))
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.File != ".swarm/config.toml" || e.Line < 0 || !prints(err.Error()) {
				t.Fatalf("Load = %T %q, want a printable *Error of the file", err, err)
			}
			return
		}
		if c.Jobs < 0 || c.Jobs > 100 || c.MaxAgents < 0 || c.Retries < 0 || c.Retries > 100 || c.Timeout < 0 || c.IdleTimeout < 0 || c.RunTimeout < 0 {
			t.Errorf("Load = %+v, want values in range", c)
		}
		names := c.AgentNames()
		for _, name := range names {
			a, err := c.Agent(name)
			if err != nil || len(a.Command) == 0 || a.Origin.Line < 1 || checkAgentName(name) != nil ||
				a.Kind == KindUnset || a.Input == InputUnset || a.Format == FormatUnset || a.Success == SuccessUnset {
				t.Errorf("Agent(%q) = %+v, %v, want a whole agent", name, a, err)
			}
		}
		again := mustLoad(t, project(written(t, c, true)))
		if got, want := written(t, again, false), written(t, c, false); got != want {
			t.Errorf("settings read back =\n%s, want\n%s", got, want)
		}
		for _, i := range c.Needs(Use{Setup: true, Verify: true, Notify: true, Checks: true, Agents: names}) {
			if !prints(strings.ReplaceAll(i.String(), "\n", "")) {
				t.Errorf("Item.String() = %q, want it to print", i)
			}
		}
	})
}

func TestIsZero(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"0": true, "-0.00": true, "0e5": true, "0.0E-9": true, "+0": true, "0x0p5": true, "0X0p-1": true,
		"1": false, "1e-400": false, "0.001": false, "0x0e1p-2000": false, "0x1P-2000": false,
	} {
		if got := IsZero(give); got != want {
			t.Errorf("IsZero(%q) = %t", give, got)
		}
	}
}
