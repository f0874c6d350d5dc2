package tool

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignored are the rules of .gitignore files, those of inner folders last. It
// goes by the files alone, which suffices for a search. It does not know the
// user's own git settings, or ignored files that git tracks.
type ignored []ignoreRule

type ignoreRule struct {
	base     string // the folder of its file, from the top of the search; empty: that
	pattern  string
	anywhere bool // it is about names, at any depth
	folder   bool // it is about folders only
	not      bool
}

// maxIgnore is how long a file of rules may be.
const maxIgnore = 1 << 20

// with adds the rules of a folder, if it has some.
func (g ignored) with(dir, base string) ignored {
	return g.file(filepath.Join(dir, ".gitignore"), base)
}

// excluded are the rules of a clone alone, which no .gitignore holds.
func excluded(root string) ignored {
	return ignored(nil).file(filepath.Join(root, ".git", "info", "exclude"), "")
}

func (g ignored) file(file, base string) ignored {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return g
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return g
	}
	g = g[:len(g):len(g)] // siblings have the same ones before theirs
	for line := range strings.Lines(string(text)) {
		if r, ok := parseIgnore(line); ok {
			r.base = base
			g = append(g, r)
		}
	}
	return g
}

func parseIgnore(line string) (ignoreRule, bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, "\\ ") {
		line = strings.TrimSuffix(line, " ")
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	if r.not = line[0] == '!'; r.not {
		line = line[1:]
	}
	if r.folder = strings.HasSuffix(line, "/"); r.folder {
		line = strings.TrimSuffix(line, "/")
	}
	r.anywhere = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // its contents, and not the folder itself
	}
	line = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) // git has no braces
	r.pattern = line
	return r, line != "" && doublestar.ValidatePattern(line)
}

// match reports whether a path, from the top of the search, is ignored. Those
// in ignored folders are never asked about.
func (g ignored) match(rel string, folder bool) bool {
	for i := len(g) - 1; i >= 0; i-- {
		r := g[i]
		if r.folder && !folder {
			continue
		}
		within, ok := rel, true
		if r.base != "" {
			within, ok = strings.CutPrefix(rel, r.base+"/")
		}
		if !ok {
			continue
		}
		if r.anywhere {
			within = path.Base(within)
		}
		if hit, _ := doublestar.Match(r.pattern, within); hit {
			return !r.not
		}
	}
	return false
}
