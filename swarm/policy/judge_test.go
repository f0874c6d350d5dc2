package policy

import (
	"reflect"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestTaskAuthority: the grants of a call are added to those of its run, and to
// no other call's.
func TestTaskAuthority(t *testing.T) {
	t.Parallel()
	given, err := allowed([]string{"push to run/*"}, "--allow")
	if err != nil {
		t.Fatal(err)
	}
	run := &risk.Authority{Allowed: append(make([]risk.Grant, 0, 4), given...)} // there is room behind it
	for item, want := range map[string]string{
		"push to one/*": "push to run/*\npush to one/*", "push to two/*": "push to run/*\npush to two/*", "": "push to run/*",
	} {
		call := new(task.Call)
		if item != "" {
			call.Allow = []string{item}
		}
		for range 2 { // the first time leaves no grant behind
			a, err := taskAuthority(run, call)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(a.Granted(), "\n"); got != want {
				t.Errorf("a call with the allow %q is granted %q, want %q", item, got, want)
			}
		}
	}
	one, err := taskAuthority(run, &task.Call{Allow: []string{"push to one/*"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := taskAuthority(run, &task.Call{Allow: []string{"push to two/*"}}); err != nil {
		t.Fatal(err)
	}
	if got := one.Allowed[1]; got.Text != "push to one/*" || got.Where != "allow" {
		t.Errorf("what one call is granted became %+v", got)
	}
	if _, err := taskAuthority(run, &task.Call{Allow: []string{"do as you like"}}); err == nil {
		t.Error("an item that is none grants something")
	}
	if a, err := taskAuthority(run, nil); a != run || err != nil {
		t.Errorf("without a call it is %+v, %v, want that of the run", a, err)
	}
}

// TestOnlyCall names calls that are all of an action, and at the top of the
// workspace, and nothing else.
func TestOnlyCall(t *testing.T) {
	t.Parallel()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	place := risk.Place{Root: "/w", GitDir: "/w/.git", CommonDir: "/w/.git", Home: "/home/u"}
	for _, c := range []struct{ give, cwd, want string }{
		{"rm -rf build", "", "rm -rf build"}, {"'rm' -rf \"build\"", "/w", "rm -rf build"},
		{"rm -rf build", "/w/sub", ""}, {"cd sub && rm -rf build", "", ""}, {"rm -rf build; ls", "", ""},
		{"rm -rf $X", "", ""}, {"rm -rf *", "", ""}, {"sudo rm -rf build", "", ""}, {"git push", "", "git push"},
		{"GIT_DIR=x git push", "", ""}, {"ls", "", ""}, {"eval \"$X\"", "", ""},
	} {
		found := rules.Classify(&risk.Shell{Text: c.give, Cwd: c.cwd}, place)
		if got := strings.ReplaceAll(onlyCall(found), "\x00", " "); got != c.want {
			t.Errorf("onlyCall(%s in %q) = %q, want %q", c.give, c.cwd, got, c.want)
		}
	}
}

// TestFilesOf: a question names the files that its tier is about, and no path
// that looks like a secret.
func TestFilesOf(t *testing.T) {
	t.Parallel()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	place := risk.Place{Root: "/w", GitDir: "/w/.git", CommonDir: "/w/.git", Home: "/home/u"}
	for _, c := range []struct {
		give string
		want *event.Files
	}{
		{"rm -rf build pkg/*.o", &event.Files{Deletes: []string{"build", "pkg/*.o"}}},
		{"rm -rf build; rm x", &event.Files{Deletes: []string{"build"}}},
		{"git clean -fdx", &event.Files{Cleans: []string{"."}}},
		{"shred /srv/x", &event.Files{Deletes: []string{"/srv/x"}}},
		{"dd if=x of=y", &event.Files{Overwrites: []string{"y"}}},
		{"rm x", nil},
		{"git push", nil},
		{"rm -rf sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", nil},
	} {
		if got := filesOf(rules.Classify(&risk.Shell{Text: c.give}, place)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("filesOf(%s) = %+v, want %+v", c.give, got, c.want)
		}
	}
}
