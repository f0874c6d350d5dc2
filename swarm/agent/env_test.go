package agent

import (
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	t.Parallel()
	caller := []string{
		"PATH=/bin", "HOME=/home/ada", "LANG=C", "LC_ALL=", "EMPTY=", "=odd", "noequals",
		"GIT_DIR=/x", "GIT_AUTHOR_NAME=Ada", "SWARM_AGENT=a9", "SWARM_STATE_DIR=/s",
		"PWD=/users", "OLDPWD=/users/old",
		"GITHUB_TOKEN=t", "aws_secret_access_key=s", "AWS_PROFILE=p", "OPENAI_API_KEY=k",
		"DB_PASSWORD=p", "SSH_AUTH_SOCK=/a", "DATABASE_URL=u", "TOKEN=t", "MY_DSN=d",
		"KEYBOARD=qwerty", "TOKENIZER=fast", "MONKEY=1",
	}
	spec := &Spec{Name: "mine", Env: map[string]string{
		"MODEL_KEY": "$OPENAI_API_KEY", "LANG": "de", "PRICE": "$5", "NOTE": "a $HOME b",
	}}
	place := Place{
		Run: "k3x9q2", Agent: "a1", Attempt: 2, Item: "pkg/x", Worktree: "/w/a1.2",
		Root: "/repo", Base: "abc", Artifacts: "/art",
	}
	want := []string{
		"PATH=/bin", "HOME=/home/ada", "LC_ALL=",
		"LANG=de", "MODEL_KEY=k", "NOTE=a $HOME b", "PRICE=$5",
		"PWD=/w/a1.2", "SWARM_RUN=k3x9q2", "SWARM_AGENT=a1", "SWARM_ATTEMPT=2",
		"SWARM_WORKTREE=/w/a1.2", "SWARM_ROOT=/repo", "SWARM_BASE=abc", "SWARM_ARTIFACTS=/art",
		"SWARM_ITEM=pkg/x",
	}
	got, err := Environ(caller, spec, place)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Environ =\n%s, %v, want\n%s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
	place.Needs = []string{"GITHUB_TOKEN", "SWARM_STATE_DIR", "GIT_DIR"}
	needs, err := Environ(caller, spec, place)
	if err != nil || !slices.Contains(needs, "GITHUB_TOKEN=t") || !slices.Contains(needs, "SWARM_STATE_DIR=/s") ||
		slices.Contains(needs, "GIT_DIR=/x") || slices.Contains(needs, "TOKEN=t") {
		t.Errorf("with needs: %q, %v", needs, err)
	}
	place.Settings, place.Pass = []string{"KEY*"}, []string{"EMPTY", "DB_*"}
	passed, err := Environ(caller, spec, place)
	for _, want := range []string{"KEYBOARD=qwerty", "EMPTY=", "DB_PASSWORD=p"} {
		if err != nil || !slices.Contains(passed, want) {
			t.Errorf("with patterns: %q, %v, want %s in it", passed, err, want)
		}
	}
	place.Item = ""
	if got, _ := Environ(caller, spec, place); slices.ContainsFunc(got, func(kv string) bool {
		return strings.HasPrefix(kv, "SWARM_ITEM")
	}) {
		t.Error("SWARM_ITEM is there without an item")
	}
	if slices.ContainsFunc(got, func(kv string) bool { return strings.HasPrefix(kv, "SWARM_SCHEMA") }) {
		t.Error("SWARM_SCHEMA is there without a schema")
	}
	place.Schema = "/s.json"
	if got, _ := Environ(caller, spec, place); !slices.Contains(got, "SWARM_SCHEMA=/s.json") {
		t.Error("SWARM_SCHEMA is not there")
	}
}

// TestEnvironOfTerminal checks that an agent with a terminal is told of its own
// and not of the caller's.
func TestEnvironOfTerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, caller, declared, want string }{
		{"a terminal", "screen-256color", "", "screen-256color"},
		{"none", "", "", "xterm-256color"},
		{"a dumb one", "dumb", "", "xterm-256color"},
		{"declared", "screen", "vt100", "vt100"},
	} {
		spec := &Spec{PTY: true, Env: map[string]string{}}
		if test.declared != "" {
			spec.Env["TERM"] = test.declared
		}
		got, err := Environ([]string{"TERM=" + test.caller, "COLUMNS=7", "LINES=3"}, spec, Place{})
		if err != nil || !slices.Contains(got, "TERM="+test.want) {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
		if slices.ContainsFunc(got, func(kv string) bool {
			return strings.HasPrefix(kv, "COLUMNS=") || strings.HasPrefix(kv, "LINES=")
		}) {
			t.Errorf("%s: it is told the size of another terminal: %q", test.name, got)
		}
	}
}

func TestEnvironMissing(t *testing.T) {
	t.Parallel()
	spec := &Spec{Name: "mine", Env: map[string]string{"KEY": "$NOT_SET"}}
	want := "agent mine: its variable KEY takes $NOT_SET, which is not set"
	if _, err := Environ([]string{"A=b"}, spec, Place{}); err == nil || err.Error() != want {
		t.Errorf("Environ = %v, want %s", err, want)
	}
}

// TestEnvironPath checks the first folders of PATH, and that guards are there
// only if someone can answer questions.
func TestEnvironPath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		place    Place
		declared string
		want     string
	}{
		{"nothing", Place{}, "", "/bin"},
		{"shims", Place{Shims: "/s"}, "", "/s:/bin"},
		{"guards", Place{Shims: "/s", Guards: "/g", Ask: "/a"}, "", "/g:/s:/bin"},
		{"nobody to ask", Place{Shims: "/s", Guards: "/g"}, "", "/s:/bin"},
		{"its own", Place{Shims: "/s", Guards: "/g", Ask: "/a"}, "/opt", "/g:/s:/opt"},
		{"a private HOME", Place{Shims: "/s", Env: []string{"PATH=/h/bin:/bin"}}, "", "/s:/h/bin:/bin"},
		{"its own before a private HOME", Place{Shims: "/s", Env: []string{"PATH=/h/bin"}}, "/opt", "/s:/opt"},
		{"the caller's by name", Place{Shims: "/s", Guards: "/g", Ask: "/a"}, "$PATH", "/g:/s:/bin"},
	} {
		spec := &Spec{Env: map[string]string{}}
		if test.declared != "" {
			spec.Env["PATH"] = test.declared
		}
		got, err := Environ([]string{"PATH=/bin"}, spec, test.place)
		if err != nil || !slices.Contains(got, "PATH="+test.want) || strings.Count(strings.Join(got, "\n"), "PATH=") != 1 {
			t.Errorf("%s: Environ = %q, %v, want PATH=%s", test.name, got, err, test.want)
		}
	}
}

// TestHeld checks that a variable which the agent gets in another way is not
// listed as held back, and that values never are.
func TestHeld(t *testing.T) {
	t.Parallel()
	caller := []string{"STRIPE_SK=sesame", "MINE=1", "OTHER_KEY=2", "BOXED=3", "NEEDED=4", "PASSED=5", "PATH=/bin", "SHLVL=1"}
	spec := &Spec{Env: map[string]string{"MINE": "x", "THEIRS": "$OTHER_KEY"}}
	got := Held(caller, spec, Place{Env: []string{"BOXED=y"}, Needs: []string{"NEEDED"}, Pass: []string{"PASS*"}})
	if want := []string{"STRIPE_SK"}; !slices.Equal(got, want) {
		t.Errorf("Held = %q, want %q", got, want)
	}
}
