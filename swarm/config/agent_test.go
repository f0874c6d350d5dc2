package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentTest is the body of an agent's table and the agent it makes.
type agentTest struct {
	name, give string
	want       Agent
}

func agentTests() []agentTest {
	return []agentTest{
		{"least", "command = ['x']", Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit}},
		{"jsonl", "command = ['x']\nformat = 'jsonl'", Agent{Input: InputStdin, Format: FormatJSONL, Success: SuccessAnswer}},
		{"jsonl both ways", "command = ['x']\nformat = 'jsonl'\ninput = 'jsonl'", Agent{Input: InputJSONL, Format: FormatJSONL, Success: SuccessAnswer}},
		{"text with answer", "command = ['x']\nsuccess = 'answer'\ninput = 'none'", Agent{Input: InputNone, Format: FormatText, Success: SuccessAnswer}},
		{"jsonl with exit", "success = 'exit'\ncommand = ['x']\nformat = 'jsonl'", Agent{Input: InputStdin, Format: FormatJSONL, Success: SuccessExit}},
		{
			"another kind", "kind = 'pi'\nmodel = 'a/b:c'\neffort = 'low'\ntools = ['read', 'bash']\nmax_turns = 7\ncommand = ['x']",
			Agent{Kind: KindPi, Success: SuccessUnset, Model: "a/b:c", Effort: "low", Tools: []string{"read", "bash"}, MaxTurns: 7},
		},
		{"read only", "kind = 'codex'\nread_only = true\ntools = ['ls']\ncommand = ['x']", Agent{Kind: KindCodex, ReadOnly: true, Tools: []string{"ls"}}},
		{"kind", "kind = 'command'\ncommand = ['x']", Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit}},
		{
			"limits", "command = ['x']\ntimeout = '5s'\nidle_timeout = '6s'",
			Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit, Timeout: 5 * time.Second, IdleTimeout: 6 * time.Second},
		},
		{
			"env", "command = ['x']\nenv.A = '$B'\n",
			Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit, Env: map[string]string{"A": "$B"}},
		},
		{"lane", "command = ['x']\nlane = 'p/m-1:high'", Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit, Lane: "p/m-1:high"}},
		{"pty", "command = ['x']\npty = true", Agent{Input: InputNone, Format: FormatText, Success: SuccessExit, PTY: true}},
		{"pty none", "pty = true\ncommand = ['x']\ninput = 'none'\nformat = 'text'\nsuccess = 'exit'", Agent{Input: InputNone, Format: FormatText, Success: SuccessExit, PTY: true}},
		{"no pty", "command = ['x']\npty = false", Agent{Input: InputStdin, Format: FormatText, Success: SuccessExit}},
	}
}

func TestAgentDefaults(t *testing.T) {
	t.Parallel()
	for _, tt := range agentTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := mustLoad(t, project("\n[agents.a_1-B]\n"+tt.give)).Agent("a_1-B")
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			want.Name, want.Command = "a_1-B", []string{"x"}
			want.Kind = max(want.Kind, KindCommand)
			want.Origin = Origin{Layer: Project, File: ".swarm/config.toml", Line: 2}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("Agent = %+v, want %+v", got, want)
			}
		})
	}
}

// TestAgentLimits proves that a table's own limit wins over the general limit,
// and that "0s" removes the limit of the agent.
func TestAgentLimits(t *testing.T) {
	t.Parallel()
	c := mustLoad(t,
		user("[agents.own]\ncommand = ['x']\ntimeout = '1s'\nidle_timeout = '0s'\n[agents.plain]\ncommand = ['x']"),
		project("limits.timeout = '1h'\nlimits.idle_timeout = '2h'"))
	for name, want := range map[string][2]time.Duration{
		"own": {time.Second, 0}, "plain": {time.Hour, 2 * time.Hour},
	} {
		a, err := c.Agent(name)
		if err != nil || a.Timeout != want[0] || a.IdleTimeout != want[1] {
			t.Errorf("Agent(%s) = %v, %v, %v, want %v", name, a.Timeout, a.IdleTimeout, err, want)
		}
	}
}

