package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/box"
)

// plainForms are files of HOME that may hold credentials, and that tools need
// for mirrors, proxies and habits. Each has a function that removes the
// credentials.
func plainForms() map[string]func([]byte) []byte {
	all := map[string]func([]byte) []byte{
		".npmrc": plainNpmrc, ".config/pnpm/rc": plainNpmrc, ".yarnrc.yml": plainYarn, ".yarnrc": plainYarnrc,
		".m2/settings.xml": plainMaven, ".gradle/gradle.properties": plainGradle,
		".config/pip/pip.conf": plainPip, ".pip/pip.conf": plainPip, ".bundle/config": plainBundle,
		".nuget/NuGet/NuGet.Config": plainNuGet, ".config/NuGet/NuGet.Config": plainNuGet,
		".gitconfig": plainGit, ".config/git/config": plainGit, ".cargo/config.toml": plainCargo, ".cargo/config": plainCargo,
		".config/uv/uv.toml": plainUv, ".condarc": plainConda, ".gemrc": plainGem,
		".curlrc": plainCurl, ".config/curlrc": plainCurl, ".wgetrc": plainWget,
	}
	for _, name := range box.Histories() { // Agents get empty files, which they can write to.
		all[name] = func([]byte) []byte { return nil }
	}
	return all
}

// plainVariables are variables that name such a file, or the folder that a file of
// plainForms lies in, with the path in HOME without them.
func plainVariables() map[string][]struct{ file, usual string } {
	type named = struct{ file, usual string }
	all := map[string][]named{
		"GRADLE_USER_HOME": {{"gradle.properties", ".gradle/gradle.properties"}}, "PIP_CONFIG_FILE": {{"", ".pip/pip.conf"}},
		"CARGO_HOME":            {{"config.toml", ".cargo/config.toml"}, {"config", ".cargo/config"}},
		"NPM_CONFIG_USERCONFIG": {{"", ".npmrc"}}, "npm_config_userconfig": {{"", ".npmrc"}}, "UV_CONFIG_FILE": {{"", ".config/uv/uv.toml"}},
		"BUNDLE_USER_CONFIG": {{"", ".bundle/config"}}, "BUNDLE_USER_HOME": {{"config", ".bundle/config"}},
		"CONDARC": {{"", ".condarc"}}, "WGETRC": {{"", ".wgetrc"}}, "CURL_HOME": {{".curlrc", ".curlrc"}},
	}
	for name := range plainForms() {
		if rel, ok := strings.CutPrefix(name, ".config/"); ok {
			all["XDG_CONFIG_HOME"] = append(all["XDG_CONFIG_HOME"], named{rel, name})
		}
	}
	return all
}

// plainPlaces are the plain forms by the absolute paths where the user may have such
// files. Those below HOME are there by its path without links, too.
func plainPlaces(home string, getenv func(string) string) map[string]func([]byte) []byte {
	if !filepath.IsAbs(home) {
		return nil
	}
	all, forms, homes := map[string]func([]byte) []byte{}, plainForms(), homesOf(home)
	add := func(path string, form func([]byte) []byte) {
		all[path] = form
		if from := homeOf(path, homes); from != "" {
			all[homes[len(homes)-1]+strings.TrimPrefix(path, from)] = form
		}
	}
	for variable, files := range plainVariables() {
		for _, f := range files {
			if at := getenv(variable); filepath.IsAbs(at) {
				add(filepath.Join(at, f.file), forms[f.usual])
			}
		}
	}
	for name, form := range forms {
		add(filepath.Join(home, name), form)
	}
	for _, path := range append(gitConfigs(home, getenv), GitIncludes(home, getenv)...) {
		add(path, plainGitOf(homes))
	}
	return all
}

// WritePlain writes, below a new folder, the user's files that may hold credentials
// without these. Each has its absolute path there, without links.
func WritePlain(home string, getenv func(string) string, dir string) error {
	for path, form := range plainPlaces(home, getenv) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		text, info, err := readSmall(real)
		if err != nil {
			continue // It may be anything, or is not there.
		}
		at := filepath.Join(dir, real)
		err = os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil {
			err = errors.Join(os.WriteFile(at, form(text), 0o600), os.Chtimes(at, info.ModTime(), info.ModTime()))
		}
		if err != nil {
			return fmt.Errorf("copy %s without credentials: %w", path, err)
		}
	}
	return nil
}

// PlainGit returns the files of the user's configuration of git as agents see them, by
// their absolute paths without links.
func PlainGit(home string, getenv func(string) string) map[string][]byte {
	all := map[string][]byte{}
	if !filepath.IsAbs(home) {
		return all
	}
	form := plainGitOf(homesOf(home))
	for _, path := range append(gitConfigs(home, getenv), GitIncludes(home, getenv)...) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if text, _, err := readSmall(real); err == nil {
			all[real] = form(text)
		}
	}
	return all
}

// PlainFiles lists the user's files that WritePlain wrote to a folder, by their
// absolute paths. None are there without a folder.
func PlainFiles(dir string) (all []string) {
	if dir == "" {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all = append(all, strings.TrimPrefix(path, filepath.Clean(dir)))
		}
		return nil
	})
	return all
}

// PlainNames are the files of a HOME that WritePlain copies, in order.
func PlainNames() []string { return slices.Sorted(maps.Keys(plainForms())) }

// readSmall reads a regular file, also through links. A file of more than maxFile bytes
// is an error: the end of a cut text may be half of an address, and look like no credential.
func readSmall(path string) ([]byte, fs.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	text, info, err := readWithin(filepath.Dir(real), filepath.Base(real), maxFile+1)
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return text, info, err
}

// wordsOfSecrets are in names of settings, and of options in values, that hold a
// credential.
func wordsOfSecrets() []string {
	return []string{"passw", "passphrase", "secret", "token", "credential", "apikey", "api_key", "api-key", "privatekey", "private_key", "auth"}
}

func namesSecret(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(wordsOfSecrets(), func(word string) bool { return strings.Contains(text, word) })
}

// unquoted is a value without the quotes around it.
func unquoted(value string) string {
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}
