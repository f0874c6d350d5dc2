package box

import (
	"errors"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
	"agentswarm/internal/testprogram"
)

// namespaced are the levels with namespaces that this system gives.
func namespaced(t *testing.T) []Level {
	t.Helper()
	var all []Level
	for _, level := range ladder() {
		if level.Namespaces() && try(level, new(facts)) == nil {
			all = append(all, level)
		}
	}
	if len(all) == 0 {
		t.Skip("no namespaces here")
	}
	return all
}

// places are where case i of a test has its ground: in the gate by turns outside
// of the folder for temporary files and in it, in a campaign both.
func places(t *testing.T, i int) []func(*testing.T) string {
	t.Helper()
	both := []func(*testing.T) string{outside, inTmp}
	if campaign.Rounds(t, 1, 2) == 1 {
		return both[i%2 : i%2+1]
	}
	return both
}

// TestOddPaths: what a path is called must not matter in any piece.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/"+strings.Repeat("l", 200), 9)
	for _, level := range namespaced(t) {
		for i, odd := range []string{" a b,c:d", `a\b\040"c'`, "-o\nlowerdir=ü", long} {
			for _, where := range places(t, i) {
				g := newFixture(t, mustMkdir(t, filepath.Join(where(t), odd)))
				p := g.on(level)
				p.Write = []string{mustMkdir(t, g.Dir+"/shared")}
				w := compose(t, level, p)
				out := sh(t, w, `cd "$1" && echo new >file && cat file && ls -A "$2" && echo x >"$3/x"`,
					g.Repo, g.Home+"/.ssh", g.Dir+"/shared")
				if out != "new\n" {
					t.Errorf("%v, %q: %q", level, odd, out)
				}
				if text, _ := os.ReadFile(g.Dir + "/shared/x"); string(text) != "x\n" {
					t.Errorf("%v, %q: the shared folder holds %q", level, odd, text)
				}
			}
		}
	}
}

// TestHomes: no HOME may keep an agent from starting.
func TestHomes(t *testing.T) {
	t.Parallel()
	for n, level := range namespaced(t) {
		homes := map[string]func(*fixture) string{
			"none": func(*fixture) string { return "" }, "root": func(*fixture) string { return "/" },
			"missing": func(*fixture) string { return "/nonexistent" }, "relative": func(*fixture) string { return "home" },
			"tmp": func(*fixture) string { return "/tmp" }, "var tmp": func(*fixture) string { return "/var/tmp" },
			"file":       func(g *fixture) string { return g.Sibling + "/file" },
			"repository": func(g *fixture) string { return g.Repo },
			"state":      func(g *fixture) string { return g.State },
			"linked": func(g *fixture) string {
				link := g.Home + "/link"
				if os.Symlink(g.Home, link) != nil {
					return ""
				}
				return link
			},
		}
		for i, name := range slices.Sorted(maps.Keys(homes)) {
			for _, where := range places(t, n+i) {
				g := newFixture(t, where(t))
				p := g.on(level)
				p.Home = homes[name](g)
				p.Hide = nil
				out := sh(t, compose(t, level, p), `cat "$1/file"; ls -A "$2"`, g.Repo, g.State)
				if out != "baserepo-1\n" {
					t.Errorf("HOME is %s, %v: %q", name, level, out)
				}
			}
		}
	}
}

// TestViews looks at HOME in all ways.
func TestViews(t *testing.T) {
	t.Parallel()
	need(t, Full)
	for _, where := range []func(*testing.T) string{outside, inTmp} {
		for _, tt := range []struct {
			view View
			want string
		}{
			{Whole, "theirs warm home cache"},
			{Apart, "theirs warm"},
		} {
			g := newFixture(t, where(t))
			p := g.place()
			p.View = tt.view
			out := sh(t, compose(t, Full, p), `cd "$1"; cat .bashrc; echo; cat .cache/warm && echo
				{ echo home >x && cat x; echo cache >.cache/x && cat .cache/x; ls -A .ssh; cat .netrc; } 2>/dev/null`, g.Home)
			if got := strings.Join(strings.Fields(out), " "); got != tt.want {
				t.Errorf("%v: %q, want %q", tt.view, got, tt.want)
			}
			g.untouched(t)
		}
	}
}

