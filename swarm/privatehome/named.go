package privatehome

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// namedCaches is the folder below Shared with the caches whose place only a
// variable tells.
const namedCaches = "named"

// ruled are the variables for which the package has rules of their own. Rustup's
// programs are read at the user's path.
func ruled() []string {
	return slices.Concat([]string{
		"XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER",
		"PIP_CACHE_DIR", "UV_CACHE_DIR", "CARGO_HOME", "RUSTUP_HOME",
	}, slices.Collect(maps.Keys(toolFolders())), binFolders())
}

// namedVariables returns the variables of [Request.Caches] that the user set to
// a path. Shared ones name caches. The others name folders of builds, in which
// agents would change the files of each other.
func (t *Template) namedVariables() (shared, own []string) {
	for _, name := range t.named {
		switch {
		case slices.Contains(ruled(), name) || !filepath.IsAbs(t.getenv(name)):
		case name == "CARGO_TARGET_DIR" || name == "GOTMPDIR":
			own = append(own, name)
		default:
			shared = append(shared, name)
		}
	}
	return shared, own
}

// namedFolder is the shared folder of a variable.
func (t *Template) namedFolder(name string) string { return filepath.Join(t.shared, namedCaches, name) }

// namedEnviron are those variables, as KEY=VALUE, for the HOME at home.
func (t *Template) namedEnviron(home string) (env []string) {
	shared, own := t.namedVariables()
	for _, name := range shared {
		env = append(env, name+"="+t.namedFolder(name))
	}
	for _, name := range own {
		value := "" // Go uses TMPDIR then
		if name != "GOTMPDIR" {
			value = filepath.Join(home, ".cache", strings.ToLower(name))
		}
		env = append(env, name+"="+value)
	}
	return env
}

// namedSeeds are the user's folders of the shared ones. Each file is a link, so
// that tools can write to all folders.
func (t *Template) namedSeeds() (all []cache) {
	shared, _ := t.namedVariables()
	for _, name := range shared {
		c := cache{from: t.getenv(name), to: filepath.Join(namedCaches, name), copies: small}
		if name == "PNPM_HOME" { // The store in it is a cache of its own.
			c.only = func(path string) bool { return !below("store", path) }
		}
		all = append(all, c)
	}
	return all
}

// makeNamed makes the folders that the user does not have. Some tools do not
// make the folders above their own.
func (t *Template) makeNamed() error {
	shared, _ := t.namedVariables()
	for _, name := range shared {
		if err := os.MkdirAll(t.namedFolder(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}
