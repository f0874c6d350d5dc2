package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxMemory is how long all files of a repository may be together that are
// said to each agent, in bytes. The rest is left out, and that is said.
const MaxMemory = 64 << 10

const leftOut = "\n… (the rest is left out; read the file)"

// Bound cuts files to the allowed length, and drops files without text.
func Bound(files []File) []File {
	var all []File
	left := MaxMemory
	for _, f := range files {
		f.Text = strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(f.Text, "\ufeff"), "\uFFFD"))
		switch {
		case f.Text == "":
			continue
		case len(f.Text) > left:
			f.Text = strings.TrimSpace(whole(f.Text[:left])) + leftOut
			left = 0
		default:
			left -= len(f.Text)
		}
		all = append(all, f)
	}
	return all
}

// whole is a text without a last character that was cut.
func whole(text string) string {
	for i := 0; i < utf8.UTFMax && !utf8.ValidString(text); i++ {
		text = text[:len(text)-1]
	}
	return text
}

// Missing returns the files that an agent's prompt must hold. It leaves out the
// files that the agent's kind reads by itself. It also leaves out a file that
// equals such a file, or that such a file names after an @.
func Missing(all []File, reads []string) []File {
	var read, said []string // texts
	for _, f := range all {
		if slices.Contains(reads, f.Name) {
			read = append(read, strings.TrimSpace(f.Text))
		}
	}
	var some []File
	for _, f := range all {
		text := strings.TrimSpace(f.Text)
		known := slices.Contains(reads, f.Name) || slices.Contains(read, text) || slices.Contains(said, text) ||
			slices.ContainsFunc(read, func(t string) bool { return imports(t, f.Name) })
		if !known {
			some, said = append(some, f), append(said, text)
		}
	}
	return some
}

// imports reports whether a text has a word that brings in a file.
func imports(text, name string) bool {
	for _, word := range strings.Fields(text) {
		if word == "@"+name || word == "@./"+name {
			return true
		}
	}
	return false
}
