package landing

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Suspects returns the patches whose changed files or folders the output of a
// failed check names, in the order of their ids. The output is foreign text:
// suspects only decide which trial comes first.
//
// A line counts if it does not stand in the output that passed, apart from
// numbers. A file is named by its path, or by the last part of its path where no
// other changed file ends so. A folder counts only if no file is named.
func Suspects(failed, passed string, paths map[string][]string) []string {
	known := map[string]bool{}
	for line := range strings.Lines(passed) {
		known[plainLine(line)] = true
	}
	files, folders, names := index(paths)
	byFile, byFolder := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(failed) {
		if known[plainLine(line)] {
			continue
		}
		for _, word := range strings.FieldsFunc(line, notOfPath) {
			mark(byFile, owners(files, word))
			if !strings.Contains(word, "/") && len(names[word]) == 1 {
				mark(byFile, files[names[word][0]])
			}
			mark(byFolder, owners(folders, strings.TrimRight(word, "./")))
		}
	}
	if len(byFile) == 0 {
		byFile = byFolder
	}
	return slices.Sorted(maps.Keys(byFile))
}

func mark(set map[string]bool, ids []string) {
	for _, id := range ids {
		set[id] = true
	}
}

// index maps files and their folders to the patches that change them, and the
// last part of each path to the files that end so.
func index(paths map[string][]string) (files, folders, names map[string][]string) {
	files, folders, names = map[string][]string{}, map[string][]string{}, map[string][]string{}
	for id, all := range paths {
		for _, file := range all {
			if files[file] == nil {
				names[path.Base(file)] = append(names[path.Base(file)], file)
			}
			files[file] = append(files[file], id)
			if dir := path.Dir(file); dir != "." && !slices.Contains(folders[dir], id) {
				folders[dir] = append(folders[dir], id)
			}
		}
	}
	return files, folders, names
}

// owners are the patches of the longest known path that a word ends with: a word
// may have the path of a workspace or the name of a module before it.
func owners(known map[string][]string, word string) []string {
	for {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".")
		if ids := known[word]; ids != nil {
			return ids
		}
		_, rest, more := strings.Cut(word, "/")
		if !more {
			return nil
		}
		word = rest
	}
}

// notOfPath reports whether a character ends a path in an output. A colon does:
// line numbers follow it.
func notOfPath(r rune) bool {
	return r <= ' ' || strings.ContainsRune(`"'`+"`"+`:;,()[]{}<>|=*?!#$&`, r)
}

// changing is the part of a line that differs between two runs of a check.
var changing = regexp.MustCompile(`\(cached\)|[0-9]+(\.[0-9]+)?(ms|s)?`)

// plainLine is a line without its numbers.
func plainLine(line string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(line, "")), " ")
}
