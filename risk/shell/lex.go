package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a part of code in another language: a name, a string, or a sign.
type token struct {
	kind tokenKind
	text string
	// whole says of a string that nothing is put into it when it runs.
	whole bool
}

type tokenKind uint8

const (
	sign   tokenKind = iota // a single character, or the end of a line
	ident                   // a name, with its $ or @ if it has that
	quote                   // a string
	spawns                  // a string that is run: `…`, qx(…), %x(…)
)

// lexer splits code into strings, comments and names. Its errors in rare
// spellings cost precision, not safety. Names are still found unless they are
// taken for strings.
type lexer struct {
	language string
	text     string
	at       int
	tokens   []token
	left     int // how many more are made
}

func lex(language, text string) []token {
	l := &lexer{language: language, text: text, left: 20000}
	l.run()
	return l.tokens
}

func (l *lexer) run() {
	for l.at < len(l.text) && l.left > 0 {
		l.left--
		l.next()
	}
}

func (l *lexer) emit(t token) { l.tokens = append(l.tokens, t) }

func (l *lexer) rest() string { return l.text[l.at:] }

func (l *lexer) is(languages ...string) bool {
	for _, one := range languages {
		if l.language == one {
			return true
		}
	}
	return false
}

func (l *lexer) next() {
	c := l.text[l.at]
	rest := l.rest()
	switch {
	case c == ' ' || c == '\t':
		l.at++
	case c == '#' && !l.is("javascript") && !l.member("$#"), strings.HasPrefix(rest, "//") && l.is("javascript", "php") && !l.regex():
		l.skip("\n")
	case strings.HasPrefix(rest, "--") && l.is("other") && !strings.HasPrefix(rest, "--["):
		l.skip("\n")
	case strings.HasPrefix(rest, "/*") && l.is("javascript", "php"):
		l.at += 2
		l.skip("*/")
		l.at = min(l.at+2, len(l.text))
	case l.is("python") && (strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''")):
		l.triple("")
	case c == '"' || c == '\'' || c == '`':
		l.quoted(c)
	case c == '/' && l.regex():
		l.at++
		l.delimited('/')
	case c == '%' && l.is("ruby") && len(rest) > 2 && strings.IndexByte("xqQwWi", rest[1]) >= 0 && strings.IndexByte("({[|!</", rest[2]) >= 0:
		l.at += 2
		l.generic(rest[1] == 'x', rest[1] == 'q')
	case letter(rest), c == '\\' && l.is("javascript") && strings.HasPrefix(rest, `\u`):
		l.word()
	default:
		_, n := utf8.DecodeRuneInString(rest)
		l.emit(token{kind: sign, text: rest[:n]})
		l.at += n
	}
}

// member reports whether the text here is the end of a longer sign.
func (l *lexer) member(sign string) bool {
	return l.at > 0 && l.text[l.at-1:min(l.at+1, len(l.text))] == sign
}

func letter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || r == '$' || r == '@' || unicode.IsLetter(r)
}

// skip goes to the next mark.
func (l *lexer) skip(mark string) {
	i := strings.Index(l.rest(), mark)
	if i < 0 {
		i = len(l.rest())
	}
	l.at += i
}

// regex reports whether a slash here begins a pattern: it does where no value
// stands before it.
func (l *lexer) regex() bool {
	if !l.is("javascript", "perl", "ruby", "awk") {
		return false
	}
	if len(l.tokens) == 0 {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	switch last.kind {
	case ident:
		return last.text == "return" || last.text == "typeof" || last.text == "if" || last.text == "and" || last.text == "or" || last.text == "split"
	case sign:
		return strings.Contains("(,=:[!&|?{};~\n", last.text)
	default:
		return false
	}
}

// word takes a name, or the string that some names begin.
func (l *lexer) word() {
	start, escaped := l.at, ""
	for l.at < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.rest())
		if text, size := unicodeEscape(l.rest()); size > 0 && l.is("javascript") {
			escaped += l.text[start:l.at] + text
			l.at += size
			start = l.at
			continue
		}
		if r != '_' && r != '$' && r != '@' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		l.at += n
	}
	name := escaped + l.text[start:l.at]
	if name == "" {
		l.at++ // no escape after all
		return
	}
	next := byte(0)
	if l.at < len(l.text) {
		next = l.text[l.at]
	}
	switch {
	case l.is("python") && len(name) <= 2 && (next == '"' || next == '\'') && strings.Trim(strings.ToLower(name), "rbuf") == "":
		if strings.HasPrefix(l.rest(), `"""`) || strings.HasPrefix(l.rest(), "'''") {
			l.triple(name)
			return
		}
		l.quoted(next)
		last := &l.tokens[len(l.tokens)-1]
		if strings.ContainsAny(name, "fF") && strings.Contains(last.text, "{") {
			last.whole = false
			l.tokens = append(l.tokens, within("python", last.text, l.left/2)...)
		}
	case l.is("perl") && (name == "q" || name == "qq" || name == "qx" || name == "qw" || name == "m" || name == "qr") && opens(l.rest()):
		for l.at < len(l.text) && l.text[l.at] == ' ' {
			l.at++
		}
		l.generic(name == "qx", name == "q" || name == "qw")
	case l.is("perl") && (name == "s" || name == "tr" || name == "y") && next != 0 && strings.IndexByte("/|#!,{([", next) >= 0:
		l.at++
		l.delimited(closing(next))
		if next != closing(next) && l.at < len(l.text) {
			next = l.text[l.at]
			l.at++
		}
		l.replacement(l.delimited(closing(next)), name == "s")
	default:
		l.emit(token{kind: ident, text: name})
	}
}

