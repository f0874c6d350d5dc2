package kinds

import (
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

// TestAll checks every kind of this version for the properties that user
// interfaces rely on.
func TestAll(t *testing.T) {
	t.Parallel()
	known := agent.KindNames()
	at := -1
	for _, k := range All() {
		next := indexOf(known, k.Name)
		if next <= at {
			t.Errorf("kind %q is unknown, twice there or out of order", k.Name)
		}
		at = next
		switch {
		case k.Adapter == nil:
			t.Errorf("kind %s has no adapter", k.Name)
		case k.Name != agent.KindBuiltin && (k.Program == "" || k.Install == "" || len(k.Version.Args) == 0):
			t.Errorf("kind %s = %+v, want a program, how it is installed and how it says its version", k.Name, k)
		case k.Spec.Input == "" || k.Spec.Format == "" || k.Spec.Success == "":
			t.Errorf("kind %s has the spec %+v, want input, format and success", k.Name, k.Spec)
		case k.Footprint <= 0:
			t.Errorf("kind %s has no footprint", k.Name)
		}
		if k.Program != "" && Judge(k.Version.Oldest, k.Version) != Tested || k.Program != "" && Judge(k.Version.Newest, k.Version) != Tested {
			t.Errorf("kind %s was tried from %q to %q, want two versions", k.Name, k.Version.Oldest, k.Version.Newest)
		}
	}
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

func TestLook(t *testing.T) {
	t.Parallel()
	login := func(s agent.Surroundings) agent.Login {
		if key := s.Getenv("KEY"); key != "" {
			return agent.Login{Name: "key in $KEY"}
		}
		return agent.Login{Missing: "set KEY"}
	}
	list := List{{Name: "one", Program: "one-cli", Login: login}, {Name: "two", Program: "two-cli"}, {Name: "own", Login: login}}
	look := func(key string, programs ...string) []Found {
		return list.Look(LookRequest{
			Surroundings: agent.Surroundings{
				Getenv: func(name string) string { return map[string]string{"KEY": key}[name] },
				Read:   func(string) ([]byte, error) { return nil, errors.New("no files") },
			},
			Path: func(p string) string {
				if indexOf(programs, p) < 0 {
					return ""
				}
				return "/bin/" + p
			},
			Self: "/bin/swarm",
		})
	}
	for _, tt := range []struct {
		name                   string
		give                   []Found
		here, ready, installed string
	}{
		{"nothing", look(""), "own", "", ""},
		{"a key", look("k"), "own", "own", ""},
		{"a program without a login", look("", "one-cli"), "one own", "", "one"},
		{"all", look("k", "one-cli", "two-cli"), "one two own", "one two own", "one two"},
		{"one that needs no login", look("", "two-cli"), "two own", "two", "two"},
	} {
		var here, ready []string
		for _, f := range tt.give {
			if f.Here() {
				here = append(here, f.Name)
			}
			if f.Ready() {
				ready = append(ready, f.Name)
			}
		}
		var installed []string
		for _, f := range Installed(tt.give) {
			installed = append(installed, f.Name)
		}
		got := [3]string{strings.Join(here, " "), strings.Join(ready, " "), strings.Join(installed, " ")}
		if want := [3]string{tt.here, tt.ready, tt.installed}; got != want {
			t.Errorf("%s: here, ready, installed = %q, want %q", tt.name, got, want)
		}
	}
	if k, ok := list.Find("two"); !ok || k.Program != "two-cli" {
		t.Errorf("Find(two) = %+v, %t", k, ok)
	}
	if _, ok := list.Find("three"); ok || len(list.ByName()) != 3 {
		t.Error("Find(three) is a kind, or ByName lacks some")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"0.87.1\n": "0.87.1", "codex-cli 0.169.0\n": "0.169.0", "2.1.328 (Claude Code)": "2.1.328",
		"v1.18.33": "1.18.33", "warning: 3 things\n0.61.0": "0.61.0", "1.2.3-beta.4": "1.2.3-beta.4",
		"1.2.3-": "1.2.3", "": "", "version 2": "", "1.2": "", "127.0.0.1 1.2.3": "127.0.0",
		"9999999999.1.1": "", "\x1b[1m1.2.3": "1.2.3",
	} {
		if got := Version(give); got != want {
			t.Errorf("Version(%q) = %q, want %q", give, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tried := agent.Versions{Oldest: "0.87.1", Newest: "1.2.10", Broken: "0.74"}
	for give, want := range map[string]Verdict{
		"0.74.99": Broken, "0.9.0": Broken, "0.75.0": Older, "0.87.0": Older, "0.87.1": Tested, "0.100.0": Tested, "1.2.9": Tested, "1.2.10": Tested,
		"1.2.11": Newer, "1.10.0": Newer, "2.0.0": Newer, "0.87.1-rc.1": Older, "1.2.10-rc.1": Tested, "1.0.0-x": Tested,
		"": Unknown, "1.2": Unknown, "a.b.c": Unknown, "1.2.3.4": Unknown,
	} {
		if got := Judge(give, tried); got != want {
			t.Errorf("Judge(%q) = %v, want %v", give, got, want)
		}
	}
	if got := Judge("1.0.0", agent.Versions{}); got != Unknown {
		t.Errorf("Judge without versions = %v, want unknown", got)
	}
	k := agent.Kind{Version: tried, Install: "npm i x"}
	for v, want := range map[Verdict]string{
		Older:  "older than 0.87.1, the oldest that was tried; update it: npm i x",
		Broken: "too old to work; needs 0.87.1; update it: npm i x",
		Newer:  "newer than 1.2.10, the newest that was tried", Tested: "", Unknown: "its version is not known",
	} {
		if got := Advice(k, v); got != want {
			t.Errorf("Advice(%v) = %q, want %q", v, got, want)
		}
	}
}

func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"codex-cli 0.169.0", "1.2.3-a", "\xff1.2.3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		v := Version(said)
		if v == "" {
			return
		}
		if again := Version(v); again != v || Judge(v, agent.Versions{Oldest: "0.0.0", Newest: "999999999.999999999.999999999"}) == Unknown {
			t.Errorf("Version(%q) = %q, which reads as %q", said, v, again)
		}
	})
}

// TestCheck checks the options that each kind refuses by name, though it takes
// others.
func TestCheck(t *testing.T) {
	t.Parallel()
	some := []string{"read", "bash"}
	for _, tt := range []struct {
		kind string
		spec agent.Spec
		want string // the beginning of the error; empty: none
	}{
		{agent.KindPi, agent.Spec{Model: "a/b", Effort: "low", Tools: some}, ""},
		{agent.KindPi, agent.Spec{Effort: "bogus"}, "effort"},
		{agent.KindPi, agent.Spec{ReadOnly: true, Tools: []string{"bash"}}, "tools"},
		{agent.KindCodex, agent.Spec{Tools: agent.ReadOnlyTools()}, ""},
		{agent.KindCodex, agent.Spec{Tools: agent.AllTools()}, ""},
		{agent.KindCodex, agent.Spec{Tools: some}, "tools"},
		{agent.KindClaude, agent.Spec{Effort: "max", Tools: some}, ""},
		{agent.KindClaude, agent.Spec{Effort: "bogus"}, "effort"},
		{agent.KindOpencode, agent.Spec{Model: "a/b", Tools: some}, ""},
		{agent.KindOpencode, agent.Spec{Model: "b"}, "model"},
		{agent.KindOpencode, agent.Spec{Tools: []string{"read", "edit"}}, "tools"},
		{agent.KindQwen, agent.Spec{Effort: "max", Tools: some}, ""},
		{agent.KindQwen, agent.Spec{Effort: "bogus"}, "effort"},
		{agent.KindCopilot, agent.Spec{Effort: "minimal", Tools: some}, ""},
		{agent.KindCopilot, agent.Spec{Effort: "bogus"}, "effort"},
	} {
		k, _ := All().Find(tt.kind)
		err := k.Check(&tt.spec)
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s, %+v: %v, want one that begins with %q", tt.kind, tt.spec, err, tt.want)
		}
	}
}

// TestUnfit checks that agents are not started whose program is known not to
// work, or which are not logged in.
func TestUnfit(t *testing.T) {
	t.Parallel()
	kind := agent.Kind{
		Name: "k", Program: "k", Install: "npm install -g k", Version: agent.Versions{Oldest: "0.87.1", Newest: "0.87.1", Broken: "0.74"},
		Login: func(agent.Surroundings) agent.Login { return agent.Login{} },
	}
	in, out := agent.Login{Name: "key"}, agent.Login{Missing: "set K"}
	for _, test := range []struct {
		version string
		login   agent.Login
		want    string
	}{
		{"0.74.2", in, "agent k: your k is 0.74.2; needs 0.87.1"},
		{"0.9.0", in, "agent k: your k is 0.9.0; needs 0.87.1"},
		{"0.75.0", in, ""},
		{"0.87.1", in, ""},
		{"1.0.0", in, ""},
		{"", in, ""},
		{"0.87.1", out, "agent k: it is not logged in"},
	} {
		got := ""
		if unfit := Check(Found{Kind: kind, Path: "/k", Login: test.login}, test.version); unfit != nil {
			got = unfit.Error()
		}
		if got != test.want {
			t.Errorf("Check of %q = %q, want %q", test.version, got, test.want)
		}
	}
	for _, k := range All() {
		if b := k.Version.Broken; b != "" && Judge(k.Version.Oldest, k.Version) != Tested {
			t.Errorf("%s: %s is broken, and %s was tried", k.Name, b, k.Version.Oldest)
		}
	}
}
