package measure

import (
	"go/scanner"
	"go/token"
	"strings"
)

// line is what stands on one line.
type line struct {
	code, comment bool
	text          string // of the comment
}

// goLines reads Go. What is cut off at its ends has wrong tokens there at most.
func goLines(src string) map[int]line {
	lines := map[int]line{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // nobody wrote it
		}
		n := file.Line(pos)
		if tok != token.COMMENT {
			for i := range strings.Count(text, "\n") + 1 { // a raw string has several
				l := lines[n+i]
				l.code = true
				lines[n+i] = l
			}
			continue
		}
		for part := range strings.SplitSeq(text, "\n") {
			remark(lines, n, part)
			n++
		}
	}
}

// remark notes a comment on a line; one without a word says nothing.
func remark(lines map[int]line, n int, text string) {
	text = strings.Trim(text, "/*#-<!>;\"' \t\r")
	if text == "" {
		return
	}
	l := lines[n]
	l.comment, l.text = true, strings.TrimSpace(l.text+" "+text)
	lines[n] = l
}

// grammar is as much of a language as tells comments from code.
type grammar struct {
	line   []string    // begins a comment to the end of the line
	word   bool        // which does so only at the beginning of a word
	block  [][2]string // begin and end of a comment over several lines
	quotes string      // marks of strings that end with their line
	long   []string    // marks of strings that may go over several lines
	docs   bool        // a long string that begins a line is a comment
}

// cLike is JavaScript, Java, C, Rust and what looks like them.
func cLike() grammar {
	return grammar{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, long: []string{"`"}}
}

func css() grammar { return grammar{block: [][2]string{{"/*", "*/"}}, quotes: `"'`} }

func python() grammar {
	return grammar{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, docs: true}
}

// hashes is shell, Ruby, YAML, TOML and what else has comments after #.
func hashes() grammar { return grammar{line: []string{"#"}, word: true, quotes: `"'`} }

func sql() grammar {
	return grammar{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
}

func lua() grammar {
	return grammar{block: [][2]string{{"--[[", "]]"}}, line: []string{"--"}, quotes: `"'`}
}

func ini() grammar { return grammar{line: []string{";", "#"}, word: true} }

// tags is HTML, XML and Markdown.
func tags() grammar { return grammar{block: [][2]string{{"<!--", "-->"}}} }

// lines reads a text by the grammar.
func (g grammar) lines(src string) map[int]line {
	lines := map[int]line{}
	end, doc := "", false // of what began on an earlier line, and whether it is a comment
	n := 0
	for text := range strings.Lines(src) {
		n++
		end, doc = g.read(lines, n, strings.TrimRight(text, "\r\n"), end, doc)
	}
	return lines
}

// read reads one line, and returns what is open at its end.
func (g grammar) read(lines map[int]line, n int, text, end string, doc bool) (string, bool) {
	code := func() {
		l := lines[n]
		l.code = true
		lines[n] = l
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		if end != "" {
			part, _, closed := strings.Cut(rest, end)
			if doc {
				remark(lines, n, part)
			} else {
				code()
			}
			if !closed {
				return end, doc
			}
			i += len(part) + len(end)
			end = ""
			continue
		}
		begins := strings.TrimSpace(text[:i]) == ""
		if until := g.opens(rest); until != "" {
			end, doc = until, true
			i += len(g.opener(rest))
			continue
		}
		if mark := prefixOf(rest, g.line); mark != "" && (!g.word || i == 0 || strings.ContainsRune(" \t;(", rune(text[i-1]))) {
			remark(lines, n, rest)
			return "", false
		}
		if mark := prefixOf(rest, g.long); mark != "" {
			end, doc = mark, g.docs && begins
			if !doc {
				code()
			}
			i += len(mark)
			continue
		}
		if strings.IndexByte(g.quotes, rest[0]) >= 0 {
			code()
			i += quoted(rest)
			continue
		}
		if rest[0] != ' ' && rest[0] != '\t' {
			code()
		}
		i++
	}
	return end, doc
}

// opens is what ends the block that begins here; empty for none.
func (g grammar) opens(rest string) string {
	for _, b := range g.block {
		if strings.HasPrefix(rest, b[0]) {
			return b[1]
		}
	}
	return ""
}

// opener is what begins it.
func (g grammar) opener(rest string) string {
	for _, b := range g.block {
		if strings.HasPrefix(rest, b[0]) {
			return b[0]
		}
	}
	return ""
}

func prefixOf(text string, marks []string) string {
	for _, mark := range marks {
		if strings.HasPrefix(text, mark) {
			return mark
		}
	}
	return ""
}

// quoted is the length of the string that begins here, at most to the end.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}
