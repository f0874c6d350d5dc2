package privatehome

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlainNpmrc(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ give, want string }{
		{"", ""},
		{"registry=https://npm.example.org/\n", "registry=https://npm.example.org/\n"},
		{"@corp:registry = https://npm.example.org/\nfund=false", "@corp:registry=https://npm.example.org/\nfund=false\n"},
		{"//npm.example.org/:_authToken=" + secret, ""},
		{"_auth=" + secret + "\n_password=" + secret + "\nemail=a@b\nusername=" + secret, ""},
		{"registry=https://ada:" + secret + "@npm.example.org/\n", ""},
		{"registry=https://" + secret + "@npm.example.org/\n", ""},
		{"registry=https://npm.example.org/?token=" + secret + "\n", ""},
		{"registry=${" + secret + "}\n", ""},
		{"proxy=http://ada:" + secret + "@proxy/\n", ""},
		{"key=\"" + secret + "\"\ncert=" + secret, ""},
		{"fund=false\r\n; registry=x\n# fund=true\nfund\n", "fund=false\n"},
	} {
		if got := string(plainNpmrc([]byte(tc.give))); got != tc.want {
			t.Errorf("plainNpmrc(%q) = %q, want %q", tc.give, got, tc.want)
		}
	}
}

// FuzzPlainNpmrc: every line that is kept is a known key of the text, and
// filtering again changes nothing.
func FuzzPlainNpmrc(f *testing.F) {
	f.Add("registry=https://npm.example.org/\n//npm.example.org/:_authToken=x\n")
	f.Add("@a:registry=http://u:p@h/\nfund = false")
	f.Fuzz(func(t *testing.T, text string) {
		kept := string(plainNpmrc([]byte(text)))
		if again := string(plainNpmrc([]byte(kept))); again != kept {
			t.Errorf("filtered again, %q becomes %q", kept, again)
		}
		for line := range strings.Lines(kept) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if strings.ContainsAny(value, "@$") || strings.HasPrefix(key, "_") || strings.HasPrefix(key, "//") {
				t.Errorf("%q keeps %q", text, line)
			}
		}
	})
}

func TestGoEnvValue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ give, want string }{
		{"", ""}, {"GOPROXY=a\nGOFLAGS=-v\n", "a"}, {"GOPROXY=a\r\nGOPROXY=b,c\r\n", "b,c"}, {"XGOPROXY=a\nGOPROXYX=b", ""}, {"GOPROXY=", ""},
	} {
		if got := goEnvValue([]byte(tc.give), "GOPROXY"); got != tc.want {
			t.Errorf("goEnvValue(%q) = %q, want %q", tc.give, got, tc.want)
		}
	}
}

func FuzzGoEnvValue(f *testing.F) {
	f.Add("GOPROXY=a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := goEnvValue([]byte(text), "GOPROXY"); strings.ContainsAny(got, "\n") || !strings.Contains(text, got) {
			t.Errorf("goEnvValue(%q) = %q", text, got)
		}
	})
}

// variable returns a variable of an environment, and checks that it is there
// once.
func variable(t *testing.T, env []string, name string) string {
	t.Helper()
	var all []string
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			all = append(all, value)
		}
	}
	if len(all) > 1 {
		t.Errorf("%s is there %d times", name, len(all))
	}
	return strings.Join(all, "")
}

