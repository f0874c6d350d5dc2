package privatehome

import (
	"bytes"
	"net/url"
	"strings"
)

// plainKeys are settings of npm that hold no credential
// (docs.npmjs.com/cli/configuring-npm/npmrc).
func plainKeys() map[string]bool {
	all := map[string]bool{}
	for _, key := range []string{
		"registry", "audit", "bin-links", "cafile", "engine-strict", "fetch-retries", "fetch-timeout", "fund",
		"ignore-scripts", "legacy-peer-deps", "loglevel", "maxsockets", "offline", "package-lock", "prefer-offline",
		"progress", "save", "save-exact", "save-prefix", "strict-peer-deps", "strict-ssl", "update-notifier",
		"https-proxy", "proxy", "noproxy",
		// Of pnpm (pnpm.io/npmrc).
		"store-dir", "cache-dir", "state-dir", "global-dir", "global-bin-dir", "node-linker", "package-import-method",
		"shamefully-hoist", "auto-install-peers", "strict-peer-dependencies",
	} {
		all[key] = true
	}
	return all
}

// plainNpmrc keeps the lines of an npmrc file that hold no credential: the
// registry, without which npm behind a company's mirror finds nothing, and
// plain settings. It drops every line that it does not know.
func plainNpmrc(text []byte) []byte {
	var kept bytes.Buffer
	plain := plainKeys()
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		name := key
		// A scope has a registry of its own: @scope:registry.
		if scope, rest, ok := strings.Cut(key, ":"); ok && strings.HasPrefix(scope, "@") && rest == "registry" {
			name = rest
		}
		if ok && plain[name] && plainValue(value) {
			kept.WriteString(key + "=" + value + "\n")
		}
	}
	return kept.Bytes()
}

// plainValue reports whether a value names no user, no password and no
// variable, whose value could be either.
func plainValue(value string) bool {
	if strings.ContainsAny(value, "$@\"'\\\x00") {
		return false
	}
	if !strings.Contains(value, "//") {
		return true
	}
	u, err := url.Parse(value)
	return err == nil && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
