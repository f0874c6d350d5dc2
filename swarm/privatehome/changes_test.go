package privatehome

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// live makes a template for private HOMEs in no sandbox.
func (u *user) live() *Template {
	u.Helper()
	t, err := Prepare(Request{
		Home: u.path("home"), Shared: u.path("shared"), Live: true,
		Getenv: func(name string) string { return u.env[name] },
	})
	u.must(err)
	return t
}

// TestInclude: a private HOME shows the user's HOME as it was when the template
// was prepared, with the changes of setups and of nothing else.
func TestInclude(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, name := range []string{".oldrc", ".gone/rc", ".kept/rc", ".config/tool/rc"} {
		u.write(name, "user")
	}
	template := u.live()

	// An agent of the run was there before.
	for _, name := range []string{".bashrc", ".kept/rc", ".newtool/poison", ".config/go/env"} {
		u.write(name, "GOPROXY=agent")
	}
	before := template.Snapshot()
	for _, name := range []string{".local/bin/tool", ".newtool/lib/deep/tool", ".cargo/bin/tool", "sdk/tool", ".oldrc", ".config/tool/rc", ".cache/x"} {
		u.write(name, "setup")
	}
	u.write(".newtool/lib/large", strings.Repeat("x", maxFile+1))
	u.must(os.Symlink("lib/deep/tool", u.path("home/.newtool/link")), os.RemoveAll(u.path("home/.gone")))
	template.Include(before, template.Snapshot())
	// The agent of the setup comes after it.
	for _, name := range []string{".oldrc", ".newtool/lib/deep/tool", ".agenttool/rc", ".profile"} {
		u.write(name, "agent")
	}

	home := u.build(template)
	for name, want := range map[string]string{
		".local/bin/tool": "setup", ".newtool/lib/deep/tool": "setup", ".cargo/bin/tool": "setup", "sdk/tool": "setup",
		".oldrc": "setup", ".config/tool/rc": "setup", ".cache/x": "setup", ".kept/rc": "user",
		".newtool/lib/large": strings.Repeat("x", maxFile+1),
		".bashrc":            "", ".newtool/poison": "", ".config/go/env": "", ".agenttool/rc": "", ".profile": "", ".gone/rc": "",
	} {
		u.has(home, name, want)
	}
	if _, err := os.Stat(filepath.Join(home, ".newtool/link")); err != nil {
		t.Error(err)
	}
	if got := variable(t, template.Environ(home), "GOPROXY"); strings.Contains(got, "agent") {
		t.Errorf("GOPROXY = %q, which an agent wrote", got)
	}
}

// TestIncludeGoEnv: `go env -w` of a setup counts for checks.
func TestIncludeGoEnv(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	template := u.live()
	before := template.Snapshot()
	u.write(".config/go/env", "GOPROXY=off\n")
	template.Include(before, template.Snapshot())
	home := u.build(template)
	u.has(home, ".config/go/env", "GOPROXY=off\n")
	if got := variable(t, template.Environ(home), "GOPROXY"); got != "off" {
		t.Errorf("GOPROXY = %q, want off", got)
	}
}

// TestIncludeBounds: copies that many setups add stay within the limit of a
// scan, and every file can be read.
func TestIncludeBounds(t *testing.T) {
	t.Parallel()
	all := map[string]entry{".d": {path: ".d", kind: folder}}
	size := maxFile
	for i := range 2 * maxCopied / size {
		path := filepath.Join(".d", strings.Repeat("n", i+1))
		all[path] = entry{path: path, kind: copied, from: "/home/u/" + path, text: make([]byte, size)}
	}
	all[".lost/x"] = entry{path: ".lost/x", kind: copied}
	copies := 0
	kept := bounded(all)
	for _, e := range kept {
		copies += len(e.text)
	}
	if len(kept) != len(all)-1 || copies != maxCopied || kept[0].path != ".d" || kept[len(kept)-1].kind != link {
		t.Errorf("%d of %d entries with %d bytes, want all whose folder is there and %d bytes", len(kept), len(all), copies, maxCopied)
	}
}

// TestVariables: a command that is run beside an agent gets each variable that
// leads to the agent's HOME.
func TestVariables(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, name := range Variables() {
		u.env[name] = u.path("home/elsewhere")
	}
	u.write("file", "")
	for name := range configFiles() {
		u.env[name] = u.path("home/file")
	}
	delete(u.env, "RUSTUP_HOME")
	delete(u.env, "GOCACHEPROG")
	u.program = "/swarm"
	for name := range configFiles() {
		u.env[name] = u.path("home/elsewhere/file")
	}
	u.write("elsewhere/file", "x")
	delete(u.env, "GRADLE_RO_DEP_CACHE")
	u.write(".rustup/x", "x")
	u.write(".m2/repository/x", "x")
	u.write("elsewhere/caches/modules-2/x", "x")
	set := map[string]bool{}
	for _, kv := range slices.Concat(u.live().Environ(u.path("private")), u.prepare().Environ(u.path("private")), u.prepare().Environ(u.path("with a blank"))) {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
		if !slices.Contains(Variables(), name) {
			t.Errorf("Variables lacks %s", name)
		}
	}
	for _, name := range Variables() {
		if !set[name] {
			t.Errorf("Environ never sets %s", name)
		}
	}
}