// TestEnvironHoldsBack: a value that agents may not get is in no variable.
func TestEnvironHoldsBack(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".m2/repository/x", "")
	u.write(".config/go/env", "GOPROXY=https://u:secret@proxy.example.org\n")
	env := map[string]string{"MAVEN_ARGS": "-Dpassword=secret"}
	for _, proxy := range []string{"", "https://u:secret@other.example.org"} {
		env["GOPROXY"] = proxy
		template, err := Prepare(Request{
			Home: u.path("home"), Shared: u.path("shared"), Getenv: func(name string) string { return env[name] },
			Passes: func(_, value string) bool { return !strings.Contains(value, "secret") },
		})
		u.must(err)
		for _, kv := range template.Environ("/p") {
			if strings.Contains(kv, "secret") {
				t.Errorf("with GOPROXY %q: %s", proxy, kv)
			}
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	home := u.path("home")
	u.write("go/pkg/mod/cache/download/x", "")
	u.write(".rustup/x", "")
	u.write(".m2/repository/x", "")
	u.write("gradle/caches/modules-2/x", "")
	u.write(".config/go/env", "GOPROXY=https://proxy.example.org\n")
	u.env = map[string]string{
		"XDG_CACHE_HOME": home + "/.my cache", "XDG_STATE_HOME": "/elsewhere/state", "GOPATH": home + "/go", "GOBIN": "/usr/local/bin",
		"GRADLE_USER_HOME": home + "/gradle", "MAVEN_ARGS": "-q", "MAVEN_OPTS": "-Xmx1g", "NPM_CONFIG_CACHE": "/elsewhere/npm",
	}
	shared := u.path("shared")
	env := u.prepare().Environ("/p")
	for name, want := range map[string]string{
		"HOME": "/p", "XDG_CACHE_HOME": "/p/.my cache", "XDG_STATE_HOME": "/p/.local/state", "XDG_CONFIG_HOME": "",
		"GOPATH": "/p/go", "GOBIN": "/p/go/bin", "GOCACHE": shared + "/go-build", "GOMODCACHE": shared + "/go-mod",
		"GOPROXY":          "file://" + home + "/go/pkg/mod/cache/download,https://proxy.example.org",
		"npm_config_cache": shared + "/npm", "NPM_CONFIG_CACHE": shared + "/npm", "PIP_CACHE_DIR": shared + "/pip",
		"CARGO_HOME": "/p/.cargo", "RUSTUP_HOME": home + "/.rustup", "GRADLE_USER_HOME": "/p/.gradle",
		"MAVEN_OPTS": "-Xmx1g -Duser.home=/p -Dmaven.repo.local=" + shared + "/maven", "SBT_OPTS": "-Duser.home=/p",
		"GRADLE_RO_DEP_CACHE": home + "/gradle/caches", "MAVEN_ARGS": "-q -Dmaven.repo.local.tail=" + home + "/.m2/repository",
	} {
		if got := variable(t, env, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// TestMaven: agents share a local repository that starts with the user's. For a
// folder with a blank, the JVM's own variable has the options in quotes.
func TestMaven(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".m2/repository/org/example/a/1.0/a-1.0.pom", "<project/>")
	u.write(".m2/repository/org/example/a/1.0/a-1.0.jar", strings.Repeat("x", 20<<10))
	before := u.state()
	template := u.prepare()
	for name, linked := range map[string]bool{"a-1.0.pom": false, "a-1.0.jar": true} {
		info, err := os.Lstat(filepath.Join(u.path("shared/maven/org/example/a/1.0"), name))
		if err != nil || (info.Mode()&os.ModeSymlink != 0) != linked {
			t.Errorf("%s: %v, %v, want a link: %v", name, info, err, linked)
		}
	}
	u.must(os.WriteFile(u.path("shared/maven/org/example/a/1.0/a-1.0.pom"), []byte("agent"), 0o600))
	if after := u.state(); after != before {
		t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
	}
	u.env["JAVA_TOOL_OPTIONS"] = "-Da=b"
	env := template.Environ("/it's p")
	for name, want := range map[string]string{
		"MAVEN_OPTS": "", "SBT_OPTS": "", "MAVEN_ARGS": "",
		"JAVA_TOOL_OPTIONS": "-Da=b \"-Duser.home=/it's p\" '-Dmaven.repo.local=" + u.path("shared/maven") +
			"' '-Dmaven.repo.local.tail=" + u.path("home/.m2/repository") + "'",
	} {
		if got := variable(t, env, name); got != want {
			t.Errorf("%s = %q for a HOME with a blank, want %q", name, got, want)
		}
	}
	if got := variable(t, template.Environ("/p"), "JAVA_TOOL_OPTIONS"); got != "" {
		t.Errorf("JAVA_TOOL_OPTIONS = %q for a HOME without a blank", got)
	}
}

// TestCargo: agents share crates and their index, and no file that tells cargo
// which programs to run.
func TestCargo(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		u := newUser(t)
		where := map[bool]string{false: ".cargo", true: "rust/cargo"}[elsewhere]
		if elsewhere {
			u.env = map[string]string{"CARGO_HOME": u.path("home/rust/cargo")}
		}
		u.write(where+"/config.toml", "[net]\n")
		u.write(where+"/bin/tool", "#!")
		u.write(where+"/registry/cache/h/c-1.0.crate", "crate")
		u.write(where+"/credentials.toml", secret)
		template := u.prepare(where + "/credentials.toml")
		one, two := u.build(template), u.build(template)
		for name, text := range map[string]string{
			"config.toml": "[net]\n", "bin/tool": "#!", "registry/cache/h/c-1.0.crate": "crate",
		} {
			if got, err := os.ReadFile(filepath.Join(one, ".cargo", name)); string(got) != text {
				t.Errorf("elsewhere %v: %s = %q, %v, want %q", elsewhere, name, got, err, text)
			}
		}
		if _, err := os.Stat(filepath.Join(one, ".cargo/credentials.toml")); err == nil {
			t.Errorf("elsewhere %v: the credentials of cargo are in a private HOME", elsewhere)
		}
		u.must(os.WriteFile(filepath.Join(one, ".cargo/config.toml"), []byte("[build]\nrustc-wrapper = '/evil'\n"), 0o600))
		u.must(os.WriteFile(filepath.Join(one, ".cargo/registry/cache/new"), nil, 0o600))
		if got, _ := os.ReadFile(filepath.Join(two, ".cargo/config.toml")); string(got) != "[net]\n" {
			t.Errorf("elsewhere %v: a sibling's configuration is %q", elsewhere, got)
		}
		if _, err := os.Stat(filepath.Join(two, ".cargo/registry/cache/new")); err != nil {
			t.Errorf("elsewhere %v: crates are not shared: %v", elsewhere, err)
		}
		if got, _ := os.ReadFile(u.path("home/" + where + "/config.toml")); string(got) != "[net]\n" {
			t.Errorf("elsewhere %v: the user's configuration is %q", elsewhere, got)
		}
	}
}

// TestMatchModule has the cases of go.dev/ref/mod#private-modules.
func TestMatchModule(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		globs, module string
		want          bool
	}{
		{"corp.example.com", "corp.example.com/xyzzy", true},
		{"*.corp.example.com,rsc.io/private", "git.corp.example.com/xyzzy", true},
		{"*.corp.example.com,rsc.io/private", "rsc.io/private/quux", true},
		{"*.corp.example.com,rsc.io/private/", "rsc.io/private", true},
		{"*.corp.example.com,rsc.io/private", "rsc.io/privateer", false},
		{"rsc.io/private", "rsc.io", false},
		{"", "rsc.io/private", false}, {",", "rsc.io/private", false}, {"[", "rsc.io/private", false},
	} {
		if got := matchModule(tc.globs, tc.module); got != tc.want {
			t.Errorf("matchModule(%q, %q) = %v", tc.globs, tc.module, got)
		}
	}
}

// TestPrivateModules: Go asks no proxy for private modules, so that they are in the
// shared cache itself. The others are not.
func TestPrivateModules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"GOPRIVATE", "GONOPROXY", ""} {
		u := newUser(t)
		const modules = "go/pkg/mod/cache/download/"
		u.write(modules+"corp.example.com/!team/a/@v/v1.0.0.zip", strings.Repeat("x", 20<<10))
		u.write(modules+"corp.example.com/!team/a/@v/list", "v1.0.0\n")
		u.write(modules+"golang.org/x/sync/@v/v0.1.0.zip", "x")
		want := "v1.0.0\n"
		if name == "" {
			want = ""
		} else {
			u.write(".config/go/env", name+"=corp.example.com/Team\n")
		}
		before := u.state()
		u.prepare()
		cache := u.path("shared/go-mod/cache/download")
		u.has(cache, "corp.example.com/!team/a/@v/list", want)
		u.has(cache, "golang.org/x/sync/@v/v0.1.0.zip", "")
		if name != "" {
			u.has(cache, "corp.example.com/!team/a/@v/v1.0.0.zip", strings.Repeat("x", 20<<10))
			u.put(cache, "corp.example.com/!team/a/@v/list", "v1.0.0\nv1.1.0\n")
		}
		if after := u.state(); after != before {
			t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
		}
	}
}

