package main

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree"
)

// sandboxMode is how much of a sandbox there is, and the command that swarm
// runs behind to have no more of it than that.
type sandboxMode struct {
	name   string
	behind []string
}

const (
	modeFull     = "full"
	modeLandlock = "landlock"
	modeNone     = "none"
	// modeNoOverlays is the full sandbox where no overlay can be mounted, as in a
	// container without a volume.
	modeNoOverlays = "no-overlays"
)

func sandboxModes() []sandboxMode {
	return []sandboxMode{
		{modeFull, nil},
		{modeLandlock, []string{"nonamespaces"}},
		{modeNone, []string{"nonamespaces", "-no-landlock"}},
	}
}

// allModes are those of docs/isolation.md, and that without overlays.
func allModes() []sandboxMode {
	return append(sandboxModes(), sandboxMode{modeNoOverlays, []string{"nonamespaces", "-no-overlays"}})
}

// tool is an ordinary thing that agents do: a shell script that ends with 0
// where it works.
type tool struct {
	name   string
	needs  []string // programs; without each of them the row is left out
	script string
	// slow rows compile, or start a package manager. The gate runs them as agents
	// of the mode with Landlock only.
	slow bool
	// rare rows take tens of seconds of processor time. The gate leaves them out.
	rare bool
	// fails are the modes where it cannot work, and why. docs/isolation.md has
	// them, too.
	fails map[string]string
}

