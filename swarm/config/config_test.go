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

// TestLoadKeys reads every key of the top level.
func TestLoadKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give string
		key  string
		get  func(*Config) any
		want any
	}{
		{`default_agent = "fast-1"`, "default_agent", func(c *Config) any { return c.DefaultAgent }, "fast-1"},
		{`setup = "npm ci"`, "setup", func(c *Config) any { return c.Setup }, "npm ci"},
		{"verify = '''\nmake\ntest\n'''", "verify", func(c *Config) any { return c.Verify }, "make\ntest\n"},
		{`jobs = 1`, "jobs", func(c *Config) any { return c.Jobs }, 1},
		{`jobs = 0x64`, "jobs", func(c *Config) any { return c.Jobs }, 100},
		{`max_agents = 2_000`, "max_agents", func(c *Config) any { return c.MaxAgents }, 2000},
		{`timeout = "1h30m"`, "timeout", func(c *Config) any { return c.Timeout }, 90 * time.Minute},
		{`timeout = "0s"`, "timeout", func(c *Config) any { return c.Timeout }, time.Duration(0)},
		{`idle_timeout = "90s"`, "idle_timeout", func(c *Config) any { return c.IdleTimeout }, 90 * time.Second},
		{`run_timeout = "2h"`, "run_timeout", func(c *Config) any { return c.RunTimeout }, 2 * time.Hour},
	}
	for _, tt := range tests {
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
	if o, ok := c.Origin("setup"); ok {
		t.Errorf("Origin(setup) = %v, want none", o)
	}
}

