package box

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// PathNames replaces paths in texts that a process in a sandbox wrote, for people
// outside of it.
type PathNames struct {
	Sandbox Sandbox
	Home    string // the user's HOME without links; empty: there is none
	// Named are folders that are replaced by a name.
	Named []Named
}

// Named is a folder of a sandbox, with its name for people.
type Named struct {
	At       string // absolute, without links
	Name     string
	Relative bool // what lies in it is named relative to it
}

// Text returns a text in which no path leads to something else, or to nothing,
// outside of the sandbox. A named folder is replaced by its name. A file that is
// private to the sandbox is named below "(private HOME)" or "(private DIR)".
// Other paths stay as they are, and so does a text that this has returned.
func (t PathNames) Text(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '/' && beginsPath(text[:i]) {
			if n, told := t.path(text[i:]); n > 0 {
				b.WriteString(told)
				i += n
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// path reads the folder that a text begins with, and returns its length with
// the words for it; 0: the folder is the same outside.
func (t PathNames) path(text string) (int, string) {
	var found Named
	for _, n := range t.Named {
		if len(n.At) > len(found.At) && n.At != "/" && beginsWith(text, n.At) {
			found = n
		}
	}
	var over Piece
	for _, p := range t.Sandbox.Pieces {
		if len(p.At) >= len(over.At) && p.At != "/" && beginsWith(text, p.At) {
			over = p
		}
	}
	if found.At != "" && len(found.At) >= len(over.At) {
		if below := found.At + "/"; found.Relative && len(text) > len(below) && strings.HasPrefix(text, below) {
			if r, _ := utf8.DecodeRuneInString(text[len(below):]); inName(r) {
				return len(below), ""
			}
		}
		return len(found.At), found.Name
	}
	if over.At == "" || !over.private(text[len(over.At):]) {
		return 0, ""
	}
	if over.At == t.Home {
		return len(over.At), "(private HOME)"
	}
	return len(over.At), private + over.At + ")"
}

// private begins the name of a folder that is private to a sandbox.
const private = "(private "

// private reports whether only the sandbox has a file in a piece. The text begins
// with the file's path below the piece.
func (p Piece) private(text string) bool {
	switch {
	case p.From != "":
		return p.From != p.At
	case len(p.Lower) == 0 || p.Lower[len(p.Lower)-1] != p.At:
		return !p.Empty
	}
	below := text
	if end := strings.IndexFunc(text, func(r rune) bool { return r != '/' && !inName(r) }); end >= 0 {
		below = text[:end]
	}
	// A full stop may end the sentence.
	for _, name := range []string{below, strings.TrimRight(below, ".")} {
		if exists(filepath.Join(p.At, name)) {
			return false
		}
		for _, layer := range append([]string{p.Upper}, p.Lower...) {
			if layer != "" && exists(filepath.Join(layer, name)) {
				return true
			}
		}
	}
	return false
}

// beginsPath reports whether an absolute path may begin after a text.
func beginsPath(before string) bool {
	if strings.HasSuffix(before, "file://") {
		return true
	}
	if strings.HasSuffix(before, private) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || r != '/' && r != ')' && r != '~' && !inName(r)
}

// beginsWith reports whether a text begins with a path, or with a path below it.
func beginsWith(text, path string) bool {
	rest, ok := strings.CutPrefix(text, path)
	if !ok || rest == "" {
		return ok
	}
	if sentence := strings.TrimLeft(rest, "."); sentence == "" || sentence != rest && strings.ContainsAny(sentence[:1], " \t\n") {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return !inName(r)
}

// inName reports whether a character is taken as a part of a file's name where
// a path is sought in a text.
func inName(r rune) bool {
	return !strings.ContainsRune(" \t\r\n\"'`,;:()[]{}<>|=*?&!/\\", r)
}