// tools are run by an agent each, in every mode. Their HOME has the files of
// setUpTools.
func tools() []tool {
	return []tool{
		{name: "go-build", slow: true, needs: []string{"go"}, script: `
cd gomod && go build -o ../prog . && ../prog`},
		{name: "go-cache", slow: true, needs: []string{"go"}, script: `
cd gomod && go build -x -o ../prog . 2>log || { cat log; exit 1; }
! grep -e ' -p fmt ' log`},
		{name: "go-test", rare: true, needs: []string{"go"}, script: `cd gomod && go vet . && go test ./...`},
		{name: "go-get", slow: true, needs: []string{"go"}, script: `
mkdir new && cd new && go mod init example.org/new && go get golang.org/x/sync@v0.24.0 && go mod tidy`},
		{name: "go-private", slow: true, needs: []string{"go"}, script: `
mkdir private && cd private && go mod init example.org/private && go get golang.org/x/sys@v0.49.0`},
		{name: "go-install", slow: true, needs: []string{"go"}, script: `
cd gomod && go install . && "$(go env GOPATH)/bin/tools"`},
		{name: "go-env", needs: []string{"go"}, script: `go env -w GOPRIVATE=example.org && test "$(go env GOPRIVATE)" = example.org`},
		{name: "npm-install", slow: true, needs: []string{"npm"}, script: `
cd node && npm install --offline --no-audit --no-fund ./dep && node -e 'if (require("dep") !== 42) process.exit(1)'`},
		{name: "npx", rare: true, needs: []string{"npx"}, script: `
cd node && npm install --offline --no-audit --no-fund ./dep && npx --offline dep`},
		{name: "npm-cache", rare: true, needs: []string{"npm"}, script: `
cd node && tarball=$(npm pack --silent ./dep) && npm cache add "$tarball"`},
		{name: "npm-config", needs: []string{"npm"}, script: `npm config set fund=false`},
		{name: "pnpm", slow: true, needs: []string{"pnpm"}, script: `cd node && pnpm install --offline ./dep`},
		{name: "pip", slow: true, needs: []string{"python3"}, script: `
python3 -c 'import ensurepip' && python3 -m venv v && v/bin/pip install --no-index --quiet ./wheels/tiny-1.0-py3-none-any.whl && v/bin/python -c 'import tiny'`},
		{name: "uv", slow: true, needs: []string{"uv"}, script: `uv venv v && uv pip install --offline --python v ./wheels/tiny-1.0-py3-none-any.whl`},
		{name: "cargo", slow: true, needs: []string{"cargo"}, script: `cd crate && cargo build --offline --quiet && target/debug/crate`},
		{name: "maven", rare: true, needs: []string{"mvn"}, script: `
cd maven && export MAVEN_OPTS="-Duser.home=$HOME $MAVEN_OPTS"
sed "s#HERE#$PWD#" far.xml > there.xml
mvn -o -q validate && mvn -q -f there.xml validate`},
		{name: "make", needs: []string{"gcc", "make"}, script: `cd c && make && ./hello`},
		{name: "git", needs: []string{"git"}, script: `
echo new > new && git add new && git commit -qm new && git stash list && git switch -qc side && git config --global --list >/dev/null
test "$(git log -1 --format=%an)" = "$(git config user.name)"
test "$(git config alias.st)" = 'status -s'
test "$(git config init.defaultBranch)" = included
test "$(git ls-remote --get-url short:x)" = https://mirror.example.org/x
printf '[core]\n\tabbrev = 12\n' >> ~/.gitconfig && test "$(git config core.abbrev)" = 12`},
		{name: "path", script: `
mkdir -p ~/.local/bin && cp -p /bin/true ~/.local/bin/fresh && fresh && users-tool`},
		{name: "tmux", needs: []string{"tmux"}, script: `
tmux -f /dev/null new-session -d -s w 'echo up > up; sleep 60' && until test -s up; do sleep 0.1; done; tmux list-sessions | grep -c . | grep -qx 1`},
		{name: "multiprocessing", needs: []string{"python3"}, script: `
python3 -c '
import multiprocessing as m
from multiprocessing import shared_memory
def f(x): return x * x
if __name__ == "__main__":
    with m.Pool(2) as p: assert p.map(f, [1, 2, 3]) == [1, 4, 9]
    s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 7; s.close(); s.unlink()
'`},
		{name: "sqlite", needs: []string{"python3"}, script: `
python3 -c '
import sqlite3
c = sqlite3.connect("d.db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.execute("insert into t values(1)"); c.commit()
assert list(c.execute("select x from t")) == [(1,)]
'`},
		{name: "socket-in-tmp", needs: []string{"python3"}, script: `
python3 -c '
import os, socket
for path in ("/tmp/s-%d" % os.getpid(), os.environ.get("TMPDIR", "/tmp") + "/s%d" % os.getpid(), os.path.expanduser("~/.s")):
    a = socket.socket(socket.AF_UNIX); a.bind(path); a.listen()
    b = socket.socket(socket.AF_UNIX); b.connect(path); b.close(); a.close(); os.unlink(path)
'`},
		{name: "tmp", needs: []string{"python3"}, script: `
f=$(mktemp) && echo x > "$f" && rm "$f"
python3 -c '
import os, tempfile
for where in (None, "/tmp", "/dev/shm"):
    with tempfile.TemporaryDirectory(dir=where) as d:
        open(d + "/f", "w").write("x")
'`},
		{name: "flock", needs: []string{"flock"}, script: `flock "${TMPDIR:-/tmp}/lock" true && flock .lock true && flock /tmp true`},
		{name: "home", script: `
set -e
echo more >> ~/.bash_history
echo x > ~/.cache/x; mkdir -p ~/.config/tool; echo x > ~/.config/tool/rc; echo y >> ~/.config/known/rc
mkdir -p ~/.newtool/deep; echo x > ~/.newtool/deep/f
echo z >> ~/.oldtool/state; mkdir -p ~/.local/share/mine
grep -q kept ~/.config/known/rc; grep -q kept ~/src/notes`},
		{name: "caches-elsewhere", script: `
set -e
for dir in "$GOCACHE" "$CCACHE_DIR" "$PIP_CACHE_DIR" "$UV_CACHE_DIR" "$npm_config_cache" "$DENO_DIR"; do
    mkdir -p "$dir"; echo x > "$dir/mine"
done
grep -q kept "$DENO_DIR/deep/file"`},
		{name: "secrets", script: `
set -e
! cat ~/.ssh/id_ed25519
! cat ~/.netrc
! cat ~/.aws/credentials
! grep -r hidden-token ~/.npmrc ~/.config ~/.pip ~/.m2/*.xml ~/.gradle ~/.bundle ~/.nuget ~/.yarnrc.yml 2>/dev/null
! grep -r hidden-token ~/.gitconfig ~/git.local ~/dotfiles ~/.cargo/config.toml ~/.condarc ~/.gemrc ~/.curlrc ~/.wgetrc ~/.yarnrc 2>/dev/null
! grep -r hidden-token ~/.bash_history ~/.mozilla ~/.env "$GRADLE_USER_HOME" "$PIP_CONFIG_FILE" 2>/dev/null
! git config --list | grep hidden-token`},
		{name: "mirrors", script: `
for f in .npmrc .config/pip/pip.conf .pip/pip.conf .m2/settings.xml .bundle/config .nuget/NuGet/NuGet.Config .yarnrc.yml \
	.cargo/config.toml .config/uv/uv.toml .condarc .gemrc .curlrc .wgetrc .yarnrc
do grep -q mirror.example.org ~/$f; done
grep -q mirror.example.org "$PIP_CONFIG_FILE"
grep -q proxy.example.org "$GRADLE_USER_HOME/gradle.properties"`},
	}
}