// TestApart: an agent writes to a HOME at a path of its own, also where a link leads to
// the state folder. A cache of the user's can only be read, for a check would find there
// the files of its agent.
func TestApart(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, outside(t))
		elsewhere := mustMkdir(t, g.Home+"/caches/rustup")
		write(t, elsewhere+"/rustc", "theirs")
		g.Env["RUSTUP_HOME"], g.Env["GOMODCACHE"] = elsewhere, g.Home+"/.cache"
		link := g.Home + "/link"
		if err := os.Symlink(g.State, link); err != nil {
			t.Fatal(err)
		}
		p := g.on(level)
		p.View, p.State, p.Private = Apart, link, link+strings.TrimPrefix(g.Private, g.State)
		out := sh(t, compose(t, level, p), `echo mine >"$1/new" && cat "$1/new" "$2/rustc"
			for dir in "$2" "$3"; do (echo mine >"$dir/new" || echo closed) 2>&-; done`, HomeOf(p.Private), elsewhere, g.Home+"/.cache")
		if got := strings.Join(strings.Fields(out), " "); got != "mine theirsclosed closed" {
			t.Errorf("%v: %q", level, got)
		}
	}
}

func TestProbeHome(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for _, tt := range []struct {
		name   string
		level  Level
		refuse []View
		want   View
		why    bool
		err    bool
	}{
		{"whole", Full, nil, Whole, false, false},
		{"apart", OldProc, []View{Whole}, Apart, true, false},
		{"nothing", Full, []View{Whole, Apart}, Apart, true, true},
		{"without overlays", NoOverlay, []View{Whole}, Apart, false, false},
	} {
		view, why, err := ProbeHome(Place{Home: t.TempDir()}, tt.level, func(v View) error {
			for _, refused := range tt.refuse {
				if v == refused {
					return no
				}
			}
			return nil
		})
		if view != tt.want || (why != nil) != tt.why || (err != nil) != tt.err {
			t.Errorf("%s: %v, %v, %v", tt.name, view, why, err)
		}
		if why != nil && (!errors.Is(why, no) || ViewIn(tt.level, errors.Join(why)) != view) {
			t.Errorf("%s: %v does not explain %v", tt.name, why, view)
		}
	}
	// What is mounted below cannot be seen through an overlay.
	if _, why, err := ProbeHome(Place{Home: "/dev"}, Full, func(View) error { return nil }); err != nil ||
		why == nil || !strings.Contains(why.Error(), "mounted at /dev/") {
		t.Errorf("a HOME with mounts is %v, %v", why, err)
	}
}

// TestPrograms runs what lies below a /tmp that is hidden.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, inTmp(t))
		write(t, g.Dir+"/x/other", "other")
		mkdir(t, g.Dir+"/x/bin")
		mkdir(t, g.Dir+"/x/lib")
		testprogram.Write(t, g.Dir+"/x/bin/hello", "#!/bin/sh\necho hello\n")
		testprogram.Write(t, g.Dir+"/x/lib/real", "#!/bin/sh\necho linked\n")
		if err := os.Symlink("../lib/real", g.Dir+"/x/bin/linked"); err != nil {
			t.Fatal(err)
		}
		p := g.on(level)
		p.Programs = []string{
			g.Dir + "/x/bin", g.Dir + "/x/bin/linked", "/usr/bin", "/tmp", "/", "relative", g.Dir + "/none", "", g.Home + "/.ssh",
		}
		out := sh(t, compose(t, level, p), `"$1/x/bin/hello"; "$1/x/bin/linked"; ls -A "$1/x" "$2"; echo x 2>&- >"$1/x/bin/hello" && echo written; true`,
			g.Dir, g.Home+"/.ssh")
		if got := strings.Join(strings.Fields(out), " "); !strings.HasPrefix(got, "hello linked") ||
			strings.Contains(got, "other") || strings.Contains(got, "written") || strings.Contains(got, "id") {
			t.Errorf("%v: %q", level, got)
		}
		if out := sh(t, compose(t, level, g.on(level)), `"$1/x/bin/hello" 2>&1; true`, g.Dir); strings.HasPrefix(out, "hello") {
			t.Errorf("%v: /tmp is not private", level)
		}
	}
}

