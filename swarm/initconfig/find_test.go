package initconfig

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// lay makes a checkout of these files: "name" or "name: text"; a name that
// ends in a slash is a folder.
func lay(t *testing.T, files ...string) checkout {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, ": ")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return checkout{root}
}

func TestEcosystems(t *testing.T) {
	t.Parallel()
	const (
		tested = `package.json: {"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}`
		plain  = `package.json: {"scripts":{"test":"node --test"}}`
		noLock = "there is no lockfile"
	)
	node := func(lock, setup, verify string) ecosystem {
		return ecosystem{mark: "package.json and " + lock, setup: setup, verify: verify, makes: "node_modules"}
	}
	tests := []struct {
		name string
		give []string
		want []ecosystem
	}{
		{"nothing", []string{"README.md", "sub/go.mod"}, nil},
		{"a folder of that name", []string{"go.mod/"}, nil},
		{"go", []string{"go.mod"}, []ecosystem{{mark: "go.mod", verify: "go test ./..."}}},
		{"cargo", []string{"Cargo.toml"}, []ecosystem{{mark: "Cargo.toml", verify: "cargo test"}}},
		{"npm", []string{tested, "package-lock.json"}, []ecosystem{node("package-lock.json", "npm ci", "npm test")}},
		{"shrinkwrap", []string{tested, "npm-shrinkwrap.json"}, []ecosystem{node("npm-shrinkwrap.json", "npm ci", "npm test")}},
		{"pnpm", []string{tested, "pnpm-lock.yaml"}, []ecosystem{node("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm test")}},
		{"yarn", []string{tested, "yarn.lock"}, []ecosystem{node("yarn.lock", "yarn install --frozen-lockfile", "yarn test")}},
		{"newer yarn", []string{tested, "yarn.lock", ".yarnrc.yml"}, []ecosystem{node("yarn.lock", "yarn install --immutable", "yarn test")}},
		{"bun", []string{tested, "bun.lock"}, []ecosystem{node("bun.lock", "bun install --frozen-lockfile", "bun run test")}},
		{"bun of old", []string{tested, "bun.lockb"}, []ecosystem{node("bun.lockb", "bun install --frozen-lockfile", "bun run test")}},
		{"no tests", []string{`package.json: {}`, "yarn.lock"}, []ecosystem{node("yarn.lock", "yarn install --frozen-lockfile", "")}},
		{
			"tests of npm init", []string{`package.json: {"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`, "package-lock.json"},
			[]ecosystem{node("package-lock.json", "npm ci", "")},
		},
		{"no dependencies", []string{plain}, []ecosystem{{mark: "package.json", verify: "npm test"}}},
		{
			"no lockfile", []string{tested},
			[]ecosystem{{mark: "package.json", setup: "npm install --no-package-lock", verify: "npm test", makes: "node_modules", doubt: noLock}},
		},
		{
			"two lockfiles", []string{tested, "yarn.lock", "package-lock.json"},
			[]ecosystem{{
				mark: "package.json and package-lock.json", setup: "npm ci", verify: "npm test", makes: "node_modules",
				doubt: "there are several lockfiles, and no packageManager in package.json",
			}},
		},
		{
			"two lockfiles and a word", []string{`package.json: {"packageManager":"yarn@1.22","scripts":{"test":"x"}}`, "yarn.lock", "package-lock.json"},
			[]ecosystem{node("yarn.lock", "yarn install --frozen-lockfile", "yarn test")},
		},
		{
			"a word and no lockfile of it", []string{`package.json: {"packageManager":"pnpm@9","dependencies":{"a":"1"}}`, "yarn.lock"},
			[]ecosystem{{mark: "package.json", setup: "pnpm install --frozen-lockfile", makes: "node_modules", doubt: noLock}},
		},
		{
			"not JSON", []string{"package.json: {", "yarn.lock"},
			[]ecosystem{{
				mark: "package.json and yarn.lock", setup: "yarn install --frozen-lockfile",
				makes: "node_modules", doubt: "package.json cannot be read",
			}},
		},
		{"uv", []string{"pyproject.toml: dev = ['pytest']", "uv.lock"}, []ecosystem{{mark: "uv.lock", setup: "uv sync --locked", verify: "uv run pytest", makes: ".venv"}}},
		{"poetry", []string{"pyproject.toml: pytest", "poetry.lock"}, []ecosystem{{mark: "poetry.lock", setup: "poetry install", verify: "poetry run pytest"}}},
		{
			"requirements", []string{"requirements.txt: pytest==8"},
			[]ecosystem{{
				mark: "requirements.txt", setup: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
				verify: ".venv/bin/python -m pytest", makes: ".venv",
			}},
		},
		{
			"pyproject alone", []string{"pyproject.toml"},
			[]ecosystem{{
				mark: "pyproject.toml", setup: "python3 -m venv .venv && .venv/bin/pip install -e .", makes: ".venv", doubt: noLock,
			}},
		},
		{"rspec", []string{"Gemfile", "Gemfile.lock", ".rspec"}, []ecosystem{{mark: "Gemfile", setup: "bundle install", verify: "bundle exec rspec"}}},
		{"rake", []string{"Gemfile", "Rakefile", "test/a.rb"}, []ecosystem{{mark: "Gemfile", setup: "bundle install", verify: "bundle exec rake test", doubt: noLock}}},
		{"maven", []string{"pom.xml"}, []ecosystem{{mark: "pom.xml", verify: "mvn test"}}},
		{"maven wrapper", []string{"pom.xml", "mvnw"}, []ecosystem{{mark: "pom.xml", verify: "./mvnw test"}}},
		{"gradle", []string{"build.gradle.kts"}, []ecosystem{{mark: "build.gradle.kts", verify: "gradle test"}}},
		{"gradle wrapper", []string{"build.gradle", "gradlew"}, []ecosystem{{mark: "gradlew", verify: "./gradlew test"}}},
		{
			"composer", []string{`composer.json: {"scripts":{"test":["a","b"]}}`, "composer.lock"},
			[]ecosystem{{mark: "composer.json", setup: "composer install", verify: "composer test", makes: "vendor"}},
		},
		{
			"phpunit", []string{`composer.json: {}`, "phpunit.xml.dist"},
			[]ecosystem{{mark: "composer.json", setup: "composer install", verify: "vendor/bin/phpunit", makes: "vendor", doubt: noLock}},
		},
		{
			"composer not JSON", []string{"composer.json: [", "composer.lock"},
			[]ecosystem{{mark: "composer.json", setup: "composer install", makes: "vendor", doubt: "composer.json cannot be read"}},
		},
		{"mix", []string{"mix.exs", "mix.lock"}, []ecosystem{{mark: "mix.exs", setup: "mix deps.get", verify: "mix test", makes: "deps"}}},
		{"several", []string{"go.mod", plain}, []ecosystem{{mark: "go.mod", verify: "go test ./..."}, {mark: "package.json", verify: "npm test"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := lay(t, tt.give...).ecosystems(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("ecosystems of %q =\n%+v, want\n%+v", tt.give, got, tt.want)
			}
		})
	}
}

func TestMakeTest(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"Makefile: all:\n\ttrue\ntest: all\n\ttrue\n": "Makefile",
		"Makefile: test:\n":                           "Makefile",
		"GNUmakefile: test ::\n":                      "GNUmakefile",
		"Makefile: test := x\n":                       "",
		"Makefile: tests: x\n":                        "",
		"Makefile: .PHONY: test\n":                    "",
		"Makefile: \ttest:\n":                         "",
		"other: test:\n":                              "",
	} {
		if got := lay(t, give).makeTest(); got != want {
			t.Errorf("makeTest of %q = %q, want %q", give, got, want)
		}
	}
}

// TestCheckoutHostile checks that a repository can neither make init wait, nor
// have it read files elsewhere, nor fill memory.
func TestCheckoutHostile(t *testing.T) {
	t.Parallel()
	c := lay(t, "inner: test:\n")
	dir := c.root.Name()
	outside := filepath.Join(t.TempDir(), "go.mod")
	if err := os.WriteFile(outside, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"go.mod": outside, "Makefile": "inner", "pom.xml": "/dev/zero"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.ecosystems(); got != nil {
		t.Errorf("ecosystems = %+v, want none", got)
	}
	if got := c.read("package.json") + c.read("pom.xml") + c.read("go.mod"); got != "" {
		t.Errorf("read = %q, want nothing", got)
	}
	if got := c.makeTest(); got != "Makefile" {
		t.Errorf("makeTest through a link within = %q, want Makefile", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "big"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "big"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := len(c.read("big")); got != 1<<20 {
		t.Errorf("read of a huge file = %d bytes, want %d", got, 1<<20)
	}
}
