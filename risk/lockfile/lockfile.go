// Package lockfile reads the versions that the lock files of a folder pin, and
// the lowest versions that its manifests ask for. It knows the files of the
// usual package managers, not the behaviour of the managers. It opens no files
// itself.
//
// The files are foreign text. A file that cannot be read pins nothing, and the
// Lock reports it.
package lockfile

import (
	"bytes"
	"strings"
)

// MaxFile is the size in bytes up to which a lock file is read. A larger file
// pins nothing.
const MaxFile = 8 << 20

// Lock holds the versions that the lock files and manifests of a folder name.
type Lock struct {
	family     family
	pins       pins // by lock files
	floors     pins // the lowest versions that manifests allow
	unreadable bool
}

// Read reads the files of a package manager, by its name as a command: "npm",
// "pip", "cargo". Where there are several lock files, as of npm and yarn, all
// count. It is nil where there are no files.
//
// folder is asked for files by their names.
func Read(manager string, folder Folder) *Lock {
	f := familyOf(manager)
	l := &Lock{family: f, pins: pins{}, floors: pins{}}
	there := l.read(f.sources(), l.pins, folder)
	if l.read(f.manifests(), l.floors, folder) || there {
		return l
	}
	return nil
}

// Folder is a folder that may hold lock files.
type Folder interface {
	// Read returns the text of a file; false: there is none.
	Read(name string) (text []byte, ok bool)
	// Ending returns the names of the files that end in a text.
	Ending(end string) []string
}

// read adds the versions of files, and reports whether any of them exists.
func (l *Lock) read(all []source, into pins, folder Folder) (there bool) {
	for _, s := range all {
		if end, ok := strings.CutPrefix(s.file, "*"); ok {
			for _, name := range folder.Ending(end) {
				there = l.read([]source{{name, s.parse}}, into, folder) || there
			}
			continue
		}
		text, ok := folder.Read(s.file)
		if !ok {
			continue
		}
		there = true
		var p pins
		if s.parse != nil && len(text) <= MaxFile {
			p = s.parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
		}
		l.unreadable = l.unreadable || p == nil
		for name, version := range p {
			into.add(l.family.normal(name), version)
		}
	}
	return there
}

// Unreadable reports whether a file could not be read. It may pin any package.
func (l *Lock) Unreadable() bool { return l != nil && l.unreadable }

// Version returns the pinned version of a package, or else the lowest version
// that a manifest asks for. It is empty if no file has the package. If several
// versions are pinned, it returns the version of the folder's own dependencies,
// and otherwise the newest.
func (l *Lock) Version(name string) string {
	if l == nil {
		return ""
	}
	name = l.family.normal(name)
	if l.family != goModules {
		if version, ok := l.pins[name]; ok {
			return version
		}
		return l.floors[name]
	}
	// A package is in the module with the longest name that it begins with.
	for name != "" {
		if version, ok := l.pins[name]; ok {
			return version
		}
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	return ""
}

// family is a set of package managers that install from the same place.
type family uint8

const (
	noFamily family = iota
	node
	python
	cargo
	goModules
	ruby
	composer
	pub
	conda
	nuget
)

// familyOf is the family of a command; noFamily: it keeps no lock file that is
// known.
func familyOf(manager string) family {
	switch manager {
	case "npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx", "yarnpkg", "deno":
		return node
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "pipx", "rye":
		return python
	case "cargo":
		return cargo
	case "go":
		return goModules
	case "gem", "bundle", "bundler":
		return ruby
	case "composer":
		return composer
	case "pub", "dart", "flutter":
		return pub
	case "conda", "mamba", "micromamba", "pixi":
		return conda
	case "nuget", "dotnet":
		return nuget
	}
	return noFamily
}

// source pairs a file with its parser. A name that begins with a star is for all
// files that end so. parse is nil for formats that cannot be
// read; it returns nil for a text that it cannot read.
type source struct {
	file  string
	parse func(text []byte) pins
}

func (f family) sources() []source {
	switch f {
	case node:
		return []source{
			{"package-lock.json", npm}, {"npm-shrinkwrap.json", npm}, {"yarn.lock", yarn},
			{"pnpm-lock.yaml", pnpm}, {"bun.lock", bun}, {"bun.lockb", nil},
		}
	case python:
		return []source{
			{"uv.lock", tables}, {"poetry.lock", tables}, {"pdm.lock", tables}, {"pylock.toml", tables},
			{"Pipfile.lock", pipfile}, {"requirements.txt", requirements}, {"requirements.lock", requirements},
			{"requirements-dev.txt", requirements}, {"dev-requirements.txt", requirements}, {"constraints.txt", requirements},
		}
	case cargo:
		return []source{{"Cargo.lock", tables}}
	case goModules:
		return []source{{"go.mod", goMod}}
	case ruby:
		return []source{{"Gemfile.lock", gemfile}, {"gems.locked", gemfile}}
	case composer:
		return []source{{"composer.lock", composerLock}}
	case pub:
		return []source{{"pubspec.lock", pubspec}}
	case conda:
		return []source{{"conda-lock.yml", condaFile}}
	case nuget:
		return []source{{"packages.lock.json", nugetLock}, {"packages.config", nugetXML}, {".config/dotnet-tools.json", nugetLock}}
	case noFamily:
	}
	return nil
}

// manifests are the files that ask for packages without pinning them.
func (f family) manifests() []source {
	switch f {
	case node:
		return []source{{"package.json", packageJSON}}
	case python:
		return []source{{"pyproject.toml", pyproject}, {"Pipfile", pipfileToml}, {"requirements.txt", requirementFloors}, {"requirements.in", requirementFloors}, {"requirements-dev.txt", requirementFloors}, {"dev-requirements.txt", requirementFloors}, {"constraints.txt", requirementFloors}}
	case cargo:
		return []source{{"Cargo.toml", cargoToml}}
	case ruby:
		return []source{{"Gemfile", gemfileSource}}
	case composer:
		return []source{{"composer.json", composerJSON}}
	case pub:
		return []source{{"pubspec.yaml", pubspec}}
	case conda:
		return []source{{"environment.yml", condaFile}, {"environment.yaml", condaFile}, {"pixi.toml", pixiToml}}
	case nuget:
		return []source{{"Directory.Packages.props", nugetXML}, {"*.csproj", nugetXML}, {"*.fsproj", nugetXML}, {"*.vbproj", nugetXML}}
	case noFamily, goModules:
	}
	return nil
}

// normal returns the canonical spelling of a name.
func (f family) normal(name string) string {
	switch f {
	case python: // PEP 503
		return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
			return r == '-' || r == '_' || r == '.'
		}), "-")
	case cargo:
		return strings.ReplaceAll(strings.ToLower(name), "_", "-")
	case composer, nuget, conda:
		return strings.ToLower(name)
	case goModules:
		return strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	case noFamily, node, ruby, pub:
	}
	return name
}

