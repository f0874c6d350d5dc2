package privatehome

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/swarm/environ"
)

// tomlRule returns the rule for the value at a path of keys. A nil rule drops it.
type tomlRule func(path []string) keep

// wholeRule reports whether the table or list at a path of keys is dropped whole if a
// value in it is.
type wholeRule func(path []string, list bool) bool

// keep reports whether a text of a file is no credential.
type keep func(text string) bool

// plainTOML keeps the values of a TOML file that have a rule and hold no credential.
func plainTOML(text []byte, rule tomlRule, whole wholeRule) []byte {
	var all map[string]any
	if toml.Unmarshal(text, &all) != nil {
		return nil
	}
	kept, _ := plainTable(nil, all, rule, whole)
	if len(kept) == 0 {
		return nil
	}
	out, err := toml.Marshal(kept)
	if err != nil {
		return nil
	}
	return out
}

// plainTable returns a table without credentials. ok is false if it had some.
func plainTable(path []string, table map[string]any, rule tomlRule, whole wholeRule) (kept map[string]any, ok bool) {
	kept, ok = map[string]any{}, true
	for key, value := range table {
		at := append(slices.Clone(path), key)
		left, plain := plainTOMLValue(at, value, rule, whole)
		ok = ok && plain
		if left != nil {
			kept[key] = left
		}
	}
	if !ok && whole(path, false) {
		return nil, false
	}
	return kept, ok
}

func plainTOMLValue(path []string, value any, rule tomlRule, whole wholeRule) (kept any, ok bool) {
	switch value := value.(type) {
	case map[string]any:
		table, ok := plainTable(path, value, rule, whole)
		if len(table) == 0 {
			return nil, ok
		}
		return table, ok
	case []any:
		var list []any
		ok = true
		for _, item := range value {
			left, plain := plainTOMLValue(path, item, rule, whole)
			ok = ok && plain
			if left != nil {
				list = append(list, left)
			}
		}
		if len(list) == 0 || !ok && whole(path, true) {
			return nil, ok
		}
		return list, ok
	}
	plain := rule(path)
	if plain == nil {
		return nil, false
	}
	if text, isText := value.(string); isText && !plain(text) {
		return nil, false
	}
	return value, true
}

// plainText reports whether no credential is recognized in a text.
func plainText(text string) bool {
	return !environ.Credential("value", text) && !knownTokens().MatchString(text)
}

// plainCargo keeps settings of cargo (doc.rust-lang.org/cargo/reference/config.html).
func plainCargo(text []byte) []byte {
	kept := map[string][]string{
		"registry": words("default index protocol"), "registries": words("index protocol"),
		"http": words("debug proxy timeout cainfo proxy-cainfo check-revoke ssl-version low-speed-limit multiplexing"),
		"net":  words("retry git-fetch-with-cli offline"), "source": words("replace-with directory registry local-registry git branch tag rev"),
	}
	free := words("alias build cache cargo-new doc env future-incompat-report host install paths patch profile resolver target term unstable")
	return plainTOML(text, func(path []string) keep {
		last := path[len(path)-1]
		names, some := kept[path[0]]
		switch {
		case slices.ContainsFunc(path, func(key string) bool { return environ.Credential(key, "") || !plainText(key) }):
			return nil
		case some && !slices.Contains(names, last), !some && !slices.Contains(free, path[0]):
			return nil
		case some || path[0] == "env":
			return plainAddress
		}
		return plainText
	}, func(path []string, _ bool) bool {
		// Half a source is another source, and half a list of arguments another command.
		return len(path) > 1 && path[0] != "registries"
	})
}

// plainAddress is plainText for a value that may be an address with a query.
func plainAddress(text string) bool {
	address := strings.TrimPrefix(text, "sparse+")
	return plainText(text) && !strings.ContainsAny(address, "$@?#")
}

// plainUv keeps settings of uv (docs.astral.sh/uv/reference/settings).
func plainUv(text []byte) []byte {
	kept := words(`index-url extra-index-url find-links index name url default explicit format no-index offline native-tls system-certs cache-dir
		python-preference python-downloads python-install-mirror pypy-install-mirror prerelease resolution link-mode compile-bytecode
		no-cache allow-insecure-host index-strategy exclude-newer concurrent-downloads concurrent-builds concurrent-installs
		no-build no-binary no-build-isolation preview required-version system break-system-packages http-proxy https-proxy no-proxy pip`)
	return plainTOML(text, func(path []string) keep {
		if slices.ContainsFunc(path, func(key string) bool { return !slices.Contains(kept, key) }) {
			return nil
		}
		return plainAddress
	}, func(path []string, list bool) bool { return !list && path != nil && path[len(path)-1] == "index" })
}
