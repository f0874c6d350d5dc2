package lockfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// npm reads package-lock.json, of version 1 the "dependencies" and of later
// ones the "packages".
func npm(text []byte) pins {
	type pinned struct {
		Version string `json:"version"`
	}
	var lock struct {
		Packages     map[string]pinned `json:"packages"`
		Dependencies map[string]pinned `json:"dependencies"`
	}
	if json.Unmarshal(text, &lock) != nil {
		return nil
	}
	top, deeper := pins{}, pins{}
	for name, p := range lock.Dependencies {
		top.add(name, p.Version)
	}
	const folder = "node_modules/"
	for at, p := range lock.Packages {
		if i := strings.LastIndex(at, folder); i == 0 {
			top.add(at[len(folder):], p.Version)
		} else if i > 0 {
			deeper.add(at[i+len(folder):], p.Version)
		}
	}
	return top.over(deeper)
}

// yarn reads yarn.lock. That of yarn 1 is no YAML, and those of later ones are
// written line by line in the same way: names with ranges, and their fields
// below them.
func yarn(text []byte) pins {
	all := pins{}
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			first, _, _ := strings.Cut(strings.Trim(strings.TrimSuffix(line, ":"), `"`), ",")
			name, _ = specification(strings.Trim(first, `" `))
			if strings.Contains(first, "@workspace:") {
				name = "" // the repository's own
			}
		default:
			field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.TrimSuffix(field, ":") == "version" && strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
				all.add(name, strings.Trim(strings.TrimSpace(value), `"`))
			}
		}
	}
	return all
}

// specification is a name with a version or a range behind it, as "a@^1", or
// "@scope/a@1".
func specification(text string) (name, version string) {
	at := strings.IndexByte(text[min(1, len(text)):], '@') + 1
	if at <= 0 {
		return "", ""
	}
	return text[:at], text[at+1:]
}

// pnpmVersion is the version of a direct dependency: text, or a table that has
// it beside the range that was asked for.
type pnpmVersion string

// UnmarshalYAML reads either.
func (v *pnpmVersion) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*v = pnpmVersion(n.Value)
		return nil
	}
	var table struct {
		Version string `yaml:"version"`
	}
	err := n.Decode(&table)
	*v = pnpmVersion(table.Version)
	return err
}

// pnpmImporter is a package of the repository itself.
type pnpmImporter struct {
	Dependencies         map[string]pnpmVersion `yaml:"dependencies"`
	DevDependencies      map[string]pnpmVersion `yaml:"devDependencies"`
	OptionalDependencies map[string]pnpmVersion `yaml:"optionalDependencies"`
}

// pnpm reads pnpm-lock.yaml.
func pnpm(text []byte) pins {
	var lock struct {
		pnpmImporter `yaml:",inline"`
		Importers    map[string]pnpmImporter `yaml:"importers"`
		Packages     map[string]struct{}     `yaml:"packages"`
	}
	if yaml.Unmarshal(text, &lock) != nil {
		return nil
	}
	direct, deeper := pins{}, pins{}
	add := func(i pnpmImporter) {
		for _, part := range []map[string]pnpmVersion{i.Dependencies, i.DevDependencies, i.OptionalDependencies} {
			for name, version := range part {
				direct.add(name, withoutPeers(string(version)))
			}
		}
	}
	add(lock.pnpmImporter)
	for _, i := range lock.Importers {
		add(i)
	}
	for key := range lock.Packages {
		key = withoutPeers(strings.TrimPrefix(key, "/"))
		name, version := specification(key)
		if name == "" { // up to version 5 there is a slash between the two
			at := max(0, strings.LastIndexByte(key, '/'))
			name, version = key[:at], strings.TrimPrefix(key[at:], "/")
		}
		deeper.add(name, version)
	}
	return direct.over(deeper)
}

// withoutPeers is a version without the peers that it was resolved with.
func withoutPeers(version string) string {
	version, _, _ = strings.Cut(version, "(")
	slash := strings.LastIndexByte(version, '/') + 1
	if at := strings.IndexByte(version[slash:], '_'); at > 0 && strings.ContainsAny(version[slash:slash+at], ".") {
		version = version[:slash+at]
	}
	return version
}

// bun reads bun.lock, which is JSON with comments and commas too many.
func bun(text []byte) pins {
	var lock struct {
		Packages map[string][]json.RawMessage `json:"packages"`
	}
	if json.Unmarshal(plainJSON(text), &lock) != nil {
		return nil
	}
	top, deeper := pins{}, pins{}
	for key, values := range lock.Packages {
		var spec string
		if len(values) == 0 || json.Unmarshal(values[0], &spec) != nil {
			continue
		}
		name, version := specification(spec)
		if name == key {
			top.add(name, version)
		} else {
			deeper.add(name, version)
		}
	}
	return top.over(deeper)
}

// plainJSON leaves out comments, and commas before a closing bracket.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	comma := -1 // index in out of a comma that nothing has followed
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out, comma = append(out, text[i:end]...), -1
			i = end - 1
		case bytes.HasPrefix(text[i:], []byte("//")):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case bytes.HasPrefix(text[i:], []byte("/*")):
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return nil
			}
			i += end + 3
		case c == ',':
			comma, out = len(out), append(out, c)
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma, out = -1, append(out, c)
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			out = append(out, c)
		default:
			comma, out = -1, append(out, c)
		}
	}
	return out
}