// pins are the versions of packages by their names.
type pins map[string]string

// add pins a package. It skips a text that is no version, such as an address or
// a path. Of two spellings of a version it keeps the same in either order,
// because many come out of a map.
func (p pins) add(name, version string) {
	digits := strings.TrimPrefix(version, "v")
	if name == "" || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return
	}
	have, ok := p[name]
	if !ok || newer(version, have) || version > have && !newer(have, version) {
		p[name] = version
	}
}

// over writes the surer pins over the less sure.
func (p pins) over(less pins) pins {
	for name, version := range p {
		less[name] = version
	}
	return less
}

// newer reports whether a version comes after another: by its numbers, with a
// pre-release before its release.
func newer(a, b string) bool {
	a, preA := trimmed(a)
	b, preB := trimmed(b)
	if order := compare(a, b); order != 0 {
		return order > 0
	}
	if preA == "" || preB == "" {
		return preA == "" && preB != "" // the release comes after
	}
	return compare(preA, preB) > 0
}

// trimmed splits a version into the part that counts for its order and the
// pre-release.
func trimmed(version string) (release, pre string) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "+")
	release, pre, _ = strings.Cut(version, "-")
	if strings.HasPrefix(pre, "post") {
		return version, ""
	}
	return release, pre
}

// compare compares the elements of two versions.
func compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a = element(a)
		y, b = element(b)
		if order := compareElements(x, y); order != 0 {
			return order
		}
	}
	return 0
}

// element cuts the first run of digits, or of other letters, off a version.
func element(version string) (first, rest string) {
	version = strings.TrimLeft(version, ".-_")
	isDigit := func(i int) bool { return '0' <= version[i] && version[i] <= '9' }
	end := 0
	for end < len(version) && !strings.ContainsRune(".-_", rune(version[end])) && isDigit(end) == isDigit(0) {
		end++
	}
	return version[:end], version[end:]
}

// compareElements compares two elements: words come before the end of a version, which
// comes before numbers but is the same as zero.
func compareElements(x, y string) int {
	rank := func(s string) int {
		switch {
		case s == "":
			return 1
		case s[0] >= '0' && s[0] <= '9':
			return 2
		case s == "post" || s == "sp":
			return 2
		}
		return 0
	}
	if rank(x) == 0 || rank(y) == 0 {
		if rank(x) != rank(y) {
			return rank(x) - rank(y)
		}
		return strings.Compare(x, y)
	}
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(x, y)
}