// TestTools: ordinary tools work for agents and in checks in each mode of the
// sandbox, and nothing that they write is the user's.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, mode := range allModes() {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			needMode(t, mode)
			// Not below /tmp: a repository or HOME there keeps all of it closed
			// to agents where nothing can be mounted.
			dir, err := os.MkdirTemp("/var/tmp", "swarm-tools-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				endBelow(dir)
				if err := worktree.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			})
			y := newFixtureIn(t, dir)
			y.runTools(mode)
		})
	}
}

func (y *fixture) runTools(mode sandboxMode) {
	t := y.t
	y.env = slices.DeleteFunc(y.env, func(kv string) bool {
		return strings.HasPrefix(kv, "SWARM_SANDBOX=") || strings.HasPrefix(kv, "SWARM_BACKEND=") || strings.HasPrefix(kv, "TMPDIR=")
	})
	y.setUpTools()
	var run []tool
	for _, tool := range tools() {
		if tool.rare && !campaign.Running(t) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(tool.needs), func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		})
		if len(missing) > 0 {
			t.Run(tool.name, func(t *testing.T) { t.Skipf("there is no %v", missing) })
			continue
		}
		run = append(run, tool)
		y.write("repo/tools/"+tool.name, "set -e\nexport LC_ALL=C.UTF-8\n"+tool.script+"\n")
	}
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "tools")
	before := y.usersHome()
	quick := slices.DeleteFunc(slices.Clone(run), func(tool tool) bool { return tool.slow })
	ofAgents, ofChecks := run, run
	if !campaign.Running(t) {
		ofChecks = quick
		if mode.name != modeLandlock {
			ofAgents = quick
		}
	}
	jobs := "4"
	if mode.name == modeNone {
		jobs = "1" // they share a HOME, and tools write their configuration anew
	}
	swarm := append(slices.Clone(mode.behind), "swarm", "run", "--json", "-j", jobs, "--pass-env", "PIP_CONFIG_FILE")
	for _, step := range []struct {
		name  string
		tools []tool
		argv  []string
	}{
		{"agent", ofAgents, []string{"--", "sh", "-e", "{item}"}},
		{"check", ofChecks, []string{"--verify", `sh -e "$SWARM_ITEM"`, "--", "sh", "-c", "echo x > changed"}},
	} {
		argv := slices.Clone(swarm)
		for _, tool := range step.tools {
			argv = append(argv, "--each", "tools/"+tool.name)
		}
		got := y.results(append(argv, step.argv...))
		for _, tool := range step.tools {
			reason, fails := tool.fails[mode.name]
			said, ok := got["tools/"+tool.name]
			switch {
			case !ok:
				t.Errorf("%s: no %s ran it", tool.name, step.name)
			case said == "" && fails:
				t.Errorf("%s works for a %s in the mode %s, and the table says it cannot: %s", tool.name, step.name, mode.name, reason)
			case said != "" && !fails && !(mode.name == modeNone && tool.name == "secrets"):
				t.Errorf("%s does not work for a %s in the mode %s: %s", tool.name, step.name, mode.name, said)
			}
		}
	}
	if mode.name == modeNone {
		return // there HOME is the user's
	}
	if after := y.usersHome(); after != before {
		t.Errorf("agents changed the user's HOME:\n%s\nwas\n%s", after, before)
	}
}

