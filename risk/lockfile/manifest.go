package lockfile

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// floor returns the lowest version that a constraint allows, as far as it names
// such a version. "^4.17.0" is 4.17.0, and "^3 || ^4" is 3. It is empty if the
// constraint has no lower bound.
func floor(constraint string) string {
	lowest := ""
	for part := range strings.SplitSeq(strings.ReplaceAll(constraint, "||", "|"), "|") {
		best := ""
		if part = strings.TrimSpace(part); strings.HasPrefix(part, "[") || strings.HasPrefix(part, "(") {
			part, _, _ = strings.Cut(part, ",") // an interval of .NET
		}
		for _, bound := range bounds(part) {
			operator := bound[:len(bound)-len(strings.TrimLeft(bound, "=<>~!^"))]
			version := strings.TrimPrefix(bound[len(operator):], "v")
			if strings.HasPrefix(operator, "<") || strings.HasPrefix(operator, "!") || version == "" || version[0] < '0' || version[0] > '9' {
				continue
			}
			version = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(version, ".*"), ".x"), ".X")
			if best == "" || newer(version, best) {
				best = version
			}
		}
		if best == "" {
			return "" // this alternative allows any version
		}
		if lowest == "" || newer(lowest, best) {
			lowest = best
		}
	}
	return lowest
}

// bounds are the bounds of a constraint, each with its operator: an operator
// may stand apart from its version.
func bounds(constraint string) []string {
	words := strings.FieldsFunc(constraint, func(r rune) bool {
		return r == ' ' || r == ',' || r == '\t' || r == '(' || r == ')' || r == '[' || r == ']' || r == '"' || r == '\''
	})
	var all []string
	for i := 0; i < len(words); i++ {
		if strings.Trim(words[i], "=<>~!^") == "" && i+1 < len(words) {
			words[i+1] = words[i] + words[i+1]
			continue
		}
		all = append(all, words[i])
	}
	return all
}

// addFloor notes the lowest version that a constraint allows. An alias of npm
// stands for another package.
func (p pins) addFloor(name, constraint string) {
	if strings.HasPrefix(constraint, "npm:") || strings.Contains(constraint, "://") || strings.HasPrefix(constraint, "workspace:") {
		return
	}
	p.add(name, floor(constraint))
}