// replacement skips the flags of a substitution of Perl. The flag e makes the
// replacement code.
func (l *lexer) replacement(code string, may bool) {
	flags := len(l.rest()) - len(strings.TrimLeft(l.rest(), "abcdefghijklmnopqrstuvwxyz"))
	if may && strings.Contains(l.rest()[:flags], "e") {
		inner := &lexer{language: l.language, text: code, left: l.left / 2}
		inner.run()
		l.emit(token{kind: sign, text: ";"})
		l.tokens = append(l.tokens, inner.tokens...)
		l.emit(token{kind: sign, text: ";"})
	}
	l.at += flags
}

// opens reports whether a quoted text of Perl begins here, and not a hash key
// or an assignment.
func opens(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return rest != "" && strings.IndexByte("({[</|!'\"#~", rest[0]) >= 0
}

func closing(c byte) byte {
	if i := strings.IndexByte("({[<", c); i >= 0 {
		return ")}]>"[i]
	}
	return c
}

// delimited skips a closing mark, and returns the text before it.
func (l *lexer) delimited(end byte) string {
	start := l.at
	for l.at < len(l.text) && l.text[l.at] != end {
		if l.text[l.at] == '\\' {
			l.at++
		}
		l.at++
	}
	l.at = min(l.at, len(l.text))
	text := l.text[start:l.at]
	l.at = min(l.at+1, len(l.text))
	return text
}

// generic takes a string between marks of its own choice, which may nest.
func (l *lexer) generic(runs, plain bool) {
	open := l.text[l.at]
	end := closing(open)
	l.at++
	start, depth := l.at, 1
	for l.at < len(l.text) {
		c := l.text[l.at]
		if c == '\\' {
			l.at++
		} else if c == end {
			depth--
		} else if c == open {
			depth++
		}
		if depth == 0 {
			break
		}
		l.at++
	}
	l.at = min(l.at, len(l.text))
	text := l.text[start:l.at]
	l.at = min(l.at+1, len(l.text))
	t := token{kind: quote, text: text, whole: plain || !l.interpolates(text)}
	if runs {
		t.kind = spawns
	}
	l.emit(t)
	if !t.whole {
		l.tokens = append(l.tokens, within(l.language, text, l.left/2)...)
	}
}

// interpolates reports whether something is put into a string when it runs.
func (l *lexer) interpolates(text string) bool {
	switch l.language {
	case "perl", "php":
		return strings.ContainsAny(text, "$@")
	case "ruby":
		return strings.Contains(text, "#{")
	case "javascript":
		return strings.Contains(text, "${")
	}
	return false
}

// quoted takes a string in quotes.
func (l *lexer) quoted(c byte) {
	l.at++
	raw := l.delimited(c)
	t := token{kind: quote, whole: true}
	text, ok := ansi(strings.ReplaceAll(raw, "\\\n", ""))
	switch {
	case c == '\'' && !l.is("python", "javascript"):
		text = strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(raw)
	case c == '\'':
		t.whole = ok
	default:
		t.whole = ok && !(l.interpolates(raw) && (c == '`' || !l.is("javascript")))
	}
	if t.text = text; c == '`' && l.is("perl", "ruby", "php") {
		t.kind = spawns
	}
	l.emit(t)
	if !t.whole && (c == '`' || c == '"' && !l.is("javascript", "python")) {
		l.tokens = append(l.tokens, within(l.language, raw, l.left/2)...)
	}
}

// triple takes a string of Python in three quotes.
func (l *lexer) triple(prefix string) {
	mark := l.rest()[:3]
	l.at += 3
	start := l.at
	l.skip(mark)
	text := l.text[start:l.at]
	l.at = min(l.at+3, len(l.text))
	whole := !strings.ContainsAny(prefix, "fF") || !strings.Contains(text, "{")
	if !strings.ContainsAny(prefix, "rR") {
		decoded, ok := ansi(strings.ReplaceAll(text, "\\\n", ""))
		text, whole = decoded, whole && ok
	}
	l.emit(token{kind: quote, text: text, whole: whole})
	if strings.ContainsAny(prefix, "fF") && !whole {
		l.tokens = append(l.tokens, within("python", text, l.left/2)...)
	}
}