// results runs swarm and returns how each agent or its check failed, by its
// label. The text of a successful agent is empty.
func (y *fixture) results(argv []string) map[string]string {
	y.t.Helper()
	path, err := exec.LookPath(argv[0])
	y.must(err)
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Env = y.repo, y.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // its exit code is that of the worst agent
	var object struct {
		Run    string
		Agents []struct {
			ID, Label, Status string
			Verified          *bool
			Error             struct{ Message string }
		}
	}
	if err := json.Unmarshal(out, &object); err != nil {
		y.t.Fatalf("%v: %v\n%s%s", argv, err, out, stderr.String())
	}
	all := map[string]string{}
	for _, a := range object.Agents {
		all[a.Label] = ""
		if a.Status != "completed" || a.Verified != nil && !*a.Verified {
			logs := y.swarm(nil, "logs", a.ID)
			all[a.Label] = fmt.Sprintf("%s: %s\n%s%s", a.Status, a.Error.Message, logs.stdout, logs.stderr)
		}
	}
	return all
}

// usersHome lists the user's HOME and the caches outside of it.
func (y *fixture) usersHome() string {
	y.t.Helper()
	var all strings.Builder
	for _, dir := range []string{"home", "elsewhere"} {
		y.must(filepath.WalkDir(filepath.Join(y.dir, dir), func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && !e.IsDir() {
				fmt.Fprintf(&all, "%s %v %d %v\n", path, info.Mode(), info.Size(), info.ModTime())
			}
			return err
		}))
	}
	return all.String()
}

const gitConfig = `[url "https://mirror.example.org/"]
	insteadOf = short:
[url "https://u:hidden-token@h/"]
	insteadOf = https://h/
[include]
	path = ~/git.local
[credential]
	helper = "!f() { echo password=hidden-token; }; f"
`

