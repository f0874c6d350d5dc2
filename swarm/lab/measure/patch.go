package measure

import (
	"path"
	"strconv"
	"strings"

	"agentswarm/internal/patchpath"
)

// hunk is the new side of a place that a patch changes.
type hunk struct {
	path  string
	text  string       // with the lines around
	added map[int]bool // which of its lines are new, from 1
}

// hunks reads a patch as git writes it.
func hunks(patch string) []hunk {
	var all []hunk
	var file string
	var b strings.Builder
	var h *hunk
	n, left := 0, 0
	flush := func() {
		if h != nil {
			h.text = b.String()
			all = append(all, *h)
		}
		h, n, left = nil, 0, 0
		b.Reset()
	}
	for line := range strings.Lines(patch) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case h != nil && left > 0 && (line[0] == '+' || line[0] == ' ' || bare == ""):
			n++
			left--
			if line[0] == '+' {
				h.added[n] = true
			}
			if bare != "" {
				bare = bare[1:]
			}
			b.WriteString(bare + "\n")
		case h != nil && (line[0] == '-' && left > 0 || line[0] == '\\'):
		case strings.HasPrefix(bare, "+++ "):
			flush()
			file = newName(bare[4:])
		case strings.HasPrefix(bare, "@@ "):
			flush()
			h = &hunk{path: file, added: map[int]bool{}}
			left = newLines(bare)
		default:
			flush()
		}
	}
	flush()
	return all
}

// newName returns the path in a line +++; git quotes a path that is not plain.
func newName(name string) string {
	return strings.TrimPrefix(patchpath.Side(name), "b/")
}

// newLines is how many lines the new side has: @@ -1,2 +3,4 @@.
func newLines(head string) int {
	for word := range strings.FieldsSeq(head) {
		if at, ok := strings.CutPrefix(word, "+"); ok {
			_, count, many := strings.Cut(at, ",")
			if !many {
				return 1
			}
			n, err := strconv.Atoi(count)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// remarks are the comments and the code on added lines.
type remarks struct {
	code, comment int
	texts         []string // of the comments, a line each
}

// remarksOf reads all that a patch adds to files whose language is known.
func remarksOf(patch string) remarks {
	var all remarks
	for _, h := range hunks(patch) {
		lex := lexerFor(h.path, h.text)
		if lex == nil {
			continue
		}
		lines := lex(h.text)
		for n := range h.added {
			l := lines[n]
			if l.code {
				all.code++
			}
			if l.comment {
				all.comment++
				all.texts = append(all.texts, l.text)
			}
		}
	}
	return all
}

// commentDensity is how many lines of comment there are for each line of code,
// of those that were added.
func commentDensity(w *Work) (float64, bool) {
	r := remarksOf(w.Patch)
	if r.code == 0 {
		return 0, false
	}
	return float64(r.comment) / float64(r.code), true
}

// foreignComments counts added lines of comment that are not English.
func foreignComments(w *Work) (float64, bool) {
	n := 0
	for _, text := range remarksOf(w.Patch).texts {
		if foreign(text) {
			n++
		}
	}
	return float64(n), true
}

// lexerFor is how a file is read, by its name, or else by the program that its
// first line names; nil where that is not known.
func lexerFor(file, text string) func(string) map[int]line {
	name := strings.ToLower(path.Base(file))
	switch name {
	case "makefile", "dockerfile", "gemfile", "rakefile", "justfile", ".gitignore", ".env", "procfile":
		return hashes().lines
	}
	ext := path.Ext(name)
	if ext == "" {
		ext = interpreted(text)
	}
	switch ext {
	case ".go":
		return goLines
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx":
		return script().lines
	case ".java", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".rs", ".kt", ".kts", ".swift", ".scala", ".dart", ".scss", ".less", ".jsonc", ".proto", ".zig", ".gradle", ".groovy":
		return cLike().lines
	case ".php":
		return php().lines
	case ".css":
		return css().lines
	case ".py", ".pyi":
		return python().lines
	case ".sh", ".bash", ".zsh", ".rb", ".pl":
		return shell().lines
	case ".r", ".yml", ".yaml", ".toml", ".conf", ".cfg", ".mk", ".tf", ".ex", ".exs", ".env", ".properties", ".nix", ".fish", ".awk", ".jl", ".graphql":
		return hashes().lines
	case ".sql":
		return sql().lines
	case ".hs":
		return haskell().lines
	case ".lua":
		return lua().lines
	case ".ini", ".asm":
		return ini().lines
	case ".html", ".xml", ".svg", ".vue", ".svelte", ".md":
		return tags().lines
	}
	return nil
}

// interpreted is the extension that a script would have, by its first line.
func interpreted(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return ""
	}
	for _, known := range [][2]string{{"python", ".py"}, {"node", ".js"}, {"ruby", ".rb"}, {"perl", ".pl"}, {"sh", ".sh"}} {
		if strings.Contains(first, known[0]) {
			return known[1]
		}
	}
	return ""
}
