package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// written returns the settings of c as a file.
func written(t *testing.T, c *Config, origins bool) string {
	t.Helper()
	var b strings.Builder
	settings := c.Settings(SettingsRequest{Jobs: 7, Secret: func(name, _ string) bool {
		return name == "A_TOKEN"
	}})
	if err := WriteTOML(&b, settings, origins); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const everyKey = `workspace.max_size = "41GB"
run.default_agent = "b"
workspace.warm = "make deps"
workspace.setup = '''
make "it" \
	ready'''
workspace.verify = "test -n \"\u001b\""
run.notify = "beep"
run.questions = "deny"
run.overlap = "serialize"
run.mention_changes = false
workspace.backend = "overlay"
limits.jobs = 3
limits.max_agents = 9
limits.retries = 2
limits.timeout = "90m"
limits.idle_timeout = "90s"
limits.run_timeout = "2h"
limits.budget_tokens = 5
limits.budget_usd = 0.5
limits.budget_time = "3h"
limits.wait_limits = "never"
limits.max_windows = 7
[sandbox]
mode = "require"
hide = ["~/.netrc", "/srv/\u001b"]
pass_env = ["MY_*"]
[checks]
unit = "go test ./..."
verify = "a \"b\""
[agents.b]
command = ["x", "a\nb", "\u202e"]
kind = "command"
input = "jsonl"
format = "jsonl"
success = "exit"
idle_timeout = "0s"
env = { HOME = "$HOME", B = "c\nd" }
[agents.a]
command = ["y"]
pty = true
write = ["~/.cache/y", "/srv/y"]
lane = "p/m:high"
[risk]
confined = "ask"
question_timeout = "5m"
[hooks]
on_run_start = "a"
on_agent_start = "b"
on_agent_end = "c"
on_run_end = "d"
timeout = "9s"

[variants]
enabled = false
off = ["gpt", "claude/x"]
[capture]
max_file = "2GiB"
`

// TestSettings shows the settings of a file with every key, and those without
// any file.
func TestSettings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		origins bool
		give    []Source
		want    string
	}{
		{"nothing", true, nil, `[run]
# default_agent is not set
# questions is not set
notify = "" # default
overlap = "warn" # default
mention_changes = true # default

[workspace]
backend = "auto" # default
warm = "" # default
setup = "" # default
verify = "" # default
max_size = "0B" # default

[capture]
max_file = "100MiB" # default

[limits]
jobs = 7 # default
max_agents = 1000 # default
retries = 0 # default
timeout = "0s" # default
idle_timeout = "0s" # default
run_timeout = "0s" # default
wait_limits = "192h" # default
max_windows = 20 # default
budget_tokens = 0 # default
budget_usd = 0 # default
budget_time = "0s" # default

[sandbox]
mode = "auto" # default
hide = [] # default
write = [] # default
pass_env = [] # default

[risk]
confined = "ask" # default
question_timeout = "10m" # default

[hooks]
on_run_start = "" # default
on_agent_start = "" # default
on_agent_end = "" # default
on_run_end = "" # default
timeout = "30s" # default

[variants]
enabled = true # default
off = [] # default

[commit]
author = "user" # default

[landing]
screen = "" # default
# slots is not set
order = "fewest" # default

[gc]
run_age = "0d" # default
trash_age = "7d" # default
trash_size = "5GiB" # default
# base_size is not set
# pool_size is not set
`},
		{"every key", true, []Source{project(everyKey), user("limits.jobs = 1\nlimits.retries = 4\nchecks.lint = 'x'"), local("limits.retries = 0\n[checks]\nlint = ''")}, `[run]
default_agent = "b" # from .swarm/config.toml:2
questions = "deny" # from .swarm/config.toml:9
notify = "beep" # from .swarm/config.toml:8
overlap = "serialize" # from .swarm/config.toml:10
mention_changes = false # from .swarm/config.toml:11

[workspace]
backend = "overlay" # from .swarm/config.toml:12
warm = "make deps" # from .swarm/config.toml:3
setup = """
make \"it\" \\
	ready""" # from .swarm/config.toml:4
verify = "test -n \"\u001B\"" # from .swarm/config.toml:7
max_size = "41GB" # from .swarm/config.toml:1

[capture]
max_file = "2GiB" # from .swarm/config.toml:58

[limits]
jobs = 3 # from .swarm/config.toml:13
max_agents = 9 # from .swarm/config.toml:14
retries = 0 # from .swarm/config.local.toml:1
timeout = "1h30m" # from .swarm/config.toml:16
idle_timeout = "1m30s" # from .swarm/config.toml:17
run_timeout = "2h" # from .swarm/config.toml:18
wait_limits = "never" # from .swarm/config.toml:22
max_windows = 7 # from .swarm/config.toml:23
budget_tokens = 5 # from .swarm/config.toml:19
budget_usd = 0.5 # from .swarm/config.toml:20
budget_time = "3h" # from .swarm/config.toml:21

[sandbox]
mode = "require" # from .swarm/config.toml:25
hide = ["~/.netrc", "/srv/\u001B"] # from .swarm/config.toml:26
write = [] # default
pass_env = ["MY_*"] # from .swarm/config.toml:27

[risk]
confined = "ask" # default
question_timeout = "5m" # from .swarm/config.toml:46

[hooks]
on_run_start = "a" # from .swarm/config.toml:48
on_agent_start = "b" # from .swarm/config.toml:49
on_agent_end = "c" # from .swarm/config.toml:50
on_run_end = "d" # from .swarm/config.toml:51
timeout = "9s" # from .swarm/config.toml:52

[variants]
enabled = false # from .swarm/config.toml:55
off = ["gpt", "claude/x"] # from .swarm/config.toml:56

[commit]
author = "user" # default

[landing]
screen = "" # default
# slots is not set
order = "fewest" # default

[gc]
run_age = "0d" # default
trash_age = "7d" # default
trash_size = "5GiB" # default
# base_size is not set
# pool_size is not set

[checks]
lint = "" # from .swarm/config.local.toml:3
unit = "go test ./..." # from .swarm/config.toml:29
verify = "a \"b\"" # from .swarm/config.toml:30

[agents.a]
kind = "command" # default
command = ["y"] # from .swarm/config.toml:40
input = "none" # default
format = "text" # default
success = "exit" # default
pty = true # from .swarm/config.toml:41
timeout = "1h30m" # from .swarm/config.toml:16
idle_timeout = "1m30s" # from .swarm/config.toml:17
lane = "p/m:high" # from .swarm/config.toml:43
write = ["~/.cache/y", "/srv/y"] # from .swarm/config.toml:42

[agents.b]
kind = "command" # from .swarm/config.toml:33
command = ["x", "a\nb", "\u202E"] # from .swarm/config.toml:32
input = "jsonl" # from .swarm/config.toml:34
format = "jsonl" # from .swarm/config.toml:35
success = "exit" # from .swarm/config.toml:36
pty = false # default
timeout = "1h30m" # from .swarm/config.toml:16
idle_timeout = "0s" # from .swarm/config.toml:37
lane = "" # default
write = [] # default

[agents.b.env]
B = """
c
d""" # from .swarm/config.toml:38
HOME = "$HOME" # from .swarm/config.toml:38
`},
		{"hidden", false, []Source{project("[agents.a]\ncommand = ['x']\n[agents.a.env]\nA_TOKEN = 'abc'\nB = 'abc'")}, `[agents.a.env]
A_TOKEN = "…" # hidden: a credential
B = "abc"
`},
		{"hidden with origins", true, []Source{project("[agents.a]\ncommand = ['x']\n[agents.a.env]\nA_TOKEN = 'abc'")}, `[agents.a.env]
A_TOKEN = "…" # hidden: a credential, from .swarm/config.toml:4
`},
		{"a credential taken, or none", false, []Source{project("[agents.a]\ncommand = ['x']\nenv.A_TOKEN = '$T'\n[agents.b]\ncommand = ['x']\nenv.A_TOKEN = ''\n")}, `[agents.a.env]
A_TOKEN = "$T"

[agents.b]
kind = "command"
command = ["x"]
input = "stdin"
format = "text"
success = "exit"
pty = false
timeout = "0s"
idle_timeout = "0s"
lane = ""
write = []

[agents.b.env]
A_TOKEN = ""
`},
		{"part of a name", false, []Source{project("[agents.a]\ncommand = ['x']\nenv.A_TOKEN = '$T-x'\n")}, "A_TOKEN = \"…\" # hidden: a credential\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, tt.give...)
			got := written(t, c, tt.origins)
			if !strings.HasSuffix(got, tt.want) || tt.name == "every key" && got != tt.want {
				t.Errorf("settings =\n%s, want at the end\n%s", got, tt.want)
			}
			again := mustLoad(t, project(got))
			if !strings.Contains(got, "# hidden") && written(t, again, false) != written(t, c, false) {
				t.Errorf("settings read back =\n%s, want\n%s", written(t, again, false), written(t, c, false))
			}
		})
	}
}

