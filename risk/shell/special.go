package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// special reads the code that some programs have in words of their own kind.
func (s *scope) special(w *wrapping) {
	switch w.Inner {
	case "awk":
		s.awk(w)
	case "sed":
		s.sed(w)
	case "make":
		s.make(w)
	case "tar":
		for _, v := range w.line.Values("--checkpoint-action") {
			if text, ok := strings.CutPrefix(v.Value, "exec="); ok {
				s.optionText(w, argv.Word{Value: text, Known: v.Known}, "")
			} else if !v.Known && v.Value == "" {
				s.opaque("the action of tar is not known", w.c.span)
			}
		}
	case "editor":
		s.editor(w)
	case "bwrap":
		s.bwrap(w)
	case "socat":
		s.socat(w)
	}
}

// socat reads the addresses that are programs.
func (s *scope) socat(w *wrapping) {
	for _, op := range w.c.words[1:] {
		kind, text, ok := strings.Cut(op.Value, ":")
		if kind = strings.ToUpper(kind); !ok || kind != "EXEC" && kind != "SYSTEM" && kind != "SHELL" {
			continue
		}
		if at := strings.LastIndexByte(text, ','); at > 0 && !strings.ContainsAny(text[at:], " '\"") {
			text = text[:at] // options of the address
		}
		s.optionText(w, argv.Word{Value: text, Known: op.Known}, "")
	}
}

// handed returns the texts of the code files of a program. They come from its
// input, or from the output of another program. unknown says that a text cannot
// be seen.
func (s *scope) handed(w *wrapping, files []argv.Word) (texts []argv.Word, unknown bool) {
	for _, f := range files {
		out := s.open(field{Word: f})
		if f.Known && f.Value == "-" {
			out = output{text: s.stdin.Text, known: s.stdin.Kind == StdinText, file: s.stdin.file || s.stdin.Kind == StdinInherited}
		}
		if i := slices.IndexFunc(w.c.words, func(one field) bool { return one.piped != nil && one.Word == f }); i >= 0 {
			out = *w.c.words[i].piped
		}
		switch {
		case out.known:
			texts = append(texts, argv.Known(out.text))
		case !out.file && f.Known, f.Value == "" && !f.Known:
			unknown = true
		}
	}
	return texts, unknown
}

// bwrap skips its options, of which some take two words.
func (s *scope) bwrap(w *wrapping) {
	words := w.c.words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0].Value, "-") {
		n := 1
		switch opt := words[0].Value; {
		case opt == "--":
			words = words[1:]
			n = -1
		case strings.Contains(opt, "bind") || strings.HasSuffix(opt, "symlink") || opt == "--setenv" || opt == "--file" || opt == "--chmod":
			n = 3
		case strings.HasPrefix(opt, "--unshare-") || strings.HasPrefix(opt, "--share-") || opt == "--clearenv" || opt == "--new-session" || opt == "--die-with-parent" || opt == "--as-pid-1":
		default:
			n = 2
		}
		if n < 0 {
			break
		}
		words = words[min(n, len(words)):]
	}
	if len(words) > 0 {
		s.child(w).command(&command{words: words, assigns: w.c.assigns, span: w.c.span, outside: true})
	}
}

// make reads the settings that replace the shell, and a makefile in the input.
func (s *scope) make(w *wrapping) {
	for _, op := range w.ops {
		name, value, ok := strings.Cut(op.Value, "=")
		name = strings.TrimRight(name, ":?+!")
		switch {
		case !ok:
		case name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKESHELL":
			s.optionText(w, argv.Word{Value: value, Known: op.Known}, " '"+anything+"'")
		case strings.Contains(value, "$(shell") || strings.Contains(value, "${shell"):
			s.opaque("make is told to run what is not read", w.c.span)
		}
	}
	texts := w.line.Values("--eval")
	given, hidden := s.handed(w, w.line.Values("--file"))
	if texts = append(texts, given...); hidden {
		s.opaque("the makefile is not known", w.c.span)
	}
	for _, t := range texts {
		if !t.Known || strings.Contains(t.Value, "$(shell") || strings.Contains(t.Value, "${shell") || strings.Contains(t.Value, "!=") {
			s.opaque("make is told to run what is not read", w.c.span)
			continue
		}
		s.recipes(w, t.Value)
	}
}