// TestKinds: kinds are agents by their names, and a table of such a name says
// more of it.
func TestKinds(t *testing.T) {
	t.Parallel()
	bare, configured := mustLoad(t), mustLoad(t, user("limits.timeout = '1h'\n[agents.pi]\nmodel = 'm'\n[agents.builtin]\nkind = 'builtin'\nmax_turns = 3"))
	for _, k := range kinds()[1:] {
		got, err := bare.Agent(k.String())
		if want := (Agent{Name: k.String(), Kind: k}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Agent(%s) = %+v, %v, want %+v", k, got, err, want)
		}
	}
	for _, want := range []Agent{
		{Name: "pi", Kind: KindPi, Model: "m", Timeout: time.Hour}, {Name: "builtin", Kind: KindBuiltin, MaxTurns: 3, Timeout: time.Hour},
		{Name: "qwen", Kind: KindQwen, Timeout: time.Hour},
	} {
		got, err := configured.Agent(want.Name)
		got.Origin = Origin{}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Agent(%s) = %+v, %v, want %+v", want.Name, got, err, want)
		}
	}
	if _, err := bare.Agent("command"); err == nil {
		t.Error("Agent(command) is an agent, want an error")
	}
	if a, err := mustLoad(t, user("run.default_agent = 'claude'")).Agent(""); err != nil || a.Kind != KindClaude {
		t.Errorf("the default agent is %+v, %v, want claude", a, err)
	}
	if got := configured.AgentNames(); !reflect.DeepEqual(got, []string{"builtin", "pi"}) {
		t.Errorf("AgentNames = %q, want those of tables", got)
	}
}

func TestAgentUnknown(t *testing.T) {
	t.Parallel()
	const two = "[agents.fast]\ncommand = ['x']\n[agents.slow]\ncommand = ['x']\n"
	tests := []struct{ name, give, want string }{
		{"", "", "no agent is chosen: name one, or set run.default_agent in the configuration"},
		{"fats", two, `agent "fats" is not configured; did you mean "fast"?`},
		{"other", two, `agent "other" is not configured; configured: "fast" and "slow"`},
		{"other", "", `agent "other" is not configured; ` + "`swarm agents` lists the agents"},
		{"claud", two, `agent "claud" is not configured; did you mean "claude"?`},
		{"", "run.default_agent = 'fsat'\n" + two, `.swarm/config.toml:1: run.default_agent: agent "fsat" is not configured; did you mean "fast"?`},
	}
	for _, tt := range tests {
		_, err := mustLoad(t, project(tt.give)).Agent(tt.name)
		if _, ok := errors.AsType[*UnknownAgentError](err); !ok || err.Error() != tt.want {
			t.Errorf("Agent(%q) = %v, want %s", tt.name, err, tt.want)
		}
	}
	a, err := mustLoad(t, project("run.default_agent = 'slow'\n"+two)).Agent("")
	if err != nil || a.Name != "slow" {
		t.Errorf(`Agent("") = %q, %v, want slow`, a.Name, err)
	}
}

// TestAgentIsACopy proves that a change to a returned agent does not change the
// configuration.
func TestAgentIsACopy(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, project("[agents.a]\ncommand = ['x']\nenv.A = 'b'"))
	first, _ := c.Agent("a")
	first.Command[0], first.Env["A"] = "changed", "changed"
	if again, _ := c.Agent("a"); again.Command[0] != "x" || again.Env["A"] != "b" {
		t.Errorf("Agent = %q, %q after a change to another copy", again.Command, again.Env)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	a := Agent{Env: map[string]string{
		"SET": "$KEY", "EMPTY": "$EMPTY", "UNSET": "$GONE", "PLAIN": "v",
		"PART": "$KEY/bin", "BRACES": "${KEY}", "DOLLAR": "$", "DOUBLE": "$$KEY",
	}}
	vars := map[string]string{"KEY": "$PLAIN", "EMPTY": ""}
	env, unset := a.Environ(func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	})
	want := []string{
		"BRACES=${KEY}", "DOLLAR=$", "DOUBLE=$$KEY", "EMPTY=", "PART=$KEY/bin", "PLAIN=v", "SET=$PLAIN",
	}
	if !reflect.DeepEqual(env, want) || !reflect.DeepEqual(unset, []string{"GONE"}) {
		t.Errorf("Environ = %q, %q, want %q and GONE", env, unset, want)
	}
}

