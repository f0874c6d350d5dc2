// Package lockfile says which versions of packages the lock files of a folder
// pin. It knows the files of the usual package managers, and nothing of what a
// manager would do with them. It opens no files itself.
//
// Lock files are foreign text: one that cannot be read pins nothing.
package lockfile

import (
	"bytes"
	"strings"
)

// MaxFile is how large a lock file is read, in bytes. A larger one pins
// nothing.
const MaxFile = 8 << 20

// Lock is what the lock files of one folder pin.
type Lock struct {
	family family
	pins   pins
}

// Read reads the lock files of a package manager, by its name as a command:
// "npm", "pip", "cargo". Where there are several, as of npm and yarn, all
// count. It is nil where there are none, or none that can be read; that pins
// nothing.
//
// read is asked for files by their names in the folder.
func Read(manager string, read func(name string) ([]byte, bool)) *Lock {
	f := familyOf(manager)
	var found *Lock
	for _, s := range f.sources() {
		text, ok := read(s.file)
		if !ok || len(text) > MaxFile {
			continue
		}
		p := s.parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
		if p == nil {
			continue
		}
		if found == nil {
			found = &Lock{family: f, pins: pins{}}
		}
		for name, version := range p {
			found.pins.add(f.normal(name), version)
		}
	}
	return found
}

// Version is the version that a package is pinned to; empty where it is not.
// Where it is pinned to several it is the one that the folder's own
// dependencies lead to, and otherwise the newest.
func (l *Lock) Version(name string) string {
	if l == nil {
		return ""
	}
	name = l.family.normal(name)
	if l.family != goModules {
		return l.pins[name]
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
)

// familyOf is the family of a command; noFamily: it keeps no lock file that is
// known.
func familyOf(manager string) family {
	switch manager {
	case "npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx", "yarnpkg":
		return node
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "pipx":
		return python
	case "cargo":
		return cargo
	case "go":
		return goModules
	case "gem", "bundle", "bundler":
		return ruby
	case "composer":
		return composer
	}
	return noFamily
}

// source is a file, and what reads it: nil is that it cannot.
type source struct {
	file  string
	parse func(text []byte) pins
}

func (f family) sources() []source {
	switch f {
	case node:
		return []source{
			{"package-lock.json", npm}, {"npm-shrinkwrap.json", npm}, {"yarn.lock", yarn},
			{"pnpm-lock.yaml", pnpm}, {"bun.lock", bun},
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
	case noFamily:
	}
	return nil
}

// normal is the one spelling of a name of which several mean the same.
func (f family) normal(name string) string {
	switch f {
	case python: // PEP 503
		return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
			return r == '-' || r == '_' || r == '.'
		}), "-")
	case cargo:
		return strings.ReplaceAll(strings.ToLower(name), "_", "-")
	case composer:
		return strings.ToLower(name)
	case goModules:
		return strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	case noFamily, node, ruby:
	}
	return name
}

// pins are the versions of packages by their names.
type pins map[string]string

// add pins a package. What is no version is left out: lock files have
// addresses and paths in their place. Of two spellings of one version it is one
// whichever came first: many come out of a map.
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

// over lays what is surer over what is not.
func (p pins) over(less pins) pins {
	for name, version := range p {
		less[name] = version
	}
	return less
}

// newer reports whether one version comes after another: by its numbers, and
// with a pre-release before what it precedes.
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

// trimmed is a version without what has no part in its order, and what makes
// it a pre-release.
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