// TestUv: agents add to each folder of uv's cache. An unpacked package is shown
// whole.
func TestUv(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, name := range []string{
		"archive-v0/id/tiny/__init__.py", "wheels-v5/pypi/tiny/1.0.msgpack", "simple-v16/pypi/tiny.rkyv", "interpreter-v4/machine/python.msgpack",
		"sdists-v9/pypi/tiny/1.0/revision.rev",
	} {
		u.write(".cache/uv/"+name, "user")
	}
	before := u.state()
	u.prepare()
	cache := u.path("shared/uv")
	u.has(cache, "wheels-v5/pypi/tiny/1.0.msgpack", "user")
	if to, err := os.Readlink(filepath.Join(cache, "archive-v0/id")); to != u.path("home/.cache/uv/archive-v0/id") {
		t.Errorf("the package leads to %q, %v", to, err)
	}
	for _, name := range []string{
		"archive-v0/new/x", "wheels-v5/pypi/new/1.0.msgpack", "wheels-v5/pypi/tiny/2.0.msgpack", "simple-v16/pypi/new.rkyv", "interpreter-v4/machine/new.msgpack",
		"sdists-v9/pypi/tiny/2.0/revision.rev",
	} {
		u.put(cache, name, "agent")
	}
	if after := u.state(); after != before {
		t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
	}
}