// TestSettingsAreAll: every key with a value is shown, and its text is read
// back as the same value.
func TestSettingsAreAll(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, project(everyKey))
	again := mustLoad(t, project(written(t, c, true)))
	for _, name := range []string{"a", "b"} {
		want, _ := c.Agent(name)
		got, err := again.Agent(name)
		got.Origin, want.Origin = Origin{}, Origin{}
		for _, a := range []Agent{got, want} {
			for i := range a.Write {
				a.Write[i].Origin = Origin{}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Agent(%s) read back = %+v, %v, want %+v", name, got, err, want)
		}
	}
	if again.Setup != c.Setup || again.Verify != c.Verify || again.Questions != c.Questions || again.RunTimeout != c.RunTimeout {
		t.Errorf("Load = %+v, want %+v", again, c)
	}
	for _, s := range c.Settings(SettingsRequest{Jobs: 1, Secret: func(string, string) bool { return false }}) {
		if s.Table == "gc" || s.Table == "commit" || s.Table == "landing" { // which are not for a project's file
			continue
		}
		if s.Value == nil || s.Hidden || s.Origin.Layer != Project && !strings.Contains(everyKey, s.Name) {
			t.Errorf("%s = %+v, want its value", s.Key(), s)
		}
	}
}

func TestDurationText(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 20 * time.Hour: "20h", 1500 * time.Millisecond: "1.5s",
	} {
		if got := durationText(give); got != want {
			t.Errorf("durationText(%v) = %q, want %q", give, got, want)
		}
		if back, err := time.ParseDuration(durationText(give)); err != nil || back != give {
			t.Errorf("durationText(%v) reads back as %v, %v", give, back, err)
		}
	}
}
