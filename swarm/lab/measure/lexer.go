package measure

import (
	"go/scanner"
	"go/token"
	"strings"
)

// line is the content of a line.
type line struct {
	code, comment bool
	text          string // of the comment
}

// goLines reads Go. A text that is cut off at its ends has wrong tokens only
// there.
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
			continue // the scanner inserted it
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

// remark records a comment on a line. A comment without a word does not count,
// and a comment for a tool is code.
func remark(lines map[int]line, n int, text string) {
	if directive(text) {
		l := lines[n]
		l.code = true
		lines[n] = l
		return
	}
	text = strings.Trim(text, "/*#-<!>;\"' \t\r")
	if text == "" {
		return
	}
	l := lines[n]
	l.comment, l.text = true, strings.TrimSpace(l.text+" "+text)
	lines[n] = l
}

// directive tells whether a comment is said to a tool.
func directive(text string) bool {
	text = strings.TrimLeft(text, "/*#-<!; \t")
	for _, start := range []string{
		"go:", "+build ", "nolint", "eslint-", "prettier-ignore", "@ts-", "noqa", "type: ignore", "pylint:", "mypy:", "shellcheck ", "coding:", "frozen_string_literal:", "rubocop:",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// grammar is as much of a language as tells comments from code.
type grammar struct {
	line   []string    // begins a comment to the end of the line
	word   bool        // which does so only at the beginning of a word
	block  [][2]string // begin and end of a comment over several lines
	quotes string      // marks of strings that end with their line
	long   []string    // marks of strings that may go over several lines
	docs   bool        // a long string that begins a line is a comment
	open   bool        // strings of quotes go on to the next line
	here   bool        // the lines below <<WORD are text
	apart  bool        // a quote within a word begins no string, nor does a lone '
	slash  bool        // there are regular expressions between slashes
}

// cLike is the grammar of JavaScript, Java, C, Rust and similar languages.
func cLike() grammar {
	return grammar{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, long: []string{`"""`, "`"}, apart: true}
}

func script() grammar {
	g := cLike()
	g.slash = true
	return g
}

func php() grammar {
	g := cLike()
	g.line = append(g.line, "#")
	return g
}

// shell is that, and Ruby and Perl, whose texts may go over several lines.
func shell() grammar {
	g := hashes()
	g.open, g.here, g.apart = true, true, false
	return g
}

func css() grammar { return grammar{block: [][2]string{{"/*", "*/"}}, quotes: `"'`} }

func python() grammar {
	return grammar{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, docs: true}
}

// hashes is the grammar of YAML, TOML and other languages with comments after
// #.
func hashes() grammar { return grammar{line: []string{"#"}, word: true, quotes: `"'`, apart: true} }

func haskell() grammar {
	return grammar{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"'`, apart: true}
}

func sql() grammar {
	return grammar{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
}

func lua() grammar {
	return grammar{block: [][2]string{{"--[[", "]]"}}, line: []string{"--"}, quotes: `"'`}
}

func ini() grammar { return grammar{line: []string{";", "#"}, word: true} }

// tags is HTML, XML and Markdown.
func tags() grammar { return grammar{block: [][2]string{{"<!--", "-->"}}} }