// TestYarn: Yarn 1 finds the shared cache by its configuration alone. Later
// versions would take a variable for the cache in a repository.
func TestYarn(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{false, true} {
		u := newUser(t)
		u.write("yarn cache/v6/npm-a-1.0.0-hash/package.json", "{}")
		u.write(".yarnrc", "registry \"https://npm.example.org\"\ncache-folder \""+u.path("home/yarn cache")+"\"\nprefer-offline true")
		if linked {
			u.must(os.MkdirAll(u.path("home/.dotfiles"), 0o755), os.Rename(u.path("home/.yarnrc"), u.path("dotfiles")),
				os.Symlink(u.path("dotfiles"), u.path("home/.yarnrc")))
		}
		before := u.state()
		template := u.prepare()
		home := u.build(template)
		want := "registry \"https://npm.example.org\"\nprefer-offline true\ncache-folder \"" + u.path("shared/yarn") + "\"\n"
		u.has(home, ".yarnrc", want)
		u.has(u.path("shared"), "yarn/v6/npm-a-1.0.0-hash/package.json", "{}")
		if got := variable(t, template.Environ(home), "YARN_CACHE_FOLDER"); got != "" {
			t.Errorf("YARN_CACHE_FOLDER = %q", got)
		}

		other, err := Prepare(Request{Home: u.path("home"), Shared: u.path("others"), Getenv: func(string) string { return "" }})
		adopt := func() error {
			left, err := other.Adopt(home)
			if len(left) > 0 {
				t.Errorf("Adopt left %q", left)
			}
			return err
		}
		u.must(err, adopt())
		u.has(home, ".yarnrc", strings.Replace(want, "shared", "others", 1))
		// A program of the setup put a link in its place.
		u.must(os.Remove(filepath.Join(home, ".yarnrc")), os.Symlink(u.path("home/.yarnrc"), filepath.Join(home, ".yarnrc")), adopt())
		u.has(home, ".yarnrc", "cache-folder \""+u.path("others/yarn")+"\"\n")
		if after := u.state(); after != before {
			t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
		}

		u.env["YARN_CACHE_FOLDER"] = u.path("home/.cache/yarn")
		if got := variable(t, template.Environ(home), "YARN_CACHE_FOLDER"); got != u.path("shared/yarn") {
			t.Errorf("YARN_CACHE_FOLDER = %q where the user has one", got)
		}
	}
}