// TestLoadWrong shows each mistake with its line, its key and the advice.
func TestLoadWrong(t *testing.T) {
	t.Parallel()
	const ok = "[agents.a]\ncommand = ['x']\n"
	tests := []struct{ name, give, want string }{
		{"typo", "\nverfy = 'x'", `2: verfy: unknown key; did you mean "verify"?`},
		{"swap", "jobs = 3\nsteup = 'x'", `2: steup: unknown key; did you mean "setup"?`},
		{"hyphen", "max-agents = 3", `1: max-agents: unknown key; did you mean "max_agents"?`},
		{"nothing near", "colour = 3", `1: colour: unknown key`},
		{"quoted key", `"a b" = 3`, `1: "a b": unknown key`},
		{"unknown table", "[rolls]\na = 1", `1: rolls: unknown key`},
		{"near table", "[agent.x]\ncommand = ['x']", `1: agent: unknown key; did you mean "agents"?`},
		{"array of tables", "[[agents]]\na = 1", `1: agents: expected a table, got an array of tables`},
		{"agents scalar", "agents = 3", `1: agents: expected a table, got the number 3`},
		{"agent scalar", "agents.x = true", `1: agents.x: expected a table, got true`},
		{"key of an agent", "command = ['x']", `1: command: unknown key here; it belongs in a table [agents.NAME]`},
		{"key of the top", ok + "verify = 'x'", `3: agents.a.verify: unknown key here; it belongs at the top of the file, above the first [table]`},
		{"agent typo", ok + "fromat = 'text'", `3: agents.a.fromat: unknown key; did you mean "format"?`},

		{"string", "setup = 3", `1: setup: expected a string, got the number 3`},
		{"string table", "[setup]\nrun = 'x'", `1: setup: expected a string, got a table`},
		{"string array", "verify = ['x']", `1: verify: expected a string, got an array`},
		{"string date", "verify = 2024-01-01", `1: verify: expected a string, got a date or time`},
		{"string bool", "default_agent = false", `1: default_agent: expected a string, got false`},
		{"string NUL", `setup = "a\u0000b"`, `1: setup: holds a NUL character, which no program can be given`},
		{"name", "default_agent = 'a b'", `1: default_agent: "a b": a name holds letters, digits, - and _, and does not start with -`},
		{"name empty", "default_agent = ''", `1: default_agent: "": a name holds letters, digits, - and _, and does not start with -`},
		{"name later", "default_agent = 'claude'", `1: default_agent: agent "claude" is not available in this version`},
		{"name kind", "default_agent = 'command'", `1: default_agent: "command": is the name of a kind; choose another name for the agent`},
		{"jobs low", "jobs = 0", `1: jobs: expected a whole number from 1 to 100, got the number 0`},
		{"jobs high", "jobs = 101", `1: jobs: expected a whole number from 1 to 100, got the number 101`},
		{"jobs string", "jobs = '7'", `1: jobs: expected a whole number from 1 to 100, got "7"`},
		{"jobs float", "jobs = 7.0", `1: jobs: expected a whole number from 1 to 100, got the number 7.0`},
		{"jobs table", "jobs.a = 1", `1: jobs: expected a whole number from 1 to 100, got a table`},
		{"max_agents", "max_agents = -1", `1: max_agents: expected a whole number of at least 1, got the number -1`},
		{"max_agents zero", "max_agents = 0", `1: max_agents: expected a whole number of at least 1, got the number 0`},
		{"timeout number", "timeout = 30", `1: timeout: expected a duration such as "90s" or "1h30m", got the number 30`},
		{"timeout unit", "idle_timeout = '30'", `1: idle_timeout: expected a duration such as "90s" or "1h30m", got "30"`},
		{"timeout negative", "run_timeout = '-1s'", `1: run_timeout: expected a duration that is not negative ("0s": no limit), got "-1s"`},

		{"agent name", "[agents.'a b']\ncommand = ['x']", `1: agents."a b": a name holds letters, digits, - and _, and does not start with -`},
		{"agent name option", "[agents.-a]\ncommand = ['x']", `1: agents.-a: a name holds letters, digits, - and _, and does not start with -`},
		{"agent name kind", "[agents.codex]\ncommand = ['x']", `1: agents.codex: is the name of a kind; choose another name for the agent`},
		{"agent name command", "[agents]\ncommand = ['x']", `2: agents.command: is the name of a kind; choose another name for the agent`},
		{"no command", "\n[agents.a]\ninput = 'none'", `2: agents.a: needs a command, such as command = ["program", "argument"]`},
		{"empty command", "[agents.a]\ncommand = []", `2: agents.a.command: needs a command, such as command = ["program", "argument"]`},
		{"empty program", "[agents.a]\ncommand = ['', 'x']", `2: agents.a.command: its first word, the program, is empty`},
		{"command string", "[agents.a]\ncommand = 'x y'", `2: agents.a.command: expected an array of strings, such as ["program", "argument"], got "x y"`},
		{"command number", "[agents.a]\ncommand = [\n'x',\n1]", `4: agents.a.command[1]: expected a string, got the number 1`},
		{"command NUL", "[agents.a]\ncommand = [\"x\\u0000\"]", `2: agents.a.command[0]: holds a NUL character, which no program can be given`},
		{"kind later", ok + "kind = 'pi'", `3: agents.a.kind: kind "pi" is not available in this version; use "command"`},
		{"kind", ok + "kind = 'comand'", `3: agents.a.kind: expected "command", got "comand"; did you mean "command"?`},
		{"input", ok + "input = 'stdim'", `3: agents.a.input: expected "stdin", "arg", "none" or "jsonl", got "stdim"; did you mean "stdin"?`},
		{"input unset", ok + "input = 'unset'", `3: agents.a.input: expected "stdin", "arg", "none" or "jsonl", got "unset"`},
		{"format", ok + "format = 'xml'", `3: agents.a.format: expected "text" or "jsonl", got "xml"`},
		{"success", ok + "success = true", `3: agents.a.success: expected a string, got true`},
		{"success word", ok + "success = 'answers'", `3: agents.a.success: expected "exit" or "answer", got "answers"; did you mean "answer"?`},
		{"pty", ok + "pty = true", `3: agents.a.pty: is not available in this version`},
		{"write", ok + "write = ['/tmp']", `3: agents.a.write: is not available in this version`},
		{"agent timeout", ok + "timeout = '-3s'", `3: agents.a.timeout: expected a duration that is not negative ("0s": no limit), got "-3s"`},
		{"agent idle_timeout", ok + "idle_timeout = 5", `3: agents.a.idle_timeout: expected a duration such as "90s" or "1h30m", got the number 5`},
		{"env", ok + "env = ['A=b']", `3: agents.a.env: expected a table of strings, such as { NAME = "value" }, got an array`},
		{"env name", ok + "env = { 'A=B' = 'x' }", `3: agents.a.env."A=B": is no name of a variable: letters, digits and _, not starting with a digit`},
		{"env value", ok + "[agents.a.env]\nA = 1", `4: agents.a.env.A: expected a string, got the number 1`},
		{"env NUL", ok + `env.A = "\u0000"`, `3: agents.a.env.A: holds a NUL character, which no program can be given`},
		{"env ours", ok + "env.SWARM_RUN = 'x'", `3: agents.a.env.SWARM_RUN: variables that start with SWARM_ are set by swarm alone`},
		{"later header", "[agents.a.env]\nA = 'b'\n[agents.a]\ninput = 'none'", `3: agents.a: needs a command, such as command = ["program", "argument"]`},

		{"arg without prompt", ok + "input = 'arg'", `3: agents.a.input: "arg" needs {prompt} or {prompt_file} in the command`},
		{"prompt without arg", "[agents.a]\ncommand = ['x', '-p={prompt}']", `2: agents.a.command: holds {prompt}, but input is "stdin"; set input = "arg" or take it out`},
		{"file without arg", "[agents.a]\ninput = 'none'\ncommand = ['x', '{prompt_file}']", `3: agents.a.command: holds {prompt_file}, but input is "none"; set input = "arg" or take it out`},
		{"prompt as program", "[agents.a]\ninput = 'arg'\ncommand = ['{prompt}']", `3: agents.a.command: its first word is the program and cannot hold the prompt`},
		{"jsonl with text", ok + "input = 'jsonl'", `3: agents.a.input: "jsonl" needs format = "jsonl": a turn ends with an event`},
		{"prompt in a script", "[agents.a]\ninput = 'arg'\ncommand = ['sh', '-c', 'x {prompt}']", `3: agents.a.command: the shell would run the prompt as a part of its script; pass it as an argument: ["sh", "-c", "program \"$1\"", "sh", "{prompt}"]`},

		{"syntax", "jobs = 3\nsetup = \n", `2: unexpected character U+000A at start of value`},
		{"twice", "jobs = 3\n\njobs = 4", `3: key jobs is already defined`},
		{"table twice", ok + ok, `3: table a already exists`},
		{"value and table", "jobs = 3\n[jobs.x]", `2: key jobs already exists as a value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(project(tt.give))
			want := ".swarm/config.toml:" + tt.want
			if err == nil || err.Error() != want {
				t.Fatalf("Load(%q) =\n%v, want\n%s", tt.give, err, want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("Load(%q) = %T, want *Error", tt.give, err)
			}
		})
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
		{"raw NUL", "setup = 'a\x00b'", ":1: literal strings cannot have control characters"},
		{"not UTF-8", "jobs = 1\n# \xff", ":2: is not valid UTF-8"},
		{"escape in a comment", "# \x1b[31m", ":1: control characters are not allowed in comments"},
		{"escape in a key", `"\u001b[31m" = 1`, `:1: "\x1b[31m": unknown key`},
		{"escape in a key twice", `"\u001b" = 1` + "\n" + `"\u001b" = 1`, `:2: key \x1b is already defined`},
		{"line end in a key", `"a\nb" = 1`, `:1: "a\nb": unknown key`},
		{"bidi in a value", `jobs = "` + "\u202e" + `"`, `got "\u202e"`},
		{"long key", strings.Repeat("k", 100_000) + " = 1", ":1: " + strings.Repeat("k", 60) + "…: unknown key"},
		{"long value", "jobs = '" + strings.Repeat("v", 100_000) + "'", "v…\""},
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
	s := project("jobs = 0")
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
		return s(strings.ReplaceAll("setup = '%'\njobs = "+n+"\ntimeout = '"+n+"s'\n"+agent, "%", who))
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
			// The whole table is replaced: no variable of a lower one is left.
			if want := map[string]string{tt.want + "_KEY": "x"}; !reflect.DeepEqual(a.Env, want) || a.Command[0] != tt.want {
				t.Errorf("Agent(a) = %q with %v, want %q with %v", a.Command, a.Env, tt.want, want)
			}
			for _, key := range []string{"setup", "jobs", "agents.a"} {
				if o, _ := c.Origin(key); o.Layer != tt.layer {
					t.Errorf("Origin(%s) = %v, want %v", key, o.Layer, tt.layer)
				}
			}
		})
	}
}

// TestLoadPrecedenceByKey proves that a source only replaces what it says.
func TestLoadPrecedenceByKey(t *testing.T) {
	t.Parallel()
	c := mustLoad(t,
		local("setup = ''"),
		project("setup = 'p'\nverify = 'p'\n[agents.p]\ncommand = ['p']"),
		user("verify = 'u'\njobs = 7\n[agents.u]\ncommand = ['u']"))
	if c.Setup != "" || c.Verify != "p" || c.Jobs != 7 {
		t.Errorf("Load = %q, %q, %d, want an empty setup, verify p, 7 jobs", c.Setup, c.Verify, c.Jobs)
	}
	if got := c.AgentNames(); !reflect.DeepEqual(got, []string{"p", "u"}) {
		t.Errorf("AgentNames() = %q, want p and u", got)
	}
	if o, _ := c.Origin("setup"); o.Layer != Local {
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
	if _, err := Load(user("jobs = 0"), local("jobs = 1")); err == nil {
		t.Error("Load of a hidden mistake = nil, want an error")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	testWords(t, new(Kind), KindCommand)
	testWords(t, new(Input), InputStdin, InputArg, InputNone, InputJSONL)
	testWords(t, new(Format), FormatText, FormatJSONL)
	testWords(t, new(Success), SuccessExit, SuccessAnswer)
	testWords(t, new(Layer), User, Project, Local)
}

// testWords proves that every value reads back what it prints, and that
// nothing else, least of all "unset", can be read.
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

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"ab", "env", "jobs", "setup", "verify"}
	for give, want := range map[string]string{
		"verify": "verify", "verif": "verify", "evrify": "verify", "verrifyy": "verify",
		"vrfy": "verify", "vry": "", "job": "jobs", "JOBS": "", "xyz": "", "": "", "set": "setup",
		"evrifyy": "verify", "yy": "", "ba": "ab",
	} {
		if got := nearest(give, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", give, got, want)
		}
	}
}

// FuzzLoad: any text ends in an error that prints on one line and names the
// file, or in a configuration that holds what it promises.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "jobs = 3\nsetup = 'x'\nverify = '''\na\n'''",
		"[agents.a]\ncommand = ['x', '{prompt}']\ninput = 'arg'\nenv = { A = '$A' }",
		"[agents]\na.command = [\"\\u001b\"]\na.env.B = \"\\u202e\"\ntimeout = '3s'",
		"[[agents]]\n[agents.b]", "jobs = 1\n[jobs.x]", "\"\\u0000\" = [[[{a=1}]]]", "\xef\xbb\xbf\xff",
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
		if c.Jobs < 0 || c.Jobs > 100 || c.MaxAgents < 0 || c.Timeout < 0 || c.IdleTimeout < 0 || c.RunTimeout < 0 {
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
		for _, i := range c.Needs(Use{Setup: true, Verify: true, Agents: names}) {
			if !prints(strings.ReplaceAll(i.String(), "\n", "")) {
				t.Errorf("Item.String() = %q, want it to print", i)
			}
		}
	})
}