// TestPackagesBelowTmp runs a program of npm below a /tmp that is hidden: a chain
// of links into packages, with a file that it reads from another package.
func TestPackagesBelowTmp(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, inTmp(t))
		mkdir(t, g.Dir+"/x/bin")
		mkdir(t, g.Dir+"/x/node_modules/.bin")
		mkdir(t, g.Dir+"/x/node_modules/cli")
		mkdir(t, g.Dir+"/x/node_modules/lib")
		write(t, g.Dir+"/x/node_modules/lib/text", "from lib")
		testprogram.Write(t, g.Dir+"/x/node_modules/cli/cli", "#!/bin/sh\ncat '"+g.Dir+"/x/node_modules/lib/text'; echo >'"+g.Dir+"/x/node_modules/lib/new' && echo written\n")
		if err := errors.Join(os.Symlink("../cli/cli", g.Dir+"/x/node_modules/.bin/cli"),
			os.Symlink("../node_modules/.bin/cli", g.Dir+"/x/bin/cli")); err != nil {
			t.Fatal(err)
		}
		p := g.on(level)
		p.Programs = []string{g.Dir + "/x/bin", g.Dir + "/x/bin/cli"}
		if out := sh(t, compose(t, level, p), `"$1/x/bin/cli" 2>&-; true`, g.Dir); strings.TrimSpace(out) != "from lib" {
			t.Errorf("%v: %q", level, out)
		}
	}
}

// TestHideLinks follows what is hidden to where it is.
func TestHideLinks(t *testing.T) {
	t.Parallel()
	for _, level := range append(namespaced(t), Landlock) {
		if try(level, new(facts)) != nil {
			continue
		}
		g := newFixture(t, outside(t))
		away := g.Dir + "/away"
		write(t, away+"/ssh/id", secret)
		write(t, away+"/token", secret)
		if err := errors.Join(os.RemoveAll(g.Home+"/.ssh"), os.Symlink(away+"/ssh", g.Home+"/.ssh"),
			os.Symlink("nowhere", g.Home+"/dangling"), os.Symlink(away+"/token", g.Home+"/.token")); err != nil {
			t.Fatal(err)
		}
		p := g.on(level)
		p.Hide = append(p.Hide, "~/.token", "~/dangling", "~/missing", "/nonexistent/x")
		w := compose(t, level, p)
		// An agent that has taken the link away in its copy has not helped the next.
		for range 2 {
			if out := run(t, w, "read", g.Home, away); out != "" {
				t.Errorf("%v: the agent could %s", level, out)
			}
			sh(t, w, `rm -f "$1/.ssh" "$1/.token" 2>&-; mkdir "$1/.ssh" 2>&-; ls -d "$1/missing" "$1/dangling/x" 2>&- && exit 1; true`, g.Home)
			w = compose(t, level, p)
		}
		if exists(g.Home+"/missing") || exists("/nonexistent") {
			t.Errorf("%v: what is hidden was made", level)
		}
	}
}

// TestPlantedLinks: what an agent has left in its own folders does not lead
// the sandbox of the next elsewhere.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	need(t, Full)
	g := newFixture(t, inTmp(t))
	write(t, g.Dir+"/x/bin/tool", "tool")
	p := g.place()
	sh(t, compose(t, Full, p), `mkdir -p "$1" && ln -s /usr "$1/x"`, g.Dir)
	p.Programs = []string{g.Dir + "/x/bin"}
	out, err := inside(job{Walls: compose(t, Full, p), Argv: []string{"/bin/sh", "-c", "echo /usr/bin/t*"}})
	if err == nil || !strings.Contains(err.Error(), "symbolic links") {
		t.Errorf("a piece stands where a link has led to: %q, %v", out, err)
	}
}

// TestShared: folders to write to are the real ones, seen by all.
func TestShared(t *testing.T) {
	t.Parallel()
	for _, level := range append(namespaced(t), Landlock) {
		if try(level, new(facts)) != nil {
			continue
		}
		g := newFixture(t, outside(t))
		p := g.on(level)
		mkdir(t, g.Home+"/shared")
		p.Write = []string{"~/shared"}
		p.Hide = append(p.Hide, "~/shared/private")
		write(t, g.Home+"/shared/private/key", secret)
		w := compose(t, level, p)
		sh(t, w, `echo x >"$1/shared/x"`, g.Home)
		if text, _ := os.ReadFile(g.Home + "/shared/x"); string(text) != "x\n" {
			t.Errorf("%v: the shared folder holds %q", level, text)
		}
		// A rule of Landlock for a folder is one for all in it.
		if out := run(t, w, "read", g.Home+"/shared"); out != "" && level != Landlock {
			t.Errorf("%v: the agent could %s", level, out)
		}
		p.Write = []string{"~/none"}
		if _, err := Compose(level, false, p); err != nil { // it may have gone since it was asked for
			t.Errorf("%v: a folder that is not there is %v", level, err)
		}
	}
}

