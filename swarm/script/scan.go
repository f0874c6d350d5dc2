package script

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// How deeply the text of a script may nest. The parser and the compiler make a
// call for each level, and a full Go stack is fatal.
const (
	mostBrackets = 250
	// mostTokens bounds the tokens of an expression, over all the brackets
	// around them: 1+1+1+… nests as brackets do, without any.
	mostTokens = 10_000
	// mostDefaults bounds arrow functions in the parameters of others. The
	// parser reads such parameters twice, on every level.
	mostDefaults = 4
)

// scanner reads the text of a script before the parser does, to measure its
// nesting. It knows no grammar: where a slash has two readings, it guesses as a
// reader would. A text with an error in it may nest more deeply than the
// scanner sees. That is a reason to read foreign texts in a process of their
// own.
type scanner struct {
	src  Source
	text string
	at   int
	// cost counts the tokens of the expression, with those of the expressions
	// around it.
	cost    int
	before  tokenKind
	closed  bracket // the last that was closed
	newline bool    // a newline stands before the current token
	outline
}

// outline is the structure that the scanner found in a text.
type outline struct {
	// exports are where the word export stands outside all brackets.
	exports []int
	// stray is the first closing bracket without an open bracket; -1 is none.
	stray int
	// open are the brackets that are not closed.
	open    []bracket
	lexemes []lexeme // all tokens
}

// bracket is an open bracket.
type bracket struct {
	at     int
	kind   byte // ( [ { or $ for that of a template; ` is a template without an end
	cost   int
	head   bool // the parentheses of if, while, for or with
	arrows int  // how deeply arrow functions with parentheses nest inside
	from   int  // of $: where its template begins
}

func (b bracket) closer() byte {
	switch b.kind {
	case '(':
		return ')'
	case '[':
		return ']'
	default:
		return '}'
	}
}

// tokenKind is the part of a token that the scanner remembers.
type tokenKind int

const (
	tokenNone    tokenKind = iota // the beginning, or punctuation
	tokenOperand                  // a value may end with it
	tokenKeyword                  // a word that a value follows
	tokenHead                     // if, while, for or with
	tokenDot
	tokenParen // )
	tokenBrace // }
)

// scan reads a text, and returns an error for a text that nests too deeply.
func scan(src Source) (outline, error) {
	s := &scanner{src: src, text: src.Text, outline: outline{stray: -1}}
	for s.at < len(s.text) {
		if s.blank() {
			continue
		}
		at := s.at
		s.token()
		s.lexemes = append(s.lexemes, lexeme{at, s.at})
		if len(s.open) > mostBrackets {
			return outline{}, src.fault(CodeSyntax, at, "brackets nest more than %d deep", mostBrackets)
		}
		if s.cost > mostTokens {
			return outline{}, src.fault(CodeSyntax, at, "an expression of more than %d words and signs: name its parts", mostTokens)
		}
		if n := len(s.open); n > 0 && s.open[n-1].arrows > mostDefaults || s.closed.arrows > mostDefaults {
			return outline{}, src.fault(CodeSyntax, at, "arrow functions nest more than %d deep in the parameters of others", mostDefaults)
		}
	}
	return s.outline, nil
}

// blank passes over white space and comments.
func (s *scanner) blank() bool {
	rest := s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		s.at += lineEnd(rest)
		return true
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			s.at = len(s.text)
			return true
		}
		comment := rest[:end+4]
		s.newline = s.newline || lineEnd(comment) < len(comment)
		s.at += len(comment)
		return true
	case endsLine(rest):
		s.newline = true
	case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\v' || rest[0] == '\f':
	default:
		return false
	}
	_, size := utf8.DecodeRuneInString(rest)
	s.at += size
	return true
}

// token skips a token.
func (s *scanner) token() {
	s.cost++
	switch c := s.text[s.at]; {
	case c == '"' || c == '\'':
		s.quoted(c)
		s.is(tokenOperand)
	case c == '`':
		s.at++
		s.template(s.at - 1)
	case c == '(' || c == '[' || c == '{':
		s.opening(c)
	case c == ')' || c == ']' || c == '}':
		s.closing(c)
	case c == '/' && s.regexpMayStand() && s.regexp():
		s.is(tokenOperand)
	case isWord(c):
		s.word()
	default:
		s.sign(c)
	}
}

func (s *scanner) is(k tokenKind) {
	s.before, s.newline = k, false
}

// base is the cost at which the innermost bracket was opened.
func (s *scanner) base() int {
	if len(s.open) == 0 {
		return 0
	}
	return s.open[len(s.open)-1].cost
}

