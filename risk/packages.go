package risk

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"agentswarm/risk/argv"
)

// isDowngrade reports whether a call installs, or may install, a package in an
// older version. The version is compared with that of a lock file, or that of a
// manifest. A text that cannot be read may be older.
func isDowngrade(c *call) bool {
	if c.inv.Remote {
		return false
	}
	manager := managerOf(c.inv.Program)
	wants, unread := c.packages(manager)
	if unread {
		return true
	}
	return slices.ContainsFunc(wants, func(want wanted) bool { return c.isOlder(manager, want) })
}

// isOlder says that a package may be asked for in an older version.
func (c *call) isOlder(manager string, want wanted) bool {
	_, _, numbered := numbers(strings.TrimLeft(want.version, "=<>~!^ "))
	if c.place.Facts == nil {
		return false
	}
	if !c.inv.Cwd.Known {
		return numbered || want.unread
	}
	for _, folder := range c.packageFolders(manager) {
		have, known := c.place.Facts.Locked(manager, folder, want.name)
		if have != "" && (want.unread || older(want.version, have)) || !known && (numbered || want.unread) {
			return true
		}
	}
	return false
}

// packageFolders returns the folders whose packages a call may change: the
// current folder, and those that the command line names.
func (c *call) packageFolders(manager string) []string {
	named := c.line.Values("--prefix", "-C", "--dir", "--directory", "--project", "--manifest-path", "-d")
	if manager == "nuget" {
		named = append(named, c.line.Operands...)
	}
	all := []string{c.inv.Cwd.Path}
	for _, w := range named {
		folder := path.Join(c.inv.Cwd.Path, w.Value)
		if path.IsAbs(w.Value) {
			folder = path.Clean(w.Value)
		}
		if w.Known && w.Value != "" {
			all = append(all, folder)
			if path.Ext(folder) != "" { // it may be a file, such as Cargo.toml
				all = append(all, path.Dir(folder))
			}
		}
	}
	return all
}

// managerOf is the name of the lock files that a program keeps.
func managerOf(program string) string {
	switch program {
	case "npm", "pnpm", "yarn", "bun", "deno", "jsr", "corepack":
		return "npm"
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "pipx", "rye":
		return "pip"
	case "bundle":
		return "gem"
	case "dart", "flutter", "pub":
		return "pub"
	case "mamba", "micromamba", "pixi":
		return "conda"
	case "dotnet":
		return "nuget"
	}
	return program
}

// wanted is a package that is asked for.
type wanted struct {
	name, version string
	unread        bool // the version is not known
}

// packages are the packages that a call asks for in some version. unread says
// that a version is asked for of a package whose name is not known. A word without
// any known text is a package without a version, as most are.
func (c *call) packages(manager string) (all []wanted, unread bool) {
	for _, w := range slices.Concat(c.line.Operands, c.line.Values("-require")) {
		if !w.Known && w.Value == "" {
			unread = unread || asksVersion(w.Rest, manager)
			continue
		}
		if one, ok := packageOf(w, manager); ok {
			one.unread = one.unread || !w.Known
			all = append(all, one)
		} else if !w.Known && !w.Glob && !isLocalPath(w.Value) {
			unread = unread || asksVersion(w.Rest, manager)
		}
	}
	if manager == "npm" && len(c.line.Sub) > 0 && c.line.Sub[0] == "pkg" {
		return c.packageFields()
	}
	for _, w := range c.line.Values("--upgrade-package") {
		if one, ok := packageOf(w, manager); ok {
			all = append(all, wanted{name: one.name, version: one.version, unread: !w.Known})
		}
	}
	for _, w := range c.line.Values("-go", "-toolchain") { // of "go mod edit"
		name := "go"
		if strings.HasPrefix(w.Value, "go") {
			name = "toolchain"
		}
		all = append(all, wanted{name: name, version: strings.TrimPrefix(w.Value, "go"), unread: !w.Known})
	}
	for _, w := range c.line.Values("-replace") { // of "go mod edit": MODULE[@VERSION]=MODULE[@VERSION]
		was, now, _ := strings.Cut(w.Value, "=")
		was, _, _ = strings.Cut(was, "@")
		if one, ok := packageOf(argv.Word{Value: now, Known: w.Known}, manager); ok && one.name == was {
			one.unread = !w.Known
			all = append(all, one)
		}
	}
	if manager == "composer" { // "composer require monolog/monolog 1.0"
		for i, w := range c.line.Operands[min(1, len(c.line.Operands)):] {
			name := c.line.Operands[i].Value
			if strings.Contains(name, "/") && !strings.ContainsAny(name, ":=") && (!w.Known || !strings.Contains(w.Value, "/")) {
				all = append(all, wanted{name: name, version: w.Value, unread: !w.Known})
			}
		}
	}
	version := c.line.Values("--version", "--vers", "--precise", "-Version")
	if len(version) == 1 {
		for _, w := range slices.Concat(c.line.Operands, c.line.Values("--package")) {
			name, _, _ := strings.Cut(w.Value, "@")
			unread = unread || !w.Known && !w.Glob && !isLocalPath(w.Value)
			all = append(all, wanted{name: name, version: version[0].Value, unread: !version[0].Known})
		}
	}
	return all, unread
}

