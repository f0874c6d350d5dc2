package privatehome

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxIncludes bounds the files that a configuration of git includes. Git itself goes
// ten files deep.
const maxIncludes = 100

// GitIncludes are the files below a HOME that the user's configuration of git
// includes, on whatever condition. They may hold credentials too.
func GitIncludes(home string, getenv func(string) string) (all []string) {
	if !filepath.IsAbs(home) {
		return nil
	}
	queue := gitConfigs(home, getenv)
	known := slices.Clone(queue)
	for len(queue) > 0 && len(all) < maxIncludes {
		file := queue[0]
		queue = queue[1:]
		text, _, err := readSmall(file)
		if err != nil {
			continue
		}
		for _, e := range readGit(text) {
			path, ok := includedPath(e, home, filepath.Dir(file))
			// Files of the machine are for all its users.
			if !ok || slices.Contains(known, path) || homeOf(path, homesOf(home)) == "" {
				continue
			}
			known, queue, all = append(known, path), append(queue, path), append(all, path)
		}
	}
	return all
}

// gitConfigs are the files of a user's configuration of git, whether git reads them or
// not.
func gitConfigs(home string, getenv func(string) string) []string {
	all := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config")}
	for _, file := range []string{xdgGit(home, getenv), getenv("GIT_CONFIG_GLOBAL")} {
		if filepath.IsAbs(file) && !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all
}

// gitGlobal are the files that git reads as the configuration of a user, in its order.
func gitGlobal(home string, getenv func(string) string) []string {
	if file := getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return []string{file}
	}
	return []string{xdgGit(home, getenv), filepath.Join(home, ".gitconfig")}
}

func xdgGit(home string, getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "git/config")
	}
	return filepath.Join(home, ".config/git/config")
}

// homesOf are a HOME and its path without links.
func homesOf(home string) []string {
	if real, err := filepath.EvalSymlinks(home); err == nil && real != home {
		return []string{home, real}
	}
	return []string{home}
}

// homeOf returns the path of HOME that a path lies below, of several; empty:
// none.
func homeOf(path string, homes []string) string {
	for _, home := range homes {
		if path != home && below(home, path) {
			return home
		}
	}
	return ""
}

// includedPath is the file that a variable includes.
func includedPath(e gitEntry, home, dir string) (path string, ok bool) {
	if e.section != "include" && e.section != "includeif" || e.key != "path" || e.value == "" {
		return "", false
	}
	path = e.value
	switch {
	case strings.HasPrefix(path, "~/"):
		path = filepath.Join(home, path[2:])
	case strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%("):
		return "", false
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path), true
}

// plainGitOf is plainGit for a HOME that may be at another path: absolute paths of
// included files begin with ~ instead.
func plainGitOf(homes []string) func([]byte) []byte {
	return func(text []byte) []byte {
		all := readGit(text)
		for i, e := range all {
			path, ok := includedPath(e, "", "")
			if home := homeOf(path, homes); ok && home != "" {
				all[i].value = "~" + strings.TrimPrefix(path, home)
			}
		}
		return keepGit(all)
	}
}

// FlatGit returns the user's configuration of git as a single text without
// credentials. It leaves out files that are included on a condition.
func FlatGit(home string, getenv func(string) string) []byte {
	if !filepath.IsAbs(home) {
		return nil
	}
	var all []gitEntry
	for _, file := range gitGlobal(home, getenv) {
		all = flatten(all, file, home, 10)
	}
	return keepGit(all)
}

func flatten(all []gitEntry, file, home string, depth int) []gitEntry {
	text, _, err := readSmall(file)
	if err != nil || len(all) > 100*maxIncludes {
		return all
	}
	for _, e := range readGit(text) {
		switch path, ok := includedPath(e, home, filepath.Dir(file)); {
		case ok && e.section == "include" && depth > 0:
			all = flatten(all, path, home, depth-1)
		case e.section != "include" && e.section != "includeif":
			all = append(all, e)
		}
	}
	return all
}
