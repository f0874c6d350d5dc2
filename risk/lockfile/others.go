package lockfile

import (
	"encoding/json"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tables reads the lock files that are TOML with a table for each package:
// those of cargo, uv, poetry and pdm, and pylock.toml.
func tables(text []byte) pins {
	type pinned struct {
		Name    string `toml:"name"`
		Version string `toml:"version"`
	}
	var lock struct {
		Package  []pinned `toml:"package"`
		Packages []pinned `toml:"packages"`
	}
	if toml.Unmarshal(text, &lock) != nil {
		return nil
	}
	all := pins{}
	for _, p := range append(lock.Package, lock.Packages...) {
		all.add(p.Name, p.Version)
	}
	return all
}

// pipfile reads Pipfile.lock.
func pipfile(text []byte) pins {
	type group map[string]struct {
		Version string `json:"version"`
	}
	var lock struct {
		Default group `json:"default"`
		Develop group `json:"develop"`
	}
	if json.Unmarshal(text, &lock) != nil {
		return nil
	}
	all := pins{}
	for _, g := range []group{lock.Default, lock.Develop} {
		for name, p := range g {
			all.add(name, strings.TrimLeft(p.Version, "= "))
		}
	}
	return all
}

// requirements reads requirements.txt. Only packages pinned to a single version
// count.
func requirements(text []byte) pins {
	all := pins{}
	for line := range strings.Lines(string(text)) {
		if at := strings.IndexByte(line, '#'); at == 0 || at > 0 && strings.ContainsAny(line[at-1:at], " \t") {
			line = line[:at]
		}
		line, _, _ = strings.Cut(line, ";")
		name, version, ok := strings.Cut(line, "==")
		if name, _, _ = strings.Cut(name, "["); !ok || strings.ContainsAny(name, "<>~!=,@/:\\") {
			continue
		}
		fields := strings.Fields(strings.TrimLeft(version, "= "))
		if name = strings.TrimSpace(name); len(fields) == 0 || strings.HasPrefix(name, "-") || strings.ContainsAny(fields[0], "*,") {
			continue
		}
		all.add(name, fields[0])
	}
	return all
}

// goMod reads the requirements of go.mod, and the version of Go.
func goMod(text []byte) pins {
	all := pins{}
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case len(words) == 1 && words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		switch {
		case words[0] == "require" && len(words) == 3:
			all.add(strings.Trim(words[1], "\"`"), words[2])
		case words[0] == "go" && len(words) == 2:
			all.add("go", words[1])
		case words[0] == "toolchain" && len(words) == 2:
			all.add("toolchain", strings.TrimPrefix(words[1], "go"))
		}
	}
	return all
}

// gemfile reads Gemfile.lock. Below "specs:" are gems with their versions, and
// deeper the dependencies of each.
func gemfile(text []byte) pins {
	all := pins{}
	specs := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case line == "  specs:":
			specs = true
		case line == "" || line[0] != ' ':
			specs = false
		case specs && strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "     "):
			name, version, ok := strings.Cut(strings.TrimSpace(line), " (")
			version, closed := strings.CutSuffix(version, ")")
			if ok && closed {
				version, _, _ = strings.Cut(version, "-") // the platform
				all.add(name, version)
			}
		}
	}
	return all
}

// composerLock reads composer.lock.
func composerLock(text []byte) pins {
	type pinned struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var lock struct {
		Packages []pinned `json:"packages"`
		Dev      []pinned `json:"packages-dev"`
	}
	if json.Unmarshal(text, &lock) != nil {
		return nil
	}
	all := pins{}
	for _, p := range append(lock.Packages, lock.Dev...) {
		all.add(p.Name, p.Version)
	}
	return all
}
