package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// OwnHome is the path of an agent's HOME where the user has none that agents could
// write to: it is not set, does not exist or is the root folder. Otherwise it is
// empty. It is for levels with namespaces.
func OwnHome(home string) string {
	if dir, ok := real(home); ok && isDir(dir) && dir != "/" {
		return ""
	}
	return "/run/swarm-home" // some programs refuse a HOME in /tmp
}

// home is the user's HOME at its own path, or a folder of the agent's own.
func (c *composing) home() error {
	if c.View == Apart {
		return c.privateHome()
	}
	dir := c.Home
	if own := OwnHome(dir); own != "" {
		return c.layer(own, homeName, true)
	}
	if c.placed(dir) {
		return nil // It is a /tmp: that is private anyway.
	}
	return c.layer(dir, homeName, false)
}

// privateHome is the agent's HOME at a path of its own, with links to the user's, which
// can be read.
func (c *composing) privateHome() error {
	if OwnHome(c.Home) == "" && !c.placed(c.Home) {
		c.add(Piece{At: c.Home, From: c.Home}) // It may lie below what is hidden.
	}
	dir, _, err := c.folder(homeName)
	if err != nil {
		return err
	}
	// A link may lead to the state folder.
	c.add(Piece{At: parented(dir), From: dir, Write: true})
	return nil
}

// CacheVariables are the variables by which tools are told to keep their caches
// elsewhere.
func CacheVariables() []string { return slices.Concat(largeCaches(), smallCaches(), packageFolders()) }

// largeCaches are variables of caches that take long to fill. Tools work with
// empty ones.
func largeCaches() []string {
	return []string{
		"GOCACHE", "XDG_CACHE_HOME", "npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR",
		"CCACHE_DIR", "SCCACHE_DIR",
	}
}

// smallCaches are variables of further caches, and of folders for builds. In the
// repository they are a part of the workspace.
func smallCaches() []string {
	return []string{
		"GOLANGCI_LINT_CACHE", "CARGO_TARGET_DIR", "TURBO_CACHE_DIR", "CYPRESS_CACHE_FOLDER", "ELECTRON_CACHE", "PUPPETEER_CACHE_DIR",
		"PYTHONPYCACHEPREFIX", "POETRY_CACHE_DIR", "PRE_COMMIT_HOME", "COURSIER_CACHE", "COMPOSER_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR",
		"MISE_CACHE_DIR", "HELM_CACHE_HOME", "TF_PLUGIN_CACHE_DIR", "GOTMPDIR",
	}
}

// packageFolders are variables of folders with packages and programs, to which
// tools write as well. An empty folder would take them away.
func packageFolders() []string {
	return []string{
		"GOMODCACHE", "GOPATH", "CARGO_HOME", "RUSTUP_HOME", "GRADLE_USER_HOME", "PNPM_HOME", "COREPACK_HOME", "DENO_DIR",
		"NUGET_PACKAGES", "PUB_CACHE", "MIX_HOME", "HEX_HOME", "COMPOSER_HOME", "STACK_ROOT", "CABAL_DIR",
		"HF_HOME", "TORCH_HOME", "PLAYWRIGHT_BROWSERS_PATH", "UV_TOOL_DIR", "UV_PYTHON_INSTALL_DIR", "PIPX_HOME",
		"XDG_BIN_HOME", "UV_TOOL_BIN_DIR", "PIPX_BIN_DIR",
	}
}

// CacheFolders are the folders that tools are told to keep their caches in, as
// far as they are there, without small ones.
func CacheFolders(getenv func(string) string) []string {
	var all []string
	for _, name := range slices.Concat(largeCaches(), packageFolders()) {
		if dir, ok := real(getenv(name)); ok && isDir(dir) {
			all = append(all, dir)
		}
	}
	return all
}

// cachesElsewhere are caches outside of HOME: warm, and private as HOME is. With a HOME
// apart they can only be read: a check would find the files of its agent there, at paths
// that links in its HOME lead to.
func (c *composing) cachesElsewhere() error {
	if c.View == Apart {
		return nil
	}
	yarn := ""
	if os.Geteuid() == 0 && c.Getenv("XDG_CACHE_HOME") == "" {
		yarn = yarnOfRoot
	}
	return c.layerCaches(yarn)
}

// yarnOfRoot is where Yarn 1 keeps its cache if root starts it.
const yarnOfRoot = "/usr/local/share/.cache/yarn"