// recipes reads the lines of a makefile that are commands.
func (s *scope) recipes(w *wrapping, text string) {
	for line := range strings.Lines(text) {
		recipe, ok := strings.CutPrefix(line, "\t")
		if _, after, has := strings.Cut(line, ";"); !ok && has {
			recipe, ok = after, true
		}
		if !ok {
			continue
		}
		recipe = strings.TrimLeft(recipe, "@-+ \t")
		recipe = strings.NewReplacer("$$", "$", "$(", anything+"$(: ", "${", anything+"${_:+", "$@", anything, "$<", anything, "$^", anything).Replace(recipe)
		s.child(w).code(recipe, w.c.span)
	}
}

// editor reads the commands of an editor or a debugger that run programs.
func (s *scope) editor(w *wrapping) {
	var commands []argv.Word
	commands = append(commands, w.line.Values("--command", "--cmd", "--eval-command", "--init-eval-command")...)
	for _, op := range w.ops {
		if rest, ok := strings.CutPrefix(op.Value, "+"); ok {
			commands = append(commands, argv.Word{Value: rest, Known: op.Known})
		}
	}
	if len(commands) == 0 && s.stdin.Kind == StdinText {
		for line := range strings.Lines(s.stdin.Text) {
			commands = append(commands, argv.Known(strings.TrimRight(line, "\n")))
		}
	}
	for _, c := range commands {
		text := strings.TrimLeft(c.Value, ": \t%.,$0123456789")
		for _, verb := range []string{"r ", "read ", "w ", "write ", "silent ", "silent! ", "sil ", "r", "w"} {
			if rest, ok := strings.CutPrefix(text, verb); ok && strings.HasPrefix(strings.TrimLeft(rest, " "), "!") {
				text = strings.TrimLeft(rest, " ")
			}
		}
		rest, bang := strings.CutPrefix(text, "!")
		for _, verb := range []string{"shell ", "platform shell ", "pipe "} {
			if after, ok := strings.CutPrefix(text, verb); ok {
				rest, bang = after, true
			}
		}
		switch {
		case bang && rest != "":
			s.optionText(w, argv.Word{Value: rest, Known: c.Known}, "")
		case !c.Known && text == "", hasAny(text, "system(", "execute ", "exe ", "python", "py3", "lua ", "perl ", "ruby ", "call delete(", "call job_start", "termopen(", "terminal "):
			s.opaque("an editor is told to run what is not read", w.c.span)
		}
	}
}

