package git

import (
	"path/filepath"
	"reflect"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.git("config", "--global", "push.default", "matching")
	g.git("config", "Remote.A.b C.URL", "two\nlines")
	g.git("config", "core.hooksPath", "mine")
	g.git("config", "extra.on", "")
	g.git("config", "include.path", filepath.Join(g.home, "more"))
	g.in(g.home, "config", "-f", "more", "push.default", "simple")
	all, err := g.repo().Settings(t.Context())
	g.ok(err)
	got := map[string][]Setting{}
	for _, s := range all {
		key := s.Section + "." + s.Name
		got[key] = append(got[key], s)
	}
	for key, want := range map[string][]Setting{
		"push.default":   {{Section: "push", Name: "default", Value: "matching", Scope: "global"}, {Section: "push", Name: "default", Value: "simple", Scope: "local"}},
		"remote.url":     {{Section: "remote", Of: "A.b C", Name: "url", Value: "two\nlines", Scope: "local"}},
		"core.hookspath": {{Section: "core", Name: "hookspath", Value: "mine", Scope: "local"}}, // and not the value that we give to git
		"core.fsmonitor": nil,
	} {
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s = %+v, want %+v", key, got[key], want)
		}
	}
}

func TestSettingOn(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"true": true, "yes": true, "on": true, "1": true, "-1": true, "true ": true, "x": true,
		"false": false, "No": false, "off": false, "0": false, "": false,
	} {
		if got := (&Setting{Value: value}).On(); got != want {
			t.Errorf("On of %q = %v", value, got)
		}
	}
	if !(&Setting{Bare: true}).On() {
		t.Error("a name without a value is not on")
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("local\x00core.bare\nfalse\x00global\x00remote.a.b.url\nx\ny\x00command\x00a.b\nc\x00local\x00a.on\x00")
	f.Add("local\x00core.bare")
	f.Add("\x00.\x00")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseSettings(text)
		if err != nil && all != nil {
			t.Errorf("%d entries and %v", len(all), err)
		}
		for _, s := range all {
			if s.Bare && s.Value != "" {
				t.Errorf("%+v has a value and has none", s)
			}
		}
	})
}
