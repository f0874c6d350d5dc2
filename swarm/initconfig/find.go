package initconfig

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync"

	"agentswarm/internal/fspath"
)

// ecosystem is a way in which the code of a checkout is built and tested.
type ecosystem struct {
	mark   string // the file that says so
	setup  string // a script; empty: none is needed, or none is known
	verify string // a script; empty: none is known
	makes  string // the folder that the setup leaves in a workspace
	doubt  string // why the scripts are a proposal only; empty: they are sure
}

// checkout is a checkout as init looks at it: only files within it, none of
// which can make it wait or fill memory.
type checkout struct{ root *os.Root }

// has tells whether there is a file of that name.
func (c checkout) has(name string) bool {
	stat, err := c.root.Stat(name)
	return err == nil && stat.Mode().IsRegular()
}

func (c checkout) hasFolder(name string) bool {
	stat, err := c.root.Stat(name)
	return err == nil && stat.IsDir()
}

// first is the first of the names that is a file, or nothing.
func (c checkout) first(names ...string) string {
	for _, name := range names {
		if c.has(name) {
			return name
		}
	}
	return ""
}

// read is the beginning of a file, and nothing where there is none.
func (c checkout) read(name string) string {
	const most = 1 << 20
	text, _ := fspath.ReadRegular(c.root, name, most)
	return string(text)
}

// ecosystems lists those of the root folder.
func (c checkout) ecosystems() []ecosystem {
	var all []ecosystem
	for _, find := range []func() (ecosystem, bool){
		c.goModule, c.node, c.cargo, c.python, c.ruby, c.maven, c.gradle, c.composer, c.mix,
	} {
		if e, ok := find(); ok {
			all = append(all, e)
		}
	}
	return all
}

func (c checkout) goModule() (ecosystem, bool) {
	return ecosystem{mark: "go.mod", verify: "go test ./..."}, c.has("go.mod")
}

func (c checkout) cargo() (ecosystem, bool) {
	return ecosystem{mark: "Cargo.toml", verify: "cargo test"}, c.has("Cargo.toml")
}

// packageJSON has the members of a package.json that init reads.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
	PackageManager  string            `json:"packageManager"`
}

// nodeManager is a package manager of Node.
type nodeManager struct{ name, lock, setup, verify string }

func (c checkout) nodeManagers() []nodeManager {
	yarn := "yarn install --frozen-lockfile"
	if c.has(".yarnrc.yml") { // from version 2 on
		yarn = "yarn install --immutable"
	}
	return []nodeManager{
		{"npm", c.first("package-lock.json", "npm-shrinkwrap.json"), "npm ci", "npm test"},
		{"pnpm", c.first("pnpm-lock.yaml"), "pnpm install --frozen-lockfile", "pnpm test"},
		{"yarn", c.first("yarn.lock"), yarn, "yarn test"},
		{"bun", c.first("bun.lock", "bun.lockb"), "bun install --frozen-lockfile", "bun run test"},
	}
}

func (c checkout) node() (ecosystem, bool) {
	if !c.has("package.json") {
		return ecosystem{}, false
	}
	var p packageJSON
	e := ecosystem{mark: "package.json", makes: "node_modules"}
	if json.Unmarshal([]byte(c.read("package.json")), &p) != nil {
		e.doubt = "package.json cannot be read"
	}
	wanted, _, _ := strings.Cut(p.PackageManager, "@")
	var locked, named []nodeManager
	for _, m := range c.nodeManagers() {
		if m.lock != "" {
			locked = append(locked, m)
		}
		if m.name == wanted {
			named = append(named, m)
		}
	}
	if len(named) > 0 {
		locked = named
	}
	use := nodeManager{setup: "npm install --no-package-lock", verify: "npm test"}
	if len(locked) > 0 {
		use = locked[0]
	}
	switch {
	case use.lock != "":
		e.mark += " and " + use.lock
	case len(p.Dependencies)+len(p.DevDependencies) == 0:
		use.setup, e.makes = "", ""
	default:
		e.doubt = "there is no lockfile"
	}
	if len(locked) > 1 {
		e.doubt = "there are several lockfiles, and no packageManager in package.json"
	}
	e.setup = use.setup
	// The test that `npm init` writes always fails.
	if test := p.Scripts["test"]; test != "" && !strings.Contains(test, "no test specified") {
		e.verify = use.verify
	}
	return e, true
}