func (s *scanner) opening(c byte) {
	s.open = append(s.open, bracket{at: s.at, kind: c, cost: s.cost, head: s.before == tokenHead})
	s.at++
	s.is(tokenNone)
}

func (s *scanner) closing(c byte) {
	s.closed = bracket{kind: c}
	n := len(s.open)
	if s.stray < 0 && (n == 0 || s.open[n-1].closer() != c) {
		s.stray = s.at
	}
	s.at++
	if n > 0 {
		s.closed = s.open[n-1]
		s.open = s.open[:n-1]
		s.cost = s.closed.cost + 1
		s.arrow(s.closed.arrows)
	}
	switch {
	case s.closed.kind == '$':
		s.template(s.closed.from)
	case c == ')':
		s.is(tokenParen)
	case c == '}':
		s.is(tokenBrace)
	default:
		s.is(tokenOperand)
	}
}

// arrow notes how deeply arrow functions nest in the innermost bracket.
func (s *scanner) arrow(depth int) {
	if n := len(s.open); n > 0 {
		s.open[n-1].arrows = max(s.open[n-1].arrows, depth)
	}
}

// sign passes over punctuation.
func (s *scanner) sign(c byte) {
	rest := s.text[s.at:]
	s.at++
	kind := tokenNone
	switch {
	case c == ';' || c == ',':
		s.cost = s.base()
	case c == '.':
		kind = tokenDot
	case strings.HasPrefix(rest, "=>"):
		if s.before == tokenParen {
			s.closed.arrows++
			s.arrow(s.closed.arrows)
		}
		s.at++
	case strings.HasPrefix(rest, "++") || strings.HasPrefix(rest, "--"):
		kind = tokenOperand
		s.at++
	}
	s.is(kind)
}

// word passes over a name, a keyword or a number.
func (s *scanner) word() {
	start := s.at
	for s.at < len(s.text) && isWord(s.text[s.at]) && !endsLine(s.text[s.at:]) {
		s.at++
	}
	if s.at == start { // a line separator, which no word holds
		s.at++
	}
	w := s.text[start:s.at]
	kind := wordKind(w)
	if s.before == tokenDot {
		kind = tokenOperand
	}
	begins := kind != tokenKeyword || !slices.Contains(strings.Fields("in of instanceof else"), w)
	if begins && (s.before == tokenBrace || s.newline && (s.before == tokenOperand || s.before == tokenParen)) {
		s.cost = s.base()
	}
	if w == "export" && len(s.open) == 0 && s.before != tokenDot {
		s.exports = append(s.exports, start)
	}
	s.is(kind)
}

func wordKind(w string) tokenKind {
	switch w {
	case "if", "while", "for", "with":
		return tokenHead
	case "return", "typeof", "case", "in", "of", "instanceof", "else", "do", "void", "delete",
		"new", "throw", "await", "yield", "default", "extends":
		return tokenKeyword
	default:
		return tokenOperand
	}
}

// isWord reports whether c may be part of a name or a number.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c == '\\' || c >= utf8.RuneSelf ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quoted passes over a string, which ends with its line at the latest.
func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case quote:
			s.at++
			return
		case '\\':
			s.at++
			if strings.HasPrefix(s.text[min(s.at, len(s.text)):], "\r\n") {
				s.at++
			}
		case '\n', '\r':
			return
		}
	}
	s.at = min(s.at, len(s.text))
}

// template passes over the text of a template that begins at from, up to its
// end or to where an expression begins.
func (s *scanner) template(from int) {
	for ; s.at < len(s.text); s.at++ {
		switch rest := s.text[s.at:]; {
		case rest[0] == '`':
			s.at++
			s.is(tokenOperand)
			return
		case rest[0] == '\\':
			s.at++
		case strings.HasPrefix(rest, "${"):
			s.open = append(s.open, bracket{at: s.at, kind: '$', cost: s.cost, from: from})
			s.at += 2
			s.is(tokenNone)
			return
		}
	}
	s.at = min(s.at, len(s.text))
	s.open = append(s.open, bracket{at: from, kind: '`'})
}

// regexpMayStand reports whether a slash begins a regular expression here.
func (s *scanner) regexpMayStand() bool {
	switch s.before {
	case tokenOperand:
		return false
	case tokenParen:
		return s.closed.head
	case tokenBrace:
		return s.newline
	default:
		return true
	}
}

// regexp skips a regular expression. A slash without a closing slash on its
// line begins none.
func (s *scanner) regexp() bool {
	line := s.text[s.at : s.at+lineEnd(s.text[s.at:])]
	class := false
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at += i + 1
			return true
		}
	}
	return false
}
