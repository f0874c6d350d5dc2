package demo

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions finds where text speaks of the old function as a word of its own,
// such as kv.Get, [kv.Get] or kv.Get(s, k), but not kv.GetAll or my.kv.Get.
func mentions(text string, names map[string]bool) []edit {
	var found []edit
	for _, name := range slices.Sorted(maps.Keys(names)) {
		word := name + "." + oldName
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				break
			}
			start := at + i
			at = start + len(word)
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			after, _ := utf8.DecodeRuneInString(text[at:])
			if before == '.' || wordRune(before) || wordRune(after) {
				continue
			}
			found = append(found, edit{at - len(oldName), at, newName})
		}
	}
	slices.SortFunc(found, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return found
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// rewriteMarkdown moves a text from the old function to the new function. Go
// code between fences is rewritten as code where it parses, so that a reader's
// copy still compiles.
func rewriteMarkdown(src string) (string, counted) {
	var out, code strings.Builder
	var done counted
	fenced := false
	for line := range strings.Lines(src) {
		mark := strings.TrimSpace(line)
		switch {
		case fenced && mark == "```":
			text, did := rewriteSnippet(code.String())
			done.add(did)
			out.WriteString(text + line)
			code.Reset()
			fenced = false
		case fenced:
			code.WriteString(line)
		case mark == "```go":
			out.WriteString(line)
			fenced = true
		default:
			text, did := rename(line)
			done.add(did)
			out.WriteString(text)
		}
	}
	text, did := rename(code.String()) // an unclosed fence
	done.add(did)
	return out.String() + text, done
}

// rewriteSnippet rewrites Go code that is a file, some declarations or some
// statements. In any other code it renames words.
func rewriteSnippet(code string) (string, counted) {
	head := "package p\n\nimport \"" + library + "\"\n\n"
	for _, around := range [][2]string{
		{"", ""}, {head, ""}, {head + "func _() {\n", "}\n"},
	} {
		out, done, err := rewriteGo("snippet", around[0]+code+around[1])
		if err != nil {
			continue
		}
		return strings.TrimSuffix(strings.TrimPrefix(out, around[0]), around[1]), done
	}
	return rename(code)
}

// rename renames the mentions in a text and nothing else.
func rename(text string) (string, counted) {
	edits := mentions(text, map[string]bool{path.Base(library): true})
	return apply(text, edits), counted{mentions: len(edits)}
}

// strikeOut takes a package off the list of callers under audit.
func strikeOut(src, name string) string {
	const list = "- under audit: "
	var out strings.Builder
	for line := range strings.Lines(src) {
		if rest, ok := strings.CutPrefix(line, list); ok {
			names := strings.Split(strings.TrimRight(rest, "\r\n"), ", ")
			ending := rest[len(strings.TrimRight(rest, "\r\n")):]
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
			if len(names) == 0 {
				names = []string{"nobody"}
			}
			line = list + strings.Join(names, ", ") + ending
		}
		out.WriteString(line)
	}
	return out.String()
}
