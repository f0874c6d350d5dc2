package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// foreign reads code in another language: only its calls that run programs,
// remove files, end processes or send something.
func (s *scope) foreign(language, text string, at Span) {
	switch {
	case !s.step(1 + len(text)/4):
		return
	case s.depth >= MaxDepth:
		s.opaque("text stands within text deeper than is read", at)
		return
	case language == "shell":
		s.code(text, at)
		return
	case language == "opaque":
		s.opaque("the language of this code is not read", at)
		return
	}
	sub := *s
	sub.depth++
	f := &foreignCode{s: &sub, at: at, language: language, tokens: lex(language, text), sinks: s.sinks[language]}
	f.declarations()
	for i := range f.tokens {
		f.token(i)
	}
}

// foreignCode is code of another language, taken apart.
type foreignCode struct {
	s        *scope
	at       Span
	language string
	tokens   []token
	sinks    map[string]string
	names    map[string]string // names of modules and of their parts, with their targets
	values   map[string][]token
	tables   bool // it names the tables that functions of Python are in
}

func (f *foreignCode) tok(i int) token {
	if i < 0 || i >= len(f.tokens) {
		return token{kind: sign, text: "\n"}
	}
	return f.tokens[i]
}

func (f *foreignCode) sign(i int, text string) bool {
	t := f.tok(i)
	return t.kind == sign && t.text == text
}

// declarations records the names of modules and of fixed values.
func (f *foreignCode) declarations() {
	f.names, f.values = map[string]string{}, map[string][]token{}
	count := map[string]int{}
	for i, t := range f.tokens {
		f.tables = f.tables || t.kind == ident && slices.Contains([]string{"__dict__", "vars", "globals", "locals", "__builtins__"}, t.text)
		switch {
		case t.kind == ident && t.text == "import" && f.language == "python":
			f.imported(i)
		case t.kind == ident && t.text == "from" && f.tok(i+1).kind == quote:
			// import x, {y as z} from "m"
			for j := i - 1; j >= 0 && f.tok(j).text != "import" && i-j < 40; j-- {
				f.renamed(j, f.tok(i+1).text)
			}
		case t.kind == ident && t.text == "require" && f.sign(i+1, "(") && f.tok(i+2).kind == quote && f.sign(i-1, "=") &&
			f.sign(i+4, ".") && f.tok(i-2).kind == ident && f.tok(i+5).kind == ident && !f.sign(i+6, "("):
			f.names[f.tok(i-2).text] = strings.TrimPrefix(f.tok(i+2).text, "node:") + "." + f.tok(i+5).text
		case t.kind == ident && t.text == "require" && f.sign(i+1, "(") && f.tok(i+2).kind == quote && f.sign(i-1, "="):
			for j := i - 2; j >= 0 && f.tok(j).text != "const" && f.tok(j).text != "let" && f.tok(j).text != "var" && i-j < 40; j-- {
				f.renamed(j, f.tok(i+2).text)
			}
		case t.kind == ident && f.sign(i+1, "=") && !f.sign(i+2, "=") && !f.sign(i+2, "~") && !f.sign(i-1, "."):
			count[t.text]++
			f.values[t.text] = f.until(i + 2)
		case t.kind == ident && f.sign(i+2, "=") && strings.Contains("+-.*|", f.tok(i+1).text):
			count[t.text] += 2
		}
	}
	for name, n := range count {
		if n > 1 {
			delete(f.values, name)
		}
	}
}

// renamed records a name of a module, or of a part of a module.
func (f *foreignCode) renamed(i int, module string) {
	module = strings.TrimPrefix(module, "node:")
	t := f.tok(i)
	if t.kind != ident || t.text == "as" {
		return
	}
	inside := false
	for j := i; j >= 0 && i-j < 40; j-- {
		if f.sign(j, "{") {
			inside = true
			break
		}
	}
	switch {
	case !inside:
		f.names[t.text] = module
	case f.sign(i-1, ":") || f.tok(i-1).text == "as":
		f.names[t.text] = module + "." + f.tok(i-2).text
	default:
		f.names[t.text] = module + "." + t.text
	}
}

// imported records the names of "import a as b" and "from a import b as c".
func (f *foreignCode) imported(i int) {
	from := ""
	if j := i - 2; j >= 0 {
		for j > 0 && f.sign(j, ".") {
			j -= 2
		}
		for k := i - 1; k > 0 && f.tok(k).text != "from" && i-k < 10; k-- {
			if f.tok(k-1).text == "from" {
				for _, t := range f.tokens[k:i] {
					from += t.text
				}
				from += "."
			}
		}
	}
	if f.sign(i+1, "*") {
		for name := range f.sinks {
			if rest, ok := strings.CutPrefix(name, from); ok && from != "" && !strings.Contains(rest, ".") {
				f.names[rest] = name
			}
		}
		return
	}
	for j := i + 1; j < len(f.tokens) && !f.sign(j, "\n") && !f.sign(j, ";"); j++ {
		t := f.tok(j)
		if t.kind != ident || t.text == "as" {
			continue
		}
		name := t.text
		for f.sign(j+1, ".") {
			name += "." + f.tok(j+2).text
			j += 2
		}
		as := name
		if f.tok(j+1).text == "as" {
			as = f.tok(j + 2).text
			j += 2
		}
		f.names[as] = from + name
	}
}

