package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/roles"
)

const someRoles = "[roles]\ndefault = 'anthropic/claude-sonnet-4-5'\nsmol = { model = 'openai/gpt-5-mini:low', fallbacks = ['router/meta/llama:70b'] }\n" +
	"[roles.judge]\nkind = 'codex'\nlimits = { timeout = '5m', turns = 3, tokens = 1000, usd = 0.5 }\n"

func TestRoles(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, user(someRoles), project("[roles]\nsmol = 'local'"))
	want := roles.Table{
		"default": {Spec: roles.Spec{Provider: "anthropic", Model: "claude-sonnet-4-5"}},
		"smol":    {Spec: roles.Spec{Model: "local"}},
		"judge":   {Kind: "codex", Limits: roles.Limits{Timeout: 5 * time.Minute, Turns: 3, Tokens: 1000, USD: 0.5}},
	}
	if got := c.Roles(); !reflect.DeepEqual(got, want) {
		t.Errorf("Roles = %+v, want %+v", got, want)
	}
	if o := c.RoleOrigin("smol"); o.Layer != Project || o.Line != 2 {
		t.Errorf("smol stands at %v, want line 2 of the repository's file", o)
	}
	items := c.Needs(Use{Roles: true})
	if len(items) != 1 || items[0].Key != "roles.smol" || items[0].Text != `model = "local"` {
		t.Errorf("Needs = %v, want the role of the repository", items)
	}
	// Limits are approved too: a role of bounds alone takes the place of the user's.
	bounding := mustLoad(t, user(someRoles), project("roles.default = { limits = { usd = 99.5, timeout = '2h' } }"))
	if items := bounding.Needs(Use{Roles: true}); len(items) != 1 || items[0].Text != "limits.timeout = 2h\nlimits.usd = 99.5" {
		t.Errorf("Needs = %v, want the limits of the repository's role", items)
	}
	if items := c.Needs(Use{}); len(items) != 0 {
		t.Errorf("Needs = %v where no role is used", items)
	}
	c = mustLoad(t, user(someRoles))
	if got := c.Roles()["smol"]; !reflect.DeepEqual(got, roles.Role{
		Spec:      roles.Spec{Provider: "openai", Model: "gpt-5-mini", Effort: "low"},
		Fallbacks: []roles.Spec{{Provider: "router", Model: "meta/llama:70b"}},
	}) {
		t.Errorf("smol = %+v", got)
	}
	const shown = "[roles.judge]\n# model is not set\n# fallbacks is not set\nkind = \"codex\" # from user.toml:4\n\n" +
		"[roles.judge.limits]\ntimeout = \"5m\" # from user.toml:4\nturns = 3 # from user.toml:4\ntokens = 1000 # from user.toml:4\nusd = 0.5 # from user.toml:4\n"
	text := written(t, c, true)
	if !strings.Contains(text, shown) {
		t.Errorf("the settings are\n%s, want among them\n%s", text, shown)
	}
	if again := mustLoad(t, user(text)); !reflect.DeepEqual(again.Roles(), c.Roles()) {
		t.Errorf("what is shown reads as %+v", again.Roles())
	}
}