// TestYarnCache is the folder of Yarn 1 by user, variables and configuration.
func TestYarnCache(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	home := u.path("home")
	for _, tc := range []struct {
		env    map[string]string
		config string
		root   bool
		want   string
	}{
		{want: home + "/.cache/yarn"},
		{root: true, want: "/usr/local/share/.cache/yarn"},
		{root: true, env: map[string]string{"XDG_CACHE_HOME": "/x"}, want: "/x/yarn"},
		{root: true, config: "cache-folder /c", want: "/c"},
		{config: "cache-folder ./c", want: home + "/.cache/yarn"},
		{root: true, config: "cache-folder /c", env: map[string]string{"YARN_CACHE_FOLDER": "/v"}, want: "/v"},
	} {
		u.write(".yarnrc", tc.config)
		template := &Template{home: home, getenv: func(name string) string { return tc.env[name] }}
		if got := template.yarnCache(tc.root); got != tc.want {
			t.Errorf("the cache of Yarn for %+v is %s", tc, got)
		}
	}
}

// TestPnpmStore: agents find the user's packages where pnpm keeps them.
func TestPnpmStore(t *testing.T) {
	t.Parallel()
	for variable, tc := range map[string]struct{ value, store string }{
		"": {"", ".local/share/pnpm/store"}, "PNPM_HOME": {"pnpm", "pnpm/store"}, "XDG_DATA_HOME": {"data", "data/pnpm/store"},
		"npm_config_store_dir": {"store", "store"},
	} {
		u := newUser(t)
		if variable != "" {
			u.env[variable] = u.path("home/" + tc.value)
		}
		u.write(tc.store+"/v3/files/00/x", "package")
		u.write("pnpm/bin/tool", "#!")
		template, err := Prepare(Request{
			Home: u.path("home"), Shared: u.path("shared"), Getenv: func(name string) string { return u.env[name] }, Caches: []string{"PNPM_HOME"},
		})
		u.must(err)
		u.has(u.path("shared/pnpm"), "v3/files/00/x", "package")
		if variable != "PNPM_HOME" {
			continue
		}
		u.has(variableOf(t, template, "PNPM_HOME"), "bin/tool", "#!")
		if _, err := os.Lstat(u.path("shared/named/PNPM_HOME/store")); err == nil {
			t.Error("the store is shown twice")
		}
	}
}

func variableOf(t *testing.T, template *Template, name string) string {
	t.Helper()
	return variable(t, template.Environ("/p"), name)
}

// TestGradleElsewhere: with another GRADLE_USER_HOME the distributions, scripts and
// settings in it are found, and those below ~/.gradle are not.
func TestGradleElsewhere(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		u := newUser(t)
		u.env["GRADLE_USER_HOME"] = u.path("gradle home")
		const lock = "wrapper/dists/gradle-9.4.1-bin/7kxr/gradle-9.4.1-bin.zip.lck"
		for name, text := range map[string]string{
			lock: "", "wrapper/dists/gradle-9.4.1-bin/7kxr/gradle-9.4.1/bin/gradle": "#!", "init.d/mirror.gradle": "allprojects {}\n",
			"gradle.properties": "org.gradle.caching=true\nsigning.password=" + secret + "\n", "caches/modules-2/x": "x", "jdks/17/bin/java": "#!",
		} {
			u.write("../gradle home/"+name, text)
		}
		u.write(".gradle/init.d/other.gradle", "x")
		template, err := Prepare(Request{
			Home: u.path("home"), Shared: u.path("shared"), Getenv: func(name string) string { return u.env[name] }, Live: live,
			Hidden: []string{u.path("gradle home/gradle.properties")},
		})
		u.must(err)
		home := u.build(template)
		u.has(home, ".gradle/wrapper/dists/gradle-9.4.1-bin/7kxr/gradle-9.4.1/bin/gradle", "#!")
		u.has(home, ".gradle/init.d/mirror.gradle", "allprojects {}\n")
		u.has(home, ".gradle/gradle.properties", "org.gradle.caching=true\n")
		u.has(home, ".gradle/jdks/17/bin/java", "#!")
		u.has(home, ".gradle/init.d/other.gradle", "")
		if _, err := os.Lstat(filepath.Join(home, ".gradle/caches/modules-2")); err == nil && !live {
			t.Error("the caches are shown")
		}
		u.put(home, ".gradle/"+lock, "agent")
		u.put(home, ".gradle/jdks/21/bin/java", "agent")
		u.has(u.path("gradle home"), "jdks/21/bin/java", "")
		if text, err := os.ReadFile(u.path("gradle home/" + lock)); err != nil || len(text) > 0 {
			t.Errorf("the user's lock is %q, %v", text, err)
		}
	}
}