// packageFields returns the packages of which "npm pkg set" sets the version.
func (c *call) packageFields() (all []wanted, unread bool) {
	for _, w := range c.line.Operands {
		key, version, ok := strings.Cut(w.Value, "=")
		group, name, _ := strings.Cut(key, ".")
		switch {
		case !w.Known && !ok:
			unread = true
		case ok && name != "" && strings.HasSuffix(strings.ToLower(group), "dependencies"):
			all = append(all, wanted{name: name, version: version, unread: !w.Known})
		}
	}
	return all, unread
}

// asksVersion says that the known end of a package's word sets its version off.
func asksVersion(rest, manager string) bool {
	_, ok := packageOf(argv.Known("name"+rest), manager)
	return ok
}

// isLocalPath says that a word begins as the path of a file.
func isLocalPath(text string) bool {
	return strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "file:") || strings.Contains(text, "/") && text[0] != '@'
}

// packageOf is the package that a word asks for, with its version.
func packageOf(w argv.Word, manager string) (wanted, bool) {
	text := strings.TrimSpace(w.Value)
	if text == "" || w.Glob {
		return wanted{}, false
	}
	switch manager {
	case "pip", "conda":
		text = text[strings.LastIndexByte(text, ':')+1:] // a channel stands before it
		at := strings.IndexAny(text, "=<>~!@ ")
		if at < 1 {
			return wanted{}, false
		}
		name, _, _ := strings.Cut(text[:at], "[")
		return wanted{name: strings.TrimSpace(name), version: strings.TrimSpace(strings.TrimLeft(text[at:], "@ "))}, true
	case "composer", "gem", "pub":
		text = strings.TrimPrefix(strings.TrimPrefix(text, "dev:"), "override:")
		if name, version, ok := strings.Cut(text, ":"); ok {
			return wanted{name: name, version: version}, true
		}
		if at := strings.IndexAny(text, "= "); manager == "composer" {
			return wanted{name: text[:max(at, 0)], version: text[at+1:]}, at > 0
		}
	}
	if name, source, ok := strings.Cut(text, "@npm:"); ok && name != "" { // under another name
		return wanted{name: name, version: source[strings.LastIndexByte(source, '@')+1:]}, true
	}
	if source, tag, ok := strings.Cut(text, "#"); ok && manager == "npm" { // of a repository
		name := strings.TrimSuffix(path.Base(source), ".git")
		if at := strings.IndexByte(text, '@'); at > 0 && !strings.Contains(text[:at], ":") {
			name = text[:at]
		}
		return wanted{name: name, version: strings.TrimPrefix(tag, "semver:")}, true
	}
	at := strings.LastIndexByte(text, '@')
	if at < 1 {
		return wanted{}, false
	}
	name, version := text[:at], text[at+1:]
	if _, alias, ok := strings.Cut(version, ":"); ok && (strings.HasPrefix(version, "npm:") || strings.HasPrefix(name, "npm:")) {
		return packageOf(argv.Word{Value: alias, Known: w.Known}, manager)
	}
	return wanted{name: strings.TrimPrefix(strings.TrimPrefix(name, "npm:"), "jsr:"), version: version}, true
}

// older reports whether a version, or the newest version that a constraint
// allows, is older than another version. A text that is not a version is not
// older.
func older(want, have string) bool {
	want = strings.TrimSpace(want)
	if want == "none" {
		return true
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(want, "||", "|"), "|") {
		if part = strings.TrimSpace(part); part != "" && !olderPart(part, have) {
			return false
		}
	}
	return want != ""
}

