package config

import (
	"reflect"
	"testing"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give []Source
		want map[string]string
	}{
		{"none", []Source{project("limits.jobs = 3")}, nil},
		{"an empty table", []Source{project("[checks]")}, nil},
		{"dotted", []Source{project("checks.a = 'x'")}, map[string]string{"a": "x"}},
		{
			"by key", []Source{local("checks.a = 'l'"), project("[checks]\na = 'p'\nb = 'p'"), user("[checks]\nb = 'u'\nc = 'u'")},
			map[string]string{"a": "l", "b": "p", "c": "u"},
		},
		{"switched off", []Source{local("checks.a = ''"), project("[checks]\na = 'p'\nb = 'p'")}, map[string]string{"b": "p"}},
		{"called as a key of the top", []Source{project("[checks]\nverify = 'x'")}, map[string]string{"verify": "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustLoad(t, tt.give...)
			if got := c.Checks(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Checks() = %q, want %q", got, tt.want)
			}
			if c.Verify != "" {
				t.Errorf("Verify = %q, want none: it is a check", c.Verify)
			}
		})
	}
	c := mustLoad(t, project("[checks]\na = 'p'\nb = 'p'"), local("checks.b = ''"))
	if o, _ := c.Origin("checks.b"); o.Layer != Local {
		t.Errorf("Origin(checks.b) = %v, want local", o)
	}
	c.Checks()["a"] = "changed"
	if got := c.Checks()["a"]; got != "p" {
		t.Errorf("Checks()[a] = %q after a change to another copy, want p", got)
	}
}