// TestNothingStays: nothing is mounted after the end, and who is not root can
// remove what is left.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, outside(t))
		sh(t, compose(t, level, g.on(level)), `rm -rf "$1/dir"; mkdir -p /tmp/swarm-box-a /var/tmp/swarm-box-b; chmod 0 /tmp/swarm-box-a /var/tmp/swarm-box-b; echo x >/dev/shm/swarm-box-x`, g.Repo)
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || strings.Contains(string(mounts), filepath.Base(g.Dir)) {
			t.Errorf("%v: mounts stay: %v", level, err)
		}
		discard(t, g.Private)
		for _, dir := range []string{g.Home, g.Repo, g.State} {
			if exists(dir + "/.git.x") {
				t.Errorf("%v: something stays in %s", level, dir)
			}
		}
	}
}

// TestOpen: without a closed sandbox only the pieces are there.
func TestOpen(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, outside(t))
		w, err := Compose(level, true, g.on(level))
		if err != nil {
			t.Fatal(err)
		}
		out := sh(t, w, `cat "$1/file"; cat "$2/.ssh/id"; echo mine >"$2/.bashrc"`, g.Repo, g.Home)
		if text, _ := os.ReadFile(g.Home + "/.bashrc"); out != "base"+secret || string(text) != "mine\n" {
			t.Errorf("%v: %q, .bashrc is %q", level, out, text)
		}
	}
}

// TestWhoami: the agent is who its user is, and /tmp is as any other.
func TestWhoami(t *testing.T) {
	t.Parallel()
	need(t, Full)
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	g := newFixture(t, outside(t))
	out := sh(t, compose(t, Full, g.place()), `id -un; stat -c %a /tmp /var/tmp; test -w /dev/shm && echo x >/dev/null && echo ok; ls /dev/fd/ >/dev/null && echo fd`)
	if want := me.Username + "\n1777\n1777\nok\nfd\n"; out != want {
		t.Errorf("inside: %q, want %q", out, want)
	}
}

// TestBubblewrap: the sandboxes of agents are made in this way. Root cannot map
// itself once more.
func TestBubblewrap(t *testing.T) {
	t.Parallel()
	need(t, Full)
	const bwrap = "/usr/bin/bwrap"
	if !exists(bwrap) {
		t.Skip("bubblewrap is not installed")
	}
	if os.Getuid() == 0 {
		t.Skip("root cannot have nested sandboxes")
	}
	for _, where := range []func(*testing.T) string{outside, inTmp} {
		g := newFixture(t, where(t))
		for _, args := range [][]string{
			{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--unshare-pid", "true"},
			{"--unshare-all", "--share-net", "--ro-bind", "/", "/", "--bind", g.Repo, g.Repo, "--dev", "/dev", "--proc", "/proc",
				"sh", "-c", `echo x >"$0/inner" && ! touch "$1/x"`, g.Repo, g.Home},
		} {
			out, err := inside(job{Walls: compose(t, Full, g.place()), Argv: append([]string{bwrap}, args...)})
			if err != nil {
				t.Errorf("bwrap %q: %v\n%s", args, err, out)
			}
		}
	}
}

// TestRootDevices: root has devices that harm nobody.
func TestRootDevices(t *testing.T) {
	t.Parallel()
	need(t, Full)
	if os.Getuid() != 0 {
		t.Skip("others have the machine's devices")
	}
	g := newFixture(t, outside(t))
	out := sh(t, compose(t, Full, g.place()), `ls /dev | tr '\n' ' '; head -c 4 /dev/zero | wc -c; echo x >/dev/full || echo full
		echo y | cat /dev/stdin; cat </dev/ptmx & sleep 0; kill $! ; touch /dev/swarm-box-x || echo closed`)
	for _, want := range []string{"fd full null ptmx pts random shm stderr stdin stdout tty urandom zero", "4\n", "full\n", "y\n", "closed\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("/dev: %q, want %q", out, want)
		}
	}
	var at unix.Stat_t
	if err := unix.Stat("/dev/kmsg", &at); err == nil && strings.Contains(out, "kmsg") {
		t.Error("root reads the kernel's messages")
	}
}

