package privatehome

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
)

// privateModules is the part of the user's module cache that Go never asks a proxy
// for (go.dev/ref/mod#private-modules), so that goProxy cannot show it.
func (t *Template) privateModules() (c cache, some bool) {
	globs := cmp.Or(t.goSetting("GONOPROXY"), t.goSetting("GOPRIVATE"))
	return cache{
		from: filepath.Join(t.goModules(), "cache", "download"), to: goModules + "/cache/download", copies: small,
		only: func(file string) bool {
			module, _, ok := strings.Cut(file, "/@v/")
			return ok && matchModule(globs, unescapeModule(module))
		},
	}, globs != ""
}

// matchModule reports whether a glob of a list, separated by commas, matches a
// module or the folders that its path begins with.
func matchModule(globs, module string) bool {
	for glob := range strings.SplitSeq(globs, ",") {
		glob = strings.TrimSuffix(glob, "/")
		parts := strings.SplitAfterN(module, "/", strings.Count(glob, "/")+2)
		prefix := strings.TrimSuffix(strings.Join(parts[:min(len(parts), strings.Count(glob, "/")+1)], ""), "/")
		if ok, err := path.Match(glob, prefix); glob != "" && ok && err == nil {
			return true
		}
	}
	return false
}

// unescapeModule converts a path of the module cache to a module's path: an
// upper-case letter is an exclamation mark and its lower-case letter there.
func unescapeModule(escaped string) string {
	var b strings.Builder
	upper := false
	for _, r := range escaped {
		switch {
		case r == '!':
			upper = true
			continue
		case upper:
			b.WriteString(strings.ToUpper(string(r)))
		default:
			b.WriteRune(r)
		}
		upper = false
	}
	return b.String()
}
