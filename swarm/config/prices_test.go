package config

import (
	"reflect"
	"strings"
	"testing"

	"agentswarm/roles"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	half := 0.5
	const text = "[prices.'a/b']\ninput = 1\noutput = 2.5\ncache_read = 0.5\n[prices.m]\ninput = 0\noutput = 3"
	c := mustLoad(t, user(text))
	want := map[string]roles.Price{"a/b": {Input: 1, Output: 2.5, CacheRead: &half}, "m": {Output: 3}}
	if got := c.Prices(); !reflect.DeepEqual(got, want) {
		t.Errorf("Prices = %+v, want %+v", got, want)
	}
	if len(c.Ignored()) != 0 {
		t.Errorf("of the user's %v is ignored", c.Ignored())
	}
	const shown = "[prices.\"a/b\"]\ninput = 1 # from user.toml:1\noutput = 2.5 # from user.toml:1\n" +
		"cache_read = 0.5 # from user.toml:1\n# cache_write is not set\n\n[prices.\"m\"]\ninput = 0 # from user.toml:5\n"
	if got := written(t, c, true); !strings.Contains(got, shown) {
		t.Errorf("the settings are\n%s, want among them\n%s", got, shown)
	}
	c = mustLoad(t, user("[prices.m]\ninput = 1\noutput = 1"), project(text))
	if got := c.Prices(); !reflect.DeepEqual(got, map[string]roles.Price{"m": {Input: 1, Output: 1}}) {
		t.Errorf("Prices with a repository's = %+v, want the user's alone", got)
	}
	ignored := c.Ignored()
	if len(ignored) != 1 || ignored[0].Error() != ".swarm/config.toml:1: prices: is ignored: "+
		"only the user configuration sets prices, not a repository" {
		t.Errorf("Ignored = %v, want the prices", ignored)
	}
}