// until are the tokens up to the end of a statement.
func (f *foreignCode) until(i int) []token {
	depth, end := 0, i
	for ; end < len(f.tokens); end++ {
		if end%16 == 0 && !f.s.step(1) {
			break
		}
		t := f.tokens[end]
		if t.kind == sign && strings.Contains("([{", t.text) {
			depth++
		}
		if t.kind == sign && strings.Contains(")]}", t.text) {
			if depth--; depth < 0 {
				break
			}
		}
		if depth == 0 && (t.kind == sign && (t.text == "\n" || t.text == ";") || t.kind == ident && slices.Contains([]string{"if", "unless", "or", "and", "do"}, t.text)) {
			break
		}
	}
	return f.tokens[i:end]
}

// arguments returns the arguments of a call, each as its tokens.
func (f *foreignCode) arguments(i int) [][]token {
	var body []token
	switch {
	case f.sign(i, "("):
		body = f.enclosed(i + 1)
	case f.language == "perl" || f.language == "ruby" || f.language == "other":
		body = f.until(i)
	default:
		return nil
	}
	return split(body)
}

// enclosed are the tokens up to the bracket that closes, on whatever line it is.
func (f *foreignCode) enclosed(i int) []token {
	depth, end := 0, i
	for ; end < len(f.tokens); end++ {
		if end%16 == 0 && !f.s.step(1) {
			break
		}
		t := f.tokens[end]
		if t.kind == sign && strings.Contains("([{", t.text) {
			depth++
		}
		if t.kind == sign && strings.Contains(")]}", t.text) {
			if depth--; depth < 0 {
				break
			}
		}
	}
	return f.tokens[i:end]
}

// split parts tokens at their commas.
func split(body []token) [][]token {
	var all [][]token
	depth, start := 0, 0
	for i, t := range body {
		switch {
		case t.kind != sign:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			depth--
		case t.text == "," && depth == 0:
			all = append(all, trim(body[start:i]))
			start = i + 1
		}
	}
	if last := trim(body[min(start, len(body)):]); len(last) > 0 {
		all = append(all, last)
	}
	return all
}

func trim(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].kind == sign && tokens[0].text == "\n" {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == sign && tokens[len(tokens)-1].text == "\n" {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// word returns an expression as a word: strings that follow each other or are
// joined, or the name of a string.
func (f *foreignCode) word(tokens []token, deep int) argv.Word {
	w := argv.Word{Known: len(tokens) > 0}
	for _, t := range tokens {
		switch {
		case t.kind == quote:
			w.Value += t.text
			w.Known = w.Known && t.whole
		case t.kind == sign && strings.Contains("+.\n", t.text):
			continue
		case t.kind == sign && t.text >= "0" && t.text <= "9":
			w.Value += t.text
			continue
		case t.kind == sign && t.text == "-" && w.Value == "":
			w.Value = "-"
			continue
		case t.kind == ident && len(tokens) == 1 && deep < 4 && f.values[t.text] != nil:
			return f.word(f.values[t.text], deep+1)
		default:
			w.Known = false
		}
		if !w.Known {
			return w
		}
	}
	return w
}

// words are an expression as the words of a command: a list of strings.
func (f *foreignCode) words(tokens []token, deep int) ([]argv.Word, bool) {
	tokens = trim(tokens)
	if len(tokens) == 1 && tokens[0].kind == ident && deep < 4 && f.values[tokens[0].text] != nil {
		return f.words(f.values[tokens[0].text], deep+1)
	}
	if len(tokens) < 2 || tokens[0].kind != sign || tokens[0].text != "[" && tokens[0].text != "(" || tokens[len(tokens)-1].text != "]" && tokens[len(tokens)-1].text != ")" {
		return nil, false
	}
	var all []argv.Word
	for _, item := range split(tokens[1 : len(tokens)-1]) {
		name := ""
		for _, t := range item {
			name += t.text
		}
		switch name {
		case "sys.executable":
			all = append(all, argv.Known("python"))
		case "process.execPath", "process.argv[0]":
			all = append(all, argv.Known("node"))
		default:
			all = append(all, f.word(item, 0))
		}
	}
	return all, true
}
