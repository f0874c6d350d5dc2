package privatehome

import (
	"bytes"
	"slices"
	"strings"
)

// plainGradle keeps settings of Gradle, of its usual plugins, and of proxies.
// (docs.gradle.org/current/userguide/build_environment.html)
func plainGradle(text []byte) []byte {
	var kept bytes.Buffer
	continued := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		inside := continued
		continued = strings.HasSuffix(line, `\`)
		i := strings.IndexAny(line, "=:")
		if inside || continued || i < 0 {
			continue
		}
		key, value := strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:])
		if gradleKey(key) && !namesSecret(key) && !namesSecret(value) && plainValue(value) {
			kept.WriteString(key + "=" + value + "\n")
		}
	}
	return kept.Bytes()
}

func gradleKey(key string) bool {
	if strings.ContainsAny(key, " \t#!") || !plainValue(key) {
		return false
	}
	for _, prefix := range []string{"org.gradle.", "kotlin.", "android.", "ksp."} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	switch strings.TrimPrefix(strings.TrimPrefix(key, "systemProp.https."), "systemProp.http.") {
	case "proxyHost", "proxyPort", "nonProxyHosts":
		return strings.HasPrefix(key, "systemProp.")
	}
	return false
}

// pipKeys are settings of pip that hold no credential beside that of an address
// (pip.pypa.io/en/stable/topics/configuration/).
func pipKeys() []string {
	return []string{
		"index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "proxy", "timeout", "retries", "cert", "pre",
		"no-cache-dir", "disable-pip-version-check", "require-virtualenv", "prefer-binary", "only-binary", "no-binary",
		"break-system-packages", "user", "progress-bar", "no-input", "quiet", "verbose", "constraint", "no-build-isolation",
	}
}

// plainPip keeps those settings. Of several addresses it keeps each that has no
// credential.
func plainPip(text []byte) []byte {
	var kept bytes.Buffer
	key := ""
	var values []string
	flush := func() {
		if len(values) > 0 {
			kept.WriteString(key + " = " + strings.Join(values, "\n    ") + "\n")
		}
		key, values = "", nil
	}
	add := func(text string) {
		for _, value := range strings.Fields(text) {
			if value[0] == '#' || value[0] == ';' {
				return // a comment
			}
			if key != "" && plainValue(value) {
				values = append(values, value)
			}
		}
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case line[0] == ' ' || line[0] == '\t':
			add(trimmed)
		case line[0] == '[':
			flush()
			if name, ok := strings.CutSuffix(line[1:], "]"); ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "" {
				kept.WriteString("[" + name + "]\n")
			}
		default:
			flush()
			i := strings.IndexAny(line, "=:")
			if i < 0 {
				continue
			}
			if name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(line[:i])), "_", "-"); slices.Contains(pipKeys(), name) {
				key = name
				add(line[i+1:])
			}
		}
	}
	flush()
	return kept.Bytes()
}

// plainBundle keeps mirrors and plain settings of Bundler (bundler.io/man/bundle-config.1.html).
func plainBundle(text []byte) []byte {
	plain := []string{
		"BUNDLE_PATH", "BUNDLE_JOBS", "BUNDLE_RETRY", "BUNDLE_TIMEOUT", "BUNDLE_WITHOUT", "BUNDLE_WITH", "BUNDLE_FROZEN", "BUNDLE_DEPLOYMENT",
		"BUNDLE_SSL_CA_CERT", "BUNDLE_FORCE_RUBY_PLATFORM", "BUNDLE_BIN",
	}
	return plainLines(text, func(key string) bool {
		return slices.Contains(plain, key) || strings.HasPrefix(key, "BUNDLE_MIRROR__") && !strings.ContainsAny(key, "$@\"' ")
	})
}

// plainYarn keeps the registry and plain settings of Yarn 2 and later
// (yarnpkg.com/configuration/yarnrc).
func plainYarn(text []byte) []byte {
	plain := []string{
		"npmRegistryServer", "nodeLinker", "enableTelemetry", "enableGlobalCache", "httpProxy", "httpsProxy", "httpTimeout", "httpRetry",
		"networkConcurrency", "enableStrictSsl", "httpsCaFilePath", "nmMode", "pnpMode", "enableScripts", "compressionLevel",
		"checksumBehavior", "enableImmutableInstalls", "defaultSemverRangePrefix",
	}
	return plainLines(text, func(key string) bool { return slices.Contains(plain, key) })
}

// plainLines keeps lines of a YAML file that are a key and a plain value.
func plainLines(text []byte, keep func(key string) bool) []byte {
	var kept bytes.Buffer
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		if value = unquoted(value); ok && value != "" && keep(key) && plainValue(value) && !strings.ContainsAny(value, "#{}[]&*!|>%`") {
			kept.WriteString(key + ": \"" + value + "\"\n")
		}
	}
	return kept.Bytes()
}
