package privatehome

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Variables are the names of the variables that Environ may set, but for those
// of Request.Caches.
func Variables() []string {
	return []string{
		"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
		"GOCACHE", "GOCACHEPROG", "GOMODCACHE", "GOPROXY", "GOPATH", "GOBIN",
		"npm_config_cache", "NPM_CONFIG_CACHE", "npm_config_userconfig", "npm_config_store_dir", "npm_config_package_import_method",
		"YARN_CACHE_FOLDER", "YARN_GLOBAL_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR", "UV_LINK_MODE",
		"CARGO_HOME", "RUSTUP_HOME", "GRADLE_USER_HOME", "GRADLE_RO_DEP_CACHE",
		"MAVEN_OPTS", "MAVEN_ARGS", "SBT_OPTS", "JAVA_TOOL_OPTIONS",
		"UV_TOOL_DIR", "UV_PYTHON_INSTALL_DIR", "PIPX_HOME", "XDG_BIN_HOME", "UV_TOOL_BIN_DIR", "PIPX_BIN_DIR",
		"PIP_CONFIG_FILE", "UV_CONFIG_FILE", "CONDARC", "WGETRC", "BUNDLE_USER_CONFIG",
	}
}

// Environ are the variables, as KEY=VALUE, by which tools find the HOME at home
// and the shared caches. They replace the user's of the same names.
func (t *Template) Environ(home string) []string {
	env := []string{"HOME=" + home}
	set := func(name, value string) { env = append(env, name+"="+value) }
	for _, xdg := range []struct{ name, usual string }{
		{"XDG_CACHE_HOME", ".cache"}, {"XDG_CONFIG_HOME", ".config"},
		{"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"},
	} {
		if dir := t.getenv(xdg.name); dir != "" {
			set(xdg.name, t.moved(home, dir, xdg.usual))
		}
	}
	if t.shared == "" {
		return append(env, t.toolEnviron(home)...)
	}
	set("GOCACHE", filepath.Join(t.shared, goBuild))
	if program := t.goCacheProgram(); program != "" {
		set("GOCACHEPROG", program)
	}
	set("GOMODCACHE", filepath.Join(t.shared, goModules))
	set("GOPROXY", t.goProxy())
	if t.getenv("GOPATH") != "" {
		set("GOPATH", filepath.Join(home, "go"))
	}
	if t.getenv("GOBIN") != "" {
		set("GOBIN", filepath.Join(home, "go", "bin"))
	}
	for _, name := range []string{"npm_config_cache", "NPM_CONFIG_CACHE"} {
		if name == "npm_config_cache" || t.getenv(name) != "" {
			set(name, filepath.Join(t.shared, npmCache))
		}
	}
	if t.getenv("NPM_CONFIG_USERCONFIG")+t.getenv("npm_config_userconfig") != "" {
		set("npm_config_userconfig", filepath.Join(home, ".npmrc"))
	}
	set("npm_config_store_dir", filepath.Join(t.shared, pnpmStore))
	// The files of a seeded store are links, of which pnpm must not make hard
	// links.
	set("npm_config_package_import_method", "copy")
	if t.getenv("YARN_CACHE_FOLDER") != "" { // Else see leadYarn.
		set("YARN_CACHE_FOLDER", filepath.Join(t.shared, yarnCache))
	}
	set("YARN_GLOBAL_FOLDER", filepath.Join(t.shared, yarnBerry))
	set("PIP_CACHE_DIR", filepath.Join(t.shared, pipCache))
	set("UV_CACHE_DIR", filepath.Join(t.shared, uvCache))
	set("UV_LINK_MODE", "copy")
	set("CARGO_HOME", filepath.Join(home, ".cargo"))
	set("GRADLE_USER_HOME", filepath.Join(home, ".gradle"))
	env = slices.Concat(env, t.toolEnviron(home), t.jvmEnviron(home), t.namedEnviron(home))
	if t.home == "" {
		return env
	}
	if t.getenv("RUSTUP_HOME") == "" {
		if dir := filepath.Join(t.home, ".rustup"); isDir(dir) {
			set("RUSTUP_HOME", dir)
		}
	}
	gradle := t.users("GRADLE_USER_HOME", ".gradle")
	if dir := filepath.Join(gradle, "caches"); t.getenv("GRADLE_RO_DEP_CACHE") == "" && isDir(filepath.Join(dir, "modules-2")) {
		set("GRADLE_RO_DEP_CACHE", dir)
	}
	return env
}

// toolEnviron leads tools to folders of a private HOME where the user has theirs
// elsewhere.
func (t *Template) toolEnviron(home string) (env []string) {
	if t.live {
		return nil // They are the user's.
	}
	set := func(variable, usual string) {
		if t.getenv(variable) != "" {
			env = append(env, variable+"="+filepath.Join(home, usual))
		}
	}
	for variable, usual := range toolFolders() {
		if usual != ".gradle" { // It is set anyway.
			set(variable, usual)
		}
	}
	for _, variable := range binFolders() {
		set(variable, ".local/bin")
	}
	for variable, usual := range configFiles() {
		at := t.getenv(variable)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && filepath.IsAbs(at) { // not /dev/null
			env = append(env, variable+"="+t.moved(home, at, usual))
		}
	}
	slices.Sort(env)
	return env
}

