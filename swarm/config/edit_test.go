package config

import (
	"errors"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, key, value, want string }{
		{"of an empty file", "", "limits.jobs", "8", "[limits]\njobs = 8\n"},
		{"of another table", "# mine\n[run]\nnotify = \"x\"", "limits.jobs", "8", "# mine\n[run]\nnotify = \"x\"\n\n[limits]\njobs = 8\n"},
		{"in its table", "[limits] # few\nretries = 2\n\n[run]\n", "limits.jobs", "8", "[limits] # few\njobs = 8\nretries = 2\n\n[run]\n"},
		{"in place", "[limits]\njobs = 4  # of 8\nretries = 2\n", "limits.jobs", "8", "[limits]\njobs = 8 # of 8\nretries = 2\n"},
		{"a string", "", "limits.timeout", "10m", "[limits]\ntimeout = \"10m\"\n"},
		{"a quoted string", "", "run.default_agent", `"claude"`, "[run]\ndefault_agent = \"claude\"\n"},
		{"a string like a boolean", "", "workspace.verify", "true", "[workspace]\nverify = \"true\"\n"},
		{"a string with quotes and #", "[workspace]\nverify = \"a # b\" # old\n", "workspace.verify", `echo "x"`, "[workspace]\nverify = \"echo \\\"x\\\"\" # old\n"},
		{"several lines", "[workspace]\nverify = '''\na\nb\n''' # gone\nsetup = \"s\"\n", "workspace.verify", "c", "[workspace]\nverify = \"c\"\nsetup = \"s\"\n"},
		{"a dotted key", "limits.jobs = 4\n", "limits.jobs", "8", "limits.jobs = 8\n"},
		{"an agent", "[agents.mine]\ncommand = [\n \"a\",\n \"b\" ]\n", "agents.mine.command", `["c"]`, "[agents.mine]\ncommand = [\"c\"]\n"},
		{"a new agent", "[agents.mine]\ncommand = [\"a\"]\n", "agents.other.command", `["c"]`, "[agents.mine]\ncommand = [\"a\"]\n\n[agents.other]\ncommand = [\"c\"]\n"},
		{"a header in a string", "[workspace]\nverify = '''\n[limits]\n'''\n[limits]\n", "limits.jobs", "8", "[workspace]\nverify = '''\n[limits]\n'''\n[limits]\njobs = 8\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set(Source{Layer: User, Name: "c.toml", Text: []byte(tt.text)}, tt.key, tt.value)
			if err != nil || string(got) != tt.want {
				t.Errorf("Set = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, key, value, want string }{
		{"an unknown key", "", "limits.jbs", "8", "jobs"},
		{"a value of another kind", "", "limits.jobs", "many", "limits.jobs"},
		{"a value out of bounds", "", "limits.jobs", "1000", "limits.jobs"},
		{"no key", "", "limits..jobs", "8", "not the name of a key"},
		{"an inline table", "limits = { jobs = 4 }\n", "limits.jobs", "8", ErrByHand.Error()},
		{"beside an inline table", "limits = { jobs = 4 }\n", "limits.retries", "1", ErrByHand.Error()},
		{"a file that is no TOML", "[limits\n", "limits.jobs", "8", "c.toml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set(Source{Layer: User, Name: "c.toml", Text: []byte(tt.text)}, tt.key, tt.value)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Set = %q, %v, want an error with %q", got, err, tt.want)
			}
		})
	}
}

// FuzzSet: the new value holds, a valid file stays valid, and nothing else
// changes.
func FuzzSet(f *testing.F) {
	for _, seed := range []string{"", "[limits]\njobs = 4 # x\n", "limits.jobs = 3", "[run]\nnotify = '''\n[limits]\n'''\n", "limits = {}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Source{Layer: User, Name: "c.toml", Text: []byte(text)}
		changed, err := Set(s, "limits.jobs", "7")
		if err != nil {
			var bad *Error
			if !errors.Is(err, ErrByHand) && !errors.As(err, &bad) {
				t.Errorf("Set of %q: %v", text, err)
			}
			return
		}
		root, err := parse(Source{Layer: User, Name: "c.toml", Text: changed})
		if err != nil || root.find([]string{"limits", "jobs"}) == nil || root.find([]string{"limits", "jobs"}).text != "7" {
			t.Errorf("Set of %q = %q, %v", text, changed, err)
		}
	})
}
