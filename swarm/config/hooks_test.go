package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/hook"
)

// TestHookCommand: a hook is a script or a list of words, and no word of the
// list is read by a shell.
func TestHookCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give, wrong string
		want        []string
		asked       string // the text that a person approves if a repository sets it
	}{
		{give: `"./may it"`, want: []string{"sh", "-c", "./may it"}, asked: `"./may it"`},
		{give: `["./may it", "$HOME; x", ""]`, want: []string{"./may it", "$HOME; x", ""}, asked: `["./may it", "$HOME; x", ""]`},
		{give: `""`},
		{give: `[]`, wrong: "its first word, the program, is empty"},
		{give: `[" "]`, wrong: "its first word, the program, is empty"},
		{give: `[1]`, wrong: "hooks.on_run_start[0]"},
		{give: `["a", "b\u0000"]`, wrong: "NUL"},
		{give: `true`, wrong: `a script, or a list of words such as ["program", "argument"]`},
		{give: `{ x = "y" }`, wrong: "a script, or a list of words"},
	} {
		c, err := Load(project("[hooks]\non_run_start = " + test.give))
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %q", test.give, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.give, err)
			continue
		}
		if got := c.Hooks.RunStart.Argv(); !slices.Equal(got, test.want) {
			t.Errorf("%s runs %q, want %q", test.give, got, test.want)
		}
		var asked string
		for _, item := range c.Needs(Use{Hooks: true}) {
			asked += item.Text
		}
		if asked != test.asked {
			t.Errorf("%s: somebody is asked about %s, want %s", test.give, asked, test.asked)
		}
	}
	// The whole value of a later file holds.
	c, err := Load(user(`hooks.on_agent_end = ["a", "b"]`), project(`hooks.on_agent_end = ["c"]`), local(`hooks.on_run_end = "d"`))
	if err != nil || !slices.Equal(c.Hooks.AgentEnd.Argv(), []string{"c"}) {
		t.Errorf("two files come to %q, %v", c.Hooks.AgentEnd.Argv(), err)
	}
	var events []hook.Event
	for e := range c.Hooks.byEvent() {
		events = append(events, e)
	}
	if !slices.Equal(events, hook.Configured()) {
		t.Errorf("the events are %v", events)
	}
}

// TestHooksOfRepository: a repository switches off its own hooks only. Its
// commands need approval; an empty command would need none.
func TestHooksOfRepository(t *testing.T) {
	t.Parallel()
	const said = ": hooks.on_agent_start: is ignored: a repository does not switch off a hook of the user"
	for _, tt := range []struct {
		name, user, project, local string
		want, origin, ignored      string
	}{
		{"the project's", "hooks.on_agent_start = 'mine'", "hooks.on_agent_start = ''", "", "mine", "user.toml:1", ".swarm/config.toml:1" + said},
		{"the local one", "hooks.on_agent_start = ['mine']", "", "hooks.on_agent_start = ''", "mine", "user.toml:1", ".swarm/config.local.toml:1" + said},
		{"one after the other", "hooks.on_agent_start = 'mine'", "hooks.on_agent_start = 'its'", "hooks.on_agent_start = ''", "its", ".swarm/config.toml:1", ".swarm/config.local.toml:1" + said},
		{"its own", "", "hooks.on_agent_start = 'its'", "hooks.on_agent_start = ''", "", ".swarm/config.local.toml:1", ""},
		{"what the user has switched off", "hooks.on_agent_start = ''", "hooks.on_agent_start = ''", "", "", ".swarm/config.toml:1", ""},
		{"another one", "hooks.on_agent_end = 'mine'", "hooks.on_agent_start = ''", "", "", ".swarm/config.toml:1", ""},
	} {
		c := mustLoad(t, user(tt.user), project(tt.project), local(tt.local))
		argv := c.Hooks.AgentStart.Argv()
		if len(argv) == 3 {
			argv = argv[2:] // of sh -c
		}
		var ignored string
		for _, e := range c.Ignored() {
			ignored += e.Error()
		}
		origin, _ := c.Origin("hooks.on_agent_start")
		if got := strings.Join(argv, " "); got != tt.want || origin.String() != tt.origin || ignored != tt.ignored {
			t.Errorf("%s: on_agent_start = %q from %s, ignored %q, want %q from %s, %q", tt.name, got, origin, ignored, tt.want, tt.origin, tt.ignored)
		}
	}
}

// TestTimeoutOfHooks: a repository says how long its own hooks may take, and
// neither cuts off those of the user nor has them hang.
func TestTimeoutOfHooks(t *testing.T) {
	t.Parallel()
	const mine, its = "hooks.on_agent_end = 'mine'\n", "hooks.on_run_end = 'its'\n"
	for _, tt := range []struct {
		name, user, project, local string
		want                       time.Duration // of its own
		mine                       map[hook.Event]time.Duration
	}{
		{"nobody says", mine, its, "", 0, nil},
		{"the user", mine + "hooks.timeout = '5s'", its, "", 5 * time.Second, nil},
		{"a repository", mine, its + "hooks.timeout = '1ns'", "", 1, map[hook.Event]time.Duration{hook.AgentEnd: DefaultHookTimeout}},
		{"both", mine + "hooks.timeout = '5s'", its, "hooks.timeout = '9h'", 9 * time.Hour, map[hook.Event]time.Duration{hook.AgentEnd: 5 * time.Second}},
		{"the same", mine, its + "hooks.timeout = '30s'", "", 30 * time.Second, nil},
		{"over a hook of the user", mine, "hooks.on_agent_end = 'its'", "hooks.timeout = '1ns'", 1, nil},
		{"no hook of the user", "hooks.timeout = '5s'", its, "hooks.timeout = '1ns'", 1, nil},
	} {
		c := mustLoad(t, user(tt.user), project(tt.project), local(tt.local))
		if got := c.Hooks.Timeouts(); c.Hooks.Timeout != tt.want || !reflect.DeepEqual(got, tt.mine) {
			t.Errorf("%s: %s, but for %v, want %s, but for %v", tt.name, c.Hooks.Timeout, got, tt.want, tt.mine)
		}
	}
}