func (c checkout) python() (ecosystem, bool) {
	mark := c.first("uv.lock", "poetry.lock", "requirements.txt", "pyproject.toml")
	e := ecosystem{mark: mark, makes: ".venv"}
	tests := ""
	for _, name := range []string{"pyproject.toml", "requirements.txt"} {
		if strings.Contains(c.read(name), "pytest") {
			tests = "pytest"
		}
	}
	const venv = "python3 -m venv .venv && .venv/bin/pip install "
	switch mark {
	case "uv.lock":
		e.setup, e.verify = "uv sync --locked", "uv run "+tests
	case "poetry.lock":
		e.setup, e.verify, e.makes = "poetry install", "poetry run "+tests, ""
	case "requirements.txt":
		e.setup, e.verify = venv+"-r requirements.txt", ".venv/bin/python -m "+tests
	case "pyproject.toml":
		e.setup, e.verify = venv+"-e .", ".venv/bin/python -m "+tests
		e.doubt = "there is no lockfile"
	}
	if tests == "" {
		e.verify = ""
	}
	return e, mark != ""
}

func (c checkout) ruby() (ecosystem, bool) {
	e := ecosystem{mark: "Gemfile", setup: "bundle install"}
	if !c.has("Gemfile.lock") {
		e.doubt = "there is no lockfile"
	}
	switch {
	case c.has(".rspec"):
		e.verify = "bundle exec rspec"
	case c.has("Rakefile") && c.hasFolder("test"):
		e.verify = "bundle exec rake test"
	}
	return e, c.has("Gemfile")
}

func (c checkout) maven() (ecosystem, bool) {
	e := ecosystem{mark: "pom.xml", verify: "mvn test"}
	if c.has("mvnw") {
		e.verify = "./mvnw test"
	}
	return e, c.has("pom.xml")
}

func (c checkout) gradle() (ecosystem, bool) {
	if c.has("gradlew") {
		return ecosystem{mark: "gradlew", verify: "./gradlew test"}, true
	}
	mark := c.first("build.gradle", "build.gradle.kts")
	return ecosystem{mark: mark, verify: "gradle test"}, mark != ""
}

func (c checkout) composer() (ecosystem, bool) {
	e := ecosystem{mark: "composer.json", setup: "composer install", makes: "vendor"}
	// A script may also be a list, so the code only asks whether it exists.
	var p struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal([]byte(c.read("composer.json")), &p) != nil {
		e.doubt = "composer.json cannot be read"
	}
	switch {
	case p.Scripts["test"] != nil:
		e.verify = "composer test"
	case c.first("phpunit.xml", "phpunit.xml.dist") != "":
		e.verify = "vendor/bin/phpunit"
	}
	if !c.has("composer.lock") {
		e.doubt = "there is no lockfile"
	}
	return e, c.has("composer.json")
}

func (c checkout) mix() (ecosystem, bool) {
	e := ecosystem{mark: "mix.exs", setup: "mix deps.get", makes: "deps", verify: "mix test"}
	if !c.has("mix.lock") {
		e.doubt = "there is no lockfile"
	}
	return e, c.has("mix.exs")
}

// testTarget is a rule of a Makefile that makes `test`.
var testTarget = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^test[ \t]*::?([^=]|$)`) })

// makeTest is the Makefile with a target `test`, or nothing.
func (c checkout) makeTest() string {
	// In the order in which GNU make looks.
	if name := c.first("GNUmakefile", "makefile", "Makefile"); name != "" && testTarget().MatchString(c.read(name)) {
		return name
	}
	return ""
}
