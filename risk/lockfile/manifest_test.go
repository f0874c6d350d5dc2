package lockfile

import (
	"strings"
	"testing"
)

func TestFloor(t *testing.T) {
	t.Parallel()
	for constraint, want := range map[string]string{
		"^4.17.0": "4.17.0", "~1.2": "1.2", "4": "4", "4.x": "4", "4.*": "4", ">=1.0 <2": "1.0", ">= 1.0, < 2": "1.0", "^3 || ^4": "3", "~> 2.1": "2.1", "==1.0": "1.0",
		"<2": "", "*": "", "latest": "", "": "", "^3 || *": "", "!=1.0": "", "v1.2.3": "1.2.3", "[1.0, 2.0)": "1.0",
	} {
		if got := floor(constraint); got != want {
			t.Errorf("floor(%q) = %q, want %q", constraint, got, want)
		}
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ manager, file, text, want string }{
		{"npm", "package.json", `{"dependencies": {"a": "^4.1.0", "b": "workspace:*", "c": "npm:d@^1", "e": "git://x/y#1.0"}, "devDependencies": {"f": "2.x"}}`, "a=4.1.0 b= c= e= f=2"},
		{"pip", "pyproject.toml", "[project]\ndependencies = [\"Requests[socks]>=2.1; python_version>'3'\", \"plain\"]\n[project.optional-dependencies]\nx = [\"click~=8.0\"]\n[dependency-groups]\ndev = [\"pytest==7.4\", {include-group = \"x\"}]\n", "requests=2.1 plain= click=8.0 pytest=7.4"},
		{"poetry", "pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.9\"\ndjango = { version = \"^4.2\" }\n[tool.poetry.group.dev.dependencies]\nblack = \"23.1\"\n", "django=4.2 black=23.1"},
		{"pipenv", "Pipfile", "[packages]\nrequests = \"==2.31\"\nflask = \"*\"\n", "requests=2.31 flask="},
		{"cargo", "Cargo.toml", "[dependencies]\nserde = \"1.0.100\"\nother = { version = \"2\", package = \"real\" }\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n[workspace.dependencies]\nsyn = \"2.0\"\n", "serde=1.0.100 real=2 other= libc=0.2 syn=2.0"},
		{"bundle", "Gemfile", "source 'x'\ngem 'rails', '~> 7.0', require: false\ngem \"plain\"\n", "rails=7.0 plain="},
		{"composer", "composer.json", `{"require": {"symfony/console": "^5.4", "php": ">=8"}, "require-dev": {"phpunit/phpunit": "9.6"}}`, "symfony/console=5.4 phpunit/phpunit=9.6"},
		{"dart", "pubspec.yaml", "dependencies:\n  http: ^1.1.0\n  own:\n    path: x\ndev_dependencies:\n  test: '>=1.2.0 <2.0.0'\n", "http=1.1.0 own= test=1.2.0"},
		{"pub", "pubspec.lock", "packages:\n  http:\n    version: \"1.1.2\"\n", "http=1.1.2"},
		{"conda", "environment.yml", "dependencies:\n  - numpy=1.26\n  - conda-forge::scipy>=1.10\n  - pip\n  - pip:\n    - x==1\n", "numpy=1.26 scipy=1.10 pip="},
		{"mamba", "conda-lock.yml", "package:\n- name: numpy\n  version: 1.26.4\n", "numpy=1.26.4"},
		{"dotnet", "packages.lock.json", `{"version": 1, "dependencies": {"net8.0": {"Newtonsoft.Json": {"type": "Direct", "resolved": "13.0.3"}}}}`, "newtonsoft.json=13.0.3 Newtonsoft.Json=13.0.3"},
		{"dotnet", ".config/dotnet-tools.json", `{"tools": {"dotnet-ef": {"version": "8.0.0"}}}`, "dotnet-ef=8.0.0"},
		{"nuget", "packages.config", `<packages><package id="NUnit" version="3.13.0" /></packages>`, "nunit=3.13.0"},
		{"dotnet", "App.csproj", `<Project Sdk="x"><ItemGroup><PackageReference Include="NUnit" Version="4.1.0" /><PackageReference Include="Moq"><Version>4.20.0</Version></PackageReference></ItemGroup><PropertyGroup><Version>9.9.9</Version></PropertyGroup></Project>`, "nunit=4.1.0 moq=4.20.0"},
		{"pip", "requirements.txt", "Django>=4.2 # why\n-r other.txt\nrequests[socks]~=2.31 --hash=x\nplain\n", "django=4.2 requests=2.31 plain="},
		{"rye", "requirements.in", "flask>3\n", "flask=3"},
		{"pixi", "pixi.toml", "[dependencies]\nnumpy = \">=1.26,<2\"\n[pypi-dependencies]\nflask = \"==3.0\"\n", "numpy=1.26 flask=3.0"},
		{"npm", "package.json", `{"packageManager": "yarn@4.1.0+sha224.ab"}`, "yarn=4.1.0"},
		{"dotnet", "Directory.Packages.props", `<Project><ItemGroup><PackageVersion Include="NUnit" Version="4.0.0" /></ItemGroup></Project>`, "nunit=4.0.0"},
	} {
		lock := Read(tt.manager, files(tt.file, tt.text))
		for pair := range strings.FieldsSeq(tt.want) {
			name, want, _ := strings.Cut(pair, "=")
			if got := lock.Version(name); got != want || lock.Unreadable() {
				t.Errorf("%s: %s: Version(%q) = %q, want %q", tt.manager, tt.file, name, got, want)
			}
		}
		if broken := Read(tt.manager, files(tt.file, "\x00<{[")); tt.file != "Gemfile" && !broken.Unreadable() {
			t.Errorf("%s: a broken file is readable", tt.file)
		}
	}
}

