package box

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTelling holds that people are told no path that leads to something else, or
// to nothing, outside of the sandbox.
func TestTelling(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, upper, setup := dir+"/home", dir+"/upper", dir+"/setup"
	for _, file := range []string{home + "/.codex/config.toml", upper + "/.npm/_logs/1.log", setup + "/.setup.log", upper + "/.codex/config.toml"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tell := PathNames{
		Home: home,
		Named: []Named{
			{At: "/in/my repo", Name: "(workspace)", Relative: true}, {At: "/run/swarm-agent", Name: "(state of the agent)"},
			{At: "/tmp/.swarm-ask/1", Name: "(approval socket)"},
		},
		Sandbox: Sandbox{Level: Full, Pieces: []Piece{
			{At: "/tmp", Lower: []string{"/state/empty"}, Upper: "/state/tmp"},
			{At: "/tmp/bin/pi", From: "/tmp/bin/pi"},
			{At: "/run", Scratch: true},
			{At: "/var/tmp", From: "/state/var-tmp", Write: true},
			{At: home, Lower: []string{setup, home}, Upper: upper},
			{At: home + "/.ssh", Empty: true},
			{At: "/in/my repo", Lower: []string{"/state/base"}, Upper: "/state/a1"},
			{At: "/in/my repo/.git/objects", From: "/in/my repo/.git/objects"},
		}},
	}
	for give, want := range map[string]string{
		"cannot read /run/swarm-agent/config.toml: gone": "cannot read (state of the agent)/config.toml: gone",
		"/in/my repo/pkg/a.go:3: wrong":                  "pkg/a.go:3: wrong",
		"not a repository: /in/my repo":                  "not a repository: (workspace)",
		"not a repository: /in/my repo.":                 "not a repository: (workspace).",
		"/in/my repo/ is empty":                          "(workspace)/ is empty",
		"/in/my repository/f and /else/in/my repo/f":     "/in/my repository/f and /else/in/my repo/f",
		"gone: '/in/my repo/.git/objects/12'":            "gone: '/in/my repo/.git/objects/12'",
		"dial unix /tmp/.swarm-ask/1: refused":           "dial unix (approval socket): refused",
		"Full report at: /tmp/gemini-error-1.json":       "Full report at: (private /tmp)/gemini-error-1.json",
		"file:///tmp/a.html https://x.org/tmp/b x/tmp/c": "file://(private /tmp)/a.html https://x.org/tmp/b x/tmp/c",
		"nothing in /tmp. /tmpfile":                      "nothing in (private /tmp). /tmpfile",
		"/tmp/bin/pi: /run/lock/x (/var/tmp/y)":          "/tmp/bin/pi: (private /run)/lock/x ((private /var/tmp)/y)",
		"PATH=/usr/bin:/tmp/x/bin":                       "PATH=/usr/bin:(private /tmp)/x/bin",
		home + "/.npm/_logs/1.log.":                      "(private HOME)/.npm/_logs/1.log.",
		"see " + home + "/.setup.log":                    "see (private HOME)/.setup.log",
		home + "/.codex/config.toml:1: bad":              home + "/.codex/config.toml:1: bad",
		home + "/.missing":                               home + "/.missing",
		home + "/.ssh/id":                                home + "/.ssh/id",
		"/usr/bin/node: ü/tmp":                           "/usr/bin/node: ü/tmp",
		"":                                               "",
	} {
		if got := tell.Text(give); got != want {
			t.Errorf("%q is told as %q, want %q", give, got, want)
		}
		if again := tell.Text(want); again != want {
			t.Errorf("%q is told as %q the second time", want, again)
		}
	}
	if got := (PathNames{}).Text("/tmp/x"); got != "/tmp/x" {
		t.Errorf("without a sandbox it is %q", got)
	}
}

// FuzzTelling: a text is told without a failure, and only paths are replaced.
func FuzzTelling(f *testing.F) {
	f.Add("a /tmp/x b")
	f.Add("/tmp")
	f.Add("file:///tmp/\xff..")
	tell := PathNames{Sandbox: Sandbox{Pieces: []Piece{{At: "/tmp", Scratch: true}}}}
	f.Fuzz(func(t *testing.T, text string) {
		got := tell.Text(text)
		if back := strings.ReplaceAll(got, "(private /tmp)", "/tmp"); !strings.Contains(text, "(private") && back != text {
			t.Errorf("%q is told as %q", text, got)
		}
	})
}