// TestUvTools: uv adds tools and interpreters beside the user's. Variables that place
// them elsewhere lead into the private HOME.
func TestUvTools(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		u := newUser(t)
		dirs := map[string]string{"UV_TOOL_DIR": ".local/share/uv/tools", "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python", "PIPX_HOME": ".local/share/pipx"}
		if elsewhere {
			dirs = map[string]string{"UV_TOOL_DIR": "../uv/tools", "UV_PYTHON_INSTALL_DIR": "../uv/python", "PIPX_HOME": "../pipx"}
			for name, dir := range dirs {
				u.env[name] = u.path("home/" + dir)
			}
			u.env["UV_TOOL_BIN_DIR"] = u.path("bin")
		}
		u.write(dirs["UV_TOOL_DIR"]+"/ruff/bin/ruff", "#!")
		u.write(dirs["UV_TOOL_DIR"]+"/.lock", "")
		u.write(dirs["UV_PYTHON_INSTALL_DIR"]+"/cpython-3.12/bin/python3", "#!")
		u.write(dirs["PIPX_HOME"]+"/venvs/black/bin/black", "#!")
		before := u.state()
		template := u.prepare()
		home := u.build(template)
		u.has(home, ".local/share/uv/tools/ruff/bin/ruff", "#!")
		if to, err := os.Readlink(filepath.Join(home, ".local/share/uv/tools/ruff")); to != u.path("home/"+dirs["UV_TOOL_DIR"]+"/ruff") {
			t.Errorf("elsewhere %v: the tool leads to %q, %v", elsewhere, to, err)
		}
		u.has(home, ".local/share/uv/python/cpython-3.12/bin/python3", "#!")
		u.has(home, ".local/share/pipx/venvs/black/bin/black", "#!")
		for _, name := range []string{
			".local/share/uv/tools/.lock", ".local/share/uv/tools/mypy/bin/mypy", ".local/bin/mypy", ".local/share/uv/python/.temp/x",
			".local/share/uv/python/cpython-3.13/bin/python3", ".local/share/pipx/venvs/tox/bin/tox",
		} {
			u.put(home, name, "agent")
		}
		for _, name := range []string{dirs["UV_TOOL_DIR"] + "/mypy", dirs["UV_TOOL_DIR"] + "/.lock", dirs["PIPX_HOME"] + "/venvs/tox"} {
			if text, _ := os.ReadFile(u.path("home/" + name)); len(text) > 0 || isDir(u.path("home/"+name)) {
				t.Errorf("elsewhere %v: ~/%s was changed", elsewhere, name)
			}
		}
		if after := u.state(); after != before {
			t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
		}
		for name, usual := range map[string]string{
			"UV_TOOL_DIR": ".local/share/uv/tools", "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python", "PIPX_HOME": ".local/share/pipx", "UV_TOOL_BIN_DIR": ".local/bin",
		} {
			want := ""
			if elsewhere {
				want = filepath.Join(home, usual)
			}
			if got := variable(t, template.Environ(home), name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
	}
}

// TestMovedBelowLink: nothing is made through a link to a folder of the user's.
func TestMovedBelowLink(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.must(os.Mkdir(u.path("data"), 0o700), os.Mkdir(u.path("home/.local"), 0o700), os.Symlink(u.path("data"), u.path("home/.local/share")))
	u.env["UV_TOOL_DIR"] = u.path("home/tools")
	u.write("tools/ruff/bin/ruff", "#!")
	u.build(u.prepare())
	if _, err := os.Lstat(u.path("data/uv")); err == nil {
		t.Error("a folder of the user's was written to")
	}
}

// TestGradleWrapper: a wrapper opens the lock beside a distribution to write, and
// puts new distributions there.
func TestGradleWrapper(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const hash = ".gradle/wrapper/dists/gradle-9.4.1-bin/7kxr"
	u.write(hash+"/gradle-9.4.1-bin.zip.lck", "")
	u.write(hash+"/gradle-9.4.1-bin.zip.ok", "")
	u.write(hash+"/gradle-9.4.1/bin/gradle", "#!")
	before := u.state()
	home := u.build(u.prepare())
	u.has(home, hash+"/gradle-9.4.1/bin/gradle", "#!")
	for _, name := range []string{hash + "/gradle-9.4.1-bin.zip.lck", hash + "/gradle-9.4.1-bin.zip.ok", ".gradle/wrapper/dists/gradle-9.5-bin/x/lock"} {
		if at, err := os.Lstat(filepath.Join(home, name)); err == nil && !at.Mode().IsRegular() {
			t.Errorf("%s is %v", name, at.Mode())
		}
		u.put(home, name, "agent")
	}
	if u.state() != before {
		t.Error("the user's HOME has changed")
	}
}

// TestSeeds checks that a shared cache has the entries of the user's, and that
// a tool's writes to it do not change the user's.
func TestSeeds(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for name, text := range map[string]string{
		".cache/go-build/00/abc-a": "v1 abc\n", ".cache/go-build/00/abc-d": "object", ".cache/go-build/trim.txt": "1",
		".npm/_cacache/index-v5/00/01/x": "entry\n", ".npm/_cacache/content-v2/sha512/00/01/y": "tarball",
		".cargo/registry/cache/h/c-1.0.crate": "crate", ".cargo/registry/src/h/c-1.0/lib.rs": "//", ".cargo/bin/tool": "#!",
		".cargo/config.toml": "[net]\n", ".cargo/credentials.toml": secret, ".cache/pip/http-v2/a/b": "wheel",
	} {
		u.write(name, text)
	}
	before := u.state()
	u.prepare(".cargo/credentials.toml")
	for name, text := range map[string]string{
		"go-build/00/abc-a": "v1 abc\n", "go-build/00/abc-d": "object", "npm/_cacache/index-v5/00/01/x": "entry\n",
		"npm/_cacache/content-v2/sha512/00/01/y": "tarball", "cargo/registry/cache/h/c-1.0.crate": "crate",
		"cargo/registry/src/h/c-1.0/lib.rs": "//", "pip/http-v2/a/b": "wheel",
	} {
		if got, err := os.ReadFile(u.path("shared/" + name)); string(got) != text {
			t.Errorf("%s = %q, %v, want %q", name, got, err, text)
		}
	}
	if _, err := os.Lstat(u.path("shared/cargo/credentials.toml")); err == nil {
		t.Error("the credentials of cargo are in the shared cache")
	}
	for _, name := range []string{"go-build/00/abc-a", "go-build/trim.txt", "npm/_cacache/index-v5/00/01/x"} {
		u.must(os.WriteFile(u.path("shared/"+name), []byte("written"), 0o600))
	}
	for _, name := range []string{"go-build/00/new-d", "npm/_cacache/content-v2/sha512/00/01/new", "cargo/registry/cache/h/new", "pip/http-v2/a/new"} {
		u.must(os.MkdirAll(filepath.Dir(u.path("shared/"+name)), 0o700), os.WriteFile(u.path("shared/"+name), nil, 0o600))
	}
	if after := u.state(); after != before {
		t.Errorf("the user's caches are\n%s\nwere\n%s", after, before)
	}
}