// olderPart does the same for an alternative of a constraint. A single older
// bound is enough.
func olderPart(want, have string) bool {
	locked, pre, ok := numbers(have)
	if !ok {
		return false
	}
	for bound := range strings.FieldsFuncSeq(want, func(r rune) bool { return r == ',' || r == ' ' }) {
		operator := bound[:len(bound)-len(strings.TrimLeft(bound, "=<>~!^"))]
		v, vpre, ok := numbers(bound[len(operator):])
		if !ok {
			continue
		}
		order := compare(v, locked)
		switch operator {
		case "", "=", "==", "===":
			if order < 0 || order == 0 && len(v) >= len(locked) && earlier(vpre, pre) {
				return true
			}
		case "<":
			if compareFull(v, locked) <= 0 {
				return true
			}
		case "<=":
			if order < 0 {
				return true
			}
		case "^":
			if compare(caret(v), locked) < 0 {
				return true
			}
		case "~", "~=", "~>":
			if compare(tilde(v, operator), locked) < 0 {
				return true
			}
		}
	}
	return false
}

// numbers returns the numbers that a version begins with, and the text after
// its dash. An x or a star ends the numbers.
func numbers(text string) (all []int, pre string, ok bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "v")
	text, _, _ = strings.Cut(text, "+")
	text, pre, _ = strings.Cut(text, "-")
	for part := range strings.SplitSeq(text, ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			if part != "*" && part != "x" && part != "X" {
				pre += part // as in "1.0.rc1"
			}
			break
		}
		all = append(all, n)
		if digits != part {
			pre += part[len(digits):]
			break
		}
	}
	return all, pre, len(all) > 0
}

// earlier reports whether the version with suffix this comes before the version
// with suffix that. An empty suffix is the release itself, and a suffix "post"
// comes after it.
func earlier(this, that string) bool {
	a, b := pieces(this), pieces(that)
	for i := range max(len(a), len(b)) {
		switch {
		case i == len(a):
			return i > 0 && !strings.HasPrefix(b[i], "post") || i == 0 && strings.HasPrefix(b[i], "post")
		case i == len(b):
			return i == 0 && !strings.HasPrefix(a[i], "post")
		case a[i] == b[i]:
			continue
		}
		n, notNumber := strconv.Atoi(a[i])
		m, other := strconv.Atoi(b[i])
		switch {
		case notNumber == nil && other == nil:
			return n < m
		case notNumber == nil || other == nil:
			return notNumber == nil // a number comes before a word
		}
		return a[i] < b[i]
	}
	return false
}

// pieces are the numbers and the words in a part of a version.
func pieces(text string) []string {
	var all []string
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		for part != "" {
			n := len(part) - len(strings.TrimLeft(part, "0123456789"))
			if n == 0 {
				if n = strings.IndexAny(part, "0123456789"); n < 0 {
					n = len(part)
				}
			}
			all, part = append(all, part[:n]), part[n:]
		}
	}
	return all
}

// compare compares as many numbers as the first has: "3" stands for all of
// "3.x".
func compare(a, b []int) int {
	for i, n := range a {
		other := 0
		if i < len(b) {
			other = b[i]
		}
		if n != other {
			return n - other
		}
	}
	return 0
}

// compareFull compares all numbers: "3" is "3.0.0".
func compareFull(a, b []int) int {
	for len(a) < len(b) {
		a = append(slices.Clone(a), 0)
	}
	return compare(a, b)
}

// caret is the part of a version that "^" keeps: up to the first that is not
// zero.
func caret(v []int) []int {
	for i, n := range v {
		if n != 0 {
			return v[:i+1]
		}
	}
	return v
}

// tilde is the part of a version that "~" keeps.
func tilde(v []int, operator string) []int {
	keep := 2
	if operator != "~" {
		keep = len(v) - 1
	}
	return v[:max(1, min(keep, len(v)))]
}

// workspacePublishes reports whether yarn publishes a workspace, or may: behind
// the name of the workspace stands a command line of yarn.
func workspacePublishes(c *call) bool {
	command := c.line.Operands[min(2, len(c.line.Operands)):]
	return slices.ContainsFunc(command, func(w argv.Word) bool { return mayBe(w, []string{"publish"}) })
}

// taskPublishes says that a task of Gradle publishes, of whatever project it is.
func taskPublishes(c *call) bool {
	return slices.ContainsFunc(c.line.Operands, func(w argv.Word) bool {
		name := w.Value[strings.LastIndexByte(w.Value, ':')+1:]
		return strings.HasPrefix(name, "publish") && !strings.HasSuffix(name, "MavenLocal") || name == "uploadArchives"
	})
}