// packageJSON reads the dependencies of package.json.
func packageJSON(text []byte) pins {
	var file struct {
		Dependencies map[string]string `json:"dependencies"`
		Dev          map[string]string `json:"devDependencies"`
		Optional     map[string]string `json:"optionalDependencies"`
		Peer         map[string]string `json:"peerDependencies"`
		Manager      string            `json:"packageManager"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	all := floors(file.Dependencies, file.Dev, file.Optional, file.Peer)
	if name, version, ok := strings.Cut(file.Manager, "@"); ok { // "yarn@4.1.0+sha224.…"
		version, _, _ = strings.Cut(version, "+")
		all.add(name, version)
	}
	return all
}

// composerJSON reads the requirements of composer.json.
func composerJSON(text []byte) pins {
	var file struct {
		Require map[string]string `json:"require"`
		Dev     map[string]string `json:"require-dev"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	return floors(file.Require, file.Dev)
}

func floors(groups ...map[string]string) pins {
	all := pins{}
	for _, group := range groups {
		for name, constraint := range group {
			all.addFloor(name, constraint)
		}
	}
	return all
}

// requirement reads a requirement of Python: "requests[socks]>=2.1; extra".
func (p pins) requirement(text string) {
	text, _, _ = strings.Cut(text, ";")
	at := strings.IndexAny(text, "=<>~!(")
	if at < 1 || strings.Contains(text, "@") {
		return
	}
	name, _, _ := strings.Cut(text[:at], "[")
	p.addFloor(strings.TrimSpace(name), text[at:])
}

// requirementFloors reads the lines of requirements.txt that pin no version.
func requirementFloors(text []byte) pins {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	all := pins{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && !strings.ContainsAny(line[:1], "-#./") {
			line, _, _ = strings.Cut(line, " --") // its hashes
			all.requirement(line)
		}
	}
	return all
}

// pixiToml reads the dependencies of pixi.toml.
func pixiToml(text []byte) pins {
	var file struct {
		Dependencies map[string]any `toml:"dependencies"`
		PyPI         map[string]any `toml:"pypi-dependencies"`
	}
	if toml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	all.tomlDependencies(file.Dependencies, file.PyPI)
	return all
}

// pyproject reads the dependencies of pyproject.toml.
func pyproject(text []byte) pins {
	type poetry struct {
		Dependencies map[string]any `toml:"dependencies"`
		Dev          map[string]any `toml:"dev-dependencies"`
		Group        map[string]struct {
			Dependencies map[string]any `toml:"dependencies"`
		} `toml:"group"`
	}
	var file struct {
		Project struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry poetry `toml:"poetry"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	lists := [][]string{file.Project.Dependencies}
	for _, list := range file.Project.Optional {
		lists = append(lists, list)
	}
	for _, list := range lists {
		for _, one := range list {
			all.requirement(one)
		}
	}
	for _, list := range file.Groups {
		for _, one := range list {
			if text, ok := one.(string); ok {
				all.requirement(text)
			}
		}
	}
	all.tomlDependencies(file.Tool.Poetry.Dependencies, file.Tool.Poetry.Dev)
	for _, group := range file.Tool.Poetry.Group {
		all.tomlDependencies(group.Dependencies)
	}
	return all
}

// tomlDependencies reads tables such as `serde = "1.0"` and
// `serde = { version = "1.0" }`.
func (p pins) tomlDependencies(groups ...map[string]any) {
	for _, group := range groups {
		for name, value := range group {
			switch value := value.(type) {
			case string:
				p.addFloor(name, value)
			case map[string]any:
				if renamed, ok := value["package"].(string); ok {
					name = renamed
				}
				if version, ok := value["version"].(string); ok {
					p.addFloor(name, version)
				}
			}
		}
	}
}

// cargoToml reads the dependencies of Cargo.toml.
func cargoToml(text []byte) pins {
	type tables struct {
		Dependencies map[string]any `toml:"dependencies"`
		Dev          map[string]any `toml:"dev-dependencies"`
		Build        map[string]any `toml:"build-dependencies"`
	}
	var file struct {
		Dependencies map[string]any    `toml:"dependencies"`
		Dev          map[string]any    `toml:"dev-dependencies"`
		Build        map[string]any    `toml:"build-dependencies"`
		Workspace    tables            `toml:"workspace"`
		Target       map[string]tables `toml:"target"`
	}
	if toml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	all.tomlDependencies(file.Dependencies, file.Dev, file.Build, file.Workspace.Dependencies)
	for _, target := range file.Target {
		all.tomlDependencies(target.Dependencies, target.Dev, target.Build)
	}
	return all
}

// pipfileToml reads the packages of Pipfile.
func pipfileToml(text []byte) pins {
	var file struct {
		Packages map[string]any `toml:"packages"`
		Dev      map[string]any `toml:"dev-packages"`
	}
	if toml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	all.tomlDependencies(file.Packages, file.Dev)
	return all
}

// gemfileSource reads the lines of Gemfile that name a gem with a version.
func gemfileSource(text []byte) pins {
	all := pins{}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "gem ")
		if !ok {
			continue
		}
		name, constraint, _ := strings.Cut(rest, ",")
		constraint, _, _ = strings.Cut(constraint, ":")
		all.addFloor(strings.Trim(strings.TrimSpace(name), `'"`), constraint)
	}
	return all
}

// pubspec reads pubspec.yaml and pubspec.lock.
func pubspec(text []byte) pins {
	var file struct {
		Dependencies map[string]yaml.Node `yaml:"dependencies"`
		Dev          map[string]yaml.Node `yaml:"dev_dependencies"`
		Packages     map[string]struct {
			Version string `yaml:"version"`
		} `yaml:"packages"`
	}
	if yaml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	for _, group := range []map[string]yaml.Node{file.Dependencies, file.Dev} {
		for name, value := range group {
			if value.Kind == yaml.ScalarNode {
				all.addFloor(name, value.Value)
			}
		}
	}
	for name, p := range file.Packages {
		all.add(name, p.Version)
	}
	return all
}

// condaFile reads environment.yml, and conda-lock.yml.
func condaFile(text []byte) pins {
	var file struct {
		Dependencies []yaml.Node `yaml:"dependencies"`
		Package      []struct {
			Name    string `yaml:"name"`
			Version string `yaml:"version"`
		} `yaml:"package"`
	}
	if yaml.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	for _, p := range file.Package {
		all.add(p.Name, p.Version)
	}
	for _, one := range file.Dependencies {
		if one.Kind != yaml.ScalarNode {
			continue
		}
		text := one.Value[strings.LastIndexByte(one.Value, ':')+1:]
		if at := strings.IndexAny(text, "=<>~! "); at > 0 {
			constraint, _, _ := strings.Cut(strings.TrimLeft(text[at:], "= "), "=") // the build
			if strings.ContainsAny(text[at:at+1], "<>~!") {
				constraint = text[at:]
			}
			all.addFloor(text[:at], constraint)
		}
	}
	return all
}

// nugetLock reads packages.lock.json, and the manifest of tools of .NET.
func nugetLock(text []byte) pins {
	var file struct {
		Dependencies map[string]map[string]struct {
			Resolved string `json:"resolved"`
		} `json:"dependencies"`
		Tools map[string]struct {
			Version string `json:"version"`
		} `json:"tools"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	all := pins{}
	for _, framework := range file.Dependencies {
		for name, p := range framework {
			all.add(strings.ToLower(name), p.Resolved)
		}
	}
	for name, p := range file.Tools {
		all.add(strings.ToLower(name), p.Version)
	}
	return all
}

// nugetXML reads packages.config, Directory.Packages.props and project files:
// elements that name a package, with its version as an attribute or as an element
// within.
func nugetXML(text []byte) pins {
	all := pins{}
	outer := ""
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			return nil
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "Version" && outer != "" {
			version := ""
			if d.DecodeElement(&version, &start) != nil {
				return nil
			}
			all.addFloor(outer, strings.TrimSpace(version))
			continue
		}
		name, version := "", ""
		for _, a := range start.Attr {
			switch strings.ToLower(a.Name.Local) {
			case "id", "include", "update":
				name = a.Value
			case "version":
				version = a.Value
			}
		}
		switch start.Name.Local {
		case "package", "PackageReference", "PackageVersion":
			outer = strings.ToLower(name)
			all.addFloor(outer, version)
		default:
			outer = ""
		}
	}
}
