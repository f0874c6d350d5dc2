package review

import (
	"path"
	"strings"
)

// Kind is the role of a file. Edits in files of different kinds are never the
// same.
type Kind string

// The kinds of files.
const (
	Code      Kind = "code"
	Test      Kind = "test"
	Docs      Kind = "docs"
	Config    Kind = "config"
	Deps      Kind = "deps"
	Generated Kind = "generated"
)

// KindOf derives the kind of a file from its path.
func KindOf(file string) Kind {
	dir, base := strings.ToLower(path.Dir(file)), strings.ToLower(path.Base(file))
	switch {
	case depsFile(base):
		return Deps
	case generatedFile(dir, base):
		return Generated
	case testFile(dir, base):
		return Test
	}
	switch Language(file) {
	case "md", "rst", "txt", "adoc", "tex", "html":
		return Docs
	case "json", "yaml", "toml", "ini", "cfg", "conf", "xml", "properties", "env":
		return Config
	}
	return Code
}

func depsFile(base string) bool {
	switch base {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
		"pnpm-lock.yaml", "bun.lock", "bun.lockb", "cargo.toml", "cargo.lock", "pyproject.toml", "poetry.lock", "uv.lock", "pdm.lock",
		"pylock.toml", "pipfile", "pipfile.lock", "setup.cfg", "setup.py", "gemfile", "gemfile.lock", "gems.locked", "composer.json",
		"composer.lock", "pubspec.yaml", "pubspec.lock", "pom.xml", "build.gradle", "build.gradle.kts", "packages.config",
		"packages.lock.json", "environment.yml", "conda-lock.yml", "constraints.txt":
		return true
	}
	return strings.Contains(base, "requirements") && (strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".lock"))
}

func generatedFile(dir, base string) bool {
	for _, end := range []string{".pb.go", ".pb.cc", ".pb.h", "_pb2.py", ".gen.go", "_generated.go", ".min.js", ".min.css", ".snap", ".map"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "zz_generated") || hasFolder(dir, "dist", "vendor", "node_modules", "generated", "__generated__")
}

func testFile(dir, base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasSuffix(stem, "tests") ||
		strings.HasSuffix(path.Base(strings.TrimSuffix(base, path.Ext(base))), "test") && path.Ext(base) == ".java" ||
		hasFolder(dir, "test", "tests", "__tests__", "spec", "testdata", "fixtures")
}

func hasFolder(dir string, names ...string) bool {
	for element := range strings.SplitSeq(dir, "/") {
		for _, name := range names {
			if element == name {
				return true
			}
		}
	}
	return false
}

// Language is the language of a file: that of a known name, or its extension
// with variant spellings unified. It is empty for another file without an
// extension.
func Language(file string) string {
	base := strings.ToLower(path.Base(file))
	switch base {
	case "makefile", "gnumakefile":
		return "make"
	case "dockerfile", "containerfile":
		return "docker"
	case "build", "workspace":
		return "bzl"
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	switch ext {
	case "yml":
		return "yaml"
	case "pyi", "pyx":
		return "py"
	case "mk":
		return "make"
	case "bazel", "star":
		return "bzl"
	case "cjs", "mjs", "jsx":
		return "js"
	case "cts", "mts", "tsx":
		return "ts"
	case "htm":
		return "html"
	case "markdown", "mdx":
		return "md"
	case "bash", "zsh", "ksh":
		return "sh"
	}
	return ext
}

// indented reports whether the indentation of a line has a meaning in a
// language.
func indented(language string) bool {
	switch language {
	case "py", "yaml", "make", "bzl", "coffee", "haml", "slim", "pug", "jade", "sass", "styl", "nim", "fs", "fsx", "hs", "elm", "gd":
		return true
	}
	return false
}
