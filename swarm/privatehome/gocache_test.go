package privatehome

import (
	"os"
	"strings"
	"testing"
)

// TestGoCacheProgram: the go command reads the user's build cache by a program,
// where both can be reached and the user has no such program.
func TestGoCacheProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		change  func(u *user)
		hidden  []string
		program string
		over    bool
		want    string // SHARED, OVER and USER stand for the caches
	}{
		{name: "usual", want: "/swarm __gocache SHARED USER"},
		{name: "blank", program: "/my swarm", want: "'/my swarm' __gocache SHARED USER"},
		{name: "both quotes", program: `/my 'own' "swarm"`},
		{name: "not to be reached", program: "none"},
		{name: "over another", over: true, want: "/swarm __gocache SHARED OVER USER"},
		{name: "hidden", hidden: []string{".cache/go-build"}},
		{name: "hidden, over another", hidden: []string{".cache"}, over: true, want: "/swarm __gocache SHARED OVER"},
		{name: "absent", change: func(u *user) { u.must(os.RemoveAll(u.path("home/.cache"))) }},
		{name: "off", change: func(u *user) { u.env["GOCACHE"] = "off" }},
		{name: "off by go env -w", change: func(u *user) { u.write(".config/go/env", "GOCACHE=off\n") }},
		{name: "the user's own", change: func(u *user) { u.env["GOCACHEPROG"] = "mine" }},
		{name: "the user's own by go env -w", change: func(u *user) { u.write(".config/go/env", "GOCACHEPROG=mine\n") }},
		{name: "elsewhere", change: func(u *user) {
			u.must(os.RemoveAll(u.path("home/.cache")), os.Mkdir(u.path("real"), 0o700), os.Symlink(u.path("real"), u.path("link")))
			u.env["GOCACHE"] = u.path("link")
		}, want: "/swarm __gocache SHARED REAL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.write(".cache/go-build/00/x-a", "x")
			if test.change != nil {
				test.change(u)
			}
			hidden := test.hidden
			for i, name := range hidden {
				hidden[i] = u.path("home/" + name)
			}
			switch test.program {
			case "":
				u.program = "/swarm"
			case "none":
			default:
				u.program = test.program
			}
			request := Request{
				Home: u.path("home"), Hidden: hidden, Shared: u.path("over"), Program: u.program,
				Getenv: func(name string) string { return u.env[name] },
			}
			template, err := Prepare(request)
			u.must(err)
			if test.over {
				request.Over, request.Shared = template, u.path("shared")
			} else {
				request.Shared = u.path("shared")
			}
			template, err = Prepare(request)
			u.must(err)
			want := strings.NewReplacer("SHARED", u.path("shared/go-build"), "OVER", u.path("over/go-build"),
				"USER", u.path("home/.cache/go-build"), "REAL", u.path("real")).Replace(test.want)
			if got := variable(t, template.Environ("/p"), "GOCACHEPROG"); got != want {
				t.Errorf("GOCACHEPROG = %q, want %q", got, want)
			}
		})
	}
}

// TestGoSeeds: beside a program, a large build cache is seeded with the files of its
// own folder alone. They say when `go clean -testcache` was called.
func TestGoSeeds(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, name := range []string{"testexpire.txt", "00/1-a", "00/1-d", "ff/2-d"} {
		u.write(".cache/go-build/"+name, "5")
	}
	for limit, want := range map[int]int{0: 4, 4: 4, 3: 1} {
		c := cache{complete: limit, copies: func(string, int64) bool { return false }}
		all, err := c.find(u.path("home/.cache/go-build"), nil)
		if u.must(err); len(all) != want || want == 1 && all[0].path != "testexpire.txt" {
			t.Errorf("with a limit of %d, the seeds are %v", limit, all)
		}
	}
	for program, want := range map[string]int{"": 0, "/swarm": maxSeeds} {
		u.program = program
		if c := u.prepare().usersCaches()[0]; c.to != goBuild || c.complete != want {
			t.Errorf("with the program %q, the limit of %s is %d, want %d", program, c.to, c.complete, want)
		}
	}
}
