package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFrozenValues reads the values of the copy.
func TestFrozenValues(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	values := map[string]string{
		"filter.a b.clean":          `sh -c 'tr "a" "b\n"; #x' ; # not a comment`,
		`filter.q"u\o.te.clean`:     "\ttabs and\nlines ",
		"filter.lfs.process":        "git-lfs filter-process",
		"core.autocrlf":             "input",
		"lfs.url":                   "https://example.com/x",
		"filter.sub.sec.tion.clean": "x",
	}
	for k, v := range values {
		g.git("config", k, v)
	}
	g.ok(os.WriteFile(filepath.Join(g.home, ".gitconfig"),
		[]byte("[filter \"global\"]\n\tclean = g\n\trequired\n[include]\n\tpath = more\n"), 0o600))
	g.ok(os.WriteFile(filepath.Join(g.home, "more"), []byte("[filter \"included\"]\n\tclean = i\n"), 0o600))
	values["filter.global.clean"], values["filter.included.clean"] = "g", "i"
	values["lfs.storage"] = filepath.Join(g.root, ".git", "lfs")
	g.git("config", "remote.origin.url", "https://user:password@example.com")
	g.git("config", "core.hooksPath", "/hooks")
	g.git("config", "merge.x.driver", "evil")
	g.commit("a", "a\n")
	f := g.frozen()
	q := g.quarantine(f)
	get := func(key string) string {
		out, err := q.Run(t.Context(), Cmd{Args: []string{"config", "-z", "--get", key}})
		if err != nil {
			return "none"
		}
		return strings.TrimSuffix(string(out), "\x00")
	}
	for k, v := range values {
		if got := get(k); got != v {
			t.Errorf("%s = %q, want %q", k, got, v)
		}
	}
	for _, k := range []string{"remote.origin.url", "merge.x.driver", "user.name", "filter.later.clean"} {
		if k == "filter.later.clean" {
			g.git("config", k, "evil")
		}
		if got := get(k); got != "none" {
			t.Errorf("%s = %q, want it left out", k, got)
		}
	}
	out, err := q.Run(t.Context(), Cmd{Args: []string{"config", "--type=bool", "filter.global.required"}})
	if err != nil || string(out) != "true\n" {
		t.Errorf("a key without a value is %q, %v", out, err)
	}
	text, err := os.ReadFile(filepath.Join(f.Dir, "config"))
	if err != nil || strings.Contains(string(text), "password") {
		t.Errorf("the copy holds a password, %v", err)
	}
}

func TestFrozenRules(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	g.ok(os.MkdirAll(filepath.Join(g.home, ".config", "git"), 0o755),
		os.MkdirAll(filepath.Join(g.root, ".git", "info"), 0o755),
		os.WriteFile(filepath.Join(g.home, ".config/git/ignore"), []byte("*.user\n"), 0o600),
		os.WriteFile(filepath.Join(g.root, ".git/info/exclude"), []byte("*.repo\n"), 0o600),
		os.WriteFile(filepath.Join(g.root, ".git/info/attributes"), []byte("a eol=lf\n"), 0o600),
		os.MkdirAll(filepath.Join(g.root, ".git/lfs/objects"), 0o755))
	f := g.frozen()
	g.ok(os.WriteFile(filepath.Join(g.home, ".config/git/ignore"), nil, 0o600),
		os.WriteFile(filepath.Join(g.root, ".git/info/exclude"), []byte("*\n"), 0o600),
		os.WriteFile(filepath.Join(g.root, ".git/info/attributes"), []byte("a eol=crlf\n"), 0o600))
	q := g.quarantine(f)
	out, err := q.Run(t.Context(), Cmd{
		Dir: f.Dir, Args: []string{"check-ignore", "--no-index", "--stdin"},
		Stdin: strings.NewReader("x.user\nx.repo\nx\n"),
	})
	if err != nil || string(out) != "x.user\nx.repo\n" {
		t.Errorf("ignored = %q, %v", out, err)
	}
	out, err = q.Run(t.Context(), Cmd{Dir: f.Dir, Args: []string{"check-attr", "eol", "a"}})
	if err != nil || string(out) != "a: eol: lf\n" {
		t.Errorf("attributes = %q, %v", out, err)
	}
	if at, err := os.Stat(filepath.Join(f.Dir, "lfs", "objects")); err != nil || !at.IsDir() {
		t.Errorf("the store of a filter is not shared: %v", err)
	}
}

// TestFrozenWithoutHome: services often have a HOME that is no folder, such as /dev/null.
func TestFrozenWithoutHome(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.commit("a", "a\n")
	g.home = os.DevNull
	if _, err := g.repo().Freeze(t.Context(), filepath.Join(t.TempDir(), "frozen")); err != nil {
		t.Error(err)
	}
}

func TestIsPartial(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give string
		want bool
	}{
		{"", false},
		{"user.name\nx\x00remote.origin.url\nremote.x.promisor\x00", false},
		{"remote.origin.promisor\ntrue\x00", true},
		{"a.b\nc\x00remote.o.r.promisor\x00", true},
		{"a.b\nc\x00remote.o.promisor\nfalse\x00", false},
		{"core.x\ny\x00extensions.partialclone\norigin\x00", true},
	}
	for _, tt := range tests {
		if got := isPartial().MatchString(tt.give); got != tt.want {
			t.Errorf("isPartial(%q) = %v, want %v", tt.give, got, tt.want)
		}
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	tests := []struct {
		key           string
		whole, partly bool
	}{
		{"filter.x.clean", true, true}, {"core.autocrlf", true, true}, {"core.autocrlfx", false, false},
		{"remote.origin.url", false, true}, {"credential.helper", false, true}, {"core.hookspath", false, false},
		{"merge.x.driver", false, false}, {"alias.x", false, false}, {"core.fsmonitor", false, false},
	}
	for _, tt := range tests {
		if got := keep(tt.key, false); got != tt.whole {
			t.Errorf("keep(%q) = %v, want %v", tt.key, got, tt.whole)
		}
		if got := keep(tt.key, true); got != tt.partly {
			t.Errorf("keep(%q) in a partial clone = %v, want %v", tt.key, got, tt.partly)
		}
	}
}