// TestManifestAndLock: the lock file counts before the manifest.
func TestManifestAndLock(t *testing.T) {
	t.Parallel()
	lock := Read("npm", files("package.json", `{"dependencies": {"lodash": "^3.0.0", "a": "^1.0.0"}}`, "package-lock.json", npm3))
	if got := lock.Version("lodash"); got != "4.17.21" {
		t.Errorf("Version(lodash) = %q, want that of the lock file", got)
	}
	if got := lock.Version("a"); got != "1.0.0" {
		t.Errorf("Version(a) = %q, want that of the manifest", got)
	}
}

func FuzzPackageJSON(f *testing.F)   { fuzzed(f, packageJSON, `{"dependencies": {"a": "^1 || >=2 <3"}}`) }
func FuzzPyproject(f *testing.F)     { fuzzed(f, pyproject, "[project]\ndependencies = [\"a>=1\"]\n") }
func FuzzCargoToml(f *testing.F)     { fuzzed(f, cargoToml, "[dependencies]\na = \"1\"\n") }
func FuzzPipfileToml(f *testing.F)   { fuzzed(f, pipfileToml, "[packages]\na = \"1\"\n") }
func FuzzGemfileSource(f *testing.F) { fuzzed(f, gemfileSource, "gem 'a', '~> 1'\n") }
func FuzzComposerJSON(f *testing.F)  { fuzzed(f, composerJSON, `{"require": {"a/b": "^1"}}`) }
func FuzzPubspec(f *testing.F)       { fuzzed(f, pubspec, "dependencies:\n  a: ^1\n") }
func FuzzConda(f *testing.F)         { fuzzed(f, condaFile, "dependencies:\n- a=1\n") }
func FuzzNugetLock(f *testing.F) {
	fuzzed(f, nugetLock, `{"dependencies": {"net8.0": {"a": {"resolved": "1"}}}}`)
}
func FuzzNugetXML(f *testing.F) { fuzzed(f, nugetXML, `<a><package id="b" version="1"/></a>`) }