func TestPromptInScript(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"sh|-c|x {prompt}":                        true,
		"/bin/bash|-lc|x {prompt}":                true,
		"bash|-euo|pipefail|-c|x {prompt}":        true,
		"bash|-c|-e|--|x {prompt}":                true,
		"bash|--norc|--rcfile|f|-c|x {prompt}":    true,
		"env|A=b|zsh|-c|x {prompt}":               true,
		"sh|-c|x \"$1\"|sh|{prompt}":              false,
		"sh|-c|x {prompt_file}":                   false,
		"sh|script.sh|-c|{prompt}":                false,
		"sh|-e|script.sh|{prompt}":                false,
		"agent|--shell|bash|{prompt}":             false,
		"agent|-c|{prompt}":                       false,
		"sh|-c":                                   false,
		"sh|--":                                   false,
		"sh|-c|--":                                false,
		"sh|-":                                    false,
		"nice|-n|5|dash|-c|'{prompt}'|x|{prompt}": true,
	} {
		if got := promptInScript(strings.Split(give, "|")); got != want {
			t.Errorf("promptInScript(%s) = %t, want %t", give, got, want)
		}
	}
}

func TestAgentPlaceholders(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`['x', '{prompt}']`, `['x', '-p={prompt}']`, `['x', '@{prompt_file}']`, `['x', '{prompt}', '{prompt_file}']`,
	} {
		mustLoad(t, project("[agents.a]\ninput = 'arg'\ncommand = "+command))
	}
	mustLoad(t, project("[agents.a]\ncommand = ['x', '{item}', '{}', '{prompts}']"))
	for _, placeholder := range []string{"{prompt}", "{prompt_file}"} {
		for _, input := range []string{"", "input = 'arg'\n"} {
			text := "[agents.a]\n" + input + "command = ['x', '" + placeholder + "']\npty = true"
			if a, err := mustLoad(t, project(text)).Agent("a"); err != nil || a.Input != InputArg || !a.PTY {
				t.Errorf("Agent of %q = %+v, %v, want a terminal and input arg", text, a, err)
			}
		}
	}
}

func TestUserFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give map[string]string
		want string
	}{
		{"both", map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/swarm/config.toml"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.config/swarm/config.toml"},
		{"empty", map[string]string{"XDG_CONFIG_HOME": "", "HOME": "/h"}, "/h/.config/swarm/config.toml"},
		{"relative", map[string]string{"XDG_CONFIG_HOME": "c", "HOME": "/h"}, "/h/.config/swarm/config.toml"},
		{"neither", nil, ""},
	}
	for _, tt := range tests {
		got := UserFile(func(k string) (string, bool) { v, ok := tt.give[k]; return v, ok })
		if got != tt.want {
			t.Errorf("%s: UserFile = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestReadUser(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lookup := func(k string) (string, bool) { return home, k == "XDG_CONFIG_HOME" }
	s, err := ReadUser(lookup)
	if err != nil || s.Text != nil || s.Layer != User {
		t.Errorf("ReadUser without a file = %+v, %v, want a source without text", s, err)
	}
	path := filepath.Join(home, "swarm", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("limits.jobs = 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = ReadUser(lookup); err != nil || string(s.Text) != "limits.jobs = 3" || s.Name != path {
		t.Errorf("ReadUser = %+v, %v, want the text of %s", s, err, path)
	}
	s, err = ReadUser(func(k string) (string, bool) { return os.DevNull, k == "HOME" })
	if err != nil || s.Text != nil {
		t.Errorf("ReadUser with a HOME that is not a folder = %+v, %v, want a source without text", s, err)
	}
	s, err = ReadUser(func(string) (string, bool) { return "", false })
	if err != nil || s.Text != nil {
		t.Errorf("ReadUser without a home = %+v, %v, want a source without text", s, err)
	}
	mustLoad(t, s)
}

// TestReadFileHostile proves that a repository cannot make us wait or fill
// memory.
func TestReadFileHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, big := filepath.Join(dir, "fifo"), filepath.Join(dir, "big")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, "/dev/zero"} {
		_, err := ReadFile(Project, path)
		if e, ok := errors.AsType[*Error](err); !ok || e.File != path {
			t.Errorf("ReadFile(%s) = %v, want an *Error", path, err)
		}
	}
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<40); err != nil {
		t.Fatal(err)
	}
	s, err := ReadFile(Project, big)
	if err != nil || len(s.Text) != MaxSize+1 {
		t.Fatalf("ReadFile of a huge file = %d bytes, %v, want one more than the limit", len(s.Text), err)
	}
	if _, err := Load(s); err == nil {
		t.Error("Load of a huge file = nil, want an error")
	}
}
