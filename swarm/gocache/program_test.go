package gocache

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == Command {
		os.Exit(Run(os.Args[2:], os.Getenv("GOCACHE")))
	}
	os.Exit(m.Run())
}

func TestSetting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ program, own, lower, want string }{
		{"/bin/swarm", "/own", "/lower", "/bin/swarm __gocache /own /lower"},
		{"/my bin/swarm", "/o'wn", "/lo\twer", "'/my bin/swarm' __gocache \"/o'wn\" '/lo\twer'"},
		{"/bin/swarm", `/own "and' more`, "/lower", ""},
	} {
		if got, ok := Setting(test.program, test.own, []string{test.lower}); got != test.want || ok != (test.want != "") {
			t.Errorf("Setting(%q, %q, %q) = %q, %v, want %q", test.program, test.own, test.lower, got, ok, test.want)
		}
	}
}

// goModule is a small module, and caches over that of the machine, so that no
// test compiles the standard library.
type goModule struct {
	testing.TB
	dir     string
	machine string // GOCACHE of the machine
}

func newGoModule(t *testing.T) *goModule {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	m := &goModule{TB: t, dir: filepath.Join(t.TempDir(), "a blank and a quote'"), machine: strings.TrimSpace(string(out))}
	m.must(os.Mkdir(m.dir, 0o755))
	for name, text := range map[string]string{
		"go.mod":         "module example.org/tiny\n\ngo 1.24\n",
		"main.go":        "package main\n\nimport \"example.org/tiny/part\"\n\nfunc main() { println(part.Double(21)) }\n",
		"part/part.go":   "package part\n\nfunc Double(x int) int { return 2 * x }\n",
		"part/a_test.go": "package part\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		path := m.path("module/" + name)
		m.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	self, err := os.Executable()
	m.must(err, os.Symlink(self, m.path("program")))
	return m
}

func (m *goModule) must(errs ...error) {
	m.Helper()
	for _, err := range errs {
		if err != nil {
			m.Fatal(err)
		}
	}
}

func (m *goModule) path(name string) string { return filepath.Join(m.dir, name) }

// run runs the go command with a cache of a name over others, and returns its
// standard output and error. gocache is the value of GOCACHE; empty: that cache.
func (m *goModule) run(own, gocache string, lower []string, args ...string) string {
	m.Helper()
	for i, name := range lower {
		if !filepath.IsAbs(name) {
			lower[i] = m.path(name)
		}
	}
	value, ok := Setting(m.path("program"), m.path(own), lower)
	if !ok {
		m.Fatalf("the paths below %s cannot be written in GOCACHEPROG", m.dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = m.path("module")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GOFLAGS=") }),
		"GOCACHE="+cmp.Or(gocache, m.path(own)), "GOCACHEPROG="+value, "GOTOOLCHAIN=local", "GOWORK=off", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// compiled tells whether the commands of `go build -x` compile a package.
func compiled(out, name string) bool { return strings.Contains(out, " -p "+name+" ") }

// TestGo checks that the go command stores missing entries in its own cache,
// and finds entries there and below. It writes nothing below.
func TestGo(t *testing.T) {
	t.Parallel()
	m := newGoModule(t)
	const part = "example.org/tiny/part"
	build := func(own, gocache string, lower ...string) string {
		return m.run(own, gocache, lower, "build", "-x", "-o", m.path("out"), ".")
	}
	if out := build("first", "", m.machine); !compiled(out, part) || compiled(out, "runtime") {
		t.Errorf("the first build compiles the standard library, or not the module:\n%s", out)
	}
	if out, err := exec.Command(m.path("out")).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "42" {
		t.Errorf("the program prints %q, %v", out, err)
	}
	if out := build("first", "", m.machine); compiled(out, part) {
		t.Errorf("the second build compiles the module:\n%s", out)
	}
	before := state(t, m.path("first"))
	if out := build("second", "", "first", m.machine); compiled(out, part) || compiled(out, "runtime") {
		t.Errorf("a build over the first compiles:\n%s", out)
	}
	if after := state(t, m.path("first")); after != before {
		t.Errorf("the lower cache is\n%s\nwas\n%s", after, before)
	}
	for line := range strings.Lines(state(t, m.path("second"))) {
		path, _, _ := strings.Cut(strings.TrimPrefix(line, m.path("second")), " -")
		if strings.HasSuffix(path, "-a") && strings.Contains(before, path) {
			t.Errorf("%s is in the second cache as well", path)
		}
	}
	// Another GOCACHE is used alone: no package of the machine is found.
	if out := m.run("second", m.path("other"), []string{"first", m.machine}, "list", "-export", "-f", "{{.Export}}", part); !strings.HasPrefix(out, m.path("other")) {
		t.Errorf("with another GOCACHE, the export data is at %s", out)
	}
	// The go command reads the program's entries.
	cmd := exec.Command("go", "build", "-x", "-o", m.path("out"), "./part")
	cmd.Dir = m.path("module")
	cmd.Env = append(os.Environ(), "GOCACHE="+m.path("first"), "GOCACHEPROG=", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil || compiled(string(out), part) {
		t.Errorf("the go command compiles it again: %v\n%s", err, out)
	}
}

// TestGoCommands: tests, vet and instrumented builds work, and are found again.
func TestGoCommands(t *testing.T) {
	t.Parallel()
	campaign.Only(t, "TestGo")
	m := newGoModule(t)
	run := func(args ...string) string { return m.run("cache", "", []string{m.machine}, args...) }
	for _, flags := range [][]string{{}, {"-coverprofile=" + m.path("cover")}, {"-race"}} {
		args := append([]string{"test"}, append(flags, "./part")...)
		if cgo := run("env", "CGO_ENABLED"); strings.TrimSpace(cgo) != "1" && slices.Contains(flags, "-race") {
			continue
		}
		if out := run(args...); strings.Contains(out, "(cached)") {
			t.Errorf("go %v: a result is there before the first test: %s", args, out)
		}
		if out := run(args...); !strings.Contains(out, "(cached)") {
			t.Errorf("go %v: the result is not found again: %s", args, out)
		}
	}
	if text, err := os.ReadFile(m.path("cover")); err != nil || !strings.Contains(string(text), "part.go") {
		t.Errorf("the coverage is %q, %v", text, err)
	}
	run("clean", "-testcache")
	if out := run("test", "./part"); strings.Contains(out, "(cached)") {
		t.Errorf("a result is there after go clean -testcache: %s", out)
	}
	run("vet", "./...")
	for range 2 {
		if out := run("run", "."); strings.TrimSpace(out) != "42" {
			t.Errorf("go run prints %q", out)
		}
	}
	run("clean", "-cache")
	run("build", "-o", m.path("out"), ".")
}