// TestCachesElsewhere: a cache that a variable names is warm and private, where
// it lies outside of HOME; one that holds the state, or HOME, is left alone.
func TestCachesElsewhere(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		if !level.Overlay() {
			continue
		}
		g := newFixture(t, outside(t))
		dir := mustMkdir(t, g.Dir+"/caches/go")
		if err := os.WriteFile(dir+"/warm", []byte("warm\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := g.on(level)
		p.Getenv = func(name string) string {
			return map[string]string{"GOCACHE": dir, "GOPATH": g.Dir, "CARGO_HOME": g.State}[name]
		}
		out := sh(t, compose(t, level, p), `cat "$1/warm" && echo mine > "$1/new" && ls "$1" && ls -A "$2" | head -1`, dir, g.State)
		if !strings.HasPrefix(out, "warm\nnew\nwarm\n") {
			t.Errorf("%v: %q", level, out)
		}
		if _, err := os.Lstat(dir + "/new"); err == nil {
			t.Errorf("%v: what was written is not private", level)
		}
	}
}

// TestRedirect: an agent can write to each cache that a variable names, also to
// one that is not there yet and to one that no overlay can be mounted over.
// Packages that are there stay in sight.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		if !level.Overlay() {
			continue // HOME is apart, and has all caches.
		}
		g := newFixture(t, outside(t))
		p := g.on(level)
		p.Pieces = []Piece{{At: g.Repo, From: g.Repo}}
		there, modules := mustMkdir(t, g.Repo+"/.caches/pip"), mustMkdir(t, g.Repo+"/.caches/mod")
		write(t, modules+"/module", "packages")
		vars := map[string]string{
			"GOCACHE": "/nonexistent/go", "DENO_DIR": "/nonexistent/deno", "PIP_CACHE_DIR": there, "CCACHE_DIR": g.Dir + "/new",
			"npm_config_cache": g.Repo + "/.caches/new/npm", "GOMODCACHE": modules, "UV_CACHE_DIR": "relative", "GOTMPDIR": "/nonexistent/tmp",
		}
		p.Getenv = func(name string) string { return vars[name] }
		w := compose(t, level, p)
		for _, kv := range Redirect(w, g.Home, p.Getenv) {
			name, value, _ := strings.Cut(kv, "=")
			vars[name] = value
		}
		if vars["UV_CACHE_DIR"] != "relative" || vars["GOTMPDIR"] != "" || vars["GOMODCACHE"] != modules {
			t.Errorf("%v: %v", level, vars)
		}
		out := sh(t, w, `cat "$1/module"; shift; for dir; do mkdir -p "$dir" && echo x >"$dir/x" || echo "$dir"; done`,
			modules, vars["GOCACHE"], vars["DENO_DIR"], vars["PIP_CACHE_DIR"], vars["CCACHE_DIR"], vars["npm_config_cache"])
		if out != "packages" {
			t.Errorf("%v: cannot write to\n%s", level, out)
		}
		for _, path := range []string{there + "/x", g.Dir + "/new", g.Repo + "/.caches/new", g.Home + "/.cache/swarm-gocache"} {
			if exists(path) {
				t.Errorf("%v: %s is not private", level, path)
			}
		}
	}
}

// TestCacheFolders: a folder of builds in the repository is a part of the
// workspace, and keeps no overlay from it.
func TestCacheFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := CacheFolders(func(name string) string {
		return map[string]string{"CARGO_TARGET_DIR": dir, "PRE_COMMIT_HOME": dir, "PIP_CACHE_DIR": dir + "/none", "GOCACHE": dir}[name]
	})
	if want, ok := real(dir); !ok || !slices.Equal(got, []string{want}) {
		t.Errorf("CacheFolders = %q, want that of GOCACHE alone", got)
	}
}

