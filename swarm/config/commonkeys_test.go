package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBudgetOfRepository: a repository may lower the user's budget, and neither
// raises nor lifts it. Without a budget of the user it sets any.
func TestBudgetOfRepository(t *testing.T) {
	t.Parallel()
	const said = ": is ignored: a repository may lower the budget of the user, not raise it"
	const counted = ": is ignored: a repository may lower how many agents the user allows, and not raise it"
	for _, tt := range []struct {
		name, user, project, local string
		tokens                     int
		usd                        float64
		time                       time.Duration
		origin                     string // of budget_usd
		ignored                    []string
	}{
		{"raised", "limits.budget_usd = 5", "limits.budget_usd = 50", "", 0, 5, 0, "user.toml:1", []string{".swarm/config.toml:1: limits.budget_usd" + said}},
		{"lifted", "limits.budget_usd = 5", "", "limits.budget_usd = 0", 0, 5, 0, "user.toml:1", []string{".swarm/config.local.toml:1: limits.budget_usd" + said}},
		{"lowered", "limits.budget_usd = 5", "limits.budget_usd = 2", "", 0, 2, 0, ".swarm/config.toml:1", nil},
		{"lowered by less", "limits.budget_usd = 5", "limits.budget_usd = 2", "limits.budget_usd = 4", 0, 4, 0, ".swarm/config.local.toml:1", nil},
		{"lowered, then lifted", "limits.budget_usd = 5", "limits.budget_usd = 2", "limits.budget_usd = 0", 0, 2, 0, ".swarm/config.toml:1", []string{".swarm/config.local.toml:1: limits.budget_usd" + said}},
		{"the user allows any amount", "limits.budget_usd = 0", "limits.budget_usd = 9", "", 0, 9, 0, ".swarm/config.toml:1", nil},
		{
			"how many", "limits.retries = 0\nlimits.max_agents = 9", "limits.retries = 1\nlimits.max_agents = 10", "limits.max_agents = 8", 0, 0, 0, "",
			[]string{".swarm/config.toml:1: limits.retries" + counted, ".swarm/config.toml:2: limits.max_agents" + counted},
		},
		{"the user says nothing", "", "limits.budget_usd = 9", "limits.budget_usd = 0", 0, 0, 0, ".swarm/config.local.toml:1", nil},
		{
			"the others", "limits.budget_tokens = 7\nlimits.budget_time = '1h'", "limits.budget_tokens = 8\nlimits.budget_time = '0s'", "", 7, 0, time.Hour, "",
			[]string{".swarm/config.toml:1: limits.budget_tokens" + said, ".swarm/config.toml:2: limits.budget_time" + said},
		},
	} {
		c := mustLoad(t, user(tt.user), project(tt.project), local(tt.local))
		var ignored []string
		for _, e := range c.Ignored() {
			ignored = append(ignored, e.Error())
		}
		origin, ok := c.Origin("limits.budget_usd")
		if c.BudgetTokens != tt.tokens || c.BudgetUSD != tt.usd || c.BudgetTime != tt.time || ok && origin.String() != tt.origin ||
			strings.Join(ignored, "\n") != strings.Join(tt.ignored, "\n") {
			t.Errorf("%s: %d tokens, $%g, %s from %s, ignored %q", tt.name, c.BudgetTokens, c.BudgetUSD, c.BudgetTime, origin, ignored)
		}
		if tt.name == "how many" && (c.Retries != 0 || c.MaxAgents != 8) {
			t.Errorf("%s: %d retries, %d agents", tt.name, c.Retries, c.MaxAgents)
		}
	}
}

// TestScriptsOfRepository: a repository may switch off a script of the user,
// who is told when the script would have run. It never switches off the command
// that calls the user.
func TestScriptsOfRepository(t *testing.T) {
	t.Parallel()
	const off, kept = ": is empty, which switches off the user's", ": is ignored: a repository does not switch off the notify of the user"
	all := Use{Warm: true, Setup: true, Verify: true, Checks: true}
	for _, tt := range []struct {
		name, user, project, local string
		use                        Use
		verify, notify             string
		said                       []string
	}{
		{"a check", "checks.x = 'mine'", "checks.x = ''", "", all, "", "", []string{".swarm/config.toml:1: checks.x" + off}},
		{"of the last file", "workspace.verify = 'mine'", "workspace.verify = 'its'", "workspace.verify = ''", all, "", "", []string{".swarm/config.local.toml:1: workspace.verify" + off}},
		{"and on again", "workspace.verify = 'mine'", "workspace.verify = ''", "workspace.verify = 'its'", all, "its", "", nil},
		{"all", "workspace = { warm = 'w', setup = 's', verify = 'v' }", "[workspace]\nwarm = ''\nsetup = ''\nverify = ''", "", all, "", "", []string{
			".swarm/config.toml:3: workspace.setup" + off, ".swarm/config.toml:4: workspace.verify" + off, ".swarm/config.toml:2: workspace.warm" + off,
		}},
		{"what is not used", "workspace = { setup = 's', verify = 'v' }\nchecks.x = 'x'", "workspace = { setup = '', verify = '' }\nchecks.x = ''", "", Use{Setup: true}, "", "", []string{".swarm/config.toml:1: workspace.setup" + off}},
		{"its own", "checks.y = 'mine'", "workspace.verify = 'its'\nchecks.x = 'its'", "workspace.verify = ''\nchecks.x = ''", all, "", "", nil},
		{"by the user", "workspace.verify = ''", "workspace.verify = ''", "", all, "", "", nil},
		{"a notify", "run.notify = 'mine'", "run.notify = ''", "", all, "", "mine", []string{".swarm/config.toml:1: run.notify" + kept}},
		{"after another", "run.notify = 'mine'", "run.notify = 'its'", "run.notify = ''", all, "", "its", []string{".swarm/config.local.toml:1: run.notify" + kept}},
		{"its own notify", "", "run.notify = 'its'", "run.notify = ''", all, "", "", nil},
	} {
		c := mustLoad(t, user(tt.user), project(tt.project), local(tt.local))
		var said []string
		for _, e := range append(c.Ignored(), c.SwitchedOff(tt.use)...) {
			said = append(said, e.Error())
		}
		if c.Verify != tt.verify || c.Notify != tt.notify || !slices.Equal(said, tt.said) {
			t.Errorf("%s: verify %q, notify %q, said %q, want %q, %q, %q", tt.name, c.Verify, c.Notify, said, tt.verify, tt.notify, tt.said)
		}
	}
}