// layerCaches makes overlays of caches that variables name, and of that of Yarn.
func (c *composing) layerCaches(yarn string) error {
	for _, name := range append(CacheVariables(), "yarn") {
		path := yarn
		if name != "yarn" {
			path = c.Getenv(name)
		}
		dir, ok := real(path)
		if !ok || !isDir(dir) || dir == "/" || c.placed(dir) || covers(dir, c.State) || covers(c.State, dir) ||
			c.Home != "" && covers(dir, c.Home) || c.given(dir) ||
			slices.ContainsFunc(c.Pieces, func(p Piece) bool { return covers(dir, p.At) }) {
			continue
		}
		if err := c.layer(dir, "cache-"+name, false); err != nil {
			return err
		}
	}
	return nil
}

// given reports whether a cache is private, or nothing that is kept, by what it
// lies in: HOME, or a folder of the place's. Not so in one that shows what lies
// there anyway, to be read, as the repository of a linked worktree does.
func (c *composing) given(dir string) bool {
	if p, ok := lowest(c.Pieces, dir); ok {
		return p.Write || !p.same()
	}
	return OwnHome(c.Home) == "" && covers(c.Home, dir)
}

// Redirect returns variables, as KEY=VALUE, that lead tools from caches that the
// the sandbox does not let them write to, to the private folder ~/.cache or /tmp. Such a
// cache does not exist yet. It is for the view Whole: a HOME apart has all caches.
func Redirect(w Sandbox, home string, getenv func(string) string) []string {
	if !w.Level.Namespaces() || w.Open {
		return nil
	}
	to := "/tmp"
	if home, ok := real(home); ok && writable(w, filepath.Join(home, ".cache")) {
		to = filepath.Join(home, ".cache")
	}
	var env []string
	lead := func(name string, missing bool) {
		dir := getenv(name)
		if !filepath.IsAbs(dir) || missing && exists(dir) || writable(w, dir) {
			return
		}
		value := filepath.Join(to, "swarm-"+strings.ToLower(name))
		if name == "GOTMPDIR" {
			value = "" // Go does not make it, and uses TMPDIR then
		}
		env = append(env, name+"="+value)
	}
	for _, name := range slices.Concat(largeCaches(), smallCaches()) {
		lead(name, false)
	}
	for _, name := range packageFolders() {
		lead(name, true)
	}
	return env
}

// writable reports whether the sandbox lets an agent write to a folder, or make it.
func writable(w Sandbox, dir string) bool {
	for !exists(dir) && dir != "/" {
		dir = filepath.Dir(dir)
	}
	dir, ok := real(dir)
	if !ok {
		return false
	}
	p, ok := lowest(w.Pieces, dir)
	return ok && !p.Empty && !p.Sealed && (p.Write || p.Scratch || p.Upper != "")
}

// ViewRefusal says that HOME is [Apart].
type ViewRefusal struct {
	// Err is what the failing step of the view Whole said.
	Err error
}

func (r *ViewRefusal) Error() string { return fmt.Sprintf("HOME is a folder of its own: %v", r.Err) }

func (r *ViewRefusal) Unwrap() error { return r.Err }

// ViewIn is the view of HOME on a level, where an answer of Probe was explained with why.
func ViewIn(level Level, why error) View {
	var r *ViewRefusal
	if level != None && !level.Overlay() || errors.As(why, &r) {
		return Apart
	}
	return Whole
}

// ProbeHome returns the best view of HOME that works on a level. The function
// given must really start a sandbox with a view and say how that failed. The
// *ViewRefusal explains the answer; err says that no view works, which is then
// not for HOME's sake.
//
// Of the place only Home and State are looked at.
func ProbeHome(p Place, level Level, try func(View) error) (view View, why *ViewRefusal, err error) {
	if !level.Overlay() {
		return Apart, nil, try(Apart)
	}
	refused := MountsBelow(p.Home, p.State)
	if refused == nil {
		if refused = try(Whole); refused == nil {
			return Whole, nil, nil
		}
	}
	return Apart, &ViewRefusal{Err: refused}, try(Apart)
}

// MountsBelow returns an error that names a file system mounted below a folder: an overlay
// would show the files under it. Those mounted in state are hidden anyway.
func MountsBelow(dir, state string) error {
	dir, ok := real(dir)
	if !ok || dir == "/" {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read the list of mounts: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if at := unescape(fields[4]); at != dir && covers(dir, at) && !covers(state, at) {
			return fmt.Errorf("another file system is mounted at %s", at)
		}
	}
	return nil
}

// unescape reads a path of the list of mounts, where blanks are octal numbers.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