func hasAny(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// awk reads the commands of an awk program.
func (s *scope) awk(w *wrapping) {
	texts := w.line.Values("--source")
	if len(texts) == 0 && !w.line.Has("--file", "--exec") && len(w.ops) > 0 {
		texts = append(texts, w.ops[0].Word)
	}
	given, hidden := s.handed(w, w.line.Values("--file", "--exec"))
	if texts = append(texts, given...); hidden {
		s.opaque("the code that "+w.name+" runs is not known", w.c.span)
	}
	sub := s.child(w)
	for _, t := range texts {
		if !t.Known {
			if hasAny(t.Value, "system", "|", "getline") || t.Value == "" {
				s.opaque("the code that "+w.name+" runs is not known", w.c.span)
			}
			continue
		}
		sub.stdin = feed{}
		sub.foreign("awk", t.Value, w.c.span)
	}
}

// sed reads the commands of a sed script that run programs or write files.
func (s *scope) sed(w *wrapping) {
	texts := w.line.Values("--expression")
	if len(texts) == 0 && !w.line.Has("--file") && len(w.ops) > 0 {
		texts = append(texts, w.ops[0].Word)
	}
	if w.line.Has("--sandbox") {
		return
	}
	given, hidden := s.handed(w, w.line.Values("--file"))
	if texts = append(texts, given...); hidden {
		s.opaque("the script that sed runs is not known", w.c.span)
	}
	for _, t := range texts {
		if !t.Known && t.Value == "" {
			continue // as "s/$a/$b/" is, too often to ask
		}
		p := sedScript{text: t.Value}
		for p.next() {
			switch {
			case p.runs && p.arg == "":
				s.opaque("sed runs what it makes", w.c.span)
			case p.runs:
				s.optionText(w, argv.Word{Value: p.arg, Known: t.Known}, "")
			case p.file != "":
				s.script.Writes = append(s.script.Writes, Write{
					Path: argv.Known(p.file), Cwd: s.cwd, Via: append(s.via[:len(s.via):len(s.via)], w.name), Remote: s.remote, Span: w.c.span,
				})
			}
		}
	}
}

// sedScript is a sed script that is read command by command.
type sedScript struct {
	text string
	at   int
	runs bool
	arg  string // the command that it runs; empty: the pattern space
	file string // that it writes
}

// next finds the next command that runs something or writes a file.
func (p *sedScript) next() bool {
	p.runs, p.arg, p.file = false, "", ""
	for p.address(); p.at < len(p.text); p.address() {
		c := p.text[p.at]
		p.at++
		switch c {
		case 's', 'y':
			if flags := p.substitution(); c == 's' {
				head, file, w := strings.Cut(flags, "w")
				if p.runs = strings.Contains(head, "e"); w {
					p.file = strings.TrimSpace(file)
				}
			}
		case 'e':
			p.runs, p.arg = true, strings.TrimSpace(p.line())
		case 'w', 'W':
			p.file = strings.TrimSpace(p.line())
		case 'a', 'i', 'c', 'r', 'R':
			p.line()
		case 'b', 't', 'T', ':', 'q', 'Q', 'l', 'L':
			for p.at < len(p.text) && !strings.ContainsRune(";\n}", rune(p.text[p.at])) {
				p.at++
			}
		}
		if p.runs || p.file != "" {
			return true
		}
	}
	return false
}

// address skips the address of a command.
func (p *sedScript) address() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case strings.IndexByte(" \t\n;{},!$+~", c) >= 0 || c >= '0' && c <= '9':
			p.at++
		case c == '/':
			p.at++
			p.until('/')
			p.modifiers()
		case c == '\\' && p.at+1 < len(p.text):
			p.at += 2
			p.until(p.text[p.at-1])
			p.modifiers()
		default:
			return
		}
	}
}

func (p *sedScript) modifiers() {
	for p.at < len(p.text) && (p.text[p.at] == 'I' || p.text[p.at] == 'M') {
		p.at++
	}
}

// until goes past the next delimiter that is not escaped.
func (p *sedScript) until(delimiter byte) {
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case delimiter:
			p.at++
			return
		}
	}
}

// line returns the rest of the line.
func (p *sedScript) line() string {
	start := min(p.at, len(p.text))
	end := strings.IndexByte(p.text[start:], '\n')
	if end < 0 {
		end = len(p.text) - start
	}
	p.at = start + end
	return p.text[start:p.at]
}

// substitution skips both parts of a substitution, and returns its flags.
func (p *sedScript) substitution() string {
	if p.at >= len(p.text) {
		return ""
	}
	delimiter := p.text[p.at]
	p.at++
	p.until(delimiter)
	p.until(delimiter)
	start := min(p.at, len(p.text))
	for p.at < len(p.text) && !strings.ContainsRune(";\n}", rune(p.text[p.at])) {
		if p.text[p.at] == 'w' {
			p.line()
			break
		}
		p.at++
	}
	p.at = min(p.at, len(p.text))
	return p.text[start:p.at]
}