// setUpTools fills HOME like a user's, and the repository with files for the
// tools.
func (y *fixture) setUpTools() {
	for name, text := range map[string]string{
		"home/.bash_history": "hidden-token\n", "home/.config/known/rc": "kept\n", "home/.oldtool/state": "kept\n",
		"home/src/notes": "kept\n", "home/.cache/other/x": "x\n", "home/.local/share/other/x": "x\n",
		"home/.ssh/id_ed25519": "hidden-token\n", "home/.netrc": "hidden-token\n", "home/.aws/credentials": "hidden-token\n",
		"home/.npmrc":                        "registry=https://mirror.example.org/\n//mirror.example.org/:_authToken=hidden-token\nfund=false\n",
		"home/.yarnrc.yml":                   "npmRegistryServer: \"https://mirror.example.org\"\nnpmAuthToken: hidden-token\n",
		"home/.config/pip/pip.conf":          "[global]\nindex-url = https://mirror.example.org/simple\nextra-index-url = https://u:hidden-token@mirror.example.org/\n",
		"home/.pip/pip.conf":                 "[global]\nindex-url = https://mirror.example.org/simple\npassword = hidden-token\n",
		"home/.config/git/config":            gitConfig,
		"home/dotfiles/git":                  "[user]\n\tname = user\n\temail = user@example.org\n[alias]\n\tst = status -s\n[github]\n\ttoken = hidden-token\n",
		"home/git.local":                     "[init]\n\tdefaultBranch = included\n[http]\n\textraHeader = hidden-token\n",
		"home/.cargo/config.toml":            "[registries.m]\nindex = 'sparse+https://mirror.example.org/'\ntoken = 'hidden-token'\n",
		"home/.config/uv/uv.toml":            "index-url = 'https://mirror.example.org/'\nextra-index-url = ['https://u:hidden-token@h/']\n",
		"home/.condarc":                      "channels: ['https://mirror.example.org/c', 'https://mirror.example.org/t/hidden-token/c']\n",
		"home/.gemrc":                        ":sources: ['https://mirror.example.org']\n:rubygems_api_key: hidden-token\n",
		"home/.curlrc":                       "proxy = mirror.example.org\nuser = u:hidden-token\n",
		"home/.wgetrc":                       "https_proxy = mirror.example.org\nproxy_password = hidden-token\n",
		"home/.yarnrc":                       "registry \"https://mirror.example.org\"\n\"//mirror.example.org/:_authToken\" hidden-token\n",
		"home/.mozilla/firefox/x":            "hidden-token\n",
		"home/.env":                          "hidden-token\n",
		"home/pip/conf":                      "[global]\nindex-url = https://mirror.example.org/\npassword = hidden-token\n",
		"elsewhere/gradle/gradle.properties": "systemProp.https.proxyHost=proxy.example.org\nsigning.password=hidden-token\n",
		"home/.bundle/config":                "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://mirror.example.org\"\nBUNDLE_GEMS__EXAMPLE__ORG: \"u:hidden-token\"\n",
		"home/.nuget/NuGet/NuGet.Config":     nugetConfig,
		"home/.m2/settings-security.xml":     "<settingsSecurity><master>hidden-token</master></settingsSecurity>\n",
		"home/.m2/settings.xml":              mavenSettings,

		"elsewhere/pip/x": "x\n", "elsewhere/deno/deep/file": "kept\n",

		"repo/gomod/go.mod":       "module example.org/tools\n\ngo 1.23\n",
		"repo/gomod/main.go":      "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(double(21)) }\n\nfunc double(x int) int { return 2 * x }\n",
		"repo/gomod/main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif double(2) != 4 {\n\t\tt.Fatal()\n\t}\n\tt.TempDir()\n}\n",

		"repo/node/package.json":     `{"name": "top", "version": "1.0.0", "private": true}`,
		"repo/node/dep/package.json": `{"name": "dep", "version": "1.0.0", "bin": {"dep": "bin.js"}, "main": "index.js"}`,
		"repo/node/dep/index.js":     "module.exports = 42\n",
		"repo/node/dep/bin.js":       "#!/usr/bin/env node\nconsole.log(require('./index.js'))\n",

		"repo/crate/Cargo.toml":  "[package]\nname = \"crate\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"repo/crate/src/main.rs": "fn main() { println!(\"up\"); }\n",

		"home/.m2/repository/org/example/parent/1.0/parent-1.0.pom": mavenProject("parent", ""),
		"repo/maven/remote/org/example/far/1.0/far-1.0.pom":         mavenProject("far", ""),
		"repo/maven/pom.xml": mavenProject("child", mavenParent("parent")),
		"repo/maven/far.xml": mavenProject("child", mavenParent("far")+
			"<repositories><repository><id>near</id><url>file://HERE/remote</url></repository></repositories>"),

		"repo/c/Makefile": "hello: hello.c\n\tcc -o $@ $<\n",
		"repo/c/hello.c":  "#include <stdio.h>\nint main(void) { puts(\"up\"); return 0; }\n",
	} {
		y.write(name, text)
	}
	y.must(errors.Join(os.Remove(filepath.Join(y.dir, "home/.gitconfig")), os.Symlink("dotfiles/git", filepath.Join(y.dir, "home/.gitconfig"))))
	y.write("home/.local/bin/users-tool", "#!/bin/sh\n")
	y.must(os.Chmod(filepath.Join(y.dir, "home/.local/bin/users-tool"), 0o700))
	for i, kv := range y.env {
		if strings.HasPrefix(kv, "PATH=") {
			y.env[i] = kv + ":" + filepath.Join(y.dir, "home/.local/bin")
		}
	}
	y.env = append(y.env, "PIP_CONFIG_FILE="+filepath.Join(y.dir, "home/pip/conf"))
	y.wheel("repo/wheels/tiny-1.0-py3-none-any.whl")
	// Some are there, and some are not.
	for _, name := range []string{"CCACHE_DIR=ccache", "PIP_CACHE_DIR=pip", "UV_CACHE_DIR=uv", "npm_config_cache=npm", "DENO_DIR=deno", "GRADLE_USER_HOME=gradle"} {
		variable, dir, _ := strings.Cut(name, "=")
		y.env = append(y.env, variable+"="+filepath.Join(y.dir, "elsewhere", dir))
	}
	y.goCaches()
}

// mavenSettings names a mirror that no other test asks for anything, with a password.
const mavenSettings = `<settings><servers><server><id>m</id><password>hidden-token</password></server></servers>
<mirrors><mirror><id>m</id><mirrorOf>none-of-them</mirrorOf><url>https://mirror.example.org/maven</url></mirror></mirrors></settings>
`

// nugetConfig names a source of packages, with a password.
const nugetConfig = `<configuration><packageSources><add key="m" value="https://mirror.example.org/nuget" /></packageSources>
<packageSourceCredentials><m><add key="ClearTextPassword" value="hidden-token" /></m></packageSourceCredentials></configuration>
`

// mavenProject is a project without code. Maven needs no plugin to validate it.
func mavenProject(name, more string) string {
	return "<project><modelVersion>4.0.0</modelVersion>" + more +
		"<groupId>org.example</groupId><artifactId>" + name + "</artifactId><version>1.0</version><packaging>pom</packaging></project>\n"
}

// mavenParent has a project look for its parent in repositories.
func mavenParent(name string) string {
	return "<parent><groupId>org.example</groupId><artifactId>" + name + "</artifactId><version>1.0</version><relativePath/></parent>"
}

// wheel writes a package for pip: a zip file of three text files.
func (y *fixture) wheel(name string) {
	y.t.Helper()
	path := filepath.Join(y.dir, name)
	y.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.Create(path)
	y.must(err)
	z := zip.NewWriter(f)
	for _, file := range []struct{ name, text string }{
		{"tiny.py", "x = 1\n"},
		{"tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"},
		{"tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: swarm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n"},
	} {
		w, err := z.Create(file.name)
		y.must(err)
		_, err = w.Write([]byte(file.text))
		y.must(err)
	}
	y.must(errors.Join(z.Close(), f.Close()))
}

// goCaches gives HOME a module cache that holds golang.org/x/sync, which this
// repository needs itself, so that nothing is asked of a network.
func (y *fixture) goCaches() {
	y.t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		return
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	y.must(err)
	modules, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	from := filepath.Join(modules, "cache", "download")
	cmd := exec.Command("go", "mod", "download", "-modcacherw", "golang.org/x/sync", "golang.org/x/sys")
	// Rust's programs look for theirs below HOME.
	if home, err := os.UserHomeDir(); err == nil {
		y.env = append(y.env, "RUSTUP_HOME="+cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")))
	}
	cmd.Env = append(os.Environ(),
		"GOMODCACHE="+filepath.Join(y.dir, "home", "go", "pkg", "mod"), "GOPROXY=file://"+from, "GOFLAGS=-modcacherw")
	if out, err := cmd.CombinedOutput(); err != nil {
		y.t.Fatalf("%v: %s", err, out)
	}
	// Agents have the user's cache and nothing else. The checksums of modules
	// that are new to a module come from a server. The standard library is in
	// the user's build cache.
	if out, err := exec.Command("go", "build", "fmt").CombinedOutput(); err != nil {
		y.t.Fatalf("go build fmt: %v: %s", err, out)
	}
	y.env = slices.DeleteFunc(y.env, func(kv string) bool { return strings.HasPrefix(kv, "GOCACHEPROG=") })
	y.env = append(y.env, "GOCACHE="+cache, "GOPROXY=off", "GONOPROXY=golang.org/x/sys", "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local")
}