// TestCachesInView: a cache in a repository that is only read, as that of a
// linked worktree is, can be filled, and what fills it is private.
func TestCachesInView(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		if !level.Overlay() {
			continue
		}
		g := newFixture(t, outside(t))
		dir := mustMkdir(t, g.Repo+"/.caches/go")
		write(t, dir+"/warm", "warm")
		p := g.place()
		p.Pieces = []Piece{{At: g.Repo, From: g.Repo}}
		p.Getenv = func(name string) string { return map[string]string{"GOCACHE": dir}[name] }
		out := sh(t, compose(t, level, p), `echo mine >"$1/new" && ls "$1" && ! echo mine 2>/dev/null >"$2/file"`, dir, g.Repo)
		if out != "new\nwarm\n" {
			t.Errorf("%v: %q", level, out)
		}
		if _, err := os.Lstat(dir + "/new"); err == nil {
			t.Errorf("%v: what was written is not private", level)
		}
	}
}

// TestWarmInHome: what an earlier command left of HOME is seen, and what it took
// away is not, also where the state lies in HOME, as it does by default.
func TestWarmInHome(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		if !level.Overlay() {
			continue
		}
		for _, inCache := range []bool{false, true} {
			for _, where := range places(t, 0) {
				g := newFixture(t, where(t))
				if inCache {
					g.State = mustMkdir(t, g.Home+"/.cache/state")
					g.Private = mustMkdir(t, g.State+"/repo-1/trees/a1/box")
				}
				write(t, g.Home+"/.cache/old/gone", "old")
				p := g.on(level)
				first := p
				first.Private = mustMkdir(t, g.State+"/repo-1/warm/box")
				sh(t, compose(t, level, first), `echo filled >"$1/filled" && rm -r "$1/old" && mkdir "$1/old"`, g.Home+"/.cache")
				p.Warm = first.Private
				w := compose(t, level, p)
				out := sh(t, w, `cd "$1" && cat filled && ls old && cat warm && echo mine >filled && echo mine >warm`, g.Home+"/.cache")
				if out != "filled\nwarm" {
					t.Errorf("%v, state in the cache %v: %q", level, inCache, out)
				}
				if again := sh(t, w, `cat "$1/filled" && ls "$2"`, g.Home+"/.cache", g.State); again != "mine\nrepo-1\n" && again != "mine\n" {
					t.Errorf("%v, state in the cache %v, again: %q", level, inCache, again)
				}
				if text, _ := os.ReadFile(g.Home + "/.cache/warm"); string(text) != "warm" {
					t.Errorf("%v, state in the cache %v: the user's file holds %q", level, inCache, text)
				}
			}
		}
	}
}

// TestOwnHome: an agent whose user has no HOME writes to one of its own, and to
// caches that variables name.
func TestOwnHome(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		for _, home := range []string{"", "/", "/no/such/folder"} {
			g := newFixture(t, outside(t))
			cache := filepath.Join(g.Home, ".cache")
			g.Env["GOCACHE"] = cache
			p := g.on(level)
			p.Home = home
			w := compose(t, level, p)
			out := sh(t, w, `mkdir -p "$1/.config" && echo x > "$1/.config/x" && cat "$1/.config/x"; (echo y > "$2/y") 2>&- && cat "$2/y" || true`, OwnHome(home), cache)
			want := "x\n"
			if level.Overlay() {
				want += "y\n"
			}
			if out != want {
				t.Errorf("%v, HOME %q: %q, want %q", level, home, out, want)
			}
			g.untouched(t)
		}
	}
	if got := OwnHome(t.TempDir()); got != "" {
		t.Errorf("OwnHome of a HOME = %s", got)
	}
}

// TestYarnOfRoot: the cache of Yarn that root has lies outside of HOME. An agent reads
// it, and writes to a layer of its own.
func TestYarnOfRoot(t *testing.T) {
	t.Parallel()
	g := newFixture(t, outside(t))
	cache := filepath.Join(g.Dir, "yarn")
	write(t, filepath.Join(cache, "v6/x"), "warm")
	p := g.place()
	c := &composing{Place: p, level: Full}
	if err := errors.Join(c.layerCaches(cache), c.layerCaches("")); err != nil {
		t.Fatal(err)
	}
	if len(c.open) != 1 || c.open[0].At != cache || c.open[0].Lower[0] != cache || c.open[0].Upper == "" {
		t.Errorf("the layers are %+v", c.open)
	}
}
