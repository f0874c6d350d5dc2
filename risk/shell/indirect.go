package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// indirect reads a sign before which, or after which, something is called that
// has no name there.
func (f *foreignCode) indirect(i int) {
	switch {
	case f.language == "perl" && f.sign(i, "&") && !f.sign(i-1, "&") && !f.sign(i+1, "&"):
		// &$f(…), &{"f"}(…)
		if f.sign(i+1, "{") || strings.HasPrefix(f.tok(i+1).text, "$") && f.tok(i+1).kind == ident && f.sign(i+2, "(") {
			f.s.opaque("a function is looked up as the code runs", f.at)
		}
	case f.language == "php" && f.sign(i, ")") && f.sign(i+1, "(") && f.tok(i-1).kind == quote:
		f.s.opaque("a function is looked up as the code runs", f.at) // ("f")(…)
	case f.language == "python" && f.sign(i, "]") && f.sign(i+1, "(") && f.tables:
		f.s.opaque("a function is looked up as the code runs", f.at)
	}
}

// handedOn reads a name of the table that is not called but passed to a
// function that may call it: map(os.system, …), exec.call(null, …). Imported
// names have nothing before them.
func (f *foreignCode) handedOn(i int, name string) {
	if f.language != "python" && f.language != "javascript" {
		return
	}
	short, last := name, f.tok(i).text
	if at := strings.LastIndexByte(name, '.'); at >= 0 && slices.Contains([]string{"call", "apply", "bind"}, last) {
		short = name[:at]
	} else if !f.sign(i-1, ".") || last == "Popen" || f.sign(i+1, "=") && !f.sign(i+2, "=") {
		return
	}
	kind := f.sinks[short]
	if top, _, _ := strings.Cut(short, "."); slices.Contains([]string{"os", "shutil", "subprocess", "fs", "fs/promises", "child_process"}, top) {
		kind = f.kind(short)
	}
	if !slices.Contains([]string{"text", "program", "rmtree", "rm", "kill"}, kind) {
		return
	}
	for j := i - 1; j >= 0 && !f.sign(j, "\n") && !f.sign(j, ";") && f.s.step(1); j-- {
		if f.tok(j).text == "import" {
			return
		}
	}
	f.s.opaque("a function is handed on: "+short, f.at)
}

// command2 reads a command of awk that has a name: cmd | getline, print | cmd.
func (f *foreignCode) command2(i int) bool {
	from := f.sign(i+1, "|") && (f.tok(i+2).text == "getline" || f.sign(i+2, "&") && f.tok(i+3).text == "getline")
	to := f.sign(i-1, "|") && !f.sign(i-2, "|") && f.tok(i).text != "getline"
	if !from && !to {
		return false
	}
	f.text(f.word(f.tokens[i:i+1], 0), "awk")
	return true
}

// namedTokens is an argument by its name, as it is written.
func (f *foreignCode) namedTokens(c call, name string) []token {
	for _, arg := range c.args {
		for i := 0; i+2 < len(arg); i++ {
			if arg[i].text != name || arg[i+1].text != ":" && arg[i+1].text != "=" {
				continue
			}
			depth := 0
			for j := i + 2; j < len(arg); j++ {
				switch t := arg[j]; {
				case t.kind != sign:
				case strings.Contains("([{", t.text):
					depth++
				case strings.Contains(")]}", t.text):
					if depth--; depth <= 0 {
						return arg[i+2 : j+1]
					}
				}
			}
		}
	}
	return nil
}

// within are the tokens of the code that stands in a string and is run when
// that is made, in brackets: such as "#{…}" of Ruby.
func within(language, text string, left int) []token {
	open := map[string]string{"ruby": "#{", "javascript": "${", "perl": "@{["}[language]
	if language == "python" {
		open = "{"
	}
	if open == "" || left <= 0 {
		return nil
	}
	var all []token
	for {
		at := strings.Index(text, open)
		if at < 0 {
			return all
		}
		text = text[at+len(open):]
		depth, end := 1, 0
		for end < len(text) && depth > 0 {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			end++
		}
		code := strings.TrimSuffix(strings.TrimSuffix(text[:end], "}"), "]")
		inner := &lexer{language: language, text: code, left: left}
		inner.run()
		left = inner.left
		all = append(all, token{kind: sign, text: "("})
		all = append(all, inner.tokens...)
		all = append(all, token{kind: sign, text: ")"})
		text = text[end:]
	}
}

// unicodeEscape decodes an escaped letter of a name in JavaScript.
func unicodeEscape(rest string) (letter string, size int) {
	if !strings.HasPrefix(rest, `\u`) {
		return "", 0
	}
	size = 6
	digits := rest[2:]
	if strings.HasPrefix(digits, "{") {
		end := strings.IndexByte(digits, '}')
		if end < 0 {
			return "", 0
		}
		digits, size = digits[1:end], 2+end+1
	} else if len(digits) >= 4 {
		digits = digits[:4]
	} else {
		return "", 0
	}
	text, ok := ansi(`\U` + strings.Repeat("0", max(0, 8-len(digits))) + digits)
	if !ok || len(digits) > 8 {
		return "", 0
	}
	return text, size
}

// rare handles the rare kinds for call.
func (f *foreignCode) rare(name, kind string, c call) {
	one := f.first(c)
	switch kind {
	case "truncate":
		f.run(name, argv.Known("truncate"), argv.Known("-s"), argv.Known("0"), one)
	case "sql":
		if one.Known && len(c.args) > 0 {
			f.run(name, argv.Known("sqlite3"), argv.Known("database"), one)
		}
	case "post":
		f.run(name, argv.Known("curl"), argv.Known("-X"), argv.Known("POST"), argv.Word{})
	case "remote":
		f.run(name, argv.Known("ssh"), argv.Word{}, one)
	case "words":
		words := []argv.Word{argv.Known(name[strings.LastIndexByte(name, '.')+1:])}
		for _, a := range c.args {
			words = append(words, f.word(a, 0))
		}
		f.run(name, words...)
	case "reads":
		if strings.HasPrefix(one.Value, "|") {
			f.text(argv.Word{Value: one.Value[1:], Known: one.Known}, name)
		}
	}
}