// Path is a PATH that finds programs of the private HOME at home before those of the
// user's HOME. The folders of the latter stay: not all of its links are shown.
func (t *Template) Path(home, list string) string {
	var all []string
	for _, dir := range filepath.SplitList(list) {
		if from := homeOf(dir, []string{t.given, t.home}); from != "" {
			all = append(all, home+strings.TrimPrefix(dir, from))
		}
		all = append(all, dir)
	}
	return strings.Join(all, string(filepath.ListSeparator))
}

// jvmEnviron leads Maven and sbt to a private HOME. The JVM takes HOME from the
// system's list of users and not from the variable.
//
// Maven and sbt split their variables at blanks and have no quotes. For a path with
// a blank there is the variable of the JVM. It is the second choice: each program
// says on its standard error that it has read that.
func (t *Template) jvmEnviron(home string) (env []string) {
	add := func(name string, options ...string) {
		if options = slices.DeleteFunc(options, func(o string) bool { return o == "" }); len(options) > 0 {
			env = append(env, name+"="+strings.TrimSpace(t.getenv(name)+" "+strings.Join(options, " ")))
		}
	}
	userHome, local := "-Duser.home="+home, "-Dmaven.repo.local="+filepath.Join(t.shared, maven)
	// A tail is read after the local repository (Maven 3.9.1), which starts with a
	// part of the user's. Older ones do not look at it.
	tail := ""
	if dir := t.mavenRepository(); t.home != "" && isDir(dir) {
		tail = "-Dmaven.repo.local.tail=" + dir
	}
	switch {
	case blank(home) || blank(t.shared):
		add("JAVA_TOOL_OPTIONS", quoted(userHome), quoted(local), quoted(tail))
	case blank(tail):
		add("MAVEN_OPTS", userHome, local)
		add("SBT_OPTS", userHome)
	default:
		add("MAVEN_OPTS", userHome, local)
		add("SBT_OPTS", userHome)
		add("MAVEN_ARGS", tail)
	}
	return env
}

// quoted is an option in quotes of JAVA_TOOL_OPTIONS, which have no escapes; empty
// where it cannot be.
func quoted(option string) string {
	for _, quote := range []string{"'", `"`} {
		if option != "" && !strings.Contains(option, quote) {
			return quote + option + quote
		}
	}
	return ""
}

func blank(path string) bool { return strings.ContainsAny(path, " \t\n") }

// mavenRepository is the user's local repository.
func (t *Template) mavenRepository() string { return filepath.Join(t.home, ".m2", "repository") }

// moved returns the place of a user's folder in a private HOME: the same path
// below it, or the usual path if the folder lies elsewhere.
func (t *Template) moved(home, dir, usual string) string {
	if rel, err := filepath.Rel(t.home, dir); t.home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.Join(home, rel)
	}
	return filepath.Join(home, usual)
}

// users is a folder of the user's: where a variable says, else below HOME.
func (t *Template) users(variable, usual string) string {
	if dir := t.getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(t.home, usual)
}

// goProxy has Go look for modules in the cache that the template lies over and
// in the user's first. The layout of both is that of a proxy
// (go.dev/ref/mod#module-cache).
func (t *Template) goProxy() string {
	proxy := t.goSetting("GOPROXY")
	if proxy == "" || !t.passes("GOPROXY", proxy) { // `go env -w` may hold a password, too
		proxy = "https://proxy.golang.org,direct" // Go's own default
	}
	dirs := []string{t.goModules()}
	if t.over != nil {
		dirs = append(dirs, filepath.Join(t.over.shared, goModules))
	}
	for _, dir := range dirs {
		download := filepath.Join(dir, "cache", "download")
		// A comma or a bar would end the address. That of the template may be
		// made later.
		if strings.ContainsAny(download, ",|") || dir == t.goModules() && !isDir(download) {
			continue
		}
		proxy = "file://" + (&url.URL{Path: filepath.ToSlash(download)}).EscapedPath() + "," + proxy
	}
	return proxy
}

// goModules is the user's module cache.
func (t *Template) goModules() string {
	if dir := t.goSetting("GOMODCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	first, _, _ := strings.Cut(t.goSetting("GOPATH"), string(filepath.ListSeparator))
	if !filepath.IsAbs(first) {
		first = filepath.Join(t.home, "go")
	}
	return filepath.Join(first, "pkg", "mod")
}

// goSetting is a variable of Go's: of the environment, else as `go env -w` had
// written it when the template was prepared.
func (t *Template) goSetting(name string) string {
	if value := t.getenv(name); value != "" {
		return value
	}
	return goEnvValue(t.current().goEnv, name)
}

// readGoEnv reads the file that `go env -w` writes.
func (t *Template) readGoEnv() []byte {
	file := t.getenv("GOENV")
	if file == "" {
		file = filepath.Join(t.users("XDG_CONFIG_HOME", ".config"), "go", "env")
	}
	if !filepath.IsAbs(file) {
		return nil
	}
	text, _, err := readWithin(filepath.Dir(file), filepath.Base(file), 1<<20)
	if err != nil {
		return nil
	}
	return text
}

// goEnvValue reads a variable of a file that `go env -w` has written: lines of
// NAME=VALUE, of which the last counts.
func goEnvValue(text []byte, name string) (value string) {
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), name+"="); ok {
			value = v
		}
	}
	return value
}
